"""The two networks: the paper's on the picture of the stitched pair, and ours on the straightened band along the seam.

The paper's is a shallow residual tower whose last pooling looks at the abutting area. Its text names max pooling between the
three groups of residual blocks; the pooling after the first convolution block is in the code that its authors published, and is
kept here. Ours costs a tenth: the band is short across and long along the seam, so pooling halves both until four rows are
left, a last convolution folds these into one, and the mean and the largest response along the seam decide.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from jigsawnet.score.seam_band import BAND_CHANNELS
from jigsawnet.training.config import TrainConfig
from jigsawnet.training.examples import CHANNELS, Examples

GROUPS = ((8, 8, 16, 16, 16, 32), (32, 32, 64), (64, 64, 128))
"""Output depths of the residual blocks; a max pooling stands before each group."""
FIRST_DEPTH = 8
SEAM_DEPTHS = (16, 32, 48, 64)
"""Output depths of the residual blocks of our network; a max pooling stands before each but the first."""
BINS = 4
"""The abutting area is pooled to this many cells along each side."""
SAMPLES = 4
"""Sample points per cell along each side."""


class ResidualBlock(nn.Module):
    """Two 3×3 convolutions and a skip, a 3×3 convolution itself where the depth changes; ``(B, r, H, W) → (B, h, H, W)``."""

    def __init__(self, depth_in: int, depth_out: int) -> None:
        super().__init__()
        self.residual = nn.Sequential(*convolve(depth_in, depth_out), nn.ReLU(inplace=True), *convolve(depth_out, depth_out))
        self.skip = nn.Identity() if depth_in == depth_out else nn.Sequential(*convolve(depth_in, depth_out))

    def forward(self, features: Tensor) -> Tensor:
        """Residual plus skip, rectified."""
        out: Tensor = torch.relu(self.residual(features) + self.skip(features))
        return out


class JigsawNet(nn.Module):
    """Is this join right? Logits ``(B, 2)`` of wrong and right.

    Args:
        height: rows of the picture.
        width: columns of the picture.
        roi: pool the abutting area to 4×4; without, 2×2 max pooling of the whole picture.
    """

    def __init__(self, height: int = 160, width: int = 160, roi: bool = True) -> None:
        super().__init__()
        self.roi = roi
        layers: list[nn.Module] = [*convolve(3, FIRST_DEPTH), nn.ReLU(inplace=True)]
        depth = FIRST_DEPTH
        for group in GROUPS:
            layers.append(nn.MaxPool2d(2))
            for depth_out in group:
                layers.append(ResidualBlock(depth, depth_out))
                depth = depth_out
        self.tower = nn.Sequential(*layers)
        shrink = 2 ** (len(GROUPS) + 1)
        cells = BINS * BINS if roi else (height // shrink) * (width // shrink)
        self.head = nn.Sequential(nn.Linear(depth * cells, 64), nn.ReLU(inplace=True), nn.Linear(64, 2))
        initialise(self)

    def forward(self, picture: Tensor, roi: Tensor) -> Tensor:
        """Logits ``(B, 2)`` from ``picture (B, 3, H, W)`` in [0, 1] and ``roi (B, 4)``: x0, y0, x1, y1 as fractions."""
        features = self.tower((picture - 0.5) * 4.0)
        pooled = roi_align(features, roi) if self.roi else nn.functional.max_pool2d(features, 2)
        logits: Tensor = self.head(torch.flatten(pooled, 1))
        return logits


class SeamNet(nn.Module):
    """Is this join right? Logits ``(B, 2)`` of wrong and right from a band ``(B, channels, 32, 128)`` in [0, 1].

    With 10 channels a far view of the seam lies behind the near one, row by row: both are deepest at their first and last rows.
    """

    def __init__(self, channels: int = BAND_CHANNELS) -> None:
        super().__init__()
        layers: list[nn.Module] = [*convolve(channels, SEAM_DEPTHS[0]), nn.ReLU(inplace=True)]
        depth = SEAM_DEPTHS[0]
        for depth_out in SEAM_DEPTHS[1:]:
            layers += [nn.MaxPool2d(2), ResidualBlock(depth, depth_out)]
            depth = depth_out
        layers += [
            nn.Conv2d(depth, 2 * depth, (4, 3), padding=(0, 1), bias=False),
            nn.BatchNorm2d(2 * depth),
            nn.ReLU(inplace=True),
        ]
        self.tower = nn.Sequential(*layers)
        self.head = nn.Sequential(nn.Linear(4 * depth, 64), nn.ReLU(inplace=True), nn.Linear(64, 2))
        initialise(self)

    def forward(self, band: Tensor) -> Tensor:
        """Logits of wrong and right."""
        features = self.tower((band - 0.5) * 4.0)
        logits: Tensor = self.head(torch.cat([features.mean(dim=(2, 3)), features.amax(dim=(2, 3))], dim=1))
        return logits


def build_network(config: TrainConfig, examples: Examples) -> nn.Module:
    """A new network for the sizes of these examples, with weights from PyTorch's random state."""
    if config.network != "jigsawnet":
        return SeamNet(CHANNELS[config.network])
    _, height, width, _ = examples.pictures.shape
    return JigsawNet(height, width, config.roi)


def roi_align(features: Tensor, roi: Tensor, bins: int = BINS, samples: int = SAMPLES) -> Tensor:
    """RoIAlign: means of bilinear samples in each cell of the box; ``(B, C, H, W)``, ``(B, 4)`` → ``(B, C, bins, bins)``.

    The box is in fractions of the picture and may be thin or empty; samples outside take the value at the border. Bilinear
    interpolation on a grid is separable, so it is two matrix products: deterministic on every device, and plain in ONNX.
    """
    height, width = int(features.shape[2]), int(features.shape[3])
    rows = _cell_weights(roi[:, 1], roi[:, 3], height, bins, samples)
    columns = _cell_weights(roi[:, 0], roi[:, 2], width, bins, samples)
    return torch.matmul(torch.matmul(rows[:, None], features), columns[:, None].transpose(2, 3))


def _cell_weights(start: Tensor, end: Tensor, size: int, bins: int, samples: int) -> Tensor:
    """How much each of ``size`` grid lines adds to each cell between ``start`` and ``end``: ``(B, bins, size)``."""
    count = bins * samples
    fractions = (torch.arange(count, dtype=start.dtype, device=start.device) + 0.5) / count
    at = (start[:, None] + (end - start)[:, None] * fractions) * size - 0.5
    at = torch.clamp(at, 0.0, size - 1.0)
    lines = torch.arange(size, dtype=start.dtype, device=start.device)
    weights = torch.relu(1.0 - torch.abs(at[:, :, None] - lines))
    return weights.reshape(-1, bins, samples, size).mean(dim=2)


def convolve(depth_in: int, depth_out: int) -> Sequence[nn.Module]:
    """A 3×3 convolution and its batch normalisation."""
    return nn.Conv2d(depth_in, depth_out, 3, padding=1, bias=False), nn.BatchNorm2d(depth_out)


def initialise(network: nn.Module) -> None:
    """He's normal weights; every residual starts at nothing, so that the tower starts as its skips."""
    for module in network.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
        elif isinstance(module, nn.Linear):
            nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
            nn.init.zeros_(module.bias)
        elif isinstance(module, ResidualBlock):
            last = list(module.residual.children())[-1]
            assert isinstance(last, nn.BatchNorm2d)
            nn.init.zeros_(last.weight)

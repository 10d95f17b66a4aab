"""Our network: it looks at the straightened band along the seam, at a tenth of the cost of the paper's.

The band is short across and long along the seam: pooling halves both until four rows are left, a last convolution folds these
into one, and the mean and the largest response along the seam decide.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from jigsawnet.score.seam_band import BAND_CHANNELS
from jigsawnet.training.network import ResidualBlock, convolve, initialise

DEPTHS = (16, 32, 48, 64)
"""Output depths of the residual blocks; a max pooling stands before each."""


class SeamNet(nn.Module):
    """Is this join right? Logits ``(B, 2)`` of wrong and right from a band ``(B, 5, 32, 128)`` in [0, 1]."""

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = [*convolve(BAND_CHANNELS, DEPTHS[0]), nn.ReLU(inplace=True)]
        depth = DEPTHS[0]
        for depth_out in DEPTHS[1:]:
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

"""The two networks that look along the sides of strips, and what they are trained by."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

_CHANNELS = (24, 48, 64, 96)
_DILATIONS = (1, 2, 4)
VECTOR = 48
"""Numbers that describe two rows of a side."""
_FIRST_SCALE = -4.0


class SideNetwork(nn.Module):
    """Band ``(B, 2, H, 40)`` → vectors ``(B, (H + 1) // 2, VECTOR)``, one for every two rows, with about 35 px of context."""

    def __init__(self) -> None:
        super().__init__()
        a, b, c, d = _CHANNELS
        self.trunk = nn.Sequential(
            *_convolution(2, a, 3, (1, 2), 1), *_convolution(a, b, 3, (2, 2), 1), *_convolution(b, c, 3, (1, 2), 1),
            *_convolution(c, d, (3, 5), 1, (1, 0)),
        )  # fmt: skip
        self.along = nn.ModuleList(
            nn.Sequential(*_convolution(d, d, (5, 1), 1, (2 * reach, 0), (reach, 1))) for reach in _DILATIONS
        )
        self.head = nn.Conv2d(d, VECTOR, 1)

    def forward(self, band: Tensor) -> Tensor:
        """Vectors of a batch of bands."""
        seen = self.trunk(band)
        for block in self.along:
            seen = seen + block(seen)
        vectors: Tensor = self.head(seen)[..., 0].transpose(1, 2)
        return vectors


class SidePair(nn.Module):
    """The network for right sides, that for left sides, and the scale of their product."""

    def __init__(self) -> None:
        super().__init__()
        self.right, self.left = SideNetwork(), SideNetwork()
        self.log_scale = nn.Parameter(torch.tensor(_FIRST_SCALE))

    def scaled(self) -> tuple[nn.Module, nn.Module]:
        """Both networks, the scale put into their last layers."""
        with torch.no_grad():
            for network in (self.right, self.left):
                for values in network.head.parameters():
                    values.mul_((self.log_scale / 2).exp())
            self.log_scale.zero_()
        return self.right, self.left


def contrast(pair: SidePair, right: Tensor, left: Tensor, shifts: Sequence[int], segment: int) -> Tensor:
    """How badly the true neighbours of K cuts are told from all others; ``right`` and ``left (K, 2, H, 40)`` are in line.

    The evidence e for a pair of sides, slid by one of ``shifts`` (the first is 0), is the sum of products over ``segment`` rows
    of vectors. The loss is the cross-entropy of the true neighbour among all sides and slides, from both sides, and, so that
    evidence of nothing is 0, ``log(1 + exp(-e))`` of true and ``log(1 + exp(e))`` of wrong ones.
    """
    f, g = pair.right(right), pair.left(left)
    each = torch.stack([torch.einsum("kyd,lyd->kly", f, torch.roll(g, -shift, 1)) for shift in shifts], 2)
    cuts, _, slides, rows = each.shape
    parts = rows // segment
    evidence = pair.log_scale.exp() * each[..., : parts * segment].reshape(cuts, cuts, slides, parts, segment).sum(-1)
    at = torch.arange(cuts)
    truth = (at * slides)[:, None].expand(cuts, parts).reshape(-1)
    among_left = evidence.permute(0, 3, 1, 2).reshape(cuts * parts, -1)
    among_right = evidence.permute(1, 3, 0, 2).reshape(cuts * parts, -1)
    told = nn.functional.cross_entropy(among_left, truth) + nn.functional.cross_entropy(among_right, truth)
    wrong = torch.ones_like(evidence)
    wrong[at, at, 0] = 0.0
    rejected = (nn.functional.softplus(evidence) * wrong).sum() / wrong.sum()
    return told / 2 + nn.functional.softplus(-evidence[at, at, 0]).mean() + rejected


def _convolution(
    inputs: int, outputs: int, kernel: int | tuple[int, int], stride: int | tuple[int, int], pad: int | tuple[int, int],
    dilation: int | tuple[int, int] = 1,
) -> tuple[nn.Module, nn.Module, nn.Module]:  # fmt: skip
    return nn.Conv2d(inputs, outputs, kernel, stride, pad, dilation, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()

"""The dense matcher: window descriptors → seeds → verified seams → the best candidates of each piece."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from jigsawnet.errors import ConfigError
from jigsawnet.geometry import SE2, wrap_angle
from jigsawnet.match.fit import seam_fit
from jigsawnet.match.seeds import Seeds, find_seeds
from jigsawnet.match.verify import FEATURES, VerifyConfig, verify
from jigsawnet.match.windows import describe_windows
from jigsawnet.raster import ShapeBank, njit
from jigsawnet.types import Alignment, Float32Array, Progress, Seam, no_progress


@dataclass(frozen=True, slots=True)
class DenseConfig:
    """How the dense matcher looks at borders."""

    windows: tuple[float, ...] = (0.16, 0.09)
    """Window lengths, as parts of the median perimeter."""
    shape_px: float = 1.0
    """Distance of border points that counts as one unit of difference."""
    color_lab: tuple[float, ...] = (0.0, 8.0)
    """Lab distance that counts as one unit of difference, one pass for each; 0 is a pass without colour."""
    seeds_per_pair: int = 6
    """Rough poses verified for a pair of pieces, in each pass."""
    verify: VerifyConfig = field(default_factory=VerifyConfig)

    def __post_init__(self) -> None:
        if not self.windows or min(self.windows) <= 0 or max(self.windows) >= 1:
            raise ConfigError("match.dense.windows must lie between 0 and 1")
        if not self.color_lab or min(self.color_lab) < 0 or self.shape_px <= 0 or self.seeds_per_pair < 1:
            raise ConfigError("match.dense options must be positive")


_FLOOR = 0.3
_STRIDE_I, _STRIDE_J = 4, 2
_SAME_PX, _SAME_RAD = 6.0, 0.07


def propose_dense(
    bank: ShapeBank, per_piece: int, config: DenseConfig, progress: Progress = no_progress
) -> tuple[Alignment, ...]:
    """Find candidates between all pairs of pieces, best first, at most ``per_piece`` of each piece."""
    i, j, pose, features = verified_seeds(bank, config, progress)
    fit = seam_fit(features, bank.step_px)
    order = np.lexsort((np.arange(len(fit)), -fit))
    order = order[fit[order] > 0]
    keep = _thin_out(order, i, j, pose, features[:, 10:12], per_piece, len(bank))
    return tuple(_alignment(int(i[k]), int(j[k]), pose[k], float(fit[k]), features[k]) for k in keep)


def verified_seeds(
    bank: ShapeBank, config: DenseConfig, progress: Progress = no_progress
) -> tuple[NDArray[np.int32], NDArray[np.int32], Float32Array, Float32Array]:
    """All seeds of all passes, refined and measured: pieces i and j, poses ``(S, 3)`` and features."""
    perimeters = np.diff(bank.first) * bank.step_px
    median = float(np.median(perimeters[perimeters > 0])) if (perimeters > 0).any() else 0.0
    passes = [(window * median, color) for window in config.windows for color in config.color_lab]
    parts = []
    for number, (window_px, color_lab) in enumerate(passes):

        def told(stage: str, done: int, total: int, number: int = number) -> None:
            progress(stage, number * total + done, len(passes) * total)

        seeds = _seeds(bank, window_px, color_lab, config, told)
        parts.append((seeds.i, seeds.j, *verify(bank, seeds.i, seeds.j, seeds.pose, config.verify)))
    i, j, pose, features = (np.concatenate([part[k] for part in parts]) for k in range(4))
    return i, j, pose, features


def _seeds(bank: ShapeBank, window_px: float, color_lab: float, config: DenseConfig, progress: Progress) -> Seeds:
    color = color_lab or None
    a = describe_windows(bank, window_px, _STRIDE_I, config.shape_px, color)
    b = describe_windows(bank, window_px, _STRIDE_J, config.shape_px, color)
    along = int(2 * window_px / bank.step_px)
    return find_seeds(a, b, config.seeds_per_pair, _FLOOR, (2 * _STRIDE_I, along), progress)


def _alignment(i: int, j: int, pose: Float32Array, fit: float, features: Float32Array) -> Alignment:
    value = dict(zip(FEATURES, features.tolist(), strict=True))
    seam = Seam(value["length"], value["residual"], value["gap"], value["overlap_depth"], value["color_step"])
    return Alignment(i, j, SE2(wrap_angle(float(pose[0])), float(pose[1]), float(pose[2])), fit, seam)


@njit
def _thin_out(order, i, j, pose, middle, per_piece, n):  # type: ignore[no-untyped-def]
    """Walk candidates best first; drop near-copies of a kept pose of the pair, and all beyond ``per_piece`` of a piece."""
    kept = np.empty(len(order), np.int64)
    count = np.zeros(n, np.int64)
    last_of_piece = np.full(n, -1, np.int64)
    previous = np.full(len(order), -1, np.int64)  # chain of kept candidates of piece i
    size = 0
    for k in order:
        if count[i[k]] >= per_piece or count[j[k]] >= per_piece:
            continue
        back = last_of_piece[i[k]]
        copy = False
        while back >= 0 and not copy:
            other = kept[back]
            if i[other] == i[k] and j[other] == j[k]:
                turn = pose[other, 0] - pose[k, 0]
                turn = abs(turn - 2 * np.pi * np.rint(turn / (2 * np.pi)))
                if turn < _SAME_RAD:
                    ax, ay = _carried_back(pose[k], middle[k])
                    bx, by = _carried_back(pose[other], middle[k])
                    copy = np.hypot(ax - bx, ay - by) < _SAME_PX
            back = previous[back]
        if copy:
            continue
        kept[size] = k
        previous[size] = last_of_piece[i[k]]
        last_of_piece[i[k]] = size
        size += 1
        count[i[k]] += 1
        count[j[k]] += 1
    return kept[:size]


@njit
def _carried_back(pose, point):  # type: ignore[no-untyped-def]
    """The point of i's frame in j's frame."""
    cos, sin = np.cos(pose[0]), np.sin(pose[0])
    dx, dy = point[0] - pose[1], point[1] - pose[2]
    return cos * dx + sin * dy, cos * dy - sin * dx

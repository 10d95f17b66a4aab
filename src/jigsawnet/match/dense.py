"""The dense matcher: window descriptors → seeds → verified seams → the best candidates of each piece.

What a block keeps is small, so memory stays bounded however many pieces there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from jigsawnet.errors import ConfigError
from jigsawnet.match.blocks import map_blocks
from jigsawnet.match.fit import cut_shape, seam_fit
from jigsawnet.match.gap import estimate_gap, lay_apart
from jigsawnet.match.seeds import find_seeds
from jigsawnet.match.select import select_candidates, to_alignment
from jigsawnet.match.verify import FEATURES, VerifyConfig, verify
from jigsawnet.match.windows import WindowKind, Windows, describe_windows
from jigsawnet.raster import ShapeBank
from jigsawnet.types import Alignment, Float32Array, Progress, no_progress

Measured = tuple[NDArray[np.int32], NDArray[np.int32], Float32Array, Float32Array]
"""Pieces ``i (C,)`` and ``j (C,)``, refined ``i_from_j (C, 3)`` and ``features (C, len(FEATURES))``."""


@dataclass(frozen=True, slots=True)
class DenseConfig:
    """How the dense matcher looks at borders."""

    windows: tuple[float, ...] = (0.22, 0.14, 0.08)
    """Window lengths, as parts of the median perimeter."""
    color_lab: tuple[float, ...] = (0.0, 8.0)
    """Lab distance that counts as much as a pixel; one pass for each, 0 is a pass without colour."""
    seeds_per_pair: int = 6
    """Rough poses verified for a pair of pieces, in each pass."""
    per_pair: int = 4
    """Candidates kept for a pair of pieces."""
    verify: VerifyConfig = field(default_factory=VerifyConfig)

    def __post_init__(self) -> None:
        if not self.windows or min(self.windows) <= 0 or max(self.windows) >= 1:
            raise ConfigError("match.dense.windows must lie between 0 and 1")
        if not self.color_lab or min(self.color_lab) < 0 or self.seeds_per_pair < 1 or self.per_pair < 1:
            raise ConfigError("match.dense options must be positive")


_STRIDE_FRONT, _STRIDE_BACK = 4, 1
_ACROSS = 8


def propose_dense(
    bank: ShapeBank, per_piece: int, config: DenseConfig, progress: Progress = no_progress
) -> tuple[Alignment, ...]:
    """Find candidates between all pairs of pieces, best first, at most ``per_piece`` of each piece."""
    if not len(bank):
        return ()
    passes = describe_passes(bank, config)
    blocks = map_blocks(lambda i: _best_of_block(bank, passes, i, config), len(bank), progress)
    i, j, pose, features = (np.concatenate([block[k] for block in blocks]) for k in range(4))
    fit = seam_fit(features, bank.step_px)
    gap_px = estimate_gap(bank, i, j, pose, fit, config.verify)
    if gap_px:
        pose, features = lay_apart(bank, i, j, pose, config.verify, gap_px)
        fit = seam_fit(features, bank.step_px)
    length, flatness = features[:, FEATURES.index("length")], features[:, FEATURES.index("flatness")]
    fit = cut_shape(i, j, fit, flatness, length, bank.step_px).lower_straight(fit, flatness, length)
    keep = select_candidates(i, j, pose, features, fit, per_piece, len(bank))
    return tuple(to_alignment(int(i[k]), int(j[k]), pose[k], float(fit[k]), features[k], gap_px) for k in keep)


def describe_passes(bank: ShapeBank, config: DenseConfig) -> list[Windows]:
    """The windows of every pass."""
    kinds = _kinds(bank, config)
    return map_blocks(lambda k: describe_windows(bank, kinds[k], _STRIDE_FRONT, _STRIDE_BACK), len(kinds), no_progress)


def measure_block(bank: ShapeBank, passes: Sequence[Windows], i: int, config: DenseConfig) -> Measured:
    """All seeds of piece i with later pieces, refined and measured; poses without a seam or with deep overlap left out."""
    along = [int(2 * kind.length_px / bank.step_px) for kind in _kinds(bank, config)]
    seeds = [find_seeds(w, i, config.seeds_per_pair, (_ACROSS, a)) for w, a in zip(passes, along, strict=True)]
    j, rough = np.concatenate([s[0] for s in seeds]), np.concatenate([s[1] for s in seeds])
    own = np.full(len(j), i, np.int32)
    pose, features = verify(bank, own, j, rough, config.verify)
    f = dict(zip(FEATURES, features.T, strict=True))
    good = (f["length"] >= 5 * bank.step_px) & (f["overlap_length"] <= 0.6 * f["length"])
    return own[good], j[good], pose[good], features[good]


def _best_of_block(bank: ShapeBank, passes: Sequence[Windows], i: int, config: DenseConfig) -> Measured:
    own, j, pose, features = measure_block(bank, passes, i, config)
    fit = seam_fit(features, bank.step_px)
    keep = select_candidates(own, j, pose, features, fit, len(j), len(bank), config.per_pair)
    return own[keep], j[keep], pose[keep], features[keep]


def _kinds(bank: ShapeBank, config: DenseConfig) -> list[WindowKind]:
    perimeters = np.diff(bank.first) * bank.step_px
    median = float(np.median(perimeters[perimeters > 0])) if (perimeters > 0).any() else 0.0
    return [WindowKind(window * median, 1.0, color) for window in config.windows for color in config.color_lab]

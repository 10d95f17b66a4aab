"""The dense matcher: window descriptors → seeds → verified seams → the best candidates of each piece.

What is measured for a pair depends on that pair and on the scales of the puzzle only. So pairs can be measured in any company,
on any machine, and again only when one of the two is new.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from jigsawnet.errors import ConfigError
from jigsawnet.match.fit import cut_shape, seam_fit
from jigsawnet.match.gap import estimate_gap, lay_apart
from jigsawnet.match.measured import Known, Measured, Scales, is_near
from jigsawnet.match.pairs import PairRow, all_pairs, cut_pairs
from jigsawnet.match.seeds import find_seeds
from jigsawnet.match.select import select_candidates, to_alignment
from jigsawnet.match.verify import FEATURES, VerifyConfig, verify
from jigsawnet.match.windows import WindowKind, Windows, describe_windows
from jigsawnet.raster import ShapeBank
from jigsawnet.stopping import Stop
from jigsawnet.types import Alignment, Progress, no_progress
from jigsawnet.workers import LocalWorkers, Shared, Workers


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


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """All that measuring a pair takes: the borders, their windows in every pass, and the lengths of the windows."""

    bank: ShapeBank
    kinds: tuple[WindowKind, ...]
    passes: tuple[Windows, ...]
    config: DenseConfig


def propose_dense(
    bank: ShapeBank,
    per_piece: int,
    config: DenseConfig,
    progress: Progress = no_progress,
    workers: Workers | None = None,
    stop: Stop | None = None,
) -> tuple[Alignment, ...]:
    """Find candidates between all pairs of pieces, best first, at most ``per_piece`` of each piece."""
    rows = measure_pairs(bank, bank.step_px, config, None, progress, workers, stop).rows
    return choose_candidates(bank, rows, per_piece, config)


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """The rows of all pairs, old and new; what to keep, None when it was stopped; how many pairs were to be measured."""

    rows: Measured
    kept: Known | None
    new_pairs: int


def measure_pairs(
    bank: ShapeBank,
    contour_step_px: float,
    config: DenseConfig,
    known: Known | None = None,
    progress: Progress = no_progress,
    workers: Workers | None = None,
    stop: Stop | None = None,
) -> Pairs:
    """Measure all pairs but those of pieces known.

    What is known counts only when it was measured with this bank's step and a median perimeter near today's.
    """
    workers = workers or LocalWorkers()
    scales = scales_of(bank, contour_step_px)
    if known and known.scales.steps == scales.steps and is_near(scales.perimeter_px, known.scales.perimeter_px):
        scales = known.scales
    else:
        known = None
    pairs = all_pairs(len(bank))
    if known:
        is_new = np.ones(len(bank), bool)
        is_new[known.pieces] = False
        pairs = [(i, later if is_new[i] else later[is_new[later]]) for i, later in pairs]
    blocks = cut_pairs(pairs, workers)
    parts: list[Measured] = []
    if blocks:
        material = Shared(prepare_material(bank, config, scales, workers))
        parts = workers.run(best_of_block, material, blocks, lambda done, total: progress("match", done, total), stop)
    rows = Measured.join([known.rows, *parts] if known else parts)
    kept = Known(np.arange(len(bank)), rows, scales) if len(parts) == len(blocks) else None
    return Pairs(rows, kept, sum(len(later) for _, later in pairs))


def choose_candidates(bank: ShapeBank, rows: Measured, per_piece: int, config: DenseConfig) -> tuple[Alignment, ...]:
    """From all measured lays of a puzzle to its candidates: the gap, how straight its cuts are, the best of each piece."""
    i, j, pose, features = rows.i, rows.j, rows.pose, rows.features
    fit = seam_fit(features, bank.step_px)
    gap_px = estimate_gap(bank, i, j, pose, fit, config.verify)
    if gap_px:
        pose, features = lay_apart(bank, i, j, pose, config.verify, gap_px)
        fit = seam_fit(features, bank.step_px)
    length, flatness = features[:, FEATURES.index("length")], features[:, FEATURES.index("flatness")]
    fit = cut_shape(i, j, fit, flatness, length, bank.step_px).lower_straight(fit, flatness, length)
    keep = select_candidates(i, j, pose, features, fit, per_piece, len(bank))
    return tuple(to_alignment(int(i[k]), int(j[k]), pose[k], float(fit[k]), features[k], gap_px) for k in keep)


def scales_of(bank: ShapeBank, contour_step_px: float) -> Scales:
    """The scales of a puzzle by itself."""
    perimeters = np.diff(bank.first) * bank.step_px
    median = float(np.median(perimeters[perimeters > 0])) if (perimeters > 0).any() else 0.0
    return Scales(contour_step_px, bank.step_px, median, np.arange(len(bank)))


def prepare_material(bank: ShapeBank, config: DenseConfig, scales: Scales, workers: Workers) -> Material:
    """Describe the windows of every pass; on this machine, since it costs little."""
    kinds = tuple(WindowKind(w * scales.perimeter_px, 1.0, color) for w in config.windows for color in config.color_lab)
    threads = LocalWorkers(workers.slots if isinstance(workers, LocalWorkers) else None)
    passes = threads.run(_describe, Shared((bank, scales)), kinds)
    return Material(bank, kinds, tuple(passes), config)


def _describe(puzzle: tuple[ShapeBank, Scales], kind: WindowKind) -> Windows:
    return describe_windows(puzzle[0], kind, _STRIDE_FRONT, _STRIDE_BACK, puzzle[1].reference)


def best_of_block(material: Material, block: Sequence[PairRow]) -> Measured:
    """The few best lays of each pair of a block."""
    return Measured.join([_best_of_row(material, row) for row in block])


def measure_row(material: Material, row: PairRow) -> Measured:
    """All seeds of a row of pairs, refined and measured; poses without a seam or with deep overlap left out."""
    i, others = row
    bank, config = material.bank, material.config
    along = [int(2 * kind.length_px / bank.step_px) for kind in material.kinds]
    seeds = [find_seeds(w, i, others, config.seeds_per_pair, (_ACROSS, a)) for w, a in zip(material.passes, along, strict=True)]
    j, rough = np.concatenate([s[0] for s in seeds]), np.concatenate([s[1] for s in seeds])
    own = np.full(len(j), i, np.int32)
    pose, features = verify(bank, own, j, rough, config.verify)
    f = dict(zip(FEATURES, features.T, strict=True))
    good = (f["length"] >= 5 * bank.step_px) & (f["overlap_length"] <= 0.6 * f["length"])
    return Measured(own, j, pose, features).take(good)


def _best_of_row(material: Material, row: PairRow) -> Measured:
    found = measure_row(material, row)
    fit = seam_fit(found.features, material.bank.step_px)
    n_pieces, per_pair = len(material.bank), material.config.per_pair
    return found.take(select_candidates(found.i, found.j, found.pose, found.features, fit, len(found), n_pieces, per_pair))

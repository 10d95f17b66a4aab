"""The dense matcher: window descriptors → seeds → verified seams → the best candidates of each piece.

What is measured for a pair depends on that pair and on the scales of the puzzle only. So pairs can be measured in any company,
on any machine, and again only when one of the two is new.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jigsawnet.borders import Borders, Int64Array
from jigsawnet.candidates import Candidates
from jigsawnet.context import Context
from jigsawnet.learned import Learned, Logistic
from jigsawnet.match.config import DenseConfig, MatchConfig
from jigsawnet.match.gap import estimate_gap, lay_apart
from jigsawnet.match.known import KnownPairs, Matched, Scales
from jigsawnet.match.pairs import PairRow, all_pairs, cut_pairs, pairs_of, rows_of
from jigsawnet.match.ragged import add_ragged, is_ragged
from jigsawnet.match.retrieve import find_distances, nearest_partners
from jigsawnet.match.seeds import find_seeds
from jigsawnet.match.select import chosen, select_candidates
from jigsawnet.match.verify import verify
from jigsawnet.match.windows import WindowKind, Windows, describe_windows
from jigsawnet.seam_fit import cut_shape, seam_fit
from jigsawnet.stopping import Stop, StoppedError
from jigsawnet.workers import LocalWorkers, Shared, Workers

_STRIDE_FRONT, _STRIDE_BACK = 4, 1
_ACROSS = 8
_SURE = 0.9
_BLOCKS_KEPT = 8
"""Blocks that each worker does before what is measured is kept: about three seconds of work."""


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """All that measuring a pair takes: the borders, their windows in every pass, and the lengths of the windows."""

    borders: Borders
    kinds: tuple[WindowKind, ...]
    passes: tuple[Windows, ...]
    config: DenseConfig
    weights: Logistic


def find_dense(borders: Borders, config: MatchConfig, context: Context, learned: Learned, known: KnownPairs | None) -> Matched:
    """Measure all pairs, of many pieces the likeliest, but those that are known; choose the best candidates of each piece."""
    scales = Scales.of(borders)
    if known and known.scales.hold_for(scales):
        scales = known.scales
    else:
        known = None
    measured = _Measured(borders, config.dense, scales, learned.fit, known, context)
    if len(borders) <= config.dense.retrieval.above:
        measured.look_at(pairs_of(all_pairs(len(borders))))
        pairs = None
    else:
        pairs = _look_in_rounds(measured, config, learned.fit)
    rows = measured.rows(pairs)
    kept = KnownPairs(np.arange(len(borders)), rows, scales, pairs) if measured.whole else None
    found = choose_candidates(borders, rows, config, learned.fit)
    if config.dense.ragged.enabled and not context.stop.is_over() and is_ragged(found, borders):
        found = add_ragged(borders, found, scales, config, context, learned)
    return Matched(found, kept, measured.count)


class _Measured:
    """What was measured so far, in this run or before; asked to look at pairs, it measures those that are missing."""

    def __init__(
        self,
        borders: Borders,
        config: DenseConfig,
        scales: Scales,
        weights: Logistic,
        known: KnownPairs | None,
        context: Context,
    ) -> None:
        self.borders, self.context = borders, context
        self.whole = True
        """False when it was stopped before all was measured."""
        self.count = 0
        """Pairs that were measured now."""
        self._scales = scales
        self._prepare = partial(prepare_material, borders, config, scales, weights, context.workers, context.stop)
        self._material: Shared[Material] | None = None
        self._parts = [] if known is None else [known.rows]
        self._seen = np.zeros(0, np.int64) if known is None else self._codes(known.every_pair())

    @property
    def material(self) -> Shared[Material]:
        """What measuring takes; described when it is first needed."""
        if self._material is None:
            self._material = Shared(self._prepare())
        return self._material

    def look_at(self, pairs: Int64Array) -> None:
        """Measure those of ``pairs (P, 2)``, in order, that are not yet."""
        missing = pairs[~np.isin(self._codes(pairs), self._seen)]
        workers, blocks = self.context.workers, cut_pairs(rows_of(missing), self.context.workers)
        at_a_time = _BLOCKS_KEPT * workers.slots
        try:
            for done in range(0, len(blocks), at_a_time):
                self._measure(blocks[done : done + at_a_time], done, len(blocks))
                if not self.whole:
                    return
        except StoppedError:
            self.whole = False

    def _measure(self, blocks: Sequence[list[PairRow]], done: int, total: int) -> None:
        """Measure some blocks of all, and have what there is by then kept."""
        tell = self.context.progress
        context = replace(self.context, progress=lambda stage, now, _: tell(stage, done + now, total))
        parts = context.run("match", best_of_block, self.material, blocks)
        measured = pairs_of([row for block in blocks[: len(parts)] for row in block])
        self.count += len(measured)
        self.whole &= len(parts) == len(blocks)
        self._parts.extend(parts)
        self._seen = np.union1d(self._seen, self._codes(measured))
        if context.keep is not None and parts and (done + len(parts) < total):
            n = len(self.borders)
            seen = np.column_stack([self._seen // n, self._seen % n])
            context.keep(KnownPairs(np.arange(n), self.rows(None), self._scales, seen))

    def rows(self, pairs: Int64Array | None) -> Candidates:
        """All that was measured of some pairs, None all, pair by pair."""
        rows = by_pair(self._parts)
        if pairs is None:
            return rows
        return rows.take(np.isin(self._codes(np.column_stack([rows.i, rows.j])), self._codes(pairs)))

    def _codes(self, pairs: NDArray[Any]) -> Int64Array:
        return np.asarray(pairs[:, 0].astype(np.int64) * len(self.borders) + pairs[:, 1])


def _look_in_rounds(measured: _Measured, config: MatchConfig, weights: Logistic) -> Int64Array:
    """Have the likeliest partners of each piece measured, and more of them of pieces that are not explained by then: pairs."""
    borders, context, retrieval = measured.borders, measured.context, config.dense.retrieval
    try:
        material = measured.material.data
        distance = find_distances(material.kinds, material.passes, context)
    except StoppedError:
        distance = None
    if distance is None:
        measured.whole = False
        return np.zeros((0, 2), np.int64)
    pairs = nearest_partners(distance, retrieval.partners[0])
    measured.look_at(pairs)
    for partners, share in zip(retrieval.partners[1:], retrieval.explained, strict=True):
        if context.stop.is_over():
            measured.whole = False
            break
        found = choose_candidates(borders, measured.rows(pairs), config, weights)
        more = nearest_partners(distance, partners, _unexplained(found, borders, share))
        pairs = np.unique(np.concatenate([pairs, more]), axis=0)
        measured.look_at(pairs)
    return pairs


def _unexplained(found: Candidates, borders: Borders, share: float) -> Int64Array:
    """Pieces of whose border seams that fit without doubt take less than this share."""
    sure = found.take(found.fit >= _SURE)
    covered = np.zeros(len(borders))
    for side in (sure.i, sure.j):
        np.add.at(covered, side, sure.feature("length"))
    perimeter = np.diff(borders.first) * borders.step_px
    return np.flatnonzero((covered < share * perimeter) & (perimeter > 0))


def choose_candidates(borders: Borders, rows: Candidates, config: MatchConfig, weights: Logistic) -> Candidates:
    """From all measured poses of a puzzle to its candidates: the gap, how straight its cuts are, the best of each piece."""
    fit, verify_config = seam_fit(rows.features, borders.step_px, weights), config.dense.verify
    pose = rows.pose.astype(np.float32, copy=False)
    gap_px = estimate_gap(borders, rows.i, rows.j, pose, fit, verify_config)
    if gap_px:
        pose, features = lay_apart(borders, rows.i, rows.j, pose, verify_config, gap_px)
        rows = Candidates.make(rows.i, rows.j, pose, features)
        fit = seam_fit(features, borders.step_px, weights)
    cuts = cut_shape(rows, fit, borders.step_px)
    fit = cuts.lower_straight(fit, rows.feature("flatness"), rows.feature("length"))
    return chosen(replace(rows, fit=fit, gap_px=np.full(len(rows), gap_px)), config.per_piece, len(borders))


def by_pair(parts: Sequence[Candidates]) -> Candidates:
    """All rows, pair by pair; the rows of one pair stay in order."""
    rows = Candidates.concat(parts)
    return rows.take(np.lexsort((rows.j, rows.i)))


def prepare_material(
    borders: Borders, config: DenseConfig, scales: Scales, weights: Logistic, workers: Workers, stop: Stop | None = None
) -> Material:
    """Describe the windows of every pass; on this machine, since it costs little. Raises `StoppedError` when it is to end."""
    kinds = [tuple(WindowKind(w * scales.perimeter_px, 1.0, color) for color in config.color_lab) for w in config.windows]
    threads = LocalWorkers(workers.slots if isinstance(workers, LocalWorkers) else None)
    passes = threads.run(_describe, Shared((borders, scales, stop)), kinds)
    flat = tuple(kind for same_length in kinds for kind in same_length)
    return Material(borders, flat, tuple(windows for found in passes for windows in found), config, weights)


def _describe(puzzle: tuple[Borders, Scales, Stop | None], kinds: Sequence[WindowKind]) -> list[Windows]:
    borders, scales, stop = puzzle
    return describe_windows(borders, kinds, _STRIDE_FRONT, _STRIDE_BACK, scales.reference, stop)


def best_of_block(material: Material, block: Sequence[PairRow]) -> Candidates:
    """The few best poses of each pair of a block."""
    return by_pair([_best_of_row(material, row) for row in block])


def measure_row(material: Material, row: PairRow) -> Candidates:
    """All seeds of a row of pairs, refined and measured; poses without a seam or with deep overlap left out."""
    i, others = row
    borders, config = material.borders, material.config
    along = [int(2 * kind.length_px / borders.step_px) for kind in material.kinds]
    seeds = [find_seeds(w, i, others, config.seeds_per_pair, (_ACROSS, a)) for w, a in zip(material.passes, along, strict=True)]
    j, rough = np.concatenate([s[0] for s in seeds]), np.concatenate([s[1] for s in seeds])
    own = np.full(len(j), i, np.int32)
    rows = Candidates.make(own, j, *verify(borders, own, j, rough, config.verify))
    length = rows.feature("length")
    return rows.take((length >= 5 * borders.step_px) & (rows.feature("overlap_length") <= 0.6 * length))


def _best_of_row(material: Material, row: PairRow) -> Candidates:
    found = measure_row(material, row)
    rated = replace(found, fit=seam_fit(found.features, material.borders.step_px, material.weights))
    return found.take(select_candidates(rated, len(found), len(material.borders), material.config.per_pair))

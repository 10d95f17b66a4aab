"""Dense matcher, for ragged puzzles: more seeds, refined where borders touch, judged by their contact.

Whether a puzzle is ragged it says itself: in one that was cleanly cut nearly every piece has a seam that fits without doubt,
and along such seams the borders are a small part of a pixel apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from jigsawnet.borders import Borders
from jigsawnet.candidates import Candidates
from jigsawnet.context import Context
from jigsawnet.learned import Learned, Logistic
from jigsawnet.match.config import DenseConfig, MatchConfig
from jigsawnet.match.contact import bends, settle
from jigsawnet.match.known import Scales
from jigsawnet.match.pairs import PairRow, all_pairs, cut_pairs, rows_of
from jigsawnet.match.retrieve import find_distances, nearest_partners
from jigsawnet.match.seeds import find_seeds
from jigsawnet.match.select import chosen, select_candidates
from jigsawnet.match.verify import verify
from jigsawnet.match.windows import WindowKind, Windows, describe_windows
from jigsawnet.seam_fit import contact_fit
from jigsawnet.stopping import Stop, StoppedError
from jigsawnet.types import Float32Array
from jigsawnet.workers import Shared

_STRIDE_FRONT, _STRIDE_BACK = 4, 1
_ACROSS = 8
_SURE = 0.9
_SURE_SHARE = 0.85
"""A puzzle is ragged when fewer of its pieces than this have a seam that fits by `_SURE`."""
_ROUGH = 0.45
"""It is ragged, too, when the borders of such seams lie farther apart than this, in units. Measured at 36 pieces: clean,
eroded, straight, noisy or missing 0.13 to 0.20; presets of damage from 0.38 on, frescoes 0.42 to 0.82."""
_MOST_SEEDS = 2_000_000
"""Seeds of a whole puzzle, about: as many as 220 pieces have; settling them takes about a minute of one core."""
_LEAST_SAMPLES = 4
"""Samples of border that must touch."""


@dataclass(frozen=True, slots=True, eq=False)
class RaggedMaterial:
    """All that settling seeds takes: borders, how they bend, their windows in every pass, and the lengths of the windows."""

    borders: Borders
    bend: Float32Array
    kinds: tuple[WindowKind, ...]
    passes: tuple[Windows, ...]
    config: DenseConfig
    weights: Logistic


def is_ragged(rows: Candidates, borders: Borders) -> bool:
    """Whether too few pieces have a seam that fits without doubt, or such seams are rough, in a puzzle of three and more."""
    best = np.zeros(len(borders))
    for side in (rows.i, rows.j):
        np.maximum.at(best, side, rows.fit)
    there = np.diff(borders.first) > 0
    if there.sum() < 3:
        return False
    sure = rows.feature("residual")[rows.fit >= _SURE]
    rough = len(sure) > 0 and float(np.median(sure)) > _ROUGH * borders.unit_px
    return rough or float((best[there] >= _SURE).mean()) < _SURE_SHARE


def add_ragged(
    borders: Borders, found: Candidates, scales: Scales, config: MatchConfig, context: Context, learned: Learned
) -> Candidates:
    """The candidates of a ragged puzzle: those ``found`` before and new ones, all with their contact; fit is the better one."""
    try:
        material = prepare_ragged(borders, config.dense, scales, learned.contact, context.stop)
    except StoppedError:
        return found
    pairs = _worth_a_look(material, context)
    material = replace(material, config=_bounded(config.dense, sum(len(later) for _, later in pairs)))
    parts = context.run("match", _best_of_block, Shared(material), cut_pairs(pairs, context.workers))
    old = measure_contact(borders, found)
    old = replace(old, fit=np.maximum(old.fit, contact_fit(old, borders.step_px, learned.contact)))
    return chosen(Candidates.concat([old, *parts]), config.per_piece, len(borders))


def _worth_a_look(material: RaggedMaterial, context: Context) -> list[PairRow]:
    """All pairs, or of many pieces each with its likeliest partners; none when stopped early."""
    retrieval, n = material.config.retrieval, len(material.borders)
    if n <= retrieval.above:
        return all_pairs(n)
    distance = find_distances(material.kinds, material.passes, context)
    return [] if distance is None else rows_of(nearest_partners(distance, retrieval.ragged_partners))


def _bounded(config: DenseConfig, n_pairs: int) -> DenseConfig:
    """Fewer seeds of a pair where there are very many pairs."""
    looks = max(1, n_pairs * len(config.ragged.windows) * len(config.color_lab))
    seeds = max(1, min(config.ragged.seeds_per_pair, _MOST_SEEDS // looks))
    return replace(config, ragged=replace(config.ragged, seeds_per_pair=seeds))


def prepare_ragged(
    borders: Borders, config: DenseConfig, scales: Scales, weights: Logistic, stop: Stop | None = None
) -> RaggedMaterial:
    """Describe the windows of every pass; raises `StoppedError` when it is to end."""
    lengths = [length * scales.perimeter_px for length in config.ragged.windows]
    kinds = [tuple(WindowKind(length, 1.0, color) for color in config.color_lab) for length in lengths]
    passes = [describe_windows(borders, same, _STRIDE_FRONT, _STRIDE_BACK, scales.reference, stop) for same in kinds]
    flat_kinds, flat_passes = tuple(k for same in kinds for k in same), tuple(w for same in passes for w in same)
    return RaggedMaterial(borders, bends(borders), flat_kinds, flat_passes, config, weights)


def measure_contact(borders: Borders, rows: Candidates) -> Candidates:
    """The same candidates with their contact measured as they lie."""
    _, contact = settle(borders, rows.i, rows.j, rows.pose, bends(borders), refine=False)
    return replace(rows, contact=contact)


def _best_of_block(material: RaggedMaterial, block: Sequence[PairRow]) -> Candidates:
    return Candidates.concat([_best_of_row(material, row) for row in block])


def settle_row(material: RaggedMaterial, row: PairRow) -> Candidates:
    """All seeds of a row of pairs, settled and measured; those that hardly touch or have no seam are left out."""
    i, others = row
    borders, config = material.borders, material.config
    along = [int(2 * kind.length_px / borders.step_px) for kind in material.kinds]
    seeds = [
        find_seeds(windows, i, others, config.ragged.seeds_per_pair, (_ACROSS, a))
        for windows, a in zip(material.passes, along, strict=True)
    ]
    j, rough = np.concatenate([s[0] for s in seeds]), np.concatenate([s[1] for s in seeds])
    own = np.full(len(j), i, np.int32)
    pose, contact = settle(borders, own, j, rough, material.bend)
    touch = np.flatnonzero(contact[:, 0] >= _LEAST_SAMPLES * borders.step_px)
    as_it_lies = replace(config.verify, radii_px=())
    features = verify(borders, own[touch], j[touch], pose[touch], as_it_lies)[1]
    rows = Candidates.make(own[touch], j[touch], pose[touch], features, contact=contact[touch])
    return rows.take(rows.feature("length") > 0)


def _best_of_row(material: RaggedMaterial, row: PairRow) -> Candidates:
    found = settle_row(material, row)
    rated = replace(found, fit=contact_fit(found, material.borders.step_px, material.weights))
    return rated.take(select_candidates(rated, len(rated), len(material.borders), material.config.ragged.per_pair))

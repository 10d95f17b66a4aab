"""Ground floor: what a measured seam says by itself, and how straight the cuts of a puzzle are.

The fit of a seam is a logistic regression on the terms below and their products, fitted on puzzles cut from training
photographs: long, tight, wiggly and alike in colour is near 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jigsawnet.candidates import CONTACT, FEATURES, Candidates
from jigsawnet.learned import Logistic
from jigsawnet.types import Float32Array, FloatArray

PLAIN_TERMS = 11
"""The first terms, which are not products of others."""
_Floats = FloatArray | Float32Array
_CHUNK = 20_000
_CLEAN, _MOST_SLACK = 0.4, 2.0
_CONFIDENT = 0.9
"""Seams that fit better than this show what the cuts of a puzzle look like."""
_WIGGLY_PX, _STRAIGHT = 1.0, 0.3
"""Cuts flatter than so many units count as straight; a seam is suspect below this part of the usual flatness."""


def seam_fit(features: Float32Array, step_px: float, weights: Logistic) -> FloatArray:
    """Score seams ``(C, len(FEATURES))``: ``1 / (1 + exp(-(terms . weights + bias)))``; a pose without any seam scores 0."""
    factors, score = np.array(weights.weights), np.zeros(len(features))
    for start in range(0, len(features), _CHUNK):
        part = slice(start, start + _CHUNK)
        logit = (seam_terms(features[part], step_px) * factors).sum(1) + weights.bias  # no matrix product: rows round alone
        score[part] = 1.0 / (1.0 + np.exp(-np.clip(logit, -20, 20)))
    score[features[:, FEATURES.index("length")] <= 0] = 0.0
    return score


def seam_terms(features: Float32Array, step_px: float) -> FloatArray:
    """Features made comparable between puzzles (logarithms, ratios) and all their products: ``(C, 77)``."""
    f = dict(zip(FEATURES, features.astype(np.float64).T, strict=True))
    unit = max(1.0, step_px / 3.0)
    length = np.maximum(f["length"], step_px)
    basic = np.column_stack(
        [
            np.log(length / step_px),
            f["residual"] / unit,
            np.log1p(f["overlap_length"] / step_px),
            f["tight_length"] / length,
            np.log1p(f["color_step"]),
            f["color_correlation"],
            np.log1p(f["flatness"] / unit),
            np.log1p(f["color_spread"]),
            np.log1p(f["gap"] / step_px),
            np.log1p(f["overlap_depth"] / unit),
            np.log(np.maximum(f["share"], 1e-3)),
        ]
    )
    return with_products(basic)


def with_products(terms: FloatArray) -> FloatArray:
    """Terms ``(C, T)`` and all products of two of them: ``(C, T + T (T + 1) / 2)``."""
    a, b = np.triu_indices(terms.shape[1])
    return np.column_stack([terms, terms[:, a] * terms[:, b]])


def contact_fit(rows: Candidates, step_px: float, weights: Logistic) -> FloatArray:
    """Score seams that touch in parts, ``(C,)``, as `seam_fit` does; those that touch nowhere score 0."""
    factors, score = np.array(weights.weights), np.zeros(len(rows))
    touching = np.flatnonzero(rows.contact[:, CONTACT.index("contact")] > 0)
    for start in range(0, len(touching), _CHUNK):
        part = touching[start : start + _CHUNK]
        terms = with_products(contact_terms(rows.take(part), step_px))
        logit = (terms * factors).sum(1) + weights.bias  # no matrix product: rows round alone
        score[part] = 1.0 / (1.0 + np.exp(-np.clip(logit, -20, 20)))
    return score


def contact_terms(rows: Candidates, step_px: float) -> FloatArray:
    """Contact and features made comparable between puzzles: ``(C, 25)``."""
    c = dict(zip(CONTACT, rows.contact.astype(np.float64).T, strict=True))
    f = dict(zip(FEATURES, rows.features.astype(np.float64).T, strict=True))
    unit = max(1.0, step_px / 3.0)

    def steps(px: FloatArray) -> FloatArray:
        return np.asarray(np.log1p(np.maximum(px, 0.0) / step_px))

    return np.column_stack([
        steps(c["contact"]), np.log1p(c["stretches"]), steps(c["longest_contact"]), steps(c["contact_span"]),
        c["contact_residual"] / unit, c["bend_fine"], c["bend_coarse"], np.log1p(c["roughness"] / unit), steps(c["facing"]),
        np.log1p(c["mean_gap"] / unit), np.log1p(c["overlap_area"] / step_px), np.log1p(c["near_step"]), c["near_correlation"],
        np.log1p(c["far_step"]), c["far_correlation"], np.log1p(c["far_spread"]),
        c["contact"] / np.maximum(c["facing"], step_px), steps(f["length"]), f["residual"] / unit, steps(f["overlap_length"]),
        f["tight_length"] / np.maximum(f["length"], step_px), f["color_correlation"], np.log1p(f["flatness"] / unit),
        np.log1p(f["color_spread"]), np.log1p(f["overlap_depth"] / unit),
    ])  # fmt: skip


def slack_of(residual_px: _Floats, unit_px: float) -> float:
    """How much more than a cleanly cut puzzle one may be off, 1 to 2, by the ``residual_px (S,)`` of its own sure seams.

    The median, against `_CLEAN` units. Measured at 36 pieces: clean, eroded, straight, noisy 0.13 to 0.20 units; bent, torn and
    broken ones 0.38 to 0.88.
    """
    if not len(residual_px):
        return 1.0
    return float(np.clip(np.median(residual_px) / (_CLEAN * unit_px), 1.0, _MOST_SLACK))


def puzzle_slack(rows: Candidates, unit_px: float, min_score: float = 0.5) -> float:
    """`slack_of` the measured seams that score ``min_score`` and more."""
    return slack_of(rows.feature("residual")[(rows.score >= min_score) & rows.measured], unit_px)


@dataclass(frozen=True, slots=True)
class CutShape:
    """How wiggly the cuts of a puzzle are, so that picture borders can be told from cuts."""

    flatness_px: float
    length_px: float

    def lower_straight(self, fit: FloatArray, flatness: _Floats, length: _Floats) -> FloatArray:
        """Lower the fit of seams that are too straight for this puzzle: two picture borders, not two sides of a cut.

        ``odds *= min(1, flatness / expected)^3``, what is expected growing with the seam up to the usual length.
        """
        expected = _STRAIGHT * self.flatness_px * np.minimum(1.0, length / max(self.length_px, 1e-9))
        straight = np.where(expected > 0, np.minimum(1.0, flatness / np.maximum(expected, 1e-9)), 1.0)
        odds = fit / np.maximum(1.0 - fit, 1e-9) * straight**3
        return np.asarray(odds / (1.0 + odds))

    def fit(self, rows: Candidates, step_px: float, weights: Logistic) -> FloatArray:
        """The fit ``(C,)`` of measured candidates in this puzzle."""
        return self.lower_straight(seam_fit(rows.features, step_px, weights), rows.feature("flatness"), rows.feature("length"))


def cut_shape(rows: Candidates, fit: FloatArray, step_px: float) -> CutShape:
    """What the best seam of each piece looks like; a shape that lowers nothing where cuts are straight."""
    i, j = rows.i, rows.j
    flatness, length = rows.feature("flatness"), rows.feature("length")
    n_pieces = int(max(i.max(initial=-1), j.max(initial=-1))) + 1
    worst_first = np.lexsort((-np.arange(len(fit)), fit))
    best = np.full(n_pieces, -1)
    for side in (i, j):  # the last one written, the best, stays
        mine = np.full(n_pieces, -1)
        mine[side[worst_first]] = worst_first
        better = (mine >= 0) & ((best < 0) | (fit[mine] > fit[best]))
        best[better] = mine[better]
    best = best[best >= 0]
    best = best[fit[best] > _CONFIDENT]
    if not len(best) or np.median(flatness[best]) < _WIGGLY_PX * max(1.0, step_px / 3.0):
        return CutShape(0.0, 1.0)
    return CutShape(float(np.median(flatness[best])), float(np.median(length[best])))

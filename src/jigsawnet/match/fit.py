"""Dense matcher, step 4: one number in (0, 1) from the features of a seam.

A logistic regression on the terms below and their products, fitted on puzzles cut from training photographs
(``benchmarks/fit_seam_score.py``): long, tight, wiggly and alike in colour is near 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jigsawnet.match.fit_weights import BIAS, WEIGHTS
from jigsawnet.match.verify import FEATURES
from jigsawnet.types import Float32Array, FloatArray

_Floats = FloatArray | Float32Array
_CHUNK = 100_000
_CONFIDENT, _WIGGLY_PX, _STRAIGHT = 0.9, 1.0, 0.3


def seam_fit(features: Float32Array, step_px: float) -> FloatArray:
    """Score seams ``(C, len(FEATURES))``; a pose without any seam scores 0."""
    weights, score = np.array(WEIGHTS), np.zeros(len(features))
    for start in range(0, len(features), _CHUNK):
        part = slice(start, start + _CHUNK)
        logit = (seam_terms(features[part], step_px) * weights).sum(1) + BIAS  # no matrix product: rows round alone
        score[part] = 1.0 / (1.0 + np.exp(-np.clip(logit, -20, 20)))
    score[features[:, FEATURES.index("length")] <= 0] = 0.0
    return score


@dataclass(frozen=True, slots=True)
class CutShape:
    """How wiggly the cuts of a puzzle are, so that picture borders can be told from cuts."""

    flatness_px: float
    length_px: float

    def lower_straight(self, fit: FloatArray, flatness: _Floats, length: _Floats) -> FloatArray:
        """Lower the score of seams that are too straight for this puzzle: two picture borders, not two sides of a cut."""
        expected = _STRAIGHT * self.flatness_px * np.minimum(1.0, length / max(self.length_px, 1e-9))
        odds = fit / np.maximum(1.0 - fit, 1e-9) * np.minimum(1.0, flatness / np.maximum(expected, 1e-9)) ** 3
        return np.asarray(odds / (1.0 + odds))


def cut_shape(
    i: NDArray[np.int32], j: NDArray[np.int32], fit: FloatArray, flatness: _Floats, length: _Floats, step_px: float
) -> CutShape:
    """Median shape of the best seam of every piece; flatness 0, which lowers nothing, where cuts are straight."""
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
    a, b = np.triu_indices(basic.shape[1])
    return np.column_stack([basic, basic[:, a] * basic[:, b]])

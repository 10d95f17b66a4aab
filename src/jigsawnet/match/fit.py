"""Dense matcher, step 4: one number in (0, 1) from the features of a seam.

A logistic regression on the terms below and their products, fitted on puzzles cut from training photographs
(``benchmarks/fit_seam_score.py``): long, tight, wiggly and alike in colour is near 1.
"""

from __future__ import annotations

import numpy as np

from jigsawnet.match.fit_weights import BIAS, WEIGHTS
from jigsawnet.match.verify import FEATURES
from jigsawnet.types import Float32Array, FloatArray


def seam_fit(features: Float32Array, step_px: float) -> FloatArray:
    """Score seams ``(C, len(FEATURES))``; a pose without any seam scores 0."""
    logit = seam_terms(features, step_px) @ np.array(WEIGHTS) + BIAS
    return np.asarray(np.where(features[:, FEATURES.index("length")] > 0, 1.0 / (1.0 + np.exp(-np.clip(logit, -20, 20))), 0.0))


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

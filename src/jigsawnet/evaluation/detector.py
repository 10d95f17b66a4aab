"""A detector of stated quality, simulated: scores drawn so that precision and recall at 0.5 are what is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from jigsawnet.types import BoolArray, FloatArray

_STEEPNESS = 2.0


def simulate_scores(right: Sequence[bool] | BoolArray, precision: float, recall: float, rng: np.random.Generator) -> FloatArray:
    """Scores ``(C,)`` in (0, 1) for candidates of which ``right`` are.

    Right and wrong ones are normal on the logit scale, with unit spread, shifted so that ``recall`` of the right ones and just
    so many of the wrong ones lie above 0.5 that ``precision`` of all above 0.5 are right, in expectation.
    """
    if not (0 < precision <= 1 and 0 < recall < 1):
        raise ValueError("precision must lie in (0, 1] and recall in (0, 1)")
    good = np.asarray(right, dtype=bool)
    n_right, n_wrong = int(good.sum()), int((~good).sum())
    passing = min(0.49, recall * n_right * (1 - precision) / precision / max(1, n_wrong))
    shift_right = NormalDist().inv_cdf(recall)
    shift_wrong = NormalDist().inv_cdf(max(1e-9, passing))
    logit = rng.standard_normal(len(good)) + np.where(good, shift_right, shift_wrong)
    return np.asarray(1.0 / (1.0 + np.exp(-_STEEPNESS * logit)))

"""One calibrated probability from what the seam measures and what the detectors see.

A logistic regression, fitted on candidates of puzzles cut from training photographs.
"""

from __future__ import annotations

import numpy as np

from jigsawnet.learned import Logistic
from jigsawnet.seam_fit import PLAIN_TERMS
from jigsawnet.types import FloatArray

_EDGE = 1e-5


def logit(probability: FloatArray) -> FloatArray:
    """Log odds, kept finite."""
    p = np.clip(probability, _EDGE, 1.0 - _EDGE)
    return np.asarray(np.log(p / (1.0 - p)))


def combine(terms: FloatArray, votes: FloatArray, weights: Logistic) -> FloatArray:
    """Probability ``(C,)`` from ``terms (C, 77)`` and ``votes (C, V)``: the seam score, then each detector's probability."""
    z = combined_terms(terms, votes) @ np.array(weights.weights) + weights.bias
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(z, -30, 30))))


def combined_terms(terms: FloatArray, votes: FloatArray) -> FloatArray:
    """The terms, the log odds of the votes, their products, and their products with the first 11 terms."""
    odds = logit(votes)
    a, b = np.triu_indices(odds.shape[1])
    crossed = (odds[:, :, None] * terms[:, None, :PLAIN_TERMS]).reshape(len(terms), odds.shape[1] * PLAIN_TERMS)
    return np.column_stack([terms, odds, odds[:, a] * odds[:, b], crossed])

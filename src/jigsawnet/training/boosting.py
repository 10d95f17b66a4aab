"""Within-class imbalance: AdaBoost over networks, after the equations and Algorithm 1 of the paper's Section IV.

The weights are a distribution over distinct examples. An example that sampling repeats starts with as many shares as it was
drawn, which is the same as giving each repetition its own weight.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jigsawnet.training.sampling import IntArray
from jigsawnet.types import BoolArray, FloatArray

THRESHOLD = 0.5
_SMALLEST_ERROR = 1e-6
MOST_CHANGED = 1e-3
"""Share of the decisions that the cascade may change."""


def start_weights(counts: IntArray) -> FloatArray:
    """``D_0``: 1/n for each of the n drawn rows, summed over the repetitions ``counts (M,)`` of each distinct example."""
    return np.asarray(counts / counts.sum(), dtype=np.float64)


def decide(probability: FloatArray) -> BoolArray:
    """``G(x)``: true, that is +1, where the probability of a right join is at least 0.5."""
    return np.asarray(probability >= THRESHOLD)


def weighted_error(weights: FloatArray, right: BoolArray, said_right: BoolArray) -> float:
    """``E_k``: share of the weight that lies on examples the network got wrong."""
    return float(weights[right != said_right].sum() / weights.sum())


def learner_weight(error: float) -> float:
    """``alpha_k = log((1 - E) / E) / 2``, the say of a network in the vote.

    The error is kept off 0, so that a perfect network has a large say and not an infinite one. A network no better than chance
    (``E >= 0.5``) gets 0: it has no say and leaves the weights as they are, where the equation would turn its vote round.
    """
    if error >= 0.5:
        return 0.0
    error = max(error, _SMALLEST_ERROR)
    return float(0.5 * np.log((1.0 - error) / error))


def update_weights(weights: FloatArray, right: BoolArray, said_right: BoolArray, alpha: float) -> FloatArray:
    """``w_k = w_(k-1) exp(-y alpha G(x))``, scaled to the same sum; the scale cancels in ``E_k`` and in the loss."""
    updated = weights * np.exp(np.where(right == said_right, -alpha, alpha))
    return np.asarray(updated * (weights.sum() / updated.sum()), dtype=np.float64)


def vote(alphas: Sequence[float], probabilities: FloatArray) -> FloatArray:
    """``f(x) / sum(alpha)`` in [-1, 1] from ``probabilities (K, N)``: the paper's classifier, right where it is above 0."""
    return np.asarray(_shares(alphas) @ np.where(decide(probabilities), 1.0, -1.0))


def ensemble_probability(alphas: Sequence[float], probabilities: FloatArray) -> FloatArray:
    """Mean of ``probabilities (K, N)`` weighted by ``alphas``: the same voters with a soft vote, which also ranks."""
    return np.asarray(_shares(alphas) @ probabilities)


def rejection_threshold(alphas: Sequence[float], probabilities: FloatArray, most_changed: float = MOST_CHANGED) -> float:
    """Probability of the first network below which the others need not be asked.

    The largest, up to 0.5, for which at most a share ``most_changed`` of the ``N`` examples is called right by the ensemble's
    soft vote and yet rejected by the first network.
    """
    accepted = np.sort(probabilities[0][ensemble_probability(alphas, probabilities) >= THRESHOLD])
    allowed = int(most_changed * probabilities.shape[1])
    return float(min(THRESHOLD, accepted[allowed])) if allowed < len(accepted) else THRESHOLD


def _shares(alphas: Sequence[float]) -> FloatArray:
    """Each network's share in the vote; equal ones when none has a say."""
    shares = np.asarray(alphas, dtype=np.float64)
    return shares / shares.sum() if shares.sum() > 0 else np.full(len(shares), 1.0 / len(shares))

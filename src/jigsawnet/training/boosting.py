"""Imbalance of the data, after the paper's Section IV: sampling between classes, AdaBoost within them; and how good it is.

The boosting weights are a distribution over distinct examples. An example that sampling repeats starts with as many shares as
it was drawn, which is the same as giving each repetition its own weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jigsawnet.errors import InputError
from jigsawnet.evaluation.detect_metrics import average_precision, count_decisions
from jigsawnet.training.config import SamplingConfig, UpdateRule
from jigsawnet.types import BoolArray, FloatArray

IntArray = NDArray[np.int64]

THRESHOLD = 0.5
_SMALLEST_ERROR = 1e-6
MOST_CHANGED = 1e-3
"""Share of the decisions that the cascade may change."""


@dataclass(frozen=True, slots=True)
class Scores:
    """Quality on examples held out."""

    loss: float
    """Mean cross-entropy."""
    average_precision: float
    """Area under the curve of precision over recall."""
    precision: float
    """Share of right ones among those said to be right."""
    recall: float
    """Share of the right ones that were said to be right."""


def sample_rows(right: BoolArray, config: SamplingConfig, rng: np.random.Generator) -> IntArray:
    """Rows to train on, sorted, with repetition, from labels ``right (N,)``.

    Right joins are repeated ``oversample`` times and a random share ``keep`` of the result stays. Then wrong joins are thinned
    out until ``positive_share`` of all rows are right, or, where wrong joins are too few for that, the right ones are.

    Raises:
        InputError: there are no right or no wrong joins.
    """
    good, bad = np.flatnonzero(right), np.flatnonzero(~right)
    if not len(good) or not len(bad):
        raise InputError(f"The examples hold no {'wrong' if len(good) else 'right'} joins; give more photos or more puzzles.")
    repeated = np.repeat(good, config.oversample)
    n_good = max(1, round(len(repeated) * config.keep))
    odds = config.positive_share / (1 - config.positive_share)
    n_bad = max(1, round(n_good / odds))
    if n_bad > len(bad):
        n_bad = len(bad)
        n_good = max(1, min(n_good, round(n_bad * odds)))
    chosen = (rng.choice(repeated, n_good, replace=False), rng.choice(bad, n_bad, replace=False))
    return np.sort(np.concatenate(chosen)).astype(np.int64)


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


def update_weights(
    weights: FloatArray, right: BoolArray, said_right: BoolArray, alpha: float, rule: UpdateRule = "paper"
) -> FloatArray:
    """``w_k = w_(k-1) exp(-y alpha G(x))``, scaled to the same sum; the scale cancels in ``E_k`` and in the loss.

    That is the rule ``paper``: the misjudged get half of the weight, whatever ``E_k`` was. ``code`` is what the paper's authors
    published: ``w_(k-1) exp(-y G(x)) exp(alpha)``, whose last factor is the same for all and cancels, so that the misjudged get
    ``e E / (e E + (1 - E) / e)``, 16 % at an error of 2.5 %. ``none`` leaves the weights as they are.
    """
    if rule == "none" or alpha == 0.0:
        return weights
    power = alpha if rule == "paper" else 1.0
    updated = weights * np.exp(np.where(right == said_right, -power, power))
    return np.asarray(updated * (weights.sum() / updated.sum()), dtype=np.float64)


def can_overrule(alphas: Sequence[float]) -> bool:
    """True when the later networks together have more say than the first: else the vote is the first network's decision."""
    return sum(alphas[1:]) > alphas[0]


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


def measure(probability: FloatArray, right: BoolArray) -> Scores:
    """Scores of ``probability (N,)`` against ``right (N,)``; decisions at 0.5; a share of nothing is 0."""
    sure = np.clip(probability, 1e-7, 1 - 1e-7)
    loss = float(-np.mean(np.log(np.where(right, sure, 1 - sure))))
    counts = count_decisions(decide(probability), right)
    return Scores(loss, average_precision(probability, right), counts.precision, counts.recall)


def _shares(alphas: Sequence[float]) -> FloatArray:
    """Each network's share in the vote; equal ones when none has a say."""
    shares = np.asarray(alphas, dtype=np.float64)
    return shares / shares.sum() if shares.sum() > 0 else np.full(len(shares), 1.0 / len(shares))

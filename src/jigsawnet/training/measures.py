"""How well probabilities tell right joins from wrong ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jigsawnet.training.boosting import decide
from jigsawnet.types import BoolArray, FloatArray


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


def measure(probability: FloatArray, right: BoolArray) -> Scores:
    """Scores of ``probability (N,)`` against ``right (N,)``; decisions at 0.5; a share of nothing is 0."""
    sure = np.clip(probability, 1e-7, 1 - 1e-7)
    loss = float(-np.mean(np.log(np.where(right, sure, 1 - sure))))
    said = decide(probability)
    hits = int((said & right).sum())
    return Scores(
        loss,
        average_precision(probability, right),
        hits / max(1, int(said.sum())),
        hits / max(1, int(right.sum())),
    )


def average_precision(probability: FloatArray, right: BoolArray) -> float:
    """Sum over thresholds of precision times the gain in recall; examples with equal probability pass together."""
    order = np.argsort(-probability, kind="stable")
    hits = np.cumsum(right[order])
    ends = np.append(np.flatnonzero(np.diff(probability[order])), len(order) - 1) if len(order) else np.zeros(0, int)
    if not len(ends) or hits[-1] == 0:
        return 0.0
    precision = hits[ends] / (ends + 1)
    gain = np.diff(hits[ends], prepend=0) / hits[-1]
    return float(np.sum(precision * gain))

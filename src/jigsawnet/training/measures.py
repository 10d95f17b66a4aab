"""How well probabilities tell right joins from wrong ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jigsawnet.evaluation.detect_metrics import average_precision, count_decisions
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
    counts = count_decisions(decide(probability), right)
    return Scores(loss, average_precision(probability, right), counts.precision, counts.recall)

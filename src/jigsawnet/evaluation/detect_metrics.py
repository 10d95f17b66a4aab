"""How well scores tell right candidates from wrong ones: counts, and precision over recall; of nothing, 0."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jigsawnet.types import BoolArray, FloatArray


@dataclass(frozen=True, slots=True)
class Confusion:
    """Decisions against the truth."""

    tp: int
    """Right and said to be right."""
    tn: int
    """Wrong and said to be wrong."""
    fp: int
    """Wrong but said to be right."""
    fn: int
    """Right but said to be wrong."""

    @property
    def precision(self) -> float:
        """Share of right ones among those said to be right."""
        return self.tp / max(1, self.tp + self.fp)

    @property
    def recall(self) -> float:
        """Share of the right ones that are said to be right."""
        return self.tp / max(1, self.tp + self.fn)


def count_decisions(said_right: BoolArray, right: BoolArray, each: FloatArray | None = None) -> Confusion:
    """Count decisions ``(C,)`` against the truth ``(C,)``; ``each (C,)`` says how many candidates one stands for."""
    count = np.ones(len(right)) if each is None else each
    tp, said, real, total = (round(float(count[part].sum())) for part in (said_right & right, said_right, right, slice(None)))
    return Confusion(tp, total - said - real + tp, said - tp, real - tp)


def precision_recall(score: FloatArray, right: BoolArray, each: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
    """Precision and recall, each ``(T,)``, at every distinct score as threshold, the highest first; ``each`` as above."""
    order = np.argsort(-score, kind="stable")
    count = (np.ones(len(order)) if each is None else each)[order]
    last_of_tie = np.append(np.flatnonzero(np.diff(score[order])), len(order) - 1)[: len(order)]
    hits = np.cumsum(count * right[order])[last_of_tie]
    return hits / np.cumsum(count)[last_of_tie], hits / max(1.0, float(hits[-1:].sum()))


def average_precision(score: FloatArray, right: BoolArray, each: FloatArray | None = None) -> float:
    """Area under precision over recall, as steps: the mean of the precision at which each right candidate is reached."""
    precision, recall = precision_recall(score, right, each)
    return float(precision @ np.diff(recall, prepend=0.0))

"""What confidences say against what is seen: probabilities mean what they say when the two agree, bin by bin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from jigsawnet.evaluation.metrics import right_joins, rightly_placed
from jigsawnet.types import Assembly, BoolArray, FloatArray, Puzzle

EDGES = (0.0, 0.5, 0.8, 0.95, 0.99, 1.0)
"""Of the bins; the last one holds 1, too."""


@dataclass(frozen=True, slots=True)
class Bin:
    """Those whose confidence is at least ``low`` and less than ``high``."""

    low: float
    high: float
    said: float
    """Mean of their confidences."""
    right: float
    """How many of them are right, as a share."""
    count: int


def reliability_bins(probability: FloatArray, right: BoolArray) -> list[Bin]:
    """The bins of ``probability (N,)`` that are not empty, and how much of each came true, by ``right (N,)``."""
    found = []
    for low, high in pairwise(EDGES):
        inside = (probability >= low) & ((probability < high) | (high == EDGES[-1]))
        if inside.any():
            found.append(Bin(low, high, float(probability[inside].mean()), float(right[inside].mean()), int(inside.sum())))
    return found


def confidence_bins(puzzle: Puzzle, assembly: Assembly, truth: Assembly) -> dict[str, list[Bin]]:
    """The bins of all ``pieces`` and all ``joins`` that have a confidence.

    A piece is right when it lies right relative to the main part of its component, which is what its confidence speaks of.
    """
    placed = rightly_placed(puzzle, assembly, truth)
    pieces = [(sure, idx in placed) for idx, sure in assembly.confidence.items() if idx in assembly.poses]
    joins = [(e.confidence, good) for e, good in zip(assembly.joins, right_joins(puzzle, assembly, truth), strict=True)]
    return {"pieces": _bins(pieces), "joins": _bins(joins)}


def _bins(values: Sequence[tuple[float, bool]]) -> list[Bin]:
    return reliability_bins(np.array([said for said, _ in values], np.float64), np.array([right for _, right in values], bool))

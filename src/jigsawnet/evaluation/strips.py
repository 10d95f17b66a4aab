"""Strips of a shredded page: how many neighbours in the true order lie side by side."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from jigsawnet.candidates import Candidates
from jigsawnet.geometry import SE2
from jigsawnet.types import Alignment, Assembly, BoolArray, Puzzle

MAX_DEG = 5.0
STEP = (0.4, 1.4)
"""How far the middle of a strip's picture lies right of its left neighbour's, in mean widths of the two strips."""
MAX_RISE_PX = 40.0

Order = Mapping[int, int]
"""Piece → its place from the left, from 0; pieces are stored upright."""


@dataclass(frozen=True, slots=True)
class StripMetrics:
    """Counts of one page."""

    n: int
    """Strips in the true order."""
    placed: int
    pairs_right: int
    """Neighbours in the true order that lie side by side in one component."""
    joins: int
    joins_right: int
    """Joins between such neighbours."""

    @property
    def accuracy(self) -> float:
        """Pairs right over all pairs."""
        return self.pairs_right / max(1, self.n - 1)

    @property
    def join_precision(self) -> float | None:
        """Joins right over all joins; None without joins."""
        return self.joins_right / self.joins if self.joins else None


def evaluate_strips(puzzle: Puzzle, assembly: Assembly, order: Order, n: int | None = None) -> StripMetrics:
    """Compare an assembly with the true order; a join is right when its pieces are neighbours and lie side by side.

    ``n``: strips of the page, where not all of them could be read.
    """
    component = {idx: k for k, members in enumerate(assembly.components) for idx in members}
    right = {
        frozenset((left, next_to))
        for left, next_to in neighbors_in(order)
        if left in component
        and component[left] == component.get(next_to)
        and lie_side_by_side(puzzle, left, next_to, assembly.poses[left].inverse() @ assembly.poses[next_to])
    }
    joins = [frozenset((e.alignment.i, e.alignment.j)) for e in assembly.joins]
    joins = [join for join in joins if join <= order.keys()]
    placed = len(order.keys() & assembly.poses.keys())
    return StripMetrics(len(order) if n is None else n, placed, len(right), len(joins), sum(join in right for join in joins))


def right_strip_candidates(puzzle: Puzzle, rows: Candidates | Iterable[Alignment], order: Order) -> BoolArray:
    """``(C,)``: candidates that put neighbours in the true order side by side."""
    rows = rows if isinstance(rows, Candidates) else Candidates.of(rows)
    pairs = set(neighbors_in(order))
    right = np.zeros(len(rows), bool)
    for k, (i, j) in enumerate(zip(rows.i.tolist(), rows.j.tolist(), strict=True)):
        if (i, j) in pairs:
            right[k] = lie_side_by_side(puzzle, i, j, rows.i_from_j(k))
        elif (j, i) in pairs:
            right[k] = lie_side_by_side(puzzle, j, i, rows.i_from_j(k).inverse())
    return right


def neighbors_in(order: Order) -> list[tuple[int, int]]:
    """Pairs (left, right) of neighbours, from the left."""
    at = {place: idx for idx, place in order.items()}
    return [(at[place], at[place + 1]) for place in sorted(at) if place + 1 in at]


def lie_side_by_side(puzzle: Puzzle, left: int, right: int, left_from_right: SE2) -> bool:
    """Nearly upright to each other, the middle of the right picture about a strip's width right of the left one's.

    Pictures of strips that were scanned slanted are much wider than these.
    """
    (height, width), (right_height, right_width) = (puzzle.pieces[idx].mask.shape for idx in (left, right))
    x, y = left_from_right @ np.array([right_width / 2, right_height / 2])
    step = (x - width / 2) / ((_width(puzzle.pieces[left].mask) + _width(puzzle.pieces[right].mask)) / 2)
    return (
        abs(math.degrees(math.remainder(left_from_right.theta, math.tau))) < MAX_DEG
        and STEP[0] < step < STEP[1]
        and abs(y - height / 2) < MAX_RISE_PX
    )


def _width(mask: BoolArray) -> float:
    """How wide a strip itself is, on average: its area over its length."""
    return float(mask.sum()) / max(1.0, float(mask.any(axis=1).sum()))

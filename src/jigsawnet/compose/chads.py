"""Chads in grids, laid down: rows along their long sides, which are long; then rows below rows, by all ends that meet."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np

from jigsawnet.compose.grid import Cell, Grid, GridScores, grow_grids, meetings
from jigsawnet.geometry import SE2, fit_rigid
from jigsawnet.stopping import Stop
from jigsawnet.types import Alignment, Assembly, FloatArray, Join, sort_components

_ODDS, _DOUBT = 1.5, 7.5
"""A join that came about by evidence e is right with log odds of the first times e, less the second: of 2,000 joins on made-up
pages, those of 4 to 6 were right in 40 to 100 % of all cases, those of more in 99 to 100 %."""


class Sides(Protocol):
    """What is known of the sides of chads, handed in."""

    def pose(self, a: int, b: int, is_below: bool) -> SE2:
        """a_from_b of the pieces of two chads, upright (2 n) or turned (2 n + 1)."""

    def end(self, b: int) -> FloatArray:
        """Two points ``(2, 2)`` on the upper end of a chad, in its piece's frame."""


def compose_chads(
    scores: GridScores, sides: Sides, n_pieces: int, chads: Sequence[int], stop: Stop | None = None
) -> Assembly | None:
    """Put chads together; None when nothing lies in two rows and two columns, as with strips of whole pages."""
    grown = grow_grids(scores, chads, stop)
    grids = [grid for grid in grown.grids if len(grid) > 1]
    if not any(len({row for row, _ in grid}) > 1 and len({column for _, column in grid}) > 1 for grid in grids):
        return None
    poses, joins = dict[int, SE2](), list[Join]()
    for grid in grids:
        found = lay_grid(grid, sides)
        poses |= found
        for cell, other, _ in meetings(grid):
            i, j = sorted((grid[cell] // 2, grid[other] // 2))
            likely = float(1.0 / (1.0 + np.exp(-(_ODDS * grown.odds[frozenset((i, j))] - _DOUBT))))
            joins.append(Join(Alignment(i, j, found[i].inverse() @ found[j], likely), likely))
    confidence = dict.fromkeys(poses, 0.0)
    for join in joins:
        for idx in (join.alignment.i, join.alignment.j):
            confidence[idx] = max(confidence[idx], join.score)
    components = sort_components([number // 2 for number in grid.values()] for grid in grids)
    return Assembly(n_pieces, poses, components, tuple(joins), confidence, chosen=tuple(joins))


def lay_grid(grid: Grid, sides: Sides) -> dict[int, SE2]:
    """Poses of the pieces of a grid, in one frame."""
    blocks = [_row(run, grid, sides) for run in _runs(grid)]
    while len(blocks) > 1:
        of = {cell: k for k, block in enumerate(blocks) for cell in block}
        between: dict[tuple[int, int], list[tuple[Cell, Cell]]] = {}
        for upper, lower, _ in meetings(grid):
            if of[upper] != of[lower]:
                between.setdefault((min(of[upper], of[lower]), max(of[upper], of[lower])), []).append((upper, lower))
        (first, second), pairs = max(between.items(), key=lambda each: (len(each[1]), -each[0][0], -each[0][1]))
        move = _fitted(pairs, grid, blocks[first], blocks[second], sides)
        blocks[first] |= {cell: move @ pose for cell, pose in blocks.pop(second).items()}
    return {grid[cell] // 2: pose for cell, pose in blocks[0].items()}


def _runs(grid: Grid) -> list[list[Cell]]:
    """Cells that lie side by side without a hole."""
    runs: list[list[Cell]] = []
    for row, column in sorted(grid):
        if (row, column - 1) in grid:
            runs[-1].append((row, column))
        else:
            runs.append([(row, column)])
    return runs


def _row(run: Sequence[Cell], grid: Grid, sides: Sides) -> dict[Cell, SE2]:
    poses = {run[0]: SE2(0.0, 0.0, 0.0)}
    for left, right in pairwise(run):
        poses[right] = poses[left] @ sides.pose(grid[left], grid[right], False)
    return poses


def _fitted(
    pairs: Sequence[tuple[Cell, Cell]], grid: Grid, first: dict[Cell, SE2], second: dict[Cell, SE2], sides: Sides
) -> SE2:
    """first_from_second, the rigid motion that lays ends which meet on each other in the least squares."""
    target, source = list[FloatArray](), list[FloatArray]()
    for upper, lower in pairs:
        in_lower = sides.end(grid[lower])
        in_upper = sides.pose(grid[upper], grid[lower], True) @ in_lower
        target.append(first[upper] @ in_upper if upper in first else first[lower] @ in_lower)
        source.append(second[lower] @ in_lower if upper in first else second[upper] @ in_upper)
    move = fit_rigid(np.concatenate(source), np.concatenate(target))
    assert move is not None  # two points of an end never coincide
    return move

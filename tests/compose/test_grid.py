"""Grids of chads, grown from scores that are made up: which two stand out beside and below each other."""

from __future__ import annotations

import numpy as np
import pytest

from jigsawnet.compose.chads import compose_chads, lay_grid
from jigsawnet.compose.grid import Grid, GridScores, grow_grids, meetings, turned_half
from jigsawnet.geometry import SE2
from jigsawnet.stopping import Stop
from jigsawnet.types import Float32Array, FloatArray

ROWS, COLUMNS, WIDE, HIGH = 4, 9, 20.0, 100.0
TURNED = (3, 8, 17, 30)


def number(row: int, column: int) -> int:
    """The chad at a place of the page, upright as the page has it."""
    idx = row * COLUMNS + column
    return 2 * idx + (idx in TURNED)


def page_scores(beside: float = 7.0, below: float = 2.2, seed: int = 0) -> GridScores:
    """Noise of spread 1, and what true neighbours have more of; the same seen upside down."""
    rng = np.random.default_rng(seed)
    n = 2 * ROWS * COLUMNS
    tables = []
    for down, right, more in ((0, 1, beside), (1, 0, below)):
        score = rng.standard_normal((n, n)).astype(np.float32)
        for row in range(ROWS - down):
            for column in range(COLUMNS - right):
                score[number(row, column), number(row + down, column + right)] += more
        tables.append(as_seen_both_ways(score))
    return GridScores(*tables)


def as_seen_both_ways(score: Float32Array) -> Float32Array:
    """A score, where b after a is as likely as a turned after b turned."""
    other = np.arange(len(score)) ^ 1
    upper = score[np.ix_(other, other)].T
    found = np.where(np.abs(upper) > np.abs(score), upper, score)
    found[np.arange(len(score)) // 2 == (np.arange(len(score)) // 2)[:, None]] = -99.0
    return np.asarray(found, np.float32)


def the_page() -> Grid:
    return {(row, column): number(row, column) for row in range(ROWS) for column in range(COLUMNS)}


def is_the_page(grid: Grid) -> bool:
    return grid in (the_page(), turned_half(the_page()))


class Upright:
    """Sides of chads that all lie as the page has them, and are all of one size."""

    def pose(self, a: int, b: int, is_below: bool) -> SE2:
        half = SE2(np.pi * (a & 1), 0.0, 0.0)
        step = SE2(0.0, 0.0, HIGH) if is_below else SE2(0.0, WIDE, 0.0)
        return half.inverse() @ step @ SE2(np.pi * (b & 1), 0.0, 0.0)

    def end(self, b: int) -> FloatArray:
        upright = np.array([[-5.0, -HIGH / 2.0], [5.0, -HIGH / 2.0]])
        return -upright if b & 1 else upright


def test_a_page_is_put_together_though_single_ends_say_little() -> None:
    grown = grow_grids(page_scores(), range(ROWS * COLUMNS))
    assert len(grown.grids) == 1
    assert is_the_page(grown.grids[0])
    assert len(grown.odds) >= ROWS * (COLUMNS - 1) + (ROWS - 1) * COLUMNS


def test_rows_stay_apart_where_their_ends_say_nothing() -> None:
    grids = grow_grids(page_scores(below=0.0), range(ROWS * COLUMNS)).grids
    assert not any(is_the_page(grid) for grid in grids)
    assert max(len(grid) for grid in grids) >= COLUMNS


def test_chads_that_nothing_speaks_for_stay_alone() -> None:
    grids = grow_grids(page_scores(beside=0.0, below=0.0), range(ROWS * COLUMNS)).grids
    assert sum(len(grid) > 1 for grid in grids) <= 2


def test_only_the_chads_asked_for_are_laid() -> None:
    kept = [idx for idx in range(ROWS * COLUMNS) if idx != 4]
    laid = {n // 2 for grid in grow_grids(page_scores(), kept).grids for n in grid.values()}
    assert laid == set(kept)


def test_when_it_is_stopped_all_chads_are_still_there() -> None:
    stop = Stop()
    stop.request()
    grids = grow_grids(page_scores(), range(ROWS * COLUMNS), stop).grids
    assert sorted(n // 2 for grid in grids for n in grid.values()) == list(range(ROWS * COLUMNS))


def test_a_grid_turned_by_half_meets_upside_down() -> None:
    grid = {(0, 0): 2, (0, 1): 4, (1, 0): 7}
    assert turned_half(grid) == {(1, 1): 3, (1, 0): 5, (0, 1): 6}
    assert turned_half(turned_half(grid)) == grid
    assert meetings(grid) == [((0, 0), (0, 1), False), ((0, 0), (1, 0), True)]


def test_a_grid_is_laid_down_with_holes_in_it() -> None:
    grid = {cell: n for cell, n in the_page().items() if cell not in ((1, 4), (2, 4))}
    poses = lay_grid(grid, Upright())
    first = poses[0]
    for (row, column), n in grid.items():
        there = first.inverse() @ poses[n // 2] @ np.zeros((1, 2))
        assert there == pytest.approx(np.array([[column * WIDE, row * HIGH]]), abs=1e-6)


def test_chads_become_an_assembly_whose_joins_tell_how_sure_they_are() -> None:
    found = compose_chads(page_scores(), Upright(), ROWS * COLUMNS, range(ROWS * COLUMNS))
    assert found is not None
    assert len(found.poses) == ROWS * COLUMNS
    assert len(found.joins) == ROWS * (COLUMNS - 1) + (ROWS - 1) * COLUMNS
    assert min(join.score for join in found.joins) > 0.5


def test_a_single_row_is_left_to_those_who_join_strips() -> None:
    assert compose_chads(page_scores(), Upright(), ROWS * COLUMNS, range(COLUMNS)) is None

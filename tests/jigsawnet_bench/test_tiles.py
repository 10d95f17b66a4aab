"""Tiles: every true join agrees with the truth, and every false one is as plausible as a true one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from jigsawnet.borders import Borders
from jigsawnet.candidates import Candidates
from jigsawnet.types import Alignment, Assembly, Join
from jigsawnet_bench.tiles import TILE_PX, make_tiles

MIDDLE = np.array([TILE_PX / 2, TILE_PX / 2])
ROWS, COLUMNS, TRUE_JOINS = 3, 4, 3 * 3 + 2 * 4


@pytest.fixture(scope="module")
def tiles() -> tuple[Candidates, Borders, Assembly]:
    return make_tiles(ROWS, COLUMNS, 2.0, np.random.default_rng(7))


def joins(found: Candidates) -> list[Join]:
    return [found.join_at(row) for row in range(len(found))]


def agrees(a: Alignment, truth: Assembly) -> bool:
    angle, distance = a.i_from_j.distance(truth.poses[a.i].inverse() @ truth.poses[a.j], at=MIDDLE)
    return angle < 0.02 and distance < 2.0


def test_the_truth_is_a_grid(tiles: tuple[Candidates, Borders, Assembly]) -> None:
    _, _, truth = tiles
    assert truth.complete
    middles = np.array([truth.poses[k] @ MIDDLE for k in range(ROWS * COLUMNS)])
    grid = TILE_PX * np.array([(k % COLUMNS, k // COLUMNS) for k in range(ROWS * COLUMNS)])
    np.testing.assert_allclose(middles, grid, atol=1e-9)


def test_every_pair_of_neighbours_has_a_join_that_agrees_with_the_truth(tiles: tuple[Candidates, Borders, Assembly]) -> None:
    found, _, truth = tiles
    right = [e for e in joins(found) if agrees(e.alignment, truth)]
    neighbors = {
        (k, m)
        for k in range(ROWS * COLUMNS)
        for m in range(k + 1, ROWS * COLUMNS)
        if abs(k % COLUMNS - m % COLUMNS) + abs(k // COLUMNS - m // COLUMNS) == 1
    }
    assert len(neighbors) == TRUE_JOINS
    assert {(e.alignment.i, e.alignment.j) for e in right} == neighbors
    for pair in neighbors:
        assert max(e.score for e in right if (e.alignment.i, e.alignment.j) == pair) >= 0.5


@pytest.mark.parametrize(("false_per_true", "expected"), [(0.0, 0), (1.0, 17), (2.5, 42), (10.0, 170)])
def test_there_are_as_many_false_joins_as_asked(false_per_true: float, expected: int) -> None:
    found, _, _ = make_tiles(ROWS, COLUMNS, false_per_true, np.random.default_rng(8))
    assert len(found) == TRUE_JOINS + expected
    assert ((found.score >= 0) & (found.score <= 1)).all()


def test_every_join_puts_a_side_on_a_side(tiles: tuple[Candidates, Borders, Assembly]) -> None:
    found, _, truth = tiles
    assert not all(agrees(e.alignment, truth) for e in joins(found))
    for e in joins(found):
        offset = np.abs((e.alignment.i_from_j @ MIDDLE) - MIDDLE)
        assert sorted(offset.tolist()) == pytest.approx([0.0, TILE_PX], abs=2.0), "one tile along one axis"
        quarter = e.alignment.i_from_j.theta / (math.pi / 2)
        assert abs(quarter - round(quarter)) < 0.02


def test_the_inside_of_a_tile_lies_to_the_right(tiles: tuple[Candidates, Borders, Assembly]) -> None:
    _, borders, _ = tiles
    points = borders.points[borders.samples(0)].astype(np.float64)
    normals = borders.normals[borders.samples(0)]
    ahead = np.roll(points, -1, axis=0) - points
    np.testing.assert_allclose(np.linalg.norm(ahead, axis=1), borders.step_px, atol=1e-6)
    right_of_way = np.column_stack([-ahead[:, 1], ahead[:, 0]]) / borders.step_px
    np.testing.assert_allclose(normals, right_of_way, atol=1e-6)
    assert (((MIDDLE - points) * normals).sum(1) > 0).all()


def test_the_seed_decides() -> None:
    first, again, other = (make_tiles(2, 2, 1.0, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert joins(first[0]) == joins(again[0])
    assert first[2] == again[2]
    assert joins(first[0]) != joins(other[0])

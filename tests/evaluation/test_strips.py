"""Strips: neighbours that lie side by side are counted, and the independent scorer counts the same."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from independent_scorer import score_strips

from jigsawnet.candidates import Candidates
from jigsawnet.evaluation.strips import Order, evaluate_strips, neighbors_in, right_strip_candidates
from jigsawnet.geometry import SE2, pose_row
from jigsawnet.io.assembly_json import write_assembly
from jigsawnet.io.pieces import write_pieces
from jigsawnet.types import Alignment, Assembly, Join, Piece, Puzzle, sort_components

WIDTH, HEIGHT = 30, 200
ORDER: Order = {0: 2, 1: 0, 2: 3, 3: 1}


def strips(n: int) -> Puzzle:
    shape = HEIGHT, WIDTH
    pieces = (Piece(k, f"p{k:03d}.png", np.full((*shape, 3), 9, np.uint8), np.ones(shape, bool)) for k in range(n))
    return Puzzle("strips", tuple(pieces))


def join(poses: dict[int, SE2], i: int, j: int) -> Join:
    return Join(Alignment(i, j, poses[i].inverse() @ poses[j], 0.9), 0.9)


def laid(order: Order, turned: float = 0.0) -> dict[int, SE2]:
    """All strips in their order, the page turned as a whole."""
    page = SE2(turned, 40.0, -7.0)
    return {idx: page @ SE2(0.0, place * WIDTH, 0.0) for idx, place in order.items()}


def whole(poses: dict[int, SE2], *joins: Join) -> Assembly:
    return Assembly(len(ORDER), poses, (tuple(sorted(poses)),), joins)


@pytest.mark.parametrize("turned", [0.0, math.pi / 2, 3.0])
def test_a_page_in_order_is_right_whichever_way_up(turned: float) -> None:
    poses = laid(ORDER, turned)
    found = evaluate_strips(strips(4), whole(poses, join(poses, 0, 3), join(poses, 0, 1)), ORDER)
    assert (found.n, found.placed, found.pairs_right, found.joins, found.joins_right) == (4, 4, 3, 2, 1)
    assert (found.accuracy, found.join_precision) == (1.0, 0.5)


@pytest.mark.parametrize(
    ("moved", "right"),
    [
        (SE2(0.0, 0.0, 39.0), 3),
        (SE2(0.0, 0.0, 41.0), 1),
        (SE2(math.radians(6.0), 0.0, 0.0), 1),
        (SE2(0.0, 0.35 * WIDTH, 0.0), 3),
        (SE2(0.0, 0.45 * WIDTH, 0.0), 2),
        (SE2(math.pi, 0.0, 0.0), 1),
    ],
)
def test_a_strip_that_is_moved_too_far_loses_its_neighbours(moved: SE2, right: int) -> None:
    middle = SE2(0.0, WIDTH / 2, HEIGHT / 2)
    poses = laid(ORDER)
    poses[3] = poses[3] @ middle @ moved @ middle.inverse()
    assert evaluate_strips(strips(4), whole(poses), ORDER).pairs_right == right


def test_the_pictures_of_slanted_strips_are_wider_than_the_strips() -> None:
    """Each strip leans by half of its picture's width, so pictures lie a third of their width apart."""
    shape, rows = (HEIGHT, 3 * WIDTH), np.arange(HEIGHT)[:, None]
    left = 2 * WIDTH * rows / HEIGHT
    mask = (np.arange(3 * WIDTH) >= left) & (np.arange(3 * WIDTH) < left + WIDTH)
    slanted = Puzzle("strips", tuple(Piece(k, f"{k}.png", np.full((*shape, 3), 9, np.uint8), mask) for k in range(4)))
    assert evaluate_strips(slanted, whole(laid(ORDER)), ORDER).pairs_right == 3
    apart = {idx: SE2(0.0, 2.0 * place * WIDTH, 0.0) for idx, place in ORDER.items()}
    assert evaluate_strips(slanted, whole(apart), ORDER).pairs_right == 0


def test_strips_of_two_components_are_no_pair_and_those_left_out_count() -> None:
    poses = laid(ORDER)
    del poses[2]
    parts = Assembly(4, poses, ((0, 3), (1,)))
    found = evaluate_strips(strips(4), parts, ORDER)
    assert (found.placed, found.pairs_right, found.accuracy, found.join_precision) == (3, 1, pytest.approx(1 / 3), None)
    assert evaluate_strips(strips(4), parts, ORDER, n=11).accuracy == 0.1


def test_neighbours_in_the_reverse_order_are_wrong() -> None:
    mirrored = {idx: 3 - place for idx, place in ORDER.items()}
    assert evaluate_strips(strips(4), whole(laid(mirrored)), ORDER).pairs_right == 0
    assert neighbors_in(ORDER) == [(1, 3), (3, 0), (0, 2)]
    assert neighbors_in({0: 0, 1: 2}) == []


def test_candidates_are_right_when_they_put_neighbours_side_by_side() -> None:
    beside = SE2(0.0, WIDTH, 3.0)
    poses = [beside.inverse(), beside, beside, beside]
    rows = Candidates.make([0, 0, 1, 0], [3, 3, 3, 1], [pose_row(pose) for pose in poses], fit=1.0)
    assert right_strip_candidates(strips(4), rows, ORDER).tolist() == [True, False, True, False]


@pytest.mark.parametrize("seed", range(6))
def test_the_independent_scorer_counts_the_same(tmp_path: Path, seed: int) -> None:
    rng, n = np.random.default_rng(seed), 12
    puzzle, order = strips(n), dict(enumerate(rng.permutation(n).tolist()))
    poses = {
        idx: pose @ SE2(rng.normal(0.0, 0.04), rng.normal(0.0, 8.0), rng.normal(0.0, 20.0))
        for idx, pose in laid(order, rng.uniform(-3, 3)).items()
    }
    del poses[int(rng.integers(n))]
    parts = sort_components([{idx for idx in poses if (order[idx] < 6) == low} for low in (True, False)])
    pairs = [sorted(pair) for pair in neighbors_in(order)[::2]]
    joins = tuple(join(poses, i, j) for i, j in pairs if {i, j} <= poses.keys())
    assembly = Assembly(n, poses, parts, joins)
    write_pieces(tmp_path / "pieces", puzzle)
    write_assembly(tmp_path / "assembly.json", assembly, puzzle.names())
    (tmp_path / "truth.json").write_text(json.dumps({puzzle.pieces[idx].name: place for idx, place in order.items()}))
    ours = evaluate_strips(puzzle, assembly, order)
    assert 0 < ours.pairs_right < n - 1
    assert score_strips(tmp_path, tmp_path / "assembly.json") == pytest.approx({
        "n": ours.n, "placed": ours.placed, "pairs_right": ours.pairs_right, "accuracy": ours.accuracy,
        "join_precision": ours.join_precision,
    })  # fmt: skip

"""Pieces may touch and overlap by a hair; anything more is an intersection, whichever piece is asked."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jigsawnet.borders import Borders, build_borders
from jigsawnet.candidates import CONTACT, FEATURES, Candidates
from jigsawnet.compose import ComposeConfig, compose
from jigsawnet.compose.intersection import HAIR, Overlap, allowed_overlap, placements_intersect
from jigsawnet.context import Context
from jigsawnet.contours import ContourConfig, trace_contours
from jigsawnet.geometry import SE2
from jigsawnet.types import Assembly, FloatArray, Piece, Puzzle

SIDE = 60.0


def boxes(*sizes: tuple[int, int]) -> Borders:
    """A borders of boxes, (width, height) each, whose frames start at the centre of their top-left pixel."""

    def piece(idx: int, width: int, height: int) -> Piece:
        return Piece(idx, str(idx), np.zeros((height, width, 3), np.uint8), np.ones((height, width), bool))

    puzzle = Puzzle("boxes", tuple(piece(idx, *size) for idx, size in enumerate(sizes)))
    return build_borders(trace_contours(puzzle, ContourConfig()))


def row(piece: int, pose: SE2) -> FloatArray:
    return np.array([[piece, pose.theta, pose.x, pose.y]])


def at(piece: int, x: float, y: float, theta: float = 0.0) -> FloatArray:
    return row(piece, SE2(theta, x, y))


def intersect(borders: Borders, a: FloatArray, b: FloatArray) -> bool:
    """Ask both ways round; the answers must agree."""
    answer = placements_intersect(borders, a, b)
    assert placements_intersect(borders, b, a) is answer
    return answer


TILES = boxes((60, 60), (60, 60))
NESTED = boxes((60, 60), (30, 30), (60, 60))


@pytest.mark.parametrize("overlap_px", [-20.0, 0.0, 1.0, 2.0])
def test_tiles_that_touch_do_not_intersect(overlap_px: float) -> None:
    for dx, dy in [(1, 0), (-1, 0), (0, 1), (0, -1)]:
        shift = SIDE - overlap_px
        assert not intersect(TILES, at(0, 0, 0), at(1, dx * shift, dy * shift))


@pytest.mark.parametrize("part", [0.2, 0.5, 1.0])
def test_tiles_that_lie_on_each_other_intersect(part: float) -> None:
    for dx, dy in [(1, 0), (-1, 0), (0, 1), (0, -1)]:
        shift = SIDE * (1 - part)
        assert intersect(TILES, at(0, 0, 0), at(1, dx * shift, dy * shift))


def test_a_piece_inside_another_intersects_it() -> None:
    assert intersect(NESTED, at(0, 0, 0), at(1, 15, 15))
    assert intersect(NESTED, at(0, 0, 0), at(1, 40, 20, theta=0.7))


def test_turned_pieces_are_judged_where_they_lie() -> None:
    corner_to_edge = at(1, 60 + 30 * math.sqrt(2), -12.9, theta=math.pi / 4)  # stands on its corner beside the other
    assert not intersect(TILES, at(0, 0, 0), corner_to_edge)
    pushed_in = at(1, 40 + 30 * math.sqrt(2), -12.9, theta=math.pi / 4)
    assert intersect(TILES, at(0, 0, 0), pushed_in)


@settings(deadline=None, max_examples=40)
@given(st.floats(-80, 80), st.floats(-80, 80), st.floats(-math.pi, math.pi), st.floats(-500, 500), st.floats(-500, 500))
def test_only_the_relative_pose_counts(dx: float, dy: float, theta: float, x: float, y: float) -> None:
    width, height = SIDE - abs(dx), SIDE - abs(dy)
    if min(width, height) < 14 and min(width, height) > 3:
        return  # neither clearly apart nor clearly on each other
    common = SE2(theta, x, y)
    on_each_other = min(width, height) >= 14
    assert intersect(TILES, row(0, common), row(1, common @ SE2(0.0, dx, dy))) is on_each_other


def test_one_bad_pair_among_two_groups_is_enough() -> None:
    borders = boxes(*[(60, 60)] * 4)
    fixed = np.vstack([at(0, 0, 0), at(1, 60, 0)])
    assert not intersect(borders, fixed, np.vstack([at(2, 0, 60), at(3, 60, 60)]))
    assert intersect(borders, fixed, np.vstack([at(2, 120, 0), at(3, 60, 10)]))


def test_a_piece_without_border_intersects_nothing() -> None:
    borders = boxes((60, 60), (1, 1))
    assert not intersect(borders, at(0, 0, 0), at(1, 30, 30))


def test_cut_pieces_do_not_intersect_where_they_belong_but_do_when_pushed(nine_pieces: tuple[Puzzle, Assembly]) -> None:
    puzzle, truth = nine_pieces
    borders = build_borders(trace_contours(puzzle, ContourConfig()))
    rows = [row(idx, pose) for idx, pose in truth.poses.items()]
    for a in range(len(rows)):
        others = np.vstack(rows[:a] + rows[a + 1 :])
        assert not intersect(borders, rows[a], others)
        assert any(intersect(borders, rows[a] + [0, 0, push, 0], others) for push in (-25, 25))


def test_tiles_by_the_dozen(square_tiles: Callable[[int], Borders], tile_pose: Callable[..., SE2]) -> None:
    borders = square_tiles(12)
    left = np.vstack([row(idx, tile_pose(idx % 2, idx // 2, idx)) for idx in range(6)])
    right = np.vstack([row(idx, tile_pose(idx % 2 + 2, idx // 2 - 3, idx)) for idx in range(6, 12)])
    assert not intersect(borders, left, right)
    assert intersect(borders, left, right - [0, 0, 0.3 * SIDE, 0])


def test_a_thin_piece_on_a_large_one_intersects_it_both_ways_round() -> None:
    borders = boxes((100, 100), (7, 60))
    assert intersect(borders, at(0, 0, 0), at(1, 40, 20))


def test_long_strips_on_each_other_intersect() -> None:
    borders = boxes((24, 1754), (24, 1754))
    assert intersect(borders, at(0, 0, 0), at(1, 0, 0))


def seams(residual_px: float, ragged: bool, score: float = 0.9) -> Candidates:
    """Two candidates whose seams run so far apart."""
    features = np.ones((2, len(FEATURES)), np.float32)
    features[:, FEATURES.index("residual")] = residual_px
    contact = np.full((2, len(CONTACT)), 1.0 if ragged else np.nan, np.float32)
    return Candidates.make([0, 0], [1, 1], np.zeros((2, 3)), features, fit=0.9, score=score, contact=contact)


@pytest.mark.parametrize(
    ("rows", "slack"),
    [
        (seams(0.2, ragged=True), 1.0),
        (seams(0.6, ragged=True), 1.5),
        (seams(5.0, ragged=True), 2.0),
        (seams(5.0, ragged=False), 1.0),
        (seams(5.0, ragged=True, score=0.3), 1.0),
        (Candidates.none(), 1.0),
    ],
    ids=["tight", "rough", "roughest", "cleanly cut", "unsure", "no candidates"],
)
def test_ragged_pieces_may_overlap_as_far_as_their_sure_seams_are_rough(rows: Candidates, slack: float) -> None:
    assert TILES.unit_px == 1.0
    assert allowed_overlap(HAIR, rows, TILES)[:2] == pytest.approx((4.0 * slack, 0.02 * slack**2))


def test_no_more_than_all_of_a_piece_may_overlap() -> None:
    assert allowed_overlap(Overlap(4.0, 0.5), seams(5.0, ragged=True), TILES).share == 1.0


def test_composers_are_given_the_overlap_of_their_puzzle() -> None:
    """Tiles 6 px into each other: too much for clean cuts, allowed where the sure seams are rough."""
    rows = replace(seams(5.0, ragged=True), pose=np.array([[0.0, 54.0, 0.0]] * 2)).best_first()
    clean = replace(rows, contact=np.full_like(rows.contact, np.nan))
    placed = [len(compose(table, TILES, "best-first", ComposeConfig(), Context()).poses) for table in (rows, clean)]
    assert placed == [2, 0]

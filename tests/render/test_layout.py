"""Components stand upright, lie apart, and fill the canvas from its corner."""

from __future__ import annotations

import math

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jigsawnet.geometry import SE2, shelve
from jigsawnet.render import lay_out, straighten_components
from jigsawnet.render.layout import outline
from jigsawnet.types import Alignment, Assembly, Join, Piece, Puzzle

sides = st.integers(1, 60)


def rectangles(*sizes):
    """Pieces of plain paper, ``(width, height)`` each, with a background of two pixels around them."""
    pieces = []
    for idx, (w, h) in enumerate(sizes):
        mask = np.zeros((h + 4, w + 4), bool)
        mask[2:-2, 2:-2] = True
        pieces.append(Piece(idx, str(idx), np.full((h + 4, w + 4, 3), 99, np.uint8), mask))
    return Puzzle("rectangles", tuple(pieces))


def points_of(puzzle, poses, members):
    return np.concatenate([poses[i] @ outline(puzzle.pieces[i]) for i in members])


def bounds(puzzle, poses, members):
    points = points_of(puzzle, poses, members)
    return points.min(axis=0), points.max(axis=0)


@settings(deadline=None, max_examples=40)
@given(sizes=st.lists(st.tuples(sides, sides), min_size=1, max_size=12), margin=st.integers(0, 9), row=st.integers(0, 200))
def test_shelves_keep_boxes_apart_and_inside(sizes, margin, row):
    corners, width, height = shelve(sizes, margin, row)
    taken = np.zeros((height + margin, width + margin), int)
    for (x, y), (w, h) in zip(corners, sizes, strict=True):
        assert 0 <= x <= width - w
        assert 0 <= y <= height - h
        taken[y : y + h + margin, x : x + w + margin] += 1
    assert taken.max() == 1
    assert corners[0] == (0, 0)


@settings(deadline=None, max_examples=30)
@given(theta=st.floats(-math.pi, math.pi), x=st.floats(-1e5, 1e5), y=st.floats(-1e5, 1e5))
def test_a_turned_rectangle_is_straightened_by_at_most_45_degrees(theta, x, y):
    puzzle = rectangles((120, 40), (120, 50))
    frame = SE2(theta, x, y)
    join = Join(Alignment(0, 1, SE2(0.0, 0.0, 40.0), 1.0), 0.9)
    crooked = Assembly(2, {0: frame, 1: frame @ SE2(0.0, 0.0, 40.0)}, ((0, 1),), (join,), {0: 0.9, 1: 0.8})
    straight = straighten_components(puzzle, crooked)
    low, high = bounds(puzzle, straight.poses, (0, 1))
    assert low == pytest.approx([0, 0], abs=1e-6)
    assert sorted(high) == pytest.approx([89, 119], abs=0.05)
    assert straight.poses[0].distance(crooked.poses[0])[0] <= math.pi / 4 + 1e-5
    i_from_j = straight.poses[0].inverse() @ straight.poses[1]
    assert i_from_j.distance(SE2(0.0, 0.0, 40.0)) == pytest.approx((0.0, 0.0), abs=1e-6)
    assert (straight.joins, straight.confidence) == (crooked.joins, crooked.confidence)


def test_straightening_twice_changes_nothing(turned):
    once = straighten_components(turned.puzzle, turned.truth)
    twice = straighten_components(turned.puzzle, once)
    for idx in range(9):
        angle, px = once.poses[idx].distance(twice.poses[idx])
        assert angle < 1e-5
        assert px < 0.01


def test_a_straight_component_is_not_turned(upright):
    straight = straighten_components(upright.puzzle, upright.truth)
    assert [straight.poses[i].theta for i in range(9)] == pytest.approx([0.0] * 9, abs=1e-6)
    assert (lay_out(upright.puzzle, straight).width, lay_out(upright.puzzle, straight).height) == (240, 180)


def test_components_turn_on_their_own():
    puzzle = rectangles((80, 30), (60, 20))
    assembly = Assembly(2, {0: SE2(0.2, 5.0, 5.0), 1: SE2(-0.4, 0.0, 0.0)}, ((0,), (1,)))
    straight = straighten_components(puzzle, assembly)
    assert [straight.poses[i].theta for i in (0, 1)] == pytest.approx([0.0, 0.0], abs=1e-4)


def test_a_straightened_largest_component_lies_in_the_canvas_as_in_its_own_frame(turned):
    straight = straighten_components(turned.puzzle, turned.truth)
    layout = lay_out(turned.puzzle, straight)
    for idx, pose in straight.poses.items():
        assert pose.distance(layout.canvas_from_piece[idx]) == pytest.approx((0.0, 0.0), abs=1e-9)


def test_components_lie_apart_inside_the_canvas_largest_first():
    puzzle = rectangles((200, 100), (50, 100), (90, 30), (40, 60), (30, 30))
    poses = {i: SE2(0.1 * i, 300.0 * i, -40.0) for i in range(5)} | {1: SE2(0.0, 200.0, -40.0), 0: SE2(0.0, 0.0, -40.0)}
    layout = lay_out(puzzle, Assembly(5, poses, ((0, 1), (2,), (3,), (4,))), margin_px=10)
    boxes = [bounds(puzzle, layout.canvas_from_piece, members) for members in ((0, 1), (2,), (3,), (4,))]
    assert boxes[0][0] == pytest.approx([0, 0])
    canvas = np.zeros((layout.height, layout.width), np.uint8)
    for low, high in boxes:
        assert (low > -0.5).all()
        assert (high < np.array([layout.width, layout.height]) - 0.5).all()
        left, top = np.floor(low + 1e-6).astype(int)
        right, bottom = np.ceil(high - 1e-6).astype(int) + 1
        assert not canvas[top:bottom, left:right].any()
        cv2.rectangle(canvas, (left - 9, top - 9), (right + 8, bottom + 8), 1, -1)


def test_poses_inside_a_component_only_move_together(turned):
    layout = lay_out(turned.puzzle, turned.truth)
    moves = [layout.canvas_from_piece[i] @ turned.truth.poses[i].inverse() for i in range(9)]
    for move in moves:
        assert (move.theta, move.x, move.y) == pytest.approx((0.0, moves[0].x, moves[0].y), abs=1e-9)


def test_the_tray_lies_below_and_leaves_the_picture_where_it_is(upright):
    some = upright.moved(lambda i: (0.0, 0.0), members=(0, 1, 3, 4))
    plain, with_tray = lay_out(upright.puzzle, some), lay_out(upright.puzzle, some, with_unplaced=True)
    assert (plain.tray, with_tray.tray) == ((), (2, 5, 6, 7, 8))
    assert {i: with_tray.canvas_from_piece[i] for i in some.poses} == plain.canvas_from_piece
    low, high = bounds(upright.puzzle, with_tray.canvas_from_piece, with_tray.tray)
    assert low[1] >= plain.height
    assert high[1] <= with_tray.height - 0.9


def test_nothing_placed_still_has_a_canvas():
    puzzle = rectangles((30, 20), (10, 50))
    nothing = Assembly(2, {}, ())
    assert (lay_out(puzzle, nothing).width, lay_out(puzzle, nothing).height) == (1, 1)
    tray = lay_out(puzzle, nothing, with_unplaced=True)
    assert min(pose.y for pose in tray.canvas_from_piece.values()) == -2.0
    assert tray.height >= 50

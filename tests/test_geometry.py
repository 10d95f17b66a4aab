"""Rigid motions form a group, act on points, and are found again from point pairs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jigsawnet.geometry import (
    SE2,
    FloatArray,
    carry_rows,
    chain_rows,
    fit_rigid,
    invert_rows,
    pose_row,
    wrap_angle,
    wrap_angles,
)

ANGLE = st.floats(-math.pi, math.pi)
SHIFT = st.floats(-1e4, 1e4)
MOTION = st.builds(SE2, ANGLE, SHIFT, SHIFT)
SEED = st.integers(0, 2**32 - 1)
quick = settings(deadline=None, max_examples=60)


def assert_same(a: SE2, b: SE2, tolerance: float = 1e-7) -> None:
    angle, distance = a.distance(b)
    assert angle < 1e-9
    assert distance < tolerance


def random_points(seed: int, n: int = 12) -> FloatArray:
    return np.random.default_rng(seed).uniform(-100, 100, (n, 2))


@quick
@given(MOTION, MOTION, MOTION)
def test_motions_form_a_group(a: SE2, b: SE2, c: SE2) -> None:
    assert_same((a @ b) @ c, a @ (b @ c))
    assert_same(a @ SE2.identity(), a)
    assert_same(SE2.identity() @ a, a)
    assert_same(a @ a.inverse(), SE2.identity())
    assert_same(a.inverse() @ a, SE2.identity())
    assert_same((a @ b).inverse(), b.inverse() @ a.inverse())


@quick
@given(MOTION, MOTION, SEED)
def test_composing_is_acting_one_after_the_other(a: SE2, b: SE2, seed: int) -> None:
    points = random_points(seed)
    np.testing.assert_allclose((a @ b) @ points, a @ (b @ points), atol=1e-7)
    np.testing.assert_allclose(a.inverse() @ (a @ points), points, atol=1e-7)


@quick
@given(MOTION, MOTION)
def test_matrices_say_the_same(a: SE2, b: SE2) -> None:
    assert_same(SE2.from_matrix(a.matrix()), a)
    np.testing.assert_allclose((a @ b).matrix(), a.matrix() @ b.matrix(), atol=1e-7)
    np.testing.assert_allclose(a.inverse().matrix(), np.linalg.inv(a.matrix()), atol=1e-7)


def test_the_action_turns_x_towards_y_and_then_shifts() -> None:
    motion = SE2(math.pi / 2, 10.0, 20.0)
    np.testing.assert_allclose(motion @ np.array([[1.0, 0.0], [0.0, 1.0]]), [[10.0, 21.0], [9.0, 20.0]], atol=1e-12)
    np.testing.assert_allclose(motion.matrix(), [[0, -1, 10], [1, 0, 20], [0, 0, 1]], atol=1e-12)


def test_points_keep_their_shape() -> None:
    for shape in [(2,), (5, 2), (3, 4, 2), (0, 2)]:
        assert (SE2(0.3, 1.0, 2.0) @ np.ones(shape)).shape == shape


@pytest.mark.parametrize(
    "matrix", [np.eye(2), np.eye(4), np.zeros((3, 2)), np.diag([1.0, np.nan, 1.0]), np.full((3, 3), np.inf)]
)
def test_what_is_no_matrix_of_a_motion_is_refused(matrix: FloatArray) -> None:
    with pytest.raises(ValueError, match="3x3 and finite"):
        SE2.from_matrix(matrix)


def test_a_noisy_rotation_is_projected_to_the_nearest() -> None:
    noisy = SE2(0.7, 3.0, 4.0).matrix()
    noisy[:2, :2] *= 1.02
    assert_same(SE2.from_matrix(noisy), SE2(0.7, 3.0, 4.0))


@quick
@given(MOTION, MOTION, SEED)
def test_distance_is_a_distance(a: SE2, b: SE2, seed: int) -> None:
    at = random_points(seed, 1)[0]
    assert a.distance(a, at) == (0.0, 0.0)
    assert a.distance(b, at) == pytest.approx(b.distance(a, at))
    assert 0.0 <= a.distance(b, at)[0] <= math.pi
    assert a.distance(b, at)[1] == pytest.approx(float(np.linalg.norm(a @ at - b @ at)))


def test_distance_is_measured_at_the_point_and_the_short_way_round() -> None:
    a, b = SE2(math.pi - 0.05, 0.0, 0.0), SE2(-math.pi + 0.05, 0.0, 0.0)
    angle, at_origin = a.distance(b)
    assert angle == pytest.approx(0.1)
    assert at_origin == 0.0
    assert a.distance(b, at=(100.0, 0.0))[1] == pytest.approx(200 * math.sin(0.05))


@quick
@given(st.floats(-1e3, 1e3))
def test_wrapping_keeps_the_direction(theta: float) -> None:
    wrapped = wrap_angle(theta)
    assert -math.pi <= wrapped <= math.pi
    assert math.cos(wrapped) == pytest.approx(math.cos(theta), abs=1e-9)
    assert math.sin(wrapped) == pytest.approx(math.sin(theta), abs=1e-9)


@quick
@given(MOTION, SEED, st.integers(2, 20))
def test_fit_finds_the_motion_again(motion: SE2, seed: int, n: int) -> None:
    source = random_points(seed, n)
    weights = np.random.default_rng(seed + 1).uniform(0.1, 5.0, n)
    for given_weights in (None, weights):
        fitted = fit_rigid(source, motion @ source, given_weights)
        assert fitted is not None
        np.testing.assert_allclose(fitted @ source, motion @ source, atol=1e-6)


@quick
@given(MOTION, SEED)
def test_a_weight_of_zero_leaves_a_point_out_and_a_weight_of_two_counts_it_twice(motion: SE2, seed: int) -> None:
    source = random_points(seed)
    target = (motion @ source) + np.random.default_rng(seed).normal(0, 1, source.shape)
    weights = np.arange(len(source)) % 3
    again = np.repeat(np.arange(len(source)), weights)
    fitted, repeated = fit_rigid(source, target, weights.astype(float)), fit_rigid(source[again], target[again])
    assert fitted is not None
    assert repeated is not None
    assert_same(fitted, repeated, 1e-6)


@quick
@given(SEED, st.floats(-0.02, 0.02), st.floats(-1, 1), st.floats(-1, 1))
def test_no_motion_nearby_fits_noisy_points_better(seed: int, turn: float, dx: float, dy: float) -> None:
    source = random_points(seed)
    target = (SE2(0.4, 5.0, -8.0) @ source) + np.random.default_rng(seed).normal(0, 2, source.shape)
    best = fit_rigid(source, target)
    assert best is not None
    other = SE2(best.theta + turn, best.x + dx, best.y + dy)
    assert ((best @ source - target) ** 2).sum() <= ((other @ source - target) ** 2).sum() + 1e-6


MOTIONS = st.lists(st.tuples(MOTION, MOTION), max_size=6)
ANY_ANGLE = st.floats(-1e3, 1e3)


def rows_of(motions: list[SE2]) -> FloatArray:
    return np.array([pose_row(motion) for motion in motions]).reshape(-1, 3)


def assert_rows(rows: FloatArray, motions: list[SE2]) -> None:
    assert rows.shape == (len(motions), 3)
    for row, motion in zip(rows.tolist(), motions, strict=True):
        assert_same(SE2(*row), motion)


@quick
@given(MOTIONS, SEED)
def test_many_motions_in_rows_are_moved_about_like_single_ones(pairs: list[tuple[SE2, SE2]], seed: int) -> None:
    first, then = [a for a, _ in pairs], [b for _, b in pairs]
    assert_rows(invert_rows(rows_of(first)), [a.inverse() for a in first])
    assert_rows(chain_rows(rows_of(first), rows_of(then)), [a @ b for a, b in pairs])
    points = random_points(seed, len(pairs))
    expected = np.array([a @ point for a, point in zip(first, points, strict=True)]).reshape(-1, 2)
    np.testing.assert_allclose(carry_rows(rows_of(first), points), expected, atol=1e-7)


@quick
@given(MOTIONS)
def test_rows_form_the_same_group(pairs: list[tuple[SE2, SE2]]) -> None:
    first, then = rows_of([a for a, _ in pairs]), rows_of([b for _, b in pairs])
    none = np.zeros_like(first)
    np.testing.assert_allclose(chain_rows(first, invert_rows(first)), none, atol=1e-7)
    np.testing.assert_array_equal(chain_rows(none, first), first)
    np.testing.assert_allclose(
        chain_rows(invert_rows(then), invert_rows(first)), invert_rows(chain_rows(first, then)), atol=1e-7
    )


def test_rows_of_any_shape_and_one_motion_for_many() -> None:
    motion, many = SE2(0.4, 3.0, -2.0), np.random.default_rng(0).normal(size=(2, 5, 3))
    row = np.array(pose_row(motion))
    assert invert_rows(many).shape == chain_rows(row, many).shape == (2, 5, 3)
    assert carry_rows(row, np.ones((4, 2))).shape == (4, 2)
    assert_rows(chain_rows(row, many[0]), [motion @ SE2(*pose) for pose in many[0].tolist()])


@quick
@given(st.lists(ANY_ANGLE, max_size=6))
def test_many_angles_are_wrapped_like_single_ones(angles: list[float]) -> None:
    wrapped = wrap_angles(np.array(angles))
    assert wrapped.shape == (len(angles),)
    assert (np.abs(wrapped) <= math.pi + 1e-12).all()
    for theta, found in zip(angles, wrapped.tolist(), strict=True):
        assert abs(wrap_angle(found - theta)) < 1e-9


@quick
@given(st.lists(ANGLE, max_size=6))
def test_angles_within_a_turn_stay_as_they_are_to_the_bit(angles: list[float]) -> None:
    assert wrap_angles(np.array(angles)).tolist() == angles


PAIR = np.array([[0.0, 0.0], [10.0, 0.0]])
CORNERS = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]])


@pytest.mark.parametrize(
    ("source", "target", "weights"),
    [
        (np.zeros((0, 2)), np.zeros((0, 2)), None),
        (PAIR[:1], PAIR[:1], None),
        (PAIR, PAIR[:1], None),
        (np.full((5, 2), 7.3), random_points(0, 5), None),
        (random_points(0, 5), np.full((5, 2), 7.3), None),
        (PAIR, PAIR, np.zeros(2)),
        (PAIR, PAIR, np.array([1.0, 0.0])),
        (CORNERS, CORNERS * (-1.0, 1.0), None),
    ],
    ids=["none", "one", "unpaired", "one place", "onto one place", "no weight", "one has weight", "mirrored square"],
)
def test_points_that_fix_no_rotation_give_none(source: FloatArray, target: FloatArray, weights: FloatArray | None) -> None:
    assert fit_rigid(source, target, weights) is None

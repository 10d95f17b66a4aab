from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jigsawnet.geometry import SE2
from jigsawnet.refine.joins import Joins, join_errors, make_joins
from jigsawnet.refine.pose_graph import optimize_poses, truncated_sum
from jigsawnet.types import FloatArray

LEVER_PX = 25.0
INLIER_PX = 5.0


def as_rows(poses: list[SE2]) -> FloatArray:
    return np.array([(p.theta, p.x, p.y) for p in poses]).reshape(-1, 3)


def as_poses(rows: FloatArray) -> list[SE2]:
    return [SE2(*map(float, row)) for row in rows]


def difference(a: FloatArray, b: FloatArray) -> float:
    """Largest difference of two sets of poses, angles times the lever."""
    turn = np.angle(np.exp(1j * (a[:, 0] - b[:, 0]))) * LEVER_PX
    return float(max(np.abs(turn).max(), np.abs(a[:, 1:] - b[:, 1:]).max()))


def grid_graph(rng: np.random.Generator, side: int, noise_px: float, n_false: int = 0) -> tuple[FloatArray, Joins, list[int]]:
    """True poses of ``side x side`` turned tiles, joins of neighbours with noise, and which of them were made false.

    No two false joins share a piece, and none is at a corner: a piece with one true and one false join could be in two places.
    """
    n = side * side
    truth = [SE2(rng.uniform(-3, 3), 80.0 * (k % side), 80.0 * (k // side)) for k in range(n)]
    pairs = [(k, k + 1) for k in range(n) if k % side < side - 1] + [(k, k + side) for k in range(n - side)]
    pairs += [(k, k + side + 1) for k in range(n - side) if k % side < side - 1]
    relative = as_rows([truth[i].inverse() @ truth[j] for i, j in pairs])
    relative += noise_px * rng.normal(size=relative.shape) * (1 / LEVER_PX, 1.0, 1.0)
    corners = {0, side - 1, n - side, n - 1}
    false, touched = [], corners
    for e in rng.permutation(len(pairs)).tolist():
        if len(false) < n_false and touched.isdisjoint(pairs[e]):
            false.append(e)
            touched = touched.union(pairs[e])
    false.sort()
    relative[false] += rng.choice([-1.0, 1.0], (n_false, 3)) * rng.uniform((0.3, 30, 30), (1.5, 60, 60), (n_false, 3))
    return as_rows(truth), make_joins(pairs, relative, lever=LEVER_PX), false


def shaken(rng: np.random.Generator, poses: FloatArray) -> FloatArray:
    moved = poses + rng.normal(size=poses.shape) * (0.05, 4.0, 4.0)
    moved[0] = poses[0]
    return moved


def gtsam_graph(gtsam: Any, initial: FloatArray, joins: Joins) -> tuple[Any, Any]:
    """The same problem for GTSAM: the first pose held by a constraint, errors in px."""
    graph, values = gtsam.NonlinearFactorGraph(), gtsam.Values()
    graph.add(gtsam.NonlinearEqualityPose2(0, gtsam.Pose2(*initial[0, 1:], initial[0, 0])))
    sigmas = gtsam.noiseModel.Diagonal.Sigmas(np.array([1.0, 1.0, 1.0 / LEVER_PX]))
    for i, j, (theta, x, y) in zip(joins.i.tolist(), joins.j.tolist(), joins.i_from_j, strict=True):
        graph.add(gtsam.BetweenFactorPose2(i, j, gtsam.Pose2(x, y, theta), sigmas))
    for k, (theta, x, y) in enumerate(initial):
        values.insert(k, gtsam.Pose2(x, y, theta))
    return graph, values


def gtsam_rows(values: Any, n: int) -> FloatArray:
    return np.array([(p.theta(), p.x(), p.y()) for p in (values.atPose2(k) for k in range(n))])


@pytest.mark.parametrize("seed", range(3))
def test_without_false_joins_the_poses_are_those_of_gtsam(seed: int) -> None:
    gtsam = pytest.importorskip("gtsam", reason="GTSAM, the oracle, is not installed", exc_type=ImportError)
    rng = np.random.default_rng(seed)
    truth, joins, _ = grid_graph(rng, 4, noise_px=0.001)
    initial = shaken(rng, truth)
    params = gtsam.LevenbergMarquardtParams()
    params.setRelativeErrorTol(1e-15)
    params.setAbsoluteErrorTol(1e-18)
    oracle = gtsam.LevenbergMarquardtOptimizer(*gtsam_graph(gtsam, initial, joins), params).optimize()
    result = optimize_poses(initial, joins, INLIER_PX)
    assert difference(result.poses, gtsam_rows(oracle, len(truth))) < 1e-6


@pytest.mark.parametrize("seed", range(4))
def test_false_joins_are_those_that_gtsam_finds(seed: int) -> None:
    gtsam = pytest.importorskip("gtsam", reason="GTSAM, the oracle, is not installed", exc_type=ImportError)
    rng = np.random.default_rng(seed)
    truth, joins, false = grid_graph(rng, 5, noise_px=0.1, n_false=4)
    initial = shaken(rng, truth)
    graph, values = gtsam_graph(gtsam, initial, joins)
    params = gtsam.GncLMParams(gtsam.LevenbergMarquardtParams())
    params.setLossType(gtsam.GncLossType.TLS)
    params.setKnownInliers([0])
    optimizer = gtsam.GncLMOptimizer(graph, values, params)
    optimizer.setInlierCostThresholds(INLIER_PX**2 / 2)
    oracle = gtsam_rows(optimizer.optimize(), len(truth))
    oracle_inlier = np.asarray(optimizer.getWeights())[1:] > 0.5

    result = optimize_poses(initial, joins, INLIER_PX)
    assert result.inlier.tolist() == oracle_inlier.tolist()
    assert np.flatnonzero(~result.inlier).tolist() == false
    assert difference(result.poses, oracle) < 1e-3
    assert result.objective <= truncated_sum(oracle, joins, INLIER_PX) + 1e-6


seeds = st.integers(0, 2**32 - 1)


@settings(deadline=None, max_examples=15)
@given(seeds)
def test_exact_joins_give_exact_poses(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth, joins, _ = grid_graph(rng, 3, noise_px=0.0)
    result = optimize_poses(shaken(rng, truth), joins, INLIER_PX)
    assert difference(result.poses, truth) < 1e-6
    assert result.inlier.all()
    assert result.objective < 1e-9
    assert result.cut_off == ()


@settings(deadline=None, max_examples=15)
@given(seeds)
def test_a_planted_false_join_is_dropped(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth, joins, false = grid_graph(rng, 3, noise_px=0.0, n_false=1)
    result = optimize_poses(truth, joins, INLIER_PX)
    assert np.flatnonzero(~result.inlier).tolist() == false
    assert difference(result.poses, truth) < 1e-6
    assert result.objective == pytest.approx(INLIER_PX**2)


@settings(deadline=None, max_examples=15)
@given(seeds, st.floats(-3, 3), st.floats(-500, 500), st.floats(-500, 500))
def test_a_motion_of_the_whole_moves_the_answer_alike(seed: int, theta: float, x: float, y: float) -> None:
    rng = np.random.default_rng(seed)
    truth, joins, _ = grid_graph(rng, 3, noise_px=0.3)
    initial = shaken(rng, truth)
    motion = SE2(theta, x, y)
    moved = as_rows([motion @ p for p in as_poses(initial)])
    here, there = optimize_poses(initial, joins, INLIER_PX), optimize_poses(moved, joins, INLIER_PX)
    assert difference(as_rows([motion @ p for p in as_poses(here.poses)]), there.poses) < 1e-4
    assert here.objective == pytest.approx(there.objective, rel=1e-6)


@settings(deadline=None, max_examples=25)
@given(seeds, st.integers(1, 6), st.integers(0, 12), st.sampled_from([0.0, 1.0, 1e6]))
def test_answers_are_finite_whatever_the_joins(seed: int, n: int, m: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    m = m if n > 1 else 0
    pairs = [sorted(rng.choice(n, 2, replace=False).tolist()) for _ in range(m)]
    joins = make_joins(pairs, scale * rng.normal(size=(m, 3)), rng.normal(size=(m, 2)), LEVER_PX, rng.uniform(0, 1, m))
    result = optimize_poses(scale * rng.normal(size=(n, 3)), joins, INLIER_PX)
    assert np.isfinite(result.poses).all()
    assert math.isfinite(result.objective)


def test_errors_are_measured_at_the_given_point_and_in_pixels() -> None:
    tilt = 0.01
    joins = make_joins([(0, 1)], [(0.0, 100.0, 0.0)], at=[(-50.0, 0.0)], lever=20.0)
    poses = np.array([(0.0, 0.0, 0.0), (tilt, 100.0, 0.0)])
    expected = (50.0 - 50.0 * math.cos(tilt), -50.0 * math.sin(tilt), 20.0 * tilt)
    assert join_errors(poses, joins)[0] == pytest.approx(expected)


def test_with_a_lever_after_the_seam_the_error_is_the_mean_square_distance_along_it() -> None:
    length, turned = 60.0, SE2(0.02, 100.3, -0.4)
    joins = make_joins([(0, 1)], [(0.0, 100.0, 0.0)], at=[(-50.0, 0.0)], lever=length / math.sqrt(12.0))
    poses = np.array([(0.0, 0.0, 0.0), (turned.theta, turned.x, turned.y)])
    seam = np.column_stack([np.full(2001, -50.0), np.linspace(-length / 2, length / 2, 2001)])
    distance = (turned @ seam) - (SE2(0.0, 100.0, 0.0) @ seam)
    assert (join_errors(poses, joins) ** 2).sum() == pytest.approx((distance**2).sum(1).mean(), rel=1e-3)


def test_a_piece_that_loses_all_joins_follows_by_its_initial_relative_pose() -> None:
    initial = np.array([(0.0, 0.0, 0.0), (0.0, 80.0, 0.0), (0.0, 160.0, 7.0)])
    joins = make_joins([(0, 1), (1, 2)], [(0.0, 83.0, 0.0), (0.0, 180.0, 0.0)], lever=LEVER_PX, weight=(1.0, 0.0))
    result = optimize_poses(initial, joins, INLIER_PX)
    assert result.inlier.tolist() == [True, False]
    assert result.cut_off == (2,)
    assert result.poses[1] == pytest.approx((0.0, 83.0, 0.0))
    assert result.poses[2] == pytest.approx((0.0, 163.0, 7.0))


def test_fixed_pieces_do_not_move() -> None:
    initial = as_rows([SE2(0.0, 80.0 * k, 0.0) for k in range(3)])
    joins = make_joins([(0, 1), (1, 2)], [(0.0, 81.0, 0.0), (0.0, 81.0, 0.0)], lever=LEVER_PX)
    result = optimize_poses(initial, joins, INLIER_PX, fixed=(0, 2))
    assert result.poses[[0, 2]] == pytest.approx(initial[[0, 2]])
    assert result.poses[1] == pytest.approx((0.0, 80.0, 0.0), abs=1e-9)
    assert result.objective == pytest.approx(2.0)


def test_heavier_joins_win() -> None:
    initial = np.zeros((2, 3))
    joins = make_joins([(0, 1), (0, 1)], [(0.0, 1.0, 0.0), (0.0, 0.0, 0.0)], lever=LEVER_PX, weight=(3.0, 1.0))
    assert optimize_poses(initial, joins, INLIER_PX).poses[1, 1] == pytest.approx(0.75)


def test_nonsense_is_refused() -> None:
    with pytest.raises(ValueError, match="does not exist"):
        optimize_poses(np.zeros((2, 3)), make_joins([(0, 2)], [(0, 0, 0)]), INLIER_PX)
    with pytest.raises(ValueError, match="finite"):
        make_joins([(0, 1)], [(math.nan, 0, 0)])
    with pytest.raises(ValueError, match="finite"):
        optimize_poses(np.full((2, 3), math.nan), make_joins([(0, 1)], [(0, 0, 0)]), INLIER_PX)

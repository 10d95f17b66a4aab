"""Robust pose graph: the paper's global objective over the selected joins (label Eq:GlobalObjective).

``E(X, U) = sum u e^T Omega e + w (1 - u)`` with ``e = phi(T_ij^-1 X_i^-1 X_j)``. For given poses a join is best dropped when
its error exceeds its penalty, so E is a truncated least-squares sum, solved by graduated non-convexity (Yang, Antonante,
Tzoumas and Carlone 2020): it starts from plain least squares and lets the loss grow towards the truncated one.

Omega makes the error a length: e is measured at the middle of the seam, and its angle is multiplied by a lever. With a lever of
``L / sqrt(12)`` for a seam of length L, ``e^T Omega e`` is the mean square distance, in px², by which the join and the poses
disagree along the seam. The penalty w is the square of the distance at which a join counts as false.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from jigsawnet.geometry import chain_rows, invert_rows
from jigsawnet.refine.joins import Joins, join_errors
from jigsawnet.refine.least_squares import LeastSquares
from jigsawnet.stopping import Stop
from jigsawnet.types import BoolArray, FloatArray

_LOSS_GROWTH = 1.4
_MAX_LOSS_STEPS = 200
_STEPS_PER_LOSS = 2
_FINAL_STEPS = 60
_SETTLE_ROUNDS = 20
_WIDENINGS = (4.0, 2.0, 1.0)
"""Limits, in times of the inlier limit, with which the optimum near the initial poses is looked for."""
_NEARLY = 1e-3
"""Weights this close to 0 or 1 are decided."""


@dataclass(frozen=True, slots=True, eq=False)
class PoseGraphResult:
    """``poses (n, 3)`` = (theta, x, y) of world_from_piece; ``inlier (m,)`` false for joins dropped."""

    poses: FloatArray
    inlier: BoolArray
    objective: float
    """Truncated least-squares sum at ``poses``, px²; pieces cut off are counted where they were placed."""
    cut_off: tuple[int, ...]
    """Pieces that no chain of kept joins connects with a fixed one; they follow the rest by their initial relative poses."""


def optimize_poses(
    initial: FloatArray, joins: Joins, inlier_px: float, fixed: tuple[int, ...] = (0,), stop: Stop | None = None
) -> PoseGraphResult:
    """Minimise the truncated sum over all poses but the fixed ones.

    The better of two answers is taken: graduated non-convexity, which finds its own way, and the local optimum at the
    initial poses, which a composer may have chosen well.

    Args:
        initial: ``(n, 3)`` poses (theta, x, y) to start from.
        joins: relative poses to agree with.
        inlier_px: joins with a larger error are dropped, at a penalty of its square.
        fixed: pieces that do not move; at least one.
        stop: asked between the steps; when it is over, the poses reached by then are the answer.
    """
    start = np.array(initial, dtype=np.float64).reshape(-1, 3)
    if not np.isfinite(start).all() or not inlier_px > 0:
        raise ValueError("initial poses must be finite and inlier_px positive")
    if len(joins) and not (joins.i.min() >= 0 and joins.j.min() >= 0 and max(joins.i.max(), joins.j.max()) < len(start)):
        raise ValueError("a join names a piece that does not exist")
    if not len(joins) or not fixed:
        return PoseGraphResult(start, np.ones(len(joins), dtype=bool), truncated_sum(start, joins, inlier_px), ())
    problem = LeastSquares(joins, len(start), fixed, stop)
    answers = [_settle_near(problem, start, inlier_px)]
    if not answers[0][1].all():
        answers.append(_graduate(problem, start, inlier_px))
    poses, inlier = min(answers, key=lambda answer: truncated_sum(answer[0], joins, inlier_px))
    poses, cut_off = _carry_cut_off(start, poses, joins, inlier, fixed)
    poses[:, 0] = np.arctan2(np.sin(poses[:, 0]), np.cos(poses[:, 0]))
    return PoseGraphResult(poses, inlier, truncated_sum(poses, joins, inlier_px), cut_off)


def truncated_sum(poses: FloatArray, joins: Joins, inlier_px: float) -> float:
    """The paper's E with the best choice of u: each join costs its square error, at most ``inlier_px`` squared."""
    square = (join_errors(poses, joins) ** 2).sum(1)
    return float((joins.weight * np.minimum(square, inlier_px**2)).sum())


def _settle_near(problem: LeastSquares, poses: FloatArray, inlier_px: float) -> tuple[FloatArray, BoolArray]:
    """Local optimum near the given poses, approached with wider limits first."""
    for widening in _WIDENINGS:
        poses, _ = _settle(problem, poses, widening * inlier_px)
        inlier = _within(problem.joins, poses, inlier_px)
        if inlier.all():
            break
    return poses, inlier


def _within(joins: Joins, poses: FloatArray, inlier_px: float) -> BoolArray:
    return np.asarray((join_errors(poses, joins) ** 2).sum(1) < inlier_px**2)


def _settle(problem: LeastSquares, poses: FloatArray, inlier_px: float) -> tuple[FloatArray, BoolArray]:
    """Local optimum of the truncated sum: fit the joins that hold, see which hold now, until none changes."""
    inlier = _within(problem.joins, poses, inlier_px)
    for _ in range(_SETTLE_ROUNDS):
        poses = problem.minimize(poses, inlier.astype(np.float64), _FINAL_STEPS)
        now = _within(problem.joins, poses, inlier_px)
        if (now == inlier).all():
            break
        inlier = now
    return poses, inlier


def _graduate(problem: LeastSquares, poses: FloatArray, inlier_px: float) -> tuple[FloatArray, BoolArray]:
    """Graduated non-convexity for the truncated loss (Yang et al. 2020, equations 12 to 14 and Remark 5)."""
    limit = inlier_px**2
    weight = np.ones(len(problem.joins))
    poses = problem.minimize(poses, weight, _FINAL_STEPS)
    square = (join_errors(poses, problem.joins) ** 2).sum(1)
    if 2.0 * square.max() <= limit:
        return poses, np.ones(len(square), dtype=bool)
    mu = limit / (2.0 * square.max() - limit)
    for _ in range(_MAX_LOSS_STEPS):
        weight = np.clip(np.sqrt(limit * mu * (mu + 1.0) / np.maximum(square, 1e-300)) - mu, 0.0, 1.0)
        poses = problem.minimize(poses, weight, _STEPS_PER_LOSS)
        square = (join_errors(poses, problem.joins) ** 2).sum(1)
        if (np.minimum(weight, 1.0 - weight) < _NEARLY).all():
            break
        mu *= _LOSS_GROWTH
    return _settle(problem, poses, inlier_px)


def _carry_cut_off(
    initial: FloatArray, poses: FloatArray, joins: Joins, inlier: BoolArray, fixed: tuple[int, ...]
) -> tuple[FloatArray, tuple[int, ...]]:
    """Place components that lost every join to the fixed pieces by the dropped join that fitted the initial poses best."""
    component = _components(len(poses), joins, inlier, fixed)
    placed = component == component[fixed[0]]
    cut_off = tuple(np.flatnonzero(~placed).tolist())
    fit = (join_errors(initial, joins) ** 2).sum(1)
    while not placed.all():
        crossing = np.flatnonzero(placed[joins.i] != placed[joins.j])
        if not len(crossing):
            break
        best = crossing[fit[crossing].argmin()]
        i, j = int(joins.i[best]), int(joins.j[best])
        anchor, loose = (i, j) if placed[i] else (j, i)
        members = component == component[loose]
        wanted = chain_rows(poses[anchor], chain_rows(invert_rows(initial[anchor]), initial[loose]))
        poses[members] = chain_rows(chain_rows(wanted, invert_rows(poses[loose])), poses[members])
        placed |= members
    return poses, cut_off


def _components(n: int, joins: Joins, inlier: BoolArray, fixed: tuple[int, ...]) -> NDArray[np.int32]:
    """Label of each piece; pieces that kept joins connect share one, and all fixed pieces do."""
    others = np.array(fixed[1:], dtype=np.intp)
    i = np.concatenate([joins.i[inlier], others])
    j = np.concatenate([joins.j[inlier], np.full(len(others), fixed[0])])
    links = scipy.sparse.coo_array((np.ones(len(i)), (i, j)), shape=(n, n))
    _, label = scipy.sparse.csgraph.connected_components(links, directed=False)
    return np.asarray(label)

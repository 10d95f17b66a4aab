"""Weighted least squares over the poses of many pieces, on scipy's sparse factorisation."""

from __future__ import annotations

import numpy as np
import scipy

from jigsawnet.refine.joins import Joins, join_errors, rotate
from jigsawnet.stopping import Stop
from jigsawnet.types import FloatArray

_FIRST_DAMPING = 1e-7
_MAX_DAMPING = 1e8
_REL_TOL = 1e-12


class LeastSquares:
    """Weighted least squares on the free poses, by damped Gauss-Newton steps with sparse normal equations."""

    def __init__(self, joins: Joins, n: int, fixed: tuple[int, ...], stop: Stop | None = None) -> None:
        """``stop`` is asked before each step; once it is over, poses stay as they are."""
        self.joins = joins
        self._stop = stop or Stop()
        free = np.ones(n, dtype=bool)
        free[list(fixed)] = False
        self._free = np.repeat(free, 3)
        self._n, m = n, len(joins)
        column = 3 * np.column_stack([joins.i, joins.j])[:, :, None] + np.arange(3)  # (m, 2, 3): theta, x, y of i and of j
        self._columns = np.broadcast_to(column.reshape(m, 1, 6), (m, 3, 6)).ravel()
        self._starts = np.arange(0, 18 * m + 1, 6)

    def cost(self, poses: FloatArray, weight: FloatArray) -> float:
        """Weighted sum of squares."""
        return float((weight * (join_errors(poses, self.joins) ** 2).sum(1)).sum())

    def minimize(self, poses: FloatArray, weight: FloatArray, steps: int) -> FloatArray:
        """At most ``steps`` successful Levenberg-Marquardt steps from ``poses``."""
        weight = weight * self.joins.weight
        cost, damping = self.cost(poses, weight), _FIRST_DAMPING
        for _ in range(steps):
            if self._stop.is_over():
                break
            hessian, gradient = self._normal_equations(poses, weight)
            while damping < _MAX_DAMPING:
                trial = poses + self._solve(hessian, gradient, damping)
                trial_cost = self.cost(trial, weight)
                if trial_cost <= cost:
                    break
                damping = max(damping, _FIRST_DAMPING) * 10.0
            else:
                return poses
            gain, poses, cost, damping = cost - trial_cost, trial, trial_cost, damping * 0.1
            if gain <= _REL_TOL * cost:
                break
        return poses

    def _normal_equations(self, poses: FloatArray, weight: FloatArray) -> tuple[scipy.sparse.csc_array, FloatArray]:
        root = np.repeat(np.sqrt(weight), 3)
        values = self._jacobian(poses).reshape(-1, 6) * root[:, None]
        shape = (3 * len(self.joins), 3 * self._n)
        jacobian = scipy.sparse.csr_array((values.ravel(), self._columns, self._starts), shape=shape)[:, self._free]
        gradient = jacobian.T @ (join_errors(poses, self.joins).ravel() * root)
        return scipy.sparse.csc_array(jacobian.T @ jacobian), np.asarray(gradient)

    def _jacobian(self, poses: FloatArray) -> FloatArray:
        """Derivatives of `join_errors`, ``(m, 3, 6)``."""
        joins = self.joins
        here, there = poses[joins.i], poses[joins.j]
        arm = rotate(there[:, 0], joins.at)
        found = rotate(-here[:, 0], arm + there[:, 1:] - here[:, 1:])
        swing = rotate(-here[:, 0], np.column_stack([-arm[:, 1], arm[:, 0]]))
        cos, sin = np.cos(here[:, 0]), np.sin(here[:, 0])
        out = np.zeros((len(joins), 3, 6))
        out[:, 0, 0], out[:, 1, 0] = found[:, 1], -found[:, 0]
        out[:, 0, 4], out[:, 0, 5], out[:, 1, 4], out[:, 1, 5] = cos, sin, -sin, cos
        out[:, :2, 1:3] = -out[:, :2, 4:6]
        out[:, :2, 3] = swing
        out[:, 2, 0], out[:, 2, 3] = -joins.lever, joins.lever
        return out

    def _solve(self, hessian: scipy.sparse.csc_array, gradient: FloatArray, damping: float) -> FloatArray:
        diagonal = hessian.diagonal()
        # a piece without any weight has an empty row: the small constant lets it stay where it is
        damped = hessian + scipy.sparse.diags_array(damping * diagonal + 1e-9 * (1.0 + diagonal.max(initial=0.0)), format="csc")
        step = np.zeros(3 * self._n)
        step[self._free] = -solve_symmetric(damped, gradient)
        return step.reshape(-1, 3)


def solve_symmetric(matrix: scipy.sparse.csc_array, right: FloatArray) -> FloatArray:
    """Solve a sparse, symmetric, positive definite system; pivots stay on the diagonal, which keeps the factors sparse."""
    options = {"SymmetricMode": True}
    factor = scipy.sparse.linalg.splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
    return np.asarray(factor.solve(right))

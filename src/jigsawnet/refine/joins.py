"""Joins as arrays, and how far poses disagree with them; poses are rows (theta, x, y) of world_from_piece."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jigsawnet.types import FloatArray

IntArray = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Joins:
    """Relative poses to be agreed on; m joins of pieces numbered ``0 .. n-1``.

    ``i, j (m,)``; ``i_from_j (m, 3)`` = (theta, x, y); ``at (m, 2)`` the point of j's frame at which translations are compared;
    ``lever (m,)`` px by which an angle is multiplied; ``weight (m,)`` scales a join's error and its penalty alike.
    """

    i: IntArray
    j: IntArray
    i_from_j: FloatArray
    at: FloatArray
    lever: FloatArray
    weight: FloatArray

    def __post_init__(self) -> None:
        m = len(self.i)
        shapes = (self.j.shape, self.i_from_j.shape, self.at.shape, self.lever.shape, self.weight.shape)
        if shapes != ((m,), (m, 3), (m, 2), (m,), (m,)):
            raise ValueError("arrays of joins must be (m,), (m,), (m, 3), (m, 2), (m,) and (m,)")
        if not all(np.isfinite(a).all() for a in (self.i_from_j, self.at, self.lever, self.weight)):
            raise ValueError("joins must be finite")

    def __len__(self) -> int:
        return len(self.i)


def make_joins(
    pairs: ArrayLike,
    i_from_j: ArrayLike,
    at: ArrayLike | None = None,
    lever: ArrayLike = 1.0,
    weight: ArrayLike = 1.0,
) -> Joins:
    """Lay out joins from ``pairs (m, 2)`` and ``i_from_j (m, 3)``; by default errors are measured at j's origin."""
    i, j = np.asarray(pairs, dtype=np.intp).reshape(-1, 2).T
    m = len(i)
    points = np.zeros((m, 2)) if at is None else np.asarray(at, dtype=np.float64).reshape(m, 2)
    relative = np.asarray(i_from_j, dtype=np.float64).reshape(m, 3)
    levers, weights = (np.array(np.broadcast_to(np.asarray(v, dtype=np.float64), (m,))) for v in (lever, weight))
    return Joins(i, j, relative, points, levers, weights)


def join_errors(poses: FloatArray, joins: Joins) -> FloatArray:
    """Error vectors of all joins, ``(m, 3)`` px: translation at ``joins.at``, seen in i's frame, and angle times lever."""
    here, there = poses[joins.i], poses[joins.j]
    wanted = rotate(joins.i_from_j[:, 0], joins.at) + joins.i_from_j[:, 1:]
    found = rotate(-here[:, 0], rotate(there[:, 0], joins.at) + there[:, 1:] - here[:, 1:])
    angle = there[:, 0] - here[:, 0] - joins.i_from_j[:, 0]
    turn = joins.lever * np.arctan2(np.sin(angle), np.cos(angle))
    return np.column_stack([found - wanted, turn])


def rotate(theta: FloatArray, points: FloatArray) -> FloatArray:
    """Turn points ``(..., 2)``, each by its own angle."""
    cos, sin = np.cos(theta), np.sin(theta)
    return np.stack([cos * points[..., 0] - sin * points[..., 1], sin * points[..., 0] + cos * points[..., 1]], axis=-1)

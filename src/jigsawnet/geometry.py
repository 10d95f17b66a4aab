"""Ground floor: rigid motions of the plane.

Points are ``(x, y)`` pixels, x right, y down, origin at the centre of the top-left pixel; angles are radians from x to y.
A pose is named ``target_from_source``: ``target_from_source @ points_in_source`` gives points in target.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SE2:
    """Rotation by ``theta`` followed by translation by ``(x, y)``.

    ``[[cos, -sin, x], [sin, cos, y], [0, 0, 1]]``
    """

    theta: float
    x: float
    y: float

    @staticmethod
    def identity() -> SE2:
        """The motion that moves nothing."""
        return SE2(0.0, 0.0, 0.0)

    @staticmethod
    def from_matrix(matrix: ArrayLike) -> SE2:
        """Read a ``(3, 3)`` matrix; its rotation part is projected to the nearest rotation."""
        m = np.asarray(matrix, dtype=np.float64)
        if m.shape != (3, 3) or not np.isfinite(m).all():
            raise ValueError("an SE2 matrix must be 3x3 and finite")
        theta = math.atan2(m[1, 0] - m[0, 1], m[0, 0] + m[1, 1])
        return SE2(theta, float(m[0, 2]), float(m[1, 2]))

    def matrix(self) -> FloatArray:
        """The ``(3, 3)`` homogeneous matrix."""
        c, s = math.cos(self.theta), math.sin(self.theta)
        return np.array([[c, -s, self.x], [s, c, self.y], [0.0, 0.0, 1.0]])

    def inverse(self) -> SE2:
        """The motion back: ``source_from_target``."""
        c, s = math.cos(self.theta), math.sin(self.theta)
        return SE2(-self.theta, -c * self.x - s * self.y, s * self.x - c * self.y)

    @overload
    def __matmul__(self, other: SE2) -> SE2: ...
    @overload
    def __matmul__(self, other: FloatArray) -> FloatArray: ...
    def __matmul__(self, other: SE2 | FloatArray) -> SE2 | FloatArray:
        """Compose with another motion, or apply to points ``(..., 2)``."""
        c, s = math.cos(self.theta), math.sin(self.theta)
        if isinstance(other, SE2):
            x = c * other.x - s * other.y + self.x
            y = s * other.x + c * other.y + self.y
            return SE2(wrap_angle(self.theta + other.theta), x, y)
        points = np.asarray(other, dtype=np.float64)
        return np.asarray(points @ np.array([[c, s], [-s, c]]) + np.array([self.x, self.y]))

    def distance(self, other: SE2, at: ArrayLike = (0.0, 0.0)) -> tuple[float, float]:
        """How far two motions differ: ``(radians, pixels)``, the pixels measured where they carry the point ``at``."""
        point = np.asarray(at, dtype=np.float64)
        angle = abs(wrap_angle(self.theta - other.theta))
        return angle, float(np.linalg.norm((self @ point) - (other @ point)))


def wrap_angle(theta: float) -> float:
    """Bring an angle to ``[-pi, pi]``."""
    return math.remainder(theta, 2.0 * math.pi)


SAME_JOIN_RAD = math.radians(5.0)
SAME_JOIN_PX = 10.0
"""Two poses of a pair of pieces within these limits, measured at the middle of j, are the same join to a person."""


def is_same_join(one: SE2, other: SE2, middle_of_j: ArrayLike, chain: int = 1) -> bool:
    """True when two ``i_from_j`` are the same join; ``chain`` joins in a row may err by ``sqrt(chain)`` times as much."""
    angle, distance = one.distance(other, at=middle_of_j)
    return angle < SAME_JOIN_RAD * math.sqrt(chain) and distance < SAME_JOIN_PX * math.sqrt(chain)


def fit_rigid(source: FloatArray, target: FloatArray, weights: FloatArray | None = None) -> SE2 | None:
    """Least-squares ``target_from_source`` for paired points ``(N, 2)`` (Procrustes without scale).

    Returns None when the points do not fix a rotation (fewer than two, or all in one place).
    """
    if len(source) < 2 or len(source) != len(target):
        return None
    w = np.ones(len(source)) if weights is None else weights
    total = float(w.sum())
    if total <= 0:
        return None
    source_mean, target_mean = w @ source / total, w @ target / total
    a, b = source - source_mean, target - target_mean
    cos = float((w * (a * b).sum(1)).sum())
    sin = float((w * (a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])).sum())
    if math.hypot(cos, sin) < 1e-12:
        return None
    rotation = SE2(math.atan2(sin, cos), 0.0, 0.0)
    shift = target_mean - (rotation @ source_mean)
    return SE2(rotation.theta, float(shift[0]), float(shift[1]))


def invert_rows(poses: FloatArray) -> FloatArray:
    """Motions back: rows ``(..., 3)`` = (theta, x, y)."""
    theta, x, y = np.moveaxis(poses, -1, 0)
    c, s = np.cos(theta), np.sin(theta)
    return np.stack([-theta, -c * x - s * y, s * x - c * y], axis=-1)


def chain_rows(first: FloatArray, then: FloatArray) -> FloatArray:
    """``first @ then``, row by row: ``(..., 3)`` = (theta, x, y), angles not wrapped."""
    c, s = np.cos(first[..., 0]), np.sin(first[..., 0])
    x, y = then[..., 1], then[..., 2]
    return np.stack([first[..., 0] + then[..., 0], c * x - s * y + first[..., 1], s * x + c * y + first[..., 2]], axis=-1)


def carry_rows(poses: FloatArray, points: FloatArray) -> FloatArray:
    """Points ``(..., 2)``, each carried by its pose ``(..., 3)`` = (theta, x, y)."""
    c, s = np.cos(poses[..., 0]), np.sin(poses[..., 0])
    x, y = points[..., 0], points[..., 1]
    return np.stack([c * x - s * y + poses[..., 1], s * x + c * y + poses[..., 2]], axis=-1)


def wrap_angles(angles: FloatArray) -> FloatArray:
    """Bring angles to ``[-pi, pi]``; those that lie there stay as they are, to the bit."""
    return np.asarray(angles - 2 * np.pi * np.rint(angles / (2 * np.pi)))


def pose_row(pose: SE2) -> tuple[float, float, float]:
    """A motion as the row (theta, x, y)."""
    return pose.theta, pose.x, pose.y


_ROW_ASPECT = 1.4
"""How much wider than high boxes in rows should be."""


def shelve(sizes: Sequence[tuple[int, int]], margin_px: int, row_width: int = 0) -> tuple[list[tuple[int, int]], int, int]:
    """Shelf packing in the order given: ``(width, height)`` boxes fill a row, then the next row begins below it.

    Rows are at least ``row_width`` wide, and wide enough for the widest box and for a pleasant aspect of the whole.

    Returns:
        The top-left corner of each box, and the width and height used.
    """
    if not sizes:
        return [], 0, 0
    area = sum((w + margin_px) * (h + margin_px) for w, h in sizes)
    limit = max(row_width or int(_ROW_ASPECT * math.sqrt(area)), *(w for w, _ in sizes))
    corners: list[tuple[int, int]] = []
    left = top = row_height = 0
    for w, h in sizes:
        if left and left + w > limit:
            left, top, row_height = 0, top + row_height + margin_px, 0
        corners.append((left, top))
        left, row_height = left + w + margin_px, max(row_height, h)
    used_width = max(x + w for (x, _), (w, _) in zip(corners, sizes, strict=True))
    return corners, used_width, top + row_height

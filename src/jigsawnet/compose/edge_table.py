"""The candidates as arrays, for compiled loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jigsawnet.types import Edge, FloatArray

IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class EdgeTable:
    """Edge e joins ``i[e] < j[e]`` by ``i_from_j[e] = (theta, x, y)`` with ``score[e]``."""

    i: IntArray
    j: IntArray
    i_from_j: FloatArray
    score: FloatArray

    @staticmethod
    def of(edges: Sequence[Edge]) -> EdgeTable:
        """Lay out edges in their order."""
        alignments = [e.alignment for e in edges]
        return EdgeTable(
            np.array([a.i for a in alignments], dtype=np.int64),
            np.array([a.j for a in alignments], dtype=np.int64),
            np.array([(a.i_from_j.theta, a.i_from_j.x, a.i_from_j.y) for a in alignments], dtype=np.float64).reshape(-1, 3),
            np.array([e.score for e in edges], dtype=np.float64),
        )

    def __len__(self) -> int:
        return len(self.i)

    def take(self, chosen: IntArray) -> EdgeTable:
        """Only these edges, in this order."""
        return EdgeTable(self.i[chosen], self.j[chosen], self.i_from_j[chosen], self.score[chosen])


def invert(poses: FloatArray) -> FloatArray:
    """``(K, 3)`` motions back."""
    c, s = np.cos(poses[:, 0]), np.sin(poses[:, 0])
    x, y = poses[:, 1], poses[:, 2]
    return np.column_stack([-poses[:, 0], -c * x - s * y, s * x - c * y])


def chain(first: FloatArray, then: FloatArray) -> FloatArray:
    """``(K, 3)``: ``first @ then``, row by row."""
    c, s = np.cos(first[:, 0]), np.sin(first[:, 0])
    x, y = then[:, 1], then[:, 2]
    return np.column_stack([first[:, 0] + then[:, 0], c * x - s * y + first[:, 1], s * x + c * y + first[:, 2]])


def carry(poses: FloatArray, points: FloatArray) -> FloatArray:
    """``(K, 2)`` points, each carried by its pose."""
    c, s = np.cos(poses[:, 0]), np.sin(poses[:, 0])
    x, y = points[:, 0], points[:, 1]
    return np.column_stack([c * x - s * y + poses[:, 1], s * x + c * y + poses[:, 2]])


def wrap(angles: FloatArray) -> FloatArray:
    """Bring angles to ``[-pi, pi)``."""
    return np.asarray((angles + np.pi) % (2 * np.pi) - np.pi)

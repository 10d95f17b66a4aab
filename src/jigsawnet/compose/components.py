"""Components of pieces that have been joined, each in a frame of its own."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from jigsawnet.geometry import SE2, wrap_angle
from jigsawnet.types import FloatArray


def pose_rows(poses: Iterable[tuple[int, SE2]]) -> FloatArray:
    """Rows ``(piece, theta, x, y)``, the form in which many poses are carried about."""
    return np.array([(idx, p.theta, p.x, p.y) for idx, p in poses], dtype=np.float64).reshape(-1, 4)


def move_rows(move: SE2, rows: FloatArray) -> FloatArray:
    """Poses ``(K, 4)`` carried by a motion of their common frame."""
    c, s = math.cos(move.theta), math.sin(move.theta)
    moved = rows.copy()
    moved[:, 1] += move.theta
    moved[:, 2] = c * rows[:, 2] - s * rows[:, 3] + move.x
    moved[:, 3] = s * rows[:, 2] + c * rows[:, 3] + move.y
    return moved


def row_pose(row: FloatArray) -> SE2:
    """The pose in a row ``(piece, theta, x, y)``."""
    return SE2(wrap_angle(float(row[1])), float(row[2]), float(row[3]))


class Components:
    """Disjoint components; a merge carries the smaller component into the larger one's frame.

    ``chosen[i, j]`` are the joins by which they came about, i_from_j as ``(theta, x, y)``: every one of `merge`, and the
    redundant ones that `choose` is told; of a pair of pieces the first.
    """

    def __init__(self, n_pieces: int) -> None:
        self.chosen: dict[tuple[int, int], tuple[float, float, float]] = {}
        self._members: dict[int, NDArray[np.intp]] = {idx: np.array([idx]) for idx in range(n_pieces)}
        self._root = np.arange(n_pieces)
        self._rows = np.zeros((n_pieces, 4))
        self._rows[:, 0] = np.arange(n_pieces)

    def copy(self) -> Components:
        """The same components, to be changed apart from these."""
        other = Components(0)
        other._members, other._root, other._rows = dict(self._members), self._root.copy(), self._rows.copy()
        other.chosen = self.chosen.copy()
        return other

    def __len__(self) -> int:
        return len(self._members)

    @property
    def roots(self) -> NDArray[np.intp]:
        """``(n,)``: a number that the pieces of a component have in common."""
        return self._root

    @property
    def rows(self) -> FloatArray:
        """``(n, 4)`` rows ``(piece, theta, x, y)`` in the frame of each piece's component."""
        return self._rows

    def same(self, i: int, j: int) -> bool:
        """True when both pieces are in one component."""
        return bool(self._root[i] == self._root[j])

    def members(self, idx: int) -> list[int]:
        """All pieces in the component of a piece."""
        return [int(member) for member in self._members[int(self._root[idx])]]

    def size(self, idx: int) -> int:
        """How many pieces the component of a piece has."""
        return len(self._members[int(self._root[idx])])

    def pose(self, idx: int) -> SE2:
        """component_from_piece."""
        return row_pose(self._rows[idx])

    def placed(self, idx: int, move: SE2 | None = None) -> FloatArray:
        """Rows ``(piece, theta, x, y)`` of the component of a piece, moved by ``move``: what `placements_intersect` takes."""
        rows = self._rows[self._members[int(self._root[idx])]]
        return rows if move is None else move_rows(move, rows)

    def move_between(self, i: int, j: int, i_from_j: SE2) -> SE2:
        """The motion that carries j's component into i's frame so that the join holds."""
        return self.pose(i) @ i_from_j @ self.pose(j).inverse()

    def merge(self, i: int, j: int, i_from_j: SE2) -> None:
        """Join the components of i and j."""
        self.choose(i, j, i_from_j)
        move = self.move_between(i, j, i_from_j)
        if self.size(i) < self.size(j):
            i, j, move = j, i, move.inverse()
        root, gone = int(self._root[i]), int(self._root[j])
        moving = self._members.pop(gone)
        self._rows[moving] = move_rows(move, self._rows[moving])
        self._root[moving] = root
        self._members[root] = np.concatenate([self._members[root], moving])

    def choose(self, i: int, j: int, i_from_j: SE2) -> None:
        """Name a join that holds, or is about to, whether or not it was needed."""
        self.chosen.setdefault((i, j), (wrap_angle(i_from_j.theta), i_from_j.x, i_from_j.y))

    def adopt(self, rows: FloatArray) -> None:
        """Make one component of the pieces of ``rows (K, 4)``, placed as they say; they must be whole components."""
        pieces = rows[:, 0].astype(np.intp)
        for root in np.unique(self._root[pieces]):
            if not np.isin(self._members[int(root)], pieces).all():
                raise ValueError("only whole components can be put together")
            del self._members[int(root)]
        root = int(pieces.min())
        self._rows[pieces] = rows
        self._root[pieces] = root
        self._members[root] = pieces

    def all_placed(self) -> list[FloatArray]:
        """Rows ``(piece, theta, x, y)`` of every component, pieces alone included."""
        return [self._rows[component] for component in self._members.values()]

    def all(self) -> list[list[int]]:
        """Every component, pieces alone included."""
        return [component.tolist() for component in self._members.values()]

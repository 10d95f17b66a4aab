"""Groups of pieces that have been joined, each in a frame of its own."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from jigsawnet.geometry import SE2
from jigsawnet.types import Alignment, Assembly, Edge, FloatArray, MatchGraph, sort_components


class Groups:
    """Disjoint groups; a merge carries the smaller group into the larger one's frame."""

    def __init__(self, n_fragments: int) -> None:
        self._members: dict[int, list[int]] = {idx: [idx] for idx in range(n_fragments)}
        self._root = list(range(n_fragments))
        self._pose = [SE2.identity() for _ in range(n_fragments)]

    def same(self, i: int, j: int) -> bool:
        """True when both pieces are in one group."""
        return self._root[i] == self._root[j]

    def members(self, idx: int) -> list[int]:
        """All pieces in the group of a piece."""
        return self._members[self._root[idx]]

    def pose(self, idx: int) -> SE2:
        """group_from_fragment."""
        return self._pose[idx]

    def placed(self, idx: int, move: SE2 | None = None) -> FloatArray:
        """Rows ``(piece, theta, x, y)`` of the group of a piece, moved by ``move``: what `groups_intersect` takes."""
        poses = ((m, self._pose[m] if move is None else move @ self._pose[m]) for m in self.members(idx))
        return np.array([(m, p.theta, p.x, p.y) for m, p in poses])

    def move_between(self, alignment: Alignment) -> SE2:
        """The motion that carries j's group into i's frame so that the alignment holds."""
        i, j = alignment.i, alignment.j
        return self._pose[i] @ alignment.i_from_j @ self._pose[j].inverse()

    def merge(self, alignment: Alignment) -> None:
        """Join the groups of i and j."""
        i, j, move = alignment.i, alignment.j, self.move_between(alignment)
        if len(self.members(i)) < len(self.members(j)):
            i, j, move = j, i, move.inverse()
        root, gone = self._root[i], self._root[j]
        for member in self._members.pop(gone):
            self._pose[member] = move @ self._pose[member]
            self._root[member] = root
            self._members[root].append(member)

    def all(self) -> list[list[int]]:
        """Every group, pieces alone included."""
        return list(self._members.values())


def finish_assembly(graph: MatchGraph, groups: Groups, joins: Iterable[Edge]) -> Assembly:
    """Groups of two and more become components; a piece alone is unplaced. A piece's confidence is its best join's."""
    components = sort_components(g for g in groups.all() if len(g) > 1)
    edges = tuple(joins)
    confidence: dict[int, float] = {}
    for edge in edges:
        for idx in (edge.alignment.i, edge.alignment.j):
            confidence[idx] = max(confidence.get(idx, 0.0), edge.score)
    poses = {idx: groups.pose(idx) for component in components for idx in component}
    return Assembly(graph.n_fragments, poses, components, edges, confidence)

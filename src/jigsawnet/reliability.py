"""Ground floor: how surely pieces lie right relative to the main part of their component, when joins have probabilities.

The strongest joins that connect pieces form a tree (two, where nothing connects them). Cutting a join of the tree parts the
pieces in two sides; if that cut is right with probability p, a piece is right relative to another with the product of p along
the way between them. So a block that hangs on one doubtful join is as doubtful as this join, however firm it is inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jigsawnet.types import FloatArray

IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """The strongest of E joins that connect n pieces, as a rooted tree; pieces that nothing connects are roots of their own.

    ``edges`` are rows of the joins, T of them. Of each piece: ``parent`` (-1 for a root), ``edge``, the position in ``edges``
    of the join to its parent, and ``depth``. In ``order`` parents come before their children.
    """

    edges: tuple[int, ...]
    parent: tuple[int, ...]
    edge: tuple[int, ...]
    depth: tuple[int, ...]
    order: tuple[int, ...]

    def path(self, i: int, j: int) -> list[int]:
        """Positions in ``edges`` of the joins on the way from one piece to another that is connected with it."""
        found = []
        while i != j:
            if self.depth[i] < self.depth[j]:
                i, j = j, i
            found.append(self.edge[i])
            i = self.parent[i]
        return found

    def below(self, position: int) -> list[int]:
        """The pieces on the far side, seen from the root, of the join at a position in ``edges``."""
        inside = {next(idx for idx in self.order if self.edge[idx] == position)}
        for idx in self.order:
            if self.parent[idx] in inside:
                inside.add(idx)
        return sorted(inside)


def strongest_tree(n_pieces: int, pairs: Sequence[tuple[int, int]], strength: FloatArray) -> Tree:
    """Join pieces in order of ``strength (E,)``, leaving out joins of what is connected already; ties in order of ``pairs``."""
    root = list(range(n_pieces))

    def find(idx: int) -> int:
        while root[idx] != idx:
            root[idx] = root[root[idx]]
            idx = root[idx]
        return idx

    edges: list[int] = []
    near: list[list[tuple[int, int]]] = [[] for _ in range(n_pieces)]
    for row in np.argsort(-strength, kind="stable").tolist():
        i, j = pairs[row]
        a, b = find(i), find(j)
        if a != b:
            root[a] = b
            near[i].append((j, len(edges)))
            near[j].append((i, len(edges)))
            edges.append(row)
    parent, edge, depth, order = [-1] * n_pieces, [-1] * n_pieces, [-1] * n_pieces, []
    for start in range(n_pieces):
        waiting = [start] if depth[start] < 0 else []
        while waiting:
            idx = waiting.pop()
            depth[idx] = 0 if parent[idx] < 0 else depth[parent[idx]] + 1
            order.append(idx)
            for other, position in near[idx]:
                if depth[other] < 0:
                    parent[other], edge[other] = idx, position
                    waiting.append(other)
    return Tree(tuple(edges), tuple(parent), tuple(edge), tuple(depth), tuple(order))


def piece_reliability(tree: Tree, sure: FloatArray, components: Sequence[Sequence[int]]) -> dict[int, float]:
    """The probability of each piece to lie right relative to the main part of its component; ``sure (T,)`` is that of each cut.

    The main part is where the piece lies relative to which the most pieces are expected to be right; this piece itself is as
    sure as the surest other one. A piece that no join connects with the main part has 0, and one that is alone has 1.
    """
    n_pieces = len(tree.parent)
    up = [1.0 if tree.edge[idx] < 0 else float(sure[tree.edge[idx]]) for idx in range(n_pieces)]
    inside, expected = [1.0] * n_pieces, [1.0] * n_pieces
    for idx in reversed(tree.order):
        if tree.parent[idx] >= 0:
            inside[tree.parent[idx]] += up[idx] * inside[idx]
    for idx in tree.order:
        above = tree.parent[idx]
        expected[idx] = inside[idx] if above < 0 else inside[idx] + up[idx] * (expected[above] - up[idx] * inside[idx])
    found: dict[int, float] = {}
    for component in components:
        main = min(component, key=lambda idx: (-round(expected[idx], 9), idx))
        found |= _relative_to(tree, up, main, component)
    return found


def _relative_to(tree: Tree, up: Sequence[float], main: int, component: Sequence[int]) -> dict[int, float]:
    """Products of ``up`` along the way from ``main`` to each piece of its component."""
    towards = {main: 1.0}
    idx = main
    while tree.parent[idx] >= 0:
        towards[tree.parent[idx]] = towards[idx] * up[idx]
        idx = tree.parent[idx]
    for idx in tree.order:
        if idx not in towards and tree.parent[idx] in towards:
            towards[idx] = towards[tree.parent[idx]] * up[idx]
    found = {idx: towards.get(idx, 0.0) for idx in component}
    found[main] = max((value for idx, value in found.items() if idx != main), default=1.0)
    return found

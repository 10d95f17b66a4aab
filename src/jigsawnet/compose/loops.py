"""Closed loops of three and four joins (Section V-A of the paper), found through the graph's own adjacency.

Every two joins that meet at a piece v carry a piece b into the frame of a piece a. Such paths and the direct joins, sorted by
the pair (a, b), close a loop where two of them agree: a path and a direct join a triangle, two paths a loop of four. For n
pieces with d joins each that is O(n d²) paths, and only paths of the same pair are compared.

A loop of four is induced unless a chord splits it into two closed triangles, which are found anyway. Any other candidate
between its opposite pieces is false if the loop is true, and is no reason to give the loop up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from jigsawnet.compose.config import ComposeConfig
from jigsawnet.compose.edge_table import EdgeTable, IntArray, carry, chain, invert, wrap
from jigsawnet.raster import ShapeBank, njit
from jigsawnet.types import FloatArray

MAX_EDGES_PER_PIECE = 160
"""Only so many joins of a piece, the best ones, take part in the search; fewer where the loops come by the ten thousand."""
MAX_LOOPS = 30_000
MAX_LOOPS_PER_EDGE = 40
"""A join in more closed loops than this has many false companions; the loops with the best scores are kept."""


@dataclass(frozen=True, slots=True, eq=False)
class Tolerance:
    """How far from closed a loop may be; errors of joins in a row add up like a random walk."""

    px: float
    rad: float

    @staticmethod
    def of(config: ComposeConfig, bank: ShapeBank) -> Tolerance:
        """The tolerance of a single join; pixels grow with the pieces."""
        return Tolerance(config.loop_px * bank.unit_px, math.radians(config.loop_deg))

    def after(self, joins: float) -> tuple[float, float]:
        """``(px, rad)`` after so many joins in a row."""
        return self.px * math.sqrt(joins), self.rad * math.sqrt(joins)


@dataclass(frozen=True, slots=True, eq=False)
class Loops:
    """Closed loops, best sum of scores first; unused places are -1.

    ``edges (L, 4)`` are rows of the edge table; ``pieces (L, 4)`` the pieces ``a, v, b, w`` around the loop, ``poses
    (L, 4, 3)`` their poses ``(theta, x, y)`` in the frame of a, with the closing error halved at b; ``score (L,)``.
    """

    edges: IntArray
    pieces: IntArray
    poses: FloatArray
    score: FloatArray


def find_closed_loops(table: EdgeTable, bank: ShapeBank, tolerance: Tolerance) -> Loops:
    """All induced closed loops of three and four joins, within the caps above; O(n d²) paths, see the module."""
    limits = (*tolerance.after(3), *tolerance.after(4))
    per_piece = MAX_EDGES_PER_PIECE
    while True:
        used = best_per_piece(table, len(bank), per_piece)
        used = _without_near_copies(table, used, bank, tolerance)
        paths = _find_paths(table, used, bank)
        found = _close(*paths, *limits, len(bank), np.zeros((0, 2), np.int64))
        if found <= MAX_LOOPS or per_piece <= 2:
            break
        per_piece //= 2
    pairs = np.zeros((min(found, MAX_LOOPS), 2), np.int64)
    _close(*paths, *limits, len(bank), pairs)
    loops = _as_loops(table, paths, pairs)
    return _thin_out(_induced(loops), len(table))


def best_per_piece(table: EdgeTable, n_pieces: int, most: int = MAX_EDGES_PER_PIECE) -> IntArray:
    """Edges, in their order (best first), that are among the first ``most`` of both their pieces."""
    n = len(table)
    ends, edge = np.concatenate([table.i, table.j]), np.tile(np.arange(n), 2)
    by_piece = np.lexsort((edge, ends))
    starts = np.searchsorted(ends[by_piece], np.arange(n_pieces))
    rank = np.empty(2 * n, np.int64)
    rank[by_piece] = np.arange(2 * n) - starts[ends[by_piece]]
    return np.flatnonzero(np.maximum(rank[:n], rank[n:]) < most)


def _without_near_copies(table: EdgeTable, used: IntArray, bank: ShapeBank, tolerance: Tolerance) -> IntArray:
    """Of the joins of a pair that are the same within the tolerance of one join, only the best."""
    px, rad = tolerance.after(1)
    places = carry(table.i_from_j, bank.center[table.j].astype(np.float64))
    kept: dict[tuple[int, int], list[int]] = {}
    for e in used.tolist():
        others = kept.setdefault((int(table.i[e]), int(table.j[e])), [])
        turn = np.abs(wrap(table.i_from_j[others, 0] - table.i_from_j[e, 0]))
        if not ((turn < rad) & (np.linalg.norm(places[others] - places[e], axis=1) < px)).any():
            others.append(e)
    return np.array(sorted(e for others in kept.values() for e in others), dtype=np.int64)


Paths = tuple[IntArray, FloatArray]
"""``(K, 5)`` integers (a, b, middle piece or -1, edge to a, edge to b), and ``(K, 3)`` (theta of b, its middle) in a."""


def _find_paths(table: EdgeTable, used: IntArray, bank: ShapeBank) -> Paths:
    """Direct joins and all paths of two joins, sorted by the pair (a, b), direct joins first."""
    i, j, there = table.i[used], table.j[used], table.i_from_j[used]
    here, other = np.concatenate([i, j]), np.concatenate([j, i])
    edge = np.concatenate([used, used])
    here_from_other = np.concatenate([there, invert(there)])
    by_piece = np.lexsort((edge, here))
    starts = np.searchsorted(here[by_piece], np.arange(len(bank) + 1))
    one, two = _pairs_within(starts.astype(np.int64))
    one, two = by_piece[one], by_piece[two]
    swap = other[one] > other[two]
    one, two = np.where(swap, two, one), np.where(swap, one, two)
    apart = other[one] != other[two]
    one, two = one[apart], two[apart]
    numbers = np.column_stack([other[one], other[two], here[one], edge[one], edge[two]])
    poses = chain(invert(here_from_other[one]), here_from_other[two])
    numbers = np.concatenate([np.column_stack([i, j, np.full(len(i), -1), used, used]), numbers])
    poses = np.concatenate([there, poses])
    order = np.lexsort((numbers[:, 4], numbers[:, 3], numbers[:, 2], numbers[:, 1], numbers[:, 0]))
    numbers, poses = np.ascontiguousarray(numbers[order]), poses[order]
    middle = carry(poses, bank.center[numbers[:, 1]].astype(np.float64))
    return numbers, np.column_stack([poses[:, 0], middle])


@njit
def _pairs_within(starts):  # type: ignore[no-untyped-def]
    """All index pairs ``s < t`` inside each of the runs ``starts[k]:starts[k + 1]``."""
    count = 0
    for k in range(len(starts) - 1):
        size = starts[k + 1] - starts[k]
        count += size * (size - 1) // 2
    one, two = np.empty(count, np.int64), np.empty(count, np.int64)
    at = 0
    for k in range(len(starts) - 1):
        for s in range(starts[k], starts[k + 1]):
            for t in range(s + 1, starts[k + 1]):
                one[at], two[at] = s, t
                at += 1
    return one, two


@njit
def _close(numbers, poses, px3, rad3, px4, rad4, n, pairs):  # type: ignore[no-untyped-def]
    """Count the path pairs that close a loop, and write down as many of them as ``pairs`` holds.

    Each loop once: a triangle at its two lowest pieces, a loop of four at the diagonal that holds its lowest piece.
    """
    found = 0
    start = 0
    while start < len(numbers):
        a, b = numbers[start, 0], numbers[start, 1]
        stop = start
        while stop < len(numbers) and numbers[stop, 0] == a and numbers[stop, 1] == b:
            stop += 1
        for s in range(start, stop):
            v = numbers[s, 2]
            if v >= 0 and v < a:
                continue
            for t in range(s + 1, stop):
                w = numbers[t, 2]
                if w == v or w < a or (v < 0 and w < b):
                    continue
                px, rad = (px3, rad3) if v < 0 else (px4, rad4)
                dx, dy = poses[s, 1] - poses[t, 1], poses[s, 2] - poses[t, 2]
                if dx * dx + dy * dy > px * px:
                    continue
                turn = abs(poses[s, 0] - poses[t, 0]) % (2 * np.pi)
                if min(turn, 2 * np.pi - turn) > rad:
                    continue
                if found < len(pairs):
                    pairs[found, 0], pairs[found, 1] = s, t
                found += 1
        start = stop
    return found


def _as_loops(table: EdgeTable, paths: Paths, pairs: IntArray) -> Loops:
    """Edges, pieces and poses of the loops that pairs of paths close."""
    one, two = paths[0][pairs[:, 0]], paths[0][pairs[:, 1]]
    triangle = one[:, 2] < 0
    one, two = np.where(triangle[:, None], two, one), np.where(triangle[:, None], one, two)
    fourth = np.where(triangle, -1, two[:, 4])
    edges = np.column_stack([one[:, 3], one[:, 4], two[:, 3], fourth])
    pieces = np.column_stack([one[:, 0], one[:, 2], one[:, 1], two[:, 2]])
    v_pose, b_pose = _along(table, one)
    w_pose, b_again = _along(table, two)
    direct = table.i_from_j[two[:, 3]]
    w_pose, b_again = np.where(triangle[:, None], 0.0, w_pose), np.where(triangle[:, None], direct, b_again)
    b_pose = b_pose + 0.5 * np.column_stack([wrap(b_again[:, 0] - b_pose[:, 0]), b_again[:, 1:] - b_pose[:, 1:]])
    poses = np.stack([np.zeros_like(v_pose), v_pose, b_pose, w_pose], axis=1)
    score = table.score[edges[:, :3]].sum(1) + np.where(triangle, 0.0, table.score[fourth])
    order = np.lexsort((*edges.T[::-1], -score))
    return Loops(edges[order], pieces[order], poses[order], score[order])


def _along(table: EdgeTable, path: IntArray) -> tuple[FloatArray, FloatArray]:
    """``a_from_v`` and ``a_from_b`` of paths a - v - b; each ``(L, 3)``."""
    a, b = path[:, 0], path[:, 1]
    to_a, to_b = table.i_from_j[path[:, 3]], table.i_from_j[path[:, 4]]
    a_from_v = np.where((table.i[path[:, 3]] == a)[:, None], to_a, invert(to_a))
    v_from_b = np.where((table.j[path[:, 4]] == b)[:, None], to_b, invert(to_b))
    return a_from_v, chain(a_from_v, v_from_b)


def _induced(loops: Loops) -> Loops:
    """Leave out loops of four that a chord splits into two closed triangles."""
    chords: dict[tuple[int, int], set[int]] = {}
    for e, f, g, h in loops.edges.tolist():
        if h < 0:
            for x, y, z in ((e, f, g), (f, g, e), (e, g, f)):
                chords.setdefault((min(x, y), max(x, y)), set()).add(z)

    def shared(e: int, f: int, g: int, h: int) -> bool:
        """True when one chord closes a triangle with the joins e, f and another with g, h."""
        one, two = chords.get((min(e, f), max(e, f))), chords.get((min(g, h), max(g, h)))
        return bool(one and two and one & two)

    kept = [h < 0 or not (shared(e, f, g, h) or shared(e, g, f, h)) for e, f, g, h in loops.edges.tolist()]
    return _choose(loops, np.flatnonzero(kept))


def _thin_out(loops: Loops, n_edges: int) -> Loops:
    """The best loops, none of whose joins is in too many."""
    count = [0] * (n_edges + 1)
    kept = []
    for k, edges in enumerate(loops.edges.tolist()):
        if max(count[e] for e in edges if e >= 0) < MAX_LOOPS_PER_EDGE:
            kept.append(k)
            for e in edges:
                count[e] += 1
    return _choose(loops, np.array(kept, dtype=np.int64))


def _choose(loops: Loops, kept: IntArray) -> Loops:
    return Loops(loops.edges[kept], loops.pieces[kept], loops.poses[kept], loops.score[kept])

"""Closed loops of three and four joins (Section V-A of the paper), found through the pieces that they meet at.

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
from numpy.typing import NDArray

from jigsawnet.borders import Borders, njit
from jigsawnet.candidates import Candidates
from jigsawnet.compose.config import ComposeConfig
from jigsawnet.compose.intersection import HAIR, Overlap
from jigsawnet.geometry import carry_rows, chain_rows, invert_rows, wrap_angles
from jigsawnet.seam_fit import puzzle_slack
from jigsawnet.types import FloatArray

IntArray = NDArray[np.int64]

MAX_JOINS_PER_PIECE = 160
"""Only so many joins of a piece, the best ones, take part in the search; fewer where the loops come by the ten thousand."""
MAX_LOOPS, _LOOPS_PER_PIECE = 30_000, 12
"""Loops that are looked at, whatever the number of pieces, and for each of them where these are thousands."""
MAX_LOOPS_PER_JOIN = 40
"""A join in more closed loops than this has many false companions; the loops with the best scores are kept."""


@dataclass(frozen=True, slots=True, eq=False)
class Tolerance:
    """How far from closed a loop may be, as errors of joins in a row add up like a random walk, and how far pieces overlap."""

    px: float
    rad: float
    overlap: Overlap = HAIR

    @staticmethod
    def of(config: ComposeConfig, borders: Borders, rows: Candidates, overlap: Overlap | None = None) -> Tolerance:
        """The tolerance of a single join; pixels grow with the pieces, and all of it with the roughness of the sure seams."""
        slack = puzzle_slack(rows, borders.unit_px, config.min_score)
        px, rad = config.loop_px * borders.unit_px * slack, math.radians(config.loop_deg) * slack
        return Tolerance(px, rad, overlap or config.overlap)

    def after(self, joins: float) -> tuple[float, float]:
        """``(px, rad)`` after so many joins in a row."""
        return self.px * math.sqrt(joins), self.rad * math.sqrt(joins)

    def holds(self, rows: Candidates, others: Candidates, borders: Borders, joins: float) -> NDArray[np.bool_]:
        """Which rows ``(C,)`` lie the same in both, to within what so many joins in a row allow."""
        px, rad = self.after(joins)
        middle = borders.center[rows.j].astype(np.float64)
        off = np.linalg.norm(carry_rows(rows.pose, middle) - carry_rows(others.pose, middle), axis=1)
        same: NDArray[np.bool_] = (off < px) & (np.abs(wrap_angles(rows.pose[:, 0] - others.pose[:, 0])) < rad)
        return same


@dataclass(frozen=True, slots=True, eq=False)
class Loops:
    """Closed loops, best sum of scores first; unused places are -1.

    ``joins (L, 4)`` are rows of the candidates; ``pieces (L, 4)`` the pieces ``a, v, b, w`` around the loop, ``poses
    (L, 4, 3)`` their poses ``(theta, x, y)`` in the frame of a, with the closing error halved at b; ``score (L,)``.
    """

    joins: IntArray
    pieces: IntArray
    poses: FloatArray
    score: FloatArray


def find_closed_loops(table: Candidates, borders: Borders, tolerance: Tolerance, chords: bool = True) -> Loops:
    """All closed loops of three and four joins, within the caps above; O(n d²) paths, see the module.

    Those of four only where they are induced, unless ``chords`` do not matter.
    """
    limits = (*tolerance.after(3), *tolerance.after(4))
    per_piece, most = MAX_JOINS_PER_PIECE, max(MAX_LOOPS, _LOOPS_PER_PIECE * len(borders))
    while True:
        used = best_per_piece(table, len(borders), per_piece)
        used = _without_near_copies(table, used, borders, tolerance)
        paths = _find_paths(table, used, borders)
        found = _close(*paths, *limits, len(borders), np.zeros((0, 2), np.int64))
        if found <= most or per_piece <= 2:
            break
        per_piece //= 2
    pairs = np.zeros((min(found, most), 2), np.int64)
    _close(*paths, *limits, len(borders), pairs)
    loops = _as_loops(table, paths, pairs)
    return _thin_out(_induced(loops) if chords else loops, len(table))


def find_induced_loops(table: Candidates, borders: Borders, tolerance: Tolerance, chords: bool = True) -> Loops:
    """All closed loops of three and four joins that are induced as the paper says it: no candidate is a chord of a loop.

    No cap but `MAX_LOOPS`, for memory. Where ``chords`` do not matter, all closed loops.
    """
    paths = _find_paths(table, np.arange(len(table)), borders)
    limits = (*tolerance.after(3), *tolerance.after(4))
    pairs = np.zeros((min(_close(*paths, *limits, len(borders), np.zeros((0, 2), np.int64)), MAX_LOOPS), 2), np.int64)
    _close(*paths, *limits, len(borders), pairs)
    loops = _as_loops(table, paths, pairs)
    if not chords:
        return loops
    joined = set(zip(table.i.tolist(), table.j.tolist(), strict=True))

    def has_chord(a: int, v: int, b: int, w: int) -> bool:
        return w >= 0 and ((min(a, b), max(a, b)) in joined or (min(v, w), max(v, w)) in joined)

    return _choose(loops, np.flatnonzero([not has_chord(*pieces) for pieces in loops.pieces.tolist()]))


def best_per_piece(table: Candidates, n_pieces: int, most: int = MAX_JOINS_PER_PIECE) -> IntArray:
    """Candidates, in their order (best first), that are among the first ``most`` of both their pieces."""
    n = len(table)
    ends, join = np.concatenate([table.i, table.j]), np.tile(np.arange(n), 2)
    by_piece = np.lexsort((join, ends))
    starts = np.searchsorted(ends[by_piece], np.arange(n_pieces))
    rank = np.empty(2 * n, np.int64)
    rank[by_piece] = np.arange(2 * n) - starts[ends[by_piece]]
    return np.flatnonzero(np.maximum(rank[:n], rank[n:]) < most)


def _without_near_copies(table: Candidates, used: IntArray, borders: Borders, tolerance: Tolerance) -> IntArray:
    """Of the joins of a pair that are the same within the tolerance of one join, only the best."""
    px, rad = tolerance.after(1)
    places = carry_rows(table.pose, borders.center[table.j].astype(np.float64))
    kept: dict[tuple[int, int], list[int]] = {}
    for e in used.tolist():
        others = kept.setdefault((int(table.i[e]), int(table.j[e])), [])
        turn = np.abs(wrap_angles(table.pose[others, 0] - table.pose[e, 0]))
        if not ((turn < rad) & (np.linalg.norm(places[others] - places[e], axis=1) < px)).any():
            others.append(e)
    return np.array(sorted(e for others in kept.values() for e in others), dtype=np.int64)


Paths = tuple[IntArray, FloatArray]
"""``(K, 5)`` integers (a, b, middle piece or -1, join to a, join to b), and ``(K, 3)`` (theta of b, its middle) in a."""


def _find_paths(table: Candidates, used: IntArray, borders: Borders) -> Paths:
    """Direct joins and all paths of two joins, sorted by the pair (a, b), direct joins first."""
    i, j, there = table.i[used], table.j[used], table.pose[used]
    here, other = np.concatenate([i, j]), np.concatenate([j, i])
    join = np.concatenate([used, used])
    here_from_other = np.concatenate([there, invert_rows(there)])
    by_piece = np.lexsort((join, here))
    starts = np.searchsorted(here[by_piece], np.arange(len(borders) + 1))
    one, two = _pairs_within(starts.astype(np.int64))
    one, two = by_piece[one], by_piece[two]
    swap = other[one] > other[two]
    one, two = np.where(swap, two, one), np.where(swap, one, two)
    apart = other[one] != other[two]
    one, two = one[apart], two[apart]
    numbers = np.column_stack([other[one], other[two], here[one], join[one], join[two]])
    poses = chain_rows(invert_rows(here_from_other[one]), here_from_other[two])
    numbers = np.concatenate([np.column_stack([i, j, np.full(len(i), -1), used, used]), numbers])
    poses = np.concatenate([there, poses])
    order = np.lexsort((numbers[:, 4], numbers[:, 3], numbers[:, 2], numbers[:, 1], numbers[:, 0]))
    numbers, poses = np.ascontiguousarray(numbers[order]), poses[order]
    middle = carry_rows(poses, borders.center[numbers[:, 1]].astype(np.float64))
    return numbers, np.column_stack([poses[:, 0], middle])


def _pairs_within(starts: IntArray) -> tuple[IntArray, IntArray]:
    """All index pairs ``s < t`` inside each of the runs ``starts[k]:starts[k + 1]``, sorted."""
    later = np.repeat(starts[1:], np.diff(starts)) - np.arange(starts[0], starts[-1]) - 1  # for each s, its number of t
    one = np.repeat(np.arange(starts[0], starts[-1]), later)
    return one, one + 1 + np.arange(len(one)) - np.repeat(np.cumsum(later) - later, later)


@njit
def _close(numbers, poses, px3, rad3, px4, rad4, n, pairs):  # type: ignore[no-untyped-def]
    """Count the path pairs that close a loop, and write down as many of them as ``pairs`` holds.

    Two paths agree where the middles of b lie less than ``px`` apart and the angles of b differ by less than ``rad``.
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
                if turn > rad and 2 * np.pi - turn > rad:
                    continue
                if found < len(pairs):
                    pairs[found, 0], pairs[found, 1] = s, t
                found += 1
        start = stop
    return found


def _as_loops(table: Candidates, paths: Paths, pairs: IntArray) -> Loops:
    """Joins, pieces and poses of the loops that pairs of paths close."""
    one, two = paths[0][pairs[:, 0]], paths[0][pairs[:, 1]]
    triangle = one[:, 2] < 0
    one, two = np.where(triangle[:, None], two, one), np.where(triangle[:, None], one, two)
    fourth = np.where(triangle, -1, two[:, 4])
    joins = np.column_stack([one[:, 3], one[:, 4], two[:, 3], fourth])
    pieces = np.column_stack([one[:, 0], one[:, 2], one[:, 1], two[:, 2]])
    v_pose, b_pose = _along(table, one)
    w_pose, b_again = _along(table, two)
    direct = table.pose[two[:, 3]]
    w_pose, b_again = np.where(triangle[:, None], 0.0, w_pose), np.where(triangle[:, None], direct, b_again)
    b_pose = b_pose + 0.5 * np.column_stack([wrap_angles(b_again[:, 0] - b_pose[:, 0]), b_again[:, 1:] - b_pose[:, 1:]])
    poses = np.stack([np.zeros_like(v_pose), v_pose, b_pose, w_pose], axis=1)
    score = table.score[joins[:, :3]].sum(1) + np.where(triangle, 0.0, table.score[fourth])
    order = np.lexsort((*joins.T[::-1], -score))
    return Loops(joins[order], pieces[order], poses[order], score[order])


def _along(table: Candidates, path: IntArray) -> tuple[FloatArray, FloatArray]:
    """``a_from_v`` and ``a_from_b`` of paths a - v - b; each ``(L, 3)``."""
    a, b = path[:, 0], path[:, 1]
    to_a, to_b = table.pose[path[:, 3]], table.pose[path[:, 4]]
    a_from_v = np.where((table.i[path[:, 3]] == a)[:, None], to_a, invert_rows(to_a))
    v_from_b = np.where((table.j[path[:, 4]] == b)[:, None], to_b, invert_rows(to_b))
    return a_from_v, chain_rows(a_from_v, v_from_b)


def _induced(loops: Loops) -> Loops:
    """Leave out loops of four that a chord splits into two closed triangles."""
    chords: dict[tuple[int, int], set[int]] = {}
    for e, f, g, h in loops.joins.tolist():
        if h < 0:
            for x, y, z in ((e, f, g), (f, g, e), (e, g, f)):
                chords.setdefault((min(x, y), max(x, y)), set()).add(z)

    def shared(e: int, f: int, g: int, h: int) -> bool:
        """True when one chord closes a triangle with the joins e, f and another with g, h."""
        one, two = chords.get((min(e, f), max(e, f))), chords.get((min(g, h), max(g, h)))
        return bool(one and two and one & two)

    kept = [h < 0 or not (shared(e, f, g, h) or shared(e, g, f, h)) for e, f, g, h in loops.joins.tolist()]
    return _choose(loops, np.flatnonzero(kept))


def _thin_out(loops: Loops, n_joins: int) -> Loops:
    """The best loops, none of whose joins is in too many."""
    count = [0] * (n_joins + 1)
    kept = []
    for k, joins in enumerate(loops.joins.tolist()):
        if max(count[e] for e in joins if e >= 0) < MAX_LOOPS_PER_JOIN:
            kept.append(k)
            for e in joins:
                count[e] += 1
    return _choose(loops, np.array(kept, dtype=np.int64))


def _choose(loops: Loops, kept: IntArray) -> Loops:
    return Loops(loops.joins[kept], loops.pieces[kept], loops.poses[kept], loops.score[kept])

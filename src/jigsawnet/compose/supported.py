"""Connecting groups by single joins, those first on which the most other joins agree.

A join between two groups says where one lies in the frame of the other; every other candidate between the two groups that
says the same closes a loop, however long. The support of a join is its own score and the best score of every other pair of
pieces that agrees.
"""

from __future__ import annotations

import numpy as np

from jigsawnet.compose.edge_table import EdgeTable, carry, chain, invert
from jigsawnet.compose.groups import Groups
from jigsawnet.compose.intersection import groups_intersect
from jigsawnet.compose.loops import Tolerance
from jigsawnet.compose.problem import Clock
from jigsawnet.geometry import SE2
from jigsawnet.raster import ShapeBank, njit
from jigsawnet.types import Alignment, BoolArray, FloatArray

MAX_COMPARED = 64
"""Joins between the same two groups that are compared with each other, the best ones."""


def join_supported(
    groups: Groups, bank: ShapeBank, table: EdgeTable, tolerance: Tolerance, min_score: float, clock: Clock
) -> None:
    """Merge groups by the join with the most support that puts no piece on another, until none of ``min_score`` is left."""
    n_pieces = len(groups.roots)
    support = np.zeros(len(table))
    refused = table.score < min_score
    stale = np.ones(len(table), bool)
    while not clock.is_over():
        root_i, root_j = groups.roots[table.i], groups.roots[table.j]
        todo = np.flatnonzero(stale & (root_i != root_j))
        support[todo] = measure_support(groups, bank, table.take(todo), tolerance)
        piece = _join_first(groups, bank, table, np.where(refused | (root_i == root_j), -1.0, support), refused, clock)
        if piece is None:
            return
        root = groups.roots[piece]
        stale = (groups.roots[table.i] == root) | (groups.roots[table.j] == root)
        clock.progress("compose", n_pieces - len(groups), n_pieces)
        clock.show(groups.all_placed)


def _join_first(
    groups: Groups, bank: ShapeBank, table: EdgeTable, waiting: FloatArray, refused: BoolArray, clock: Clock
) -> int | None:
    """Merge by the edge with the highest number in ``waiting`` that puts no piece on another; returns one of its pieces.

    An edge that does is marked in ``refused``: as groups only grow, it will do so later too.
    """
    while len(waiting) and not clock.is_over():
        e = int(np.argmax(waiting))
        if waiting[e] < 0:
            return None
        a = Alignment(int(table.i[e]), int(table.j[e]), SE2(*table.i_from_j[e].tolist()), fit=float(table.score[e]))
        if not groups_intersect(bank, groups.placed(a.i), groups.placed(a.j, groups.move_between(a))):
            groups.merge(a)
            return a.i
        waiting[e], refused[e] = -1.0, True
    return None


def measure_support(groups: Groups, bank: ShapeBank, table: EdgeTable, tolerance: Tolerance) -> FloatArray:
    """``(E,)`` score of each edge and of the pairs of pieces, between the same two groups, that agree with it."""
    roots = groups.roots
    turned = roots[table.i] > roots[table.j]
    low, high = np.where(turned, table.j, table.i), np.where(turned, table.i, table.j)
    low_from_high = np.where(turned[:, None], invert(table.i_from_j), table.i_from_j)
    moves = chain(chain(groups.rows[low, 1:], low_from_high), invert(groups.rows[high, 1:]))
    middles = carry(groups.rows[high, 1:], bank.center[high].astype(np.float64))
    pair = roots[low] * np.int64(len(roots)) + roots[high]
    order = np.argsort(pair, kind="stable")
    size = np.bincount(roots, minlength=len(roots))
    in_a_row = 4.0 + np.sqrt(size[roots[low]] + size[roots[high]])
    limits = np.column_stack([tolerance.px * np.sqrt(in_a_row), tolerance.rad * np.sqrt(in_a_row)])
    support = np.empty(len(table))
    pieces = table.i * np.int64(len(roots)) + table.j
    support[order] = _sum_agreeing(
        pair[order], pieces[order], moves[order], middles[order], limits[order], table.score[order], MAX_COMPARED
    )
    return support


@njit
def _sum_agreeing(pair, pieces, moves, middles, limits, score, most):  # type: ignore[no-untyped-def]
    """For edges sorted by pair of groups, best first: the score of each plus those of the others that move the group alike.

    Of the candidates of one pair of pieces only the best that agrees counts: near-copies of one join are one witness.
    """
    support = score.copy()
    heard = np.empty(most, pieces.dtype)
    start = 0
    while start < len(pair):
        stop = start
        while stop < len(pair) and pair[stop] == pair[start]:
            stop += 1
        last = min(stop, start + most)
        for e in range(start, last):
            heard[0], count = pieces[e], 1
            for f in range(start, last):
                if not np.any(heard[:count] == pieces[f]) and _move_alike(e, f, moves, middles, limits):
                    heard[count] = pieces[f]
                    count += 1
                    support[e] += score[f]
        start = stop
    return support


@njit
def _move_alike(e, f, moves, middles, limits):  # type: ignore[no-untyped-def]
    """True when two edges carry the one group to the same place in the other, at the pieces of both."""
    turn = abs(moves[e, 0] - moves[f, 0]) % (2 * np.pi)
    if min(turn, 2 * np.pi - turn) > limits[e, 1]:
        return False
    c = np.cos(moves[e, 0]) - np.cos(moves[f, 0])
    s = np.sin(moves[e, 0]) - np.sin(moves[f, 0])
    x, y = moves[e, 1] - moves[f, 1], moves[e, 2] - moves[f, 2]
    for at in (e, f):
        dx = c * middles[at, 0] - s * middles[at, 1] + x
        dy = s * middles[at, 0] + c * middles[at, 1] + y
        if dx * dx + dy * dy > limits[e, 0] ** 2:
            return False
    return True

"""Connecting components by single joins, those first on which the most other joins agree.

A join between two components says where one lies in the frame of the other; every other candidate between the two that says the
same closes a loop, however long. The support of a join is its own score and the best score of every other pair of
pieces that agrees.
"""

from __future__ import annotations

import numpy as np

from jigsawnet.borders import Borders, njit, njit_part
from jigsawnet.candidates import Candidates
from jigsawnet.compose.components import Components
from jigsawnet.compose.intersection import Overlap, placements_intersect
from jigsawnet.compose.loops import Tolerance
from jigsawnet.compose.problem import Pace
from jigsawnet.geometry import SE2, carry_rows, chain_rows, invert_rows
from jigsawnet.types import BoolArray, FloatArray

MAX_COMPARED = 64
"""Joins between the same two components that are compared with each other, the best ones."""


def join_supported(
    components: Components, borders: Borders, table: Candidates, tolerance: Tolerance, min_score: float, pace: Pace
) -> None:
    """Merge components by the join with the most support that puts no piece on another, until none of ``min_score`` is left."""
    n_pieces = len(components.roots)
    support = np.zeros(len(table))
    refused = table.score < min_score
    stale = np.ones(len(table), bool)
    while not pace.is_over():
        root_i, root_j = components.roots[table.i], components.roots[table.j]
        todo = np.flatnonzero(stale & (root_i != root_j))
        support[todo] = measure_support(components, borders, table.take(todo), tolerance)
        waiting = np.where(refused | (root_i == root_j), -1.0, support)
        piece = _join_first(components, borders, table, waiting, refused, tolerance.overlap, pace)
        if piece is None:
            return
        root = components.roots[piece]
        stale = (components.roots[table.i] == root) | (components.roots[table.j] == root)
        pace.tell(n_pieces - len(components), n_pieces)
        pace.show(components.all_placed)


def _join_first(
    components: Components,
    borders: Borders,
    table: Candidates,
    waiting: FloatArray,
    refused: BoolArray,
    overlap: Overlap,
    pace: Pace,
) -> int | None:
    """Merge by the join with the highest number in ``waiting`` that puts no piece on another; returns one of its pieces.

    A join that does is marked in ``refused``: as components only grow, it will do so later too.
    """
    while len(waiting) and not pace.is_over():
        e = int(np.argmax(waiting))
        if waiting[e] < 0:
            return None
        i, j, i_from_j = int(table.i[e]), int(table.j[e]), SE2(*table.pose[e].tolist())
        move = components.move_between(i, j, i_from_j)
        if not placements_intersect(borders, components.placed(i), components.placed(j, move), overlap):
            components.merge(i, j, i_from_j)
            return i
        waiting[e], refused[e] = -1.0, True
    return None


def measure_support(components: Components, borders: Borders, table: Candidates, tolerance: Tolerance) -> FloatArray:
    """``(E,)`` score of each join and of the pairs of pieces, between the same two components, that agree with it."""
    roots = components.roots
    turned = roots[table.i] > roots[table.j]
    low, high = np.where(turned, table.j, table.i), np.where(turned, table.i, table.j)
    low_from_high = np.where(turned[:, None], invert_rows(table.pose), table.pose)
    moves = chain_rows(chain_rows(components.rows[low, 1:], low_from_high), invert_rows(components.rows[high, 1:]))
    middles = carry_rows(components.rows[high, 1:], borders.center[high].astype(np.float64))
    pair = roots[low] * np.int64(len(roots)) + roots[high]
    order = np.argsort(pair, kind="stable")
    size = np.bincount(roots, minlength=len(roots))
    in_a_row = 4.0 + np.sqrt(size[roots[low]] + size[roots[high]])
    limits = np.column_stack([tolerance.px * np.sqrt(in_a_row), tolerance.rad * np.sqrt(in_a_row)])
    support = np.empty(len(table))
    pieces = table.i.astype(np.int64) * len(roots) + table.j
    agreeing = table.score[order]
    _sum_agreeing(
        pair[order], pieces[order], moves[order], middles[order], limits[order], table.score[order], MAX_COMPARED, agreeing
    )
    support[order] = agreeing
    return support


@njit
def _sum_agreeing(pair, pieces, moves, middles, limits, score, most, support):  # type: ignore[no-untyped-def]
    """For candidates sorted by pair of components, best first: add to ``support`` the scores of others that move one alike.

    Of the candidates of one pair of pieces only the best that agrees counts: near-copies of one join are one witness.
    """
    heard = np.empty(most, np.int64)
    start = 0
    while start < len(pair):
        stop = start
        while stop < len(pair) and pair[stop] == pair[start]:
            stop += 1
        last = stop if stop < start + most else start + most
        for e in range(start, last):
            heard[0], count = pieces[e], 1
            for f in range(start, last):
                new = True
                for h in range(count):
                    new = new and heard[h] != pieces[f]
                if new and _move_alike(e, f, moves, middles, limits):
                    heard[count] = pieces[f]
                    count += 1
                    support[e] += score[f]
        start = stop


@njit_part
def _move_alike(e, f, moves, middles, limits):  # type: ignore[no-untyped-def]
    """True when two joins carry the one component to the same place in the other, at the pieces of both.

    Motions (R, t) and (S, u) carry a middle m apart by ``(R - S) m + t - u``.
    """
    turn = abs(moves[e, 0] - moves[f, 0]) % (2 * np.pi)
    if turn > limits[e, 1] and 2 * np.pi - turn > limits[e, 1]:
        return False
    c = np.cos(moves[e, 0]) - np.cos(moves[f, 0])
    s = np.sin(moves[e, 0]) - np.sin(moves[f, 0])
    x, y = moves[e, 1] - moves[f, 1], moves[e, 2] - moves[f, 2]
    for at in (e, f):
        dx = c * middles[at, 0] - s * middles[at, 1] + x
        dy = s * middles[at, 0] + c * middles[at, 1] + y
        if dx * dx + dy * dy > limits[e, 0] * limits[e, 0]:
            return False
    return True

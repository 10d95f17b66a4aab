"""Patches: closed loops and what they merge into, each in one frame.

A patch holds its pieces, their poses and the joins that agree on them. Two patches merge when they put every piece that they
have in common in the same place (C1 of the paper) and no piece of one lies on a piece of the other (C2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jigsawnet.borders import Borders, njit
from jigsawnet.candidates import Candidates
from jigsawnet.compose.components import move_rows
from jigsawnet.compose.intersection import HAIR, Overlap, placements_intersect
from jigsawnet.compose.loops import Loops, Tolerance
from jigsawnet.geometry import SE2, carry_rows
from jigsawnet.stopping import Stop
from jigsawnet.types import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Patch:
    """Pieces in one frame: ``rows (K, 4)`` (piece, theta, x, y) sorted by piece, and where their middles lie.

    ``joins`` is the set of joins as bits of an integer, so that union, intersection and identity cost one operation.
    """

    pieces: NDArray[np.intp]
    rows: FloatArray
    middles: FloatArray
    joins: int
    score: float


def make_patch(rows: FloatArray, joins: int, score: float, borders: Borders) -> Patch:
    """A patch of rows in any order."""
    rows = rows[np.argsort(rows[:, 0])]
    pieces = rows[:, 0].astype(np.intp)
    return Patch(pieces, rows, carry_rows(rows[:, 1:], borders.center[pieces].astype(np.float64)), joins, score)


def patches_of(loops: Loops, borders: Borders, overlap: Overlap = HAIR, stop: Stop | None = None) -> list[Patch]:
    """The loops whose own pieces do not lie on each other, as patches in the same order.

    Stopped early, the first of them, and one at least.
    """
    patches: list[Patch] = []
    for joins, pieces, poses, score in zip(loops.joins.tolist(), loops.pieces, loops.poses, loops.score, strict=True):
        if patches and stop is not None and stop.is_over():
            break
        size = 3 if joins[3] < 0 else 4
        rows = np.column_stack([pieces[:size], poses[:size]])
        if not any(placements_intersect(borders, rows[:k], rows[k : k + 1], overlap) for k in range(1, size)):
            patches.append(make_patch(rows, sum(1 << e for e in joins[:size]), float(score), borders))
    return patches


def merge_patches(large: Patch, small: Patch, table: Candidates, borders: Borders, tolerance: Tolerance) -> Patch | None:
    """Carry the small patch into the frame of the large one; None when they contradict each other."""
    px, rad = tolerance.after(2.0 + math.sqrt(len(large.pieces) + len(small.pieces)))
    spread = (tolerance.px / tolerance.rad) ** 2
    only_large, only_small = np.ones(len(large.pieces), bool), np.ones(len(small.pieces), bool)
    agree, theta, x, y = _compare(large.rows, large.middles, only_large, small.rows, small.middles, only_small, spread, px, rad)
    if not agree:
        return None
    new = move_rows(SE2(theta, x, y), small.rows[only_small])
    if len(new) and only_large.any() and placements_intersect(borders, large.rows[only_large], new, tolerance.overlap):
        return None
    score = large.score + sum(float(table.score[e]) for e in bits(small.joins & ~large.joins))
    return make_patch(np.concatenate([large.rows, new]), large.joins | small.joins, score, borders)


def bits(number: int) -> list[int]:
    """Positions of the bits that are set, lowest first."""
    found = []
    while number:
        lowest = number & -number
        found.append(lowest.bit_length() - 1)
        number ^= lowest
    return found


@njit
def _compare(rows, middles, only, rows_2, middles_2, only_2, spread, px, rad):  # type: ignore[no-untyped-def]
    """C1 for two patches: the motion of the second that fits the common pieces best, and whether all of them agree.

    Least squares over middles and angles, an angle weighing as much as ``spread`` px²: the turn is the angle of
    ``sum (u . v, v x u) + spread (cos, sin) of the turns``, u and v the middles less their means. Errors add up along the
    patches, whose joins in a row grow with the square root of their pieces: that is in ``px`` and ``rad``. Returns (agree,
    theta, x, y of the motion) and clears ``only`` and ``only_2`` at the common pieces.
    """
    at, at_2 = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    count, k, m = 0, 0, 0
    while k < len(rows) and m < len(rows_2):
        if rows[k, 0] == rows_2[m, 0]:
            only[k], only_2[m] = False, False
            at[count], at_2[count] = k, m
            count, k, m = count + 1, k + 1, m + 1
        elif rows[k, 0] < rows_2[m, 0]:
            k += 1
        else:
            m += 1
    if count == 0:
        return False, 0.0, 0.0, 0.0
    mean_x, mean_y, mean_x2, mean_y2 = 0.0, 0.0, 0.0, 0.0
    for c in range(count):
        mean_x, mean_y = mean_x + middles[at[c], 0] / count, mean_y + middles[at[c], 1] / count
        mean_x2, mean_y2 = mean_x2 + middles_2[at_2[c], 0] / count, mean_y2 + middles_2[at_2[c], 1] / count
    cos, sin = 0.0, 0.0
    for c in range(count):
        u, v = middles[at[c], 0] - mean_x, middles[at[c], 1] - mean_y
        u2, v2 = middles_2[at_2[c], 0] - mean_x2, middles_2[at_2[c], 1] - mean_y2
        turn = rows[at[c], 1] - rows_2[at_2[c], 1]
        cos += u * u2 + v * v2 + spread * np.cos(turn)
        sin += v * u2 - u * v2 + spread * np.sin(turn)
    theta = np.arctan2(sin, cos)
    cos, sin = np.cos(theta), np.sin(theta)
    x, y = mean_x - cos * mean_x2 + sin * mean_y2, mean_y - sin * mean_x2 - cos * mean_y2
    for c in range(count):
        u2, v2 = middles_2[at_2[c], 0], middles_2[at_2[c], 1]
        du, dv = cos * u2 - sin * v2 + x - middles[at[c], 0], sin * u2 + cos * v2 + y - middles[at[c], 1]
        turn = abs(rows[at[c], 1] - rows_2[at_2[c], 1] - theta) % (2 * np.pi)
        if du * du + dv * dv > px * px or (turn > rad and 2 * np.pi - turn > rad):
            return False, theta, x, y
    return True, theta, x, y

"""From measured candidates to the few that are kept; shared by all matchers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from jigsawnet.borders import njit, njit_part
from jigsawnet.candidates import MIDDLE, Candidates
from jigsawnet.geometry import wrap_angles

SAME_PX = 6.0
SAME_RAD = 0.07
"""Two poses of a pair that differ by less than this at the seam are one candidate."""


def select_candidates(rows: Candidates, per_piece: int, n_pieces: int, per_pair: int = 1 << 30) -> NDArray[np.int64]:
    """Rows of the candidates to keep, best ``fit`` first.

    Candidates without a positive fit, near-copies of a better pose of the same pair, and whatever goes beyond ``per_pair`` of a
    pair or ``per_piece`` of a piece are dropped (non-maximum suppression in SE(2)). Ties are broken by position.
    """
    order = np.lexsort((np.arange(len(rows)), -rows.fit))
    order = order[rows.fit[order] > 0]
    pieces = np.column_stack([rows.i, rows.j]).astype(np.int64)
    poses, middle = np.array(rows.pose, np.float32, order="C"), np.array(rows.features[:, MIDDLE], np.float32, order="C")
    kept = np.empty(len(order), np.int64)
    return kept[: _thin_out(order, pieces, poses, middle, per_piece, per_pair, n_pieces, kept)]


def chosen(rows: Candidates, per_piece: int, n_pieces: int) -> Candidates:
    """The candidates that a matcher gives: those to keep, best first, angles within a turn."""
    kept = rows.take(select_candidates(rows, per_piece, n_pieces))
    pose = kept.pose.astype(np.float64)
    pose[:, 0] = wrap_angles(pose[:, 0])
    return replace(kept, pose=pose)


@njit
def _thin_out(order, pieces, pose, middle, per_piece, per_pair, n, kept):  # type: ignore[no-untyped-def]
    """Fill ``kept`` with the candidates that stay, in the given order; returns how many.

    Two poses of a pair are one when they turn alike and carry the middle of the seam to nearly the same point of j.
    """
    count, newest = np.empty(n, np.int64), np.empty(n, np.int64)
    for p in range(n):
        count[p], newest[p] = 0, -1  # last kept candidate of piece i, the start of its chain
    previous = np.empty(len(order), np.int64)
    size = 0
    for k in order:
        i, j = pieces[k, 0], pieces[k, 1]
        if count[i] >= per_piece or count[j] >= per_piece:
            continue
        back, copies, of_pair = newest[i], False, 0
        while back >= 0 and not copies:
            other = kept[back]
            if pieces[other, 1] == j:
                of_pair += 1
                turn = pose[other, 0] - pose[k, 0]
                if abs(turn - 2 * np.pi * np.rint(turn / (2 * np.pi))) < SAME_RAD:
                    ax, ay = _in_frame_of_j(pose, k, middle[k, 0], middle[k, 1])
                    bx, by = _in_frame_of_j(pose, other, middle[k, 0], middle[k, 1])
                    copies = np.hypot(ax - bx, ay - by) < SAME_PX
            back = previous[back]
        if copies or of_pair >= per_pair:
            continue
        kept[size] = k
        previous[size] = newest[i]
        newest[i] = size
        size += 1
        count[i] += 1
        count[j] += 1
    return size


@njit_part
def _in_frame_of_j(pose, k, x, y):  # type: ignore[no-untyped-def]
    """A point of i's frame in that of j: ``R' (p - t)`` for i_from_j = (R, t), row ``k`` of ``pose``."""
    cos, sin = np.cos(pose[k, 0]), np.sin(pose[k, 0])
    dx, dy = x - pose[k, 1], y - pose[k, 2]
    return cos * dx + sin * dy, cos * dy - sin * dx

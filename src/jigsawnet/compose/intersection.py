"""Do placed pieces lie on top of each other?

A piece is a lattice of points inside it; it intersects another where many of them fall deep inside the other. A seam may
overlap by a few pixels (blade width, mask noise, pose noise), so points near the other's border do not count.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jigsawnet.borders import Borders, lies_inside, njit
from jigsawnet.candidates import Candidates
from jigsawnet.seam_fit import puzzle_slack
from jigsawnet.types import FloatArray


class Refusals:
    """What may not come about for other reasons than pieces that lie on each other."""

    __slots__ = ()

    def refuse(self, fixed: FloatArray, moving: FloatArray) -> bool:
        """True when two components, as rows ``(K, 4)`` in one frame, must not be put together so."""
        raise NotImplementedError


class Overlap(NamedTuple):
    """How far one piece may lie on another, and what a person has excluded besides."""

    free_px: float = 4.0
    """Points less deep than this inside another piece do not count (nor, for thin pieces, less deep than half its depth)."""
    share: float = 0.02
    """Part of the smaller piece that may lie deeper inside the other."""
    refusals: Refusals | None = None


HAIR = Overlap()
"""What pose and mask noise bring about, and no more."""


def allowed_overlap(overlap: Overlap, rows: Candidates, borders: Borders) -> Overlap:
    """``overlap`` for one puzzle: where its pieces are ragged, joins are as inexact as its sure seams are rough.

    With the slack s of these seams (1 to 2), points count from s times the depth on, and s² times as many are allowed: when a
    joint moves, the area of an overlap grows with its depth and with its length.
    """
    slack = puzzle_slack(rows, borders.unit_px) if rows.ragged.any() else 1.0
    return overlap._replace(free_px=overlap.free_px * slack, share=min(1.0, overlap.share * slack**2))


def placements_intersect(borders: Borders, fixed: FloatArray, moving: FloatArray, overlap: Overlap = HAIR) -> bool:
    """True when any piece of one component lies on any piece of the other by more than ``overlap``, or a person excluded it.

    Both are ``(K, 4)`` rows ``(piece, theta, x, y)`` with poses in one common frame.
    """
    if _intersect(borders.insides, fixed, moving, overlap.free_px, overlap.share):
        return True
    return overlap.refusals is not None and overlap.refusals.refuse(fixed, moving)


@njit
def _intersect(insides, fixed, moving, free_px, share):  # type: ignore[no-untyped-def]
    """Test all pairs (i of ``fixed``, j of ``moving``) whose circles ``|center_i - center_j| <= radius_i + radius_j`` meet.

    With world_from_i = (R_i, t_i): ``i_from_j = (R_i' R_j, R_i' (t_j - t_i))``.
    """
    circle, core_first, free = insides.circle, insides.core_first, free_px * insides.unit_px
    for a in range(len(fixed)):
        i = int(fixed[a, 0])
        cos_i, sin_i = np.cos(fixed[a, 1]), np.sin(fixed[a, 1])
        mid_x = cos_i * circle[i, 0] - sin_i * circle[i, 1] + fixed[a, 2]
        mid_y = sin_i * circle[i, 0] + cos_i * circle[i, 1] + fixed[a, 3]
        for b in range(len(moving)):
            j = int(moving[b, 0])
            cos_j, sin_j = np.cos(moving[b, 1]), np.sin(moving[b, 1])
            dx = cos_j * circle[j, 0] - sin_j * circle[j, 1] + moving[b, 2] - mid_x
            dy = sin_j * circle[j, 0] + cos_j * circle[j, 1] + moving[b, 3] - mid_y
            reach = circle[i, 2] + circle[j, 2]
            if dx * dx + dy * dy > reach * reach:
                continue
            cos, sin = cos_i * cos_j + sin_i * sin_j, cos_i * sin_j - sin_i * cos_j
            wx, wy = moving[b, 2] - fixed[a, 2], moving[b, 3] - fixed[a, 3]
            x, y = cos_i * wx + sin_i * wy, cos_i * wy - sin_i * wx
            size_i, size_j = core_first[i + 1] - core_first[i], core_first[j + 1] - core_first[j]
            most = share * (size_i if size_i < size_j else size_j)
            free_i = free if free < 0.5 * circle[i, 3] else 0.5 * circle[i, 3]
            free_j = free if free < 0.5 * circle[j, 3] else 0.5 * circle[j, 3]
            if lies_inside(insides, i, j, (cos, sin, x, y), free_i, most):
                return True
            if lies_inside(insides, j, i, (cos, -sin, -(cos * x + sin * y), sin * x - cos * y), free_j, most):
                return True
    return False

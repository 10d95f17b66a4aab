"""Pieces laid down by hand: what their borders run along, they are joined to, candidate or not."""

from __future__ import annotations

import numpy as np

from jigsawnet.edits import Arrangement, Edit, Move, Pieces, apply_edit
from jigsawnet.raster import ShapeBank
from jigsawnet.types import Alignment
from jigsawnet.viewer.seams import SeamBook

_TOUCHING_SHARE = 0.06
"""Part of the shorter perimeter along which borders must meet to count as joined."""


def with_touching(pieces: Pieces, bank: ShapeBank, seams: SeamBook, arrangement: Arrangement, edit: Edit) -> Edit:
    """The same edit; a move that names no joins names those whose borders meet when it is done."""
    if not isinstance(edit, Move) or edit.joins:
        return edit
    after = apply_edit(pieces, arrangement, edit)
    moved, still = sorted(edit.poses), [idx for idx in after.poses if idx not in edit.poses]
    if not still:
        return edit
    middles = [np.array([after.poses[idx] @ bank.center[idx].astype(np.float64) for idx in side]) for side in (moved, still)]
    distance = np.linalg.norm(middles[0][:, None] - middles[1][None], axis=2)
    near = np.argwhere(distance < bank.radius[moved][:, None] + bank.radius[still][None])
    pairs = sorted((min(moved[a], still[b]), max(moved[a], still[b])) for a, b in near)
    new = [pair for pair in pairs if pair not in after.joins]
    shares = seams.shares([Alignment(i, j, after.relation(i, j), 1.0) for i, j in new])
    touching = [pair for pair, share in zip(new, shares, strict=True) if share >= _TOUCHING_SHARE]
    return Move(edit.poses, tuple(touching)) if touching else edit

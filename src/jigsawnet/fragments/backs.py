"""Front and back of the same pieces: the page was turned over from left to right, so places are mirrored."""

from __future__ import annotations

import numpy as np
import scipy

from jigsawnet.fragments.overlay import lay_over, turn_onto
from jigsawnet.fragments.scan import ScanPiece, ScanResult
from jigsawnet.types import FloatArray, Fragment

_NEAR = 0.35
"""Two centres agree when they are nearer than this part of a piece's size."""
_AREA_TIMES = 1.4


def pair_backs(front: ScanResult, back: ScanResult) -> dict[int, int]:
    """Which piece of the back scan shows the back of which piece of the front scan: ``{front: back}``.

    The page may lie elsewhere in the second scan, but not turned. A piece whose mirrored place is empty has no pair.
    """
    if not front.pieces or not back.pieces:
        return {}
    mirrored = np.array([_center(piece) for piece in front.pieces])
    mirrored[:, 0] = front.background.page_size[0] - 1 - mirrored[:, 0]
    centers = np.array([_center(piece) for piece in back.pieces])
    areas, back_areas = (np.array([p.area_px for p in side.pieces], np.float64) for side in (front, back))
    near_px = _NEAR * np.sqrt(areas)
    offsets = centers[None] - mirrored[:, None]
    distance = np.linalg.norm(offsets - _common_shift(offsets, float(np.median(near_px))), axis=2)
    unlike = np.abs(np.log(areas[:, None] / back_areas[None])) > np.log(_AREA_TIMES)
    cost = np.where(unlike | (distance > near_px[:, None]), 1e6, distance)
    rows, cols = scipy.optimize.linear_sum_assignment(cost)
    return {int(i): int(j) for i, j in zip(rows, cols, strict=True) if cost[i, j] < 1e6}


def _center(piece: ScanPiece) -> FloatArray:
    y, x = np.nonzero(piece.mask)
    return np.array([x.mean(), y.mean()]) + piece.corner


def _common_shift(offsets: FloatArray, near_px: float) -> FloatArray:
    """The shift ``(2,)`` on which most pieces agree; ``offsets (n, m, 2)`` are all differences of places."""
    votes = offsets.reshape(-1, 2)
    tree = scipy.spatial.cKDTree(votes)
    counts = tree.query_ball_point(votes, near_px, return_length=True)
    best = votes[np.lexsort((np.linalg.norm(votes, axis=1), -counts))[0]]
    return np.asarray(np.median(votes[tree.query_ball_point(best, near_px)], axis=0), np.float64)


def lay_back(front: Fragment, back: Fragment, *, any_angle: bool = False) -> Fragment:
    """The back on a canvas as large as the front's, as seen from behind: flipped from left to right it lies on the front.

    ``back`` was photographed at about the same angle as the front, but for being turned over; or at any angle.
    """
    mask = np.ascontiguousarray(front.mask[:, ::-1])
    image = lay_over(back.image, back.mask, mask, turn_onto(back.mask, mask, any_angle=any_angle))
    return Fragment(front.idx, front.name, np.where(mask[..., None], image, np.uint8(0)), mask)

"""Front and back of the same pieces: the page was turned over from left to right, so places are mirrored."""

from __future__ import annotations

import numpy as np
import scipy

from jigsawnet.fragments.scan import ScanPiece, ScanResult
from jigsawnet.types import BoolArray, FloatArray

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
    return _mask_center(piece.mask) + piece.corner


def _mask_center(mask: BoolArray) -> FloatArray:
    y, x = np.nonzero(mask)
    return np.array([x.mean(), y.mean()])


def _common_shift(offsets: FloatArray, near_px: float) -> FloatArray:
    """The shift ``(2,)`` on which most pieces agree; ``offsets (n, m, 2)`` are all differences of places."""
    votes = offsets.reshape(-1, 2)
    tree = scipy.spatial.cKDTree(votes)
    counts = tree.query_ball_point(votes, near_px, return_length=True)
    best = votes[np.lexsort((np.linalg.norm(votes, axis=1), -counts))[0]]
    return np.asarray(np.median(votes[tree.query_ball_point(best, near_px)], axis=0), np.float64)


def on_front_canvas(front: ScanPiece, back: ScanPiece) -> ScanPiece:
    """The back of a piece on a canvas as large as its front's, so that the flipped back lies on the front."""
    height, width = front.mask.shape
    center = _mask_center(front.mask)
    shift = np.rint(np.array([width - 1 - center[0], center[1]]) - _mask_center(back.mask)).astype(int)
    y, x = np.nonzero(back.mask)
    inside = (y + shift[1] >= 0) & (y + shift[1] < height) & (x + shift[0] >= 0) & (x + shift[0] < width)
    y, x = y[inside], x[inside]
    image, mask = np.zeros_like(front.image), np.zeros_like(front.mask)
    image[y + shift[1], x + shift[0]] = back.image[y, x]
    mask[y + shift[1], x + shift[0]] = True
    return ScanPiece(image, mask, (back.corner[0] - int(shift[0]), back.corner[1] - int(shift[1])), back.cut_off)

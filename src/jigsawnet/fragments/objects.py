"""Which objects on a page are pieces: not specks and, on request, not rulers and colour cards."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from jigsawnet.types import BoolArray, FloatArray

HOLE_AREA_PX = 60
HOLE_SHARE = 0.002
"""Holes below this share of an object are not holes in paper."""
_RECTANGULAR = 0.95
"""Share of its smallest enclosing rectangle that a rectangle covers."""
_USUALLY_NOT = 0.93
_LONG_TIMES = 2.5
_AREA_TIMES = 3.0


def usual_area(areas: Sequence[int] | NDArray[np.int64]) -> float:
    """The area such that half of all paper lies in larger pieces; specks hardly matter to it."""
    if not len(areas):
        return 0.0
    ordered = np.sort(np.asarray(areas, np.float64))
    return float(ordered[np.searchsorted(np.cumsum(ordered), 0.5 * ordered.sum())])


def drop_specks(areas: NDArray[np.int64], speck_share: float, min_area_px: int) -> NDArray[np.intp]:
    """Numbers of the objects whose area is neither tiny nor below ``speck_share`` of the usual one."""
    least = max(float(min_area_px), speck_share * usual_area(areas))
    return np.flatnonzero(areas >= least)


def fill_pinholes(mask: BoolArray) -> BoolArray:
    """Close the holes of an object ``(H, W)`` that are too small to be holes in paper."""
    around = np.pad(~mask, 1, constant_values=True).astype(np.uint8)
    _, label, stats, _ = cv2.connectedComponentsWithStats(around, connectivity=4)
    small = stats[:, cv2.CC_STAT_AREA] < max(HOLE_AREA_PX, HOLE_SHARE * np.count_nonzero(mask))
    small[[0, label[0, 0]]] = False
    filled: BoolArray = mask | small[label[1:-1, 1:-1]]
    return filled


def is_foreign_rectangle(mask: BoolArray, all_masks: Sequence[BoolArray]) -> bool:
    """True for a straight-edged rectangle that is much longer or of quite another size than the other objects."""
    fill, aspect, area = _rectangle(mask)
    others = np.array([_rectangle(other) for other in all_masks if other is not mask]).reshape(-1, 3)
    if fill < _RECTANGULAR or not len(others):
        return False
    usual_fill, usual_aspect, usual_size = np.median(others, axis=0)
    is_long = aspect > _LONG_TIMES * usual_aspect
    is_odd_size = not usual_size / _AREA_TIMES < area < usual_size * _AREA_TIMES
    return bool(is_long or (is_odd_size and usual_fill < _USUALLY_NOT))


def _rectangle(mask: BoolArray) -> FloatArray:
    """Share of the smallest enclosing rectangle covered, its long side over its short one, and the area in px."""
    contours, _ = cv2.findContours(mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    _, sides, _ = cv2.minAreaRect(np.concatenate(contours))
    long, short = max(sides) + 1.0, min(sides) + 1.0
    area = float(np.count_nonzero(mask))
    return np.array([area / (long * short), long / short, area])

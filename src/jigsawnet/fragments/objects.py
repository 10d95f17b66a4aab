"""Objects on a page: which are pieces, and which are several that touch.

Specks are none and, on request, rulers and colour cards. An object with a narrow neck is cut there; one with a wider neck is
suspected.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from jigsawnet.nearest import nearest_pixels
from jigsawnet.types import BoolArray, Float32Array, FloatArray

Int32Array = NDArray[np.int32]

HOLE_AREA_PX = 60
HOLE_SHARE = 0.002
"""Holes below this area, or this share of an object, are not holes in paper."""
_RECTANGULAR = 0.95
"""Share of its smallest enclosing rectangle that a rectangle covers."""
_USUALLY_NOT = 0.93
"""Median share of the others below which pieces are not rectangles themselves."""
_LONG_TIMES, _AREA_TIMES = 2.5, 3.0
"""A foreign rectangle is so many times as long for its width, or as large or small, as the others."""
SPLIT_NECK = 0.33
"""A neck narrower than this part of the smaller of the two bodies it joins is cut."""
SUSPECT_NECK = 0.5
"""A large object with a neck narrower than this part is suspected to be two pieces."""
_MIN_PART = 0.15
"""Each part has at least this share of an ordinary piece's area."""
_LEVELS = 16
"""Depths to which an object is worn down to see whether it falls apart."""
_REDUCED_PX = 600
"""Longest side of the copy in which necks are looked for."""


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


def split_touching(mask: BoolArray, usual_area: float, neck: float = SPLIT_NECK) -> list[BoolArray]:
    """Cut an object ``(H, W)`` at its narrow necks; gives one mask per part, the object itself when there is no such neck.

    ``usual_area`` is what an ordinary piece has in px: parts much smaller than that are no pieces and stay where they are.
    """
    if np.count_nonzero(mask) < 2 * _MIN_PART * usual_area:
        return [mask]
    factor = max(1.0, max(mask.shape) / _REDUCED_PX)
    size = max(1, math.ceil(mask.shape[1] / factor)), max(1, math.ceil(mask.shape[0] / factor))
    small = cv2.resize(mask.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST)
    depth = np.asarray(cv2.distanceTransform(np.pad(small, 1), cv2.DIST_L2, 5)[1:-1, 1:-1], np.float32)
    seeds = _find_bodies(depth, neck, _MIN_PART * usual_area / factor**2)
    if seeds.max() < 2:
        return [mask]
    label = cv2.resize(_watershed(depth, seeds).astype(np.float32), mask.shape[::-1], interpolation=cv2.INTER_NEAREST)
    return _assign(mask, label.astype(np.int32))


def _find_bodies(depth: Float32Array, neck: float, min_area: float) -> Int32Array:
    """Numbers ``1 .. n`` for the bodies that narrow necks join, in ``(H, W)``; all 1 when there is only one.

    A body appears at the level at which the object, worn down from its border, falls apart. It counts when it is so much deeper
    than that level that the neck is narrow, and when it is not small.
    """
    bodies = (depth > 0).astype(np.int32)
    done = False
    while not done:
        done = True
        for number in range(1, int(bodies.max()) + 1):
            parts = _fall_apart(np.where(bodies == number, depth, np.float32(0)), neck, min_area)
            if len(parts) > 1:
                bodies[bodies == number] = 0
                for part in parts:
                    bodies[part] = int(bodies.max()) + 1
                bodies = _watershed(depth, _number_densely(bodies))
                done = False
                break
    return bodies


def _fall_apart(depth: Float32Array, neck: float, min_area: float) -> list[BoolArray]:
    deepest = float(depth.max())
    for level in np.geomspace(1.0, max(1.01, neck * deepest), _LEVELS):
        n, label = cv2.connectedComponents((depth > level).astype(np.uint8), connectivity=4)
        if n <= 2:
            continue
        parts = [label == k for k in range(1, n)]
        parts = [part for part in parts if depth[part].max() * neck >= level]
        if len(parts) < 2:
            continue
        whole = _watershed(depth, sum(((k + 1) * part for k, part in enumerate(parts)), np.zeros(depth.shape, np.int32)))
        large = [part for k, part in enumerate(parts) if np.count_nonzero(whole == k + 1) >= min_area]
        if len(large) > 1:
            return large
    return []


def _watershed(depth: Float32Array, seeds: Int32Array) -> Int32Array:
    """Grow numbered seeds over the object, from deep to shallow, so that they meet at the necks."""
    height = np.clip(255.0 * (1.0 - depth / max(1.0, float(depth.max()))), 0, 255).astype(np.uint8)
    outside = int(seeds.max()) + 1
    markers = np.where(depth > 0, seeds, outside).astype(np.int32)
    cv2.watershed(np.dstack([height] * 3), markers)
    inside = depth > 0
    grown = np.where((markers > 0) & (markers < outside) & inside, markers, 0).astype(np.int32)
    return np.where(inside, _nearest_number(grown), 0).astype(np.int32)


def _nearest_number(numbers: Int32Array) -> Int32Array:
    """Each pixel's number, or that of the nearest pixel that has one."""
    nearest: Int32Array = numbers.ravel()[nearest_pixels(numbers > 0)[0]]
    return nearest


def _number_densely(numbers: Int32Array) -> Int32Array:
    _, dense = np.unique(numbers, return_inverse=True)
    return dense.reshape(numbers.shape).astype(np.int32) + (0 if (numbers == 0).any() else 1)


def _assign(mask: BoolArray, label: Int32Array) -> list[BoolArray]:
    """Give every pixel of the mask to the part it lies in or next to."""
    whole = _nearest_number(np.where(mask, label, 0).astype(np.int32))
    return [mask & (whole == k) for k in range(1, int(label.max()) + 1)]

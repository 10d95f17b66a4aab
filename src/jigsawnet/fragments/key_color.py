"""The background of an opaque picture: which colour it has, and whether it meets the piece at a hard edge."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from jigsawnet.types import BoolArray, UInt8Array

NEAR_LEVELS = 24
"""Largest difference in any channel at which a pixel still counts as background noise (JPEG, sensor)."""
_BORDER_SHARE = 0.5
"""Share of the picture's border that must have one colour for it to be the background."""
_SPREAD_LEVELS = 8
"""Largest median difference within the border's colour: more is a smooth picture, not a plain background."""
_DEEP_PX = 3.0
_CONTRAST_LEVELS = 40
_MIXED_BELOW = 0.6
_MIXED_SHARE = 0.1
"""By how much mixed outermost pixels may outnumber strong ones at hard edges, beside chance (antialiased: 0.17 and more)."""


def difference_from(rgb: UInt8Array, key: tuple[int, int, int]) -> UInt8Array:
    """Largest absolute channel difference from ``key``, ``(..., 3)`` → ``(...)``."""
    largest: UInt8Array = np.zeros(rgb.shape[:-1], dtype=np.uint8)
    for channel, value in enumerate(key):
        plane, level = rgb[..., channel], np.uint8(value)
        np.maximum(largest, np.maximum(plane, level) - np.minimum(plane, level), out=largest)
    return largest


def find_key_color(rgb: UInt8Array) -> tuple[int, int, int] | None:
    """The colour that at least half of the outermost pixels share, up to noise; None when there is none.

    Pieces may touch the border in places. The most frequent colour starts the search, and the median of what is near it ends
    it, unless one exact value already holds the border.
    """
    border = _border(rgb)
    for start in (_most_frequent(border), _median(border)):
        near = border[difference_from(border, start) <= NEAR_LEVELS]
        if len(near) < _BORDER_SHARE * len(border):
            continue
        exact = 2 * np.count_nonzero(difference_from(near, start) == 0) > len(near)
        key = start if exact else _median(near)
        if np.median(difference_from(near, key)) <= _SPREAD_LEVELS:
            return key
    return None


def border_has_exactly(rgb: UInt8Array, key: tuple[int, int, int]) -> bool:
    """True unless the border is mostly near ``key`` without being ``key``: then a lossy format has moved the colour."""
    difference = difference_from(_border(rgb), key)
    return bool(2 * np.count_nonzero(difference == 0) >= np.count_nonzero(difference <= NEAR_LEVELS))


def has_hard_edges(rgb: UInt8Array, not_key: BoolArray, key: tuple[int, int, int]) -> bool:
    """True when the outermost pixels of ``not_key (H, W)`` are as far from ``key`` as the pixels deeper inside.

    Where edges are antialiased or blurred by JPEG, the outermost pixels are mixtures ``key + t (inside - key)`` with t in
    0 .. 1, and noise around the piece has t near 0. At hard edges t scatters around 1, so small t are not more frequent than
    large ones.
    """
    depth = cv2.distanceTransform(np.pad(not_key, 1, mode="edge").astype(np.uint8), cv2.DIST_L2, 3)[1:-1, 1:-1]
    deep = depth >= _DEEP_PX
    outermost = not_key & (depth < 1.5)
    if not deep.any() or not outermost.any():
        return True
    inside = rgb.reshape(-1, 3)[_nearest(deep, outermost)].astype(np.float64) - key
    edge = rgb[outermost].astype(np.float64) - key
    contrast = np.linalg.norm(inside, axis=1)
    usable = contrast >= _CONTRAST_LEVELS
    if not usable.any():
        return True
    t = np.linalg.norm(edge[usable], axis=1) / contrast[usable]
    surplus = np.mean(t < _MIXED_BELOW) - np.mean(t > 1.0 / _MIXED_BELOW)
    return bool(surplus < _MIXED_SHARE + 1.0 / np.sqrt(t.size))


def _nearest(targets: BoolArray, places: BoolArray) -> NDArray[np.intp]:
    """For each pixel of ``places``, the flat index of the nearest pixel of ``targets``."""
    _, label = cv2.distanceTransformWithLabels((~targets).astype(np.uint8), cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL)
    index_of_label = np.zeros(int(label.max()) + 1, dtype=np.intp)
    index_of_label[label[targets]] = np.flatnonzero(targets)
    nearest: NDArray[np.intp] = index_of_label[label[places]]
    return nearest


def _border(rgb: UInt8Array) -> UInt8Array:
    """The outermost pixels, ``(N, 3)``."""
    return np.concatenate([rgb[0], rgb[-1], rgb[1:-1, 0], rgb[1:-1, -1]])


def _most_frequent(colors: UInt8Array) -> tuple[int, int, int]:
    packed = colors.astype(np.int32) @ np.array([65536, 256, 1], dtype=np.int32)
    values, counts = np.unique(packed, return_counts=True)
    value = int(values[counts.argmax()])
    return value >> 16, (value >> 8) & 255, value & 255


def _median(colors: UInt8Array) -> tuple[int, int, int]:
    red, green, blue = np.rint(np.median(colors, axis=0)).astype(int).tolist()
    return red, green, blue

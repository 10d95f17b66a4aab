"""The background of a scan: a smooth surface of colours over the page, fitted to what is not paper; and windows of a page.

The most frequent colour of the page's border starts it. The surface then grows: what lies near it is background, and gives a
surface of a higher order, until shading across the page is followed. All of this happens on a reduced copy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from jigsawnet.types import BoolArray, Float32Array, UInt8Array

Box = tuple[int, int, int, int]
"""Left, top, width, height in px."""

TILE_PX = 1536
"""Side of a window without its rim: about 200 MB of working memory."""
_REDUCED_SIDE_PX = 400
"""Longest side of the copy to which the surface is fitted."""
_ORDERS = (1, 1, 1, 2, 2, 2, 3, 3, 3)
"""Order of the polynomial at each step of growth."""
_START_LEVELS = 8.0
"""How near the border's colour a pixel must be to start with."""
_NEAREST_LEVELS, _FARTHEST_LEVELS = 2.0, 20.0
"""Least and largest distance from the surface up to which a pixel is background."""
_SPREADS = 4.0
"""A pixel within this many median deviations of the surface is background."""
_SMOOTH_SHARE = 1 / 16
"""Width of what the polynomial does not follow, as a part of the page."""
_BIN_LEVELS = 8


@dataclass(frozen=True, slots=True, eq=False)
class Background:
    """Background colours ``surface (h, w, 3)`` of a reduced page, and where background ``is_seen (h, w)``."""

    surface: Float32Array
    is_seen: BoolArray
    page_size: tuple[int, int]
    """Width and height of the page in px."""

    def window(self, x: int, y: int, width: int, height: int) -> Float32Array:
        """Background colours of a window of the page at full resolution, ``(height, width, 3)``."""
        rows, cols = self.surface.shape[:2]
        scale_x, scale_y = cols / self.page_size[0], rows / self.page_size[1]
        small_from_window = np.array([[scale_x, 0.0, (x + 0.5) * scale_x - 0.5], [0.0, scale_y, (y + 0.5) * scale_y - 0.5]])
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        colors = cv2.warpAffine(self.surface, small_from_window, (width, height), flags=flags, borderMode=cv2.BORDER_REPLICATE)
        return np.asarray(colors, np.float32)

    def seen_window(self, x: int, y: int, width: int, height: int) -> BoolArray:
        """Where the reduced page shows plain background, in a window at full resolution, ``(height, width)``."""
        rows, cols = self.is_seen.shape
        at_x = np.clip((np.arange(x, x + width) + 0.5) * cols / self.page_size[0], 0, cols - 1).astype(np.intp)
        at_y = np.clip((np.arange(y, y + height) + 0.5) * rows / self.page_size[1], 0, rows - 1).astype(np.intp)
        return self.is_seen[np.ix_(at_y, at_x)]


def fit_background(picture: UInt8Array, exclude: Sequence[Box] = ()) -> Background:
    """Fit the background of a page ``(H, W, 3)`` RGB; the boxes of ``exclude`` are not looked at."""
    height, width = picture.shape[:2]
    factor = max(1.0, max(height, width) / _REDUCED_SIDE_PX)
    size = max(1, round(width / factor)), max(1, round(height / factor))
    small = cv2.resize(picture, size, interpolation=cv2.INTER_AREA).astype(np.float32)
    usable = np.ones(small.shape[:2], np.bool_)
    for x, y, box_width, box_height in exclude:
        top, left = max(0, int(y / factor) - 1), max(0, int(x / factor) - 1)
        usable[top : int((y + box_height) / factor) + 2, left : int((x + box_width) / factor) + 2] = False
    surface, seen = _grow_surface(small, usable)
    return Background(_follow_rest(small, surface, seen), seen, (width, height))


def _grow_surface(small: Float32Array, usable: BoolArray) -> tuple[Float32Array, BoolArray]:
    """Polynomial surface ``(h, w, 3)`` and the pixels ``(h, w)`` it stands on."""
    surface = np.broadcast_to(_border_color(small, usable), small.shape).astype(np.float32)
    off = np.abs(small - surface).max(axis=2)
    near: BoolArray = usable & (off < _START_LEVELS)
    near &= off < _limit(off[near])
    for order in _ORDERS:
        if np.count_nonzero(near) < 50:
            break
        surface = _fit_polynomial(small, near, order)
        off = np.abs(small - surface).max(axis=2)
        near = usable & (off < _limit(off[near]))
    return surface, near


def _limit(off: Float32Array) -> float:
    """Levels up to which a pixel is background, from how far those known to be are off the surface."""
    spread = float(np.median(off)) if off.size else 0.0
    return float(np.clip(_SPREADS * spread, _NEAREST_LEVELS, _FARTHEST_LEVELS))


def _border_color(small: Float32Array, usable: BoolArray) -> Float32Array:
    """Median of the most frequent colour among the outermost pixels."""
    ring = np.zeros(usable.shape, np.bool_)
    ring[:2], ring[-2:], ring[:, :2], ring[:, -2:] = True, True, True, True
    colors = small[ring & usable] if (ring & usable).any() else small.reshape(-1, 3)
    bins = np.clip(colors, 0, 255).astype(np.int64) // _BIN_LEVELS
    packed = bins @ np.array([1024, 32, 1])
    values, frequency = np.unique(packed, return_counts=True)
    start = np.median(colors[packed == values[frequency.argmax()]], axis=0)
    near = colors[np.abs(colors - start).max(axis=1) < _START_LEVELS]
    return np.asarray(np.median(near, axis=0), np.float32)


def _fit_polynomial(small: Float32Array, chosen: BoolArray, order: int) -> Float32Array:
    """Least-squares polynomial in x and y through the chosen pixels, evaluated everywhere, ``(h, w, 3)``."""
    height, width = chosen.shape
    y, x = np.meshgrid(np.linspace(-1, 1, height), np.linspace(-1, 1, width), indexing="ij")
    terms = np.stack([x**i * y**j for i in range(order + 1) for j in range(order + 1 - i)], axis=-1)
    a, b = terms[chosen], small[chosen].astype(np.float64)
    ridge = 1e-4 * len(a) * np.eye(a.shape[1])
    ridge[0, 0] = 0.0
    return np.asarray(terms @ np.linalg.solve(a.T @ a + ridge, a.T @ b), np.float32)


def _follow_rest(small: Float32Array, surface: Float32Array, seen: BoolArray) -> Float32Array:
    """Add what the polynomial leaves over, smoothed widely; under the pieces it is continued from around them."""
    sure = cv2.erode(seen.astype(np.uint8), np.ones((3, 3), np.uint8)).astype(np.float32)
    sigma = _SMOOTH_SHARE * max(seen.shape)
    weight = cv2.GaussianBlur(sure, (0, 0), sigma)
    rest = cv2.GaussianBlur((small - surface) * sure[..., None], (0, 0), sigma)
    return np.asarray(surface + rest / (weight + 0.02)[..., None], np.float32)


@dataclass(frozen=True, slots=True)
class Tile:
    """A window of a page: ``outer`` with its rim and ``inner`` without, as slices of the page; ``core``: inner within outer."""

    outer: tuple[slice, slice]
    inner: tuple[slice, slice]
    core: tuple[slice, slice]

    @property
    def corner(self) -> tuple[int, int]:
        """Page position ``(x, y)`` of the outer window's top-left pixel."""
        return int(self.outer[1].start), int(self.outer[0].start)


def tiles(height: int, width: int, rim_px: int, side_px: int = TILE_PX) -> Iterator[Tile]:
    """Windows whose inner parts cover a page of the given size exactly once."""
    for top in range(0, height, side_px):
        for left in range(0, width, side_px):
            rows, outer_rows, core_rows = _spans(top, height, rim_px, side_px)
            cols, outer_cols, core_cols = _spans(left, width, rim_px, side_px)
            yield Tile((outer_rows, outer_cols), (rows, cols), (core_rows, core_cols))


def _spans(start: int, length: int, rim_px: int, side_px: int) -> tuple[slice, slice, slice]:
    stop = min(start + side_px, length)
    first, last = max(0, start - rim_px), min(length, stop + rim_px)
    return slice(start, stop), slice(first, last), slice(start - first, stop - first)

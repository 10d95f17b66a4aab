"""The background of a scan: a smooth surface of colours over the page, fitted to what is not paper; and windows of a page.

The most frequent colour of the page's border starts it. The surface then grows: what lies near it is background, and gives a
surface of a higher order, until shading across the page is followed. All of this happens on a reduced copy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

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
_FEW_ORDERS = (1, 1, 2)
"""The same where a colour is only tried."""
_START_LEVELS = 8.0
"""How near the border's colour a pixel must be to start with."""
_NEAREST_LEVELS, _FARTHEST_LEVELS = 2.0, 20.0
"""Least and largest distance from the surface up to which a pixel is background."""
_SPREADS = 4.0
"""A pixel within this many median deviations of the surface is background."""
_MOST_FITTED = 20_000
"""Pixels that a polynomial is fitted to."""
_SMOOTH_SHARE = 1 / 16
"""Width of what the polynomial does not follow, as a part of the page."""
_BIN_LEVELS = 8
_PLAIN_LEVELS = 2.5
"""A background that varies by much less is plain."""
_MOST_COLORS, _COLOR_SHARE = 3, 0.12
"""Frequent colours of the border that are tried, each on at least this part of it."""
_SMALL_SHARE, _SMALL_WEIGHT = 1e-3, 100.0
"""Objects smaller than this part of the page are letters and specks; much of them speaks against a background."""
_GLARE_ROUNDS, _GLARE_PX, _GLARE_LEVELS, _GLARE_LEAST = 60, 3.0, (5.0, 8.0), 0.012
"""Rounds of growth, how near neighbours are in px and in levels (least, most), the least part of a page called glare."""
_FRAME_SPAN, _FRAME_SOLID, _FRAME_RING, _FRAME_GROUND = 0.7, 0.97, 0.6, 0.15
"""A frame leaves a page of this part of the picture's sides, this convex, with one colour on this part of its border and this
part of its area."""


@dataclass(frozen=True, slots=True, eq=False)
class Background:
    """Background colours ``surface (h, w, 3)`` of a reduced page, and where background ``is_seen (h, w)``."""

    surface: Float32Array
    is_seen: BoolArray
    page_size: tuple[int, int]
    """Width and height of the page in px."""
    frame: BoolArray | None = None
    """Where ``(h, w)`` the reduced picture shows what lies around the page; None where the page fills it."""
    glare: BoolArray | None = None
    """Where ``(h, w)`` something bright is mirrored in the background; None where nothing is."""

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

    def scaled(self, width: int, height: int) -> Background:
        """The background of the same page at another resolution."""
        return replace(self, page_size=(width, height))

    def frame_mask(self) -> BoolArray | None:
        """Where the page at full resolution shows what lies around it, ``(H, W)``."""
        if self.frame is None:
            return None
        return cv2.resize(self.frame.astype(np.uint8), self.page_size, interpolation=cv2.INTER_NEAREST).astype(np.bool_)


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
    frame = _find_frame(small, usable)
    if frame is not None:
        usable &= ~frame
    surface, seen = _grow_surface(small, usable, _page_color(small, usable))
    surface = _follow_rest(small, surface, seen)
    glare = _find_glare(small, surface, seen, usable)
    if glare is None:
        return Background(surface, seen, (width, height), frame)
    seen = seen | glare
    return Background(_follow_glare(small, surface, seen, glare), seen, (width, height), frame, glare)


def _find_glare(small: Float32Array, surface: Float32Array, seen: BoolArray, usable: BoolArray) -> BoolArray | None:
    """Background ``(h, w)`` that something bright is mirrored in: it goes over softly into the rest of the background.

    It grows from what is background, round by round, over what is lighter than the surface and like its neighbours.
    """
    lighter = usable & ~seen & (np.min(small - surface, axis=2) > -_NEAREST_LEVELS)
    lighter &= (small - surface).mean(axis=2) > _NEAREST_LEVELS
    limit = float(np.clip(1.5 * _limit(np.abs(small - surface).max(axis=2)[seen]), *_GLARE_LEVELS))
    known, disc = seen.copy(), np.ones((5, 5), np.uint8)
    for _ in range(_GLARE_ROUNDS):
        weight = cv2.GaussianBlur(known.astype(np.float32), (0, 0), _GLARE_PX)
        nearby = cv2.GaussianBlur(small * known[..., None], (0, 0), _GLARE_PX) / np.maximum(weight, 1e-3)[..., None]
        edge = lighter & ~known & (cv2.dilate(known.astype(np.uint8), disc) > 0)
        new = edge & (np.abs(small - nearby).max(axis=2) < limit)
        if np.count_nonzero(new) < 1e-4 * known.size:
            break
        known |= new
    _, label, stats, _ = cv2.connectedComponentsWithStats((known & ~seen).astype(np.uint8), connectivity=4)
    large = stats[:, cv2.CC_STAT_AREA] > _GLARE_LEAST * known.size
    large[0] = False
    glare: BoolArray = large[label]
    return glare if large.any() else None


def _follow_glare(small: Float32Array, surface: Float32Array, seen: BoolArray, glare: BoolArray) -> Float32Array:
    """The surface, following the light closely in and around the glare."""
    sure = cv2.erode(seen.astype(np.uint8), np.ones((3, 3), np.uint8)).astype(np.float32)
    weight = cv2.GaussianBlur(sure, (0, 0), 2 * _GLARE_PX)
    rest = cv2.GaussianBlur((small - surface) * sure[..., None], (0, 0), 2 * _GLARE_PX) / (weight + 0.01)[..., None]
    around = cv2.dilate(glare.astype(np.uint8), np.ones((25, 25), np.uint8)).astype(np.float32)
    return np.asarray(surface + rest * cv2.GaussianBlur(around, (0, 0), 2 * _GLARE_PX)[..., None], np.float32)


def _find_frame(small: Float32Array, usable: BoolArray) -> BoolArray | None:
    """What lies around a page that does not fill its picture ``(h, w, 3)``: a table, a lid; None where there is no such frame.

    Within the frame lies one convex thing almost as large as the picture, and just inside its border it has one colour of its
    own, on which other things lie.
    """
    height, width = usable.shape
    _, around = _grow_surface(small, usable, _page_color(small, usable), _FEW_ORDERS)
    closed = cv2.morphologyEx((~around).astype(np.uint8), cv2.MORPH_OPEN, np.ones((5, 5), np.uint8))
    outlines, _ = cv2.findContours(closed, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    if not outlines:
        return None
    largest = max(outlines, key=cv2.contourArea)
    _, _, box_width, box_height = cv2.boundingRect(largest)
    hull = cv2.contourArea(cv2.convexHull(largest))
    if box_width < _FRAME_SPAN * width or box_height < _FRAME_SPAN * height or hull > 0.995 * width * height:
        return None
    if cv2.contourArea(largest) < _FRAME_SOLID * hull:
        return None
    page = cv2.drawContours(np.zeros((height, width), np.uint8), [largest], -1, 1, -1)
    page = cv2.erode(page, np.ones((5, 5), np.uint8), borderValue=0)
    inside: BoolArray = (page > 0) & usable
    if not inside.any():
        return None
    _, ground = _grow_surface(small, inside, _page_color(small, inside), _FEW_ORDERS)
    ring = _ring(inside)
    if ground[ring].mean() < _FRAME_RING or np.count_nonzero(ground) < _FRAME_GROUND * np.count_nonzero(inside):
        return None
    return ~(page > 0)


def _page_color(small: Float32Array, usable: BoolArray) -> Float32Array:
    """Colour of the background: frequent along the page's border, on much of the page, with few small things on it."""
    colors = _border_colors(small, usable)
    if len(colors) == 1:
        return colors[0][0]
    scores = []
    for color, share in colors:
        _, near = _grow_surface(small[::2, ::2], usable[::2, ::2], color, _FEW_ORDERS)
        rest = (usable[::2, ::2] & ~near).astype(np.uint8)
        _, _, stats, _ = cv2.connectedComponentsWithStats(rest, connectivity=8)
        areas = stats[1:, cv2.CC_STAT_AREA]
        small_share = areas[areas < _SMALL_SHARE * rest.size].sum() / rest.size
        scores.append(share * (near.mean() + 0.05) / (1.0 + _SMALL_WEIGHT * small_share))
    return colors[int(np.argmax(scores))][0]


def _grow_surface(
    small: Float32Array, usable: BoolArray, color: Float32Array, orders: Sequence[int] = _ORDERS
) -> tuple[Float32Array, BoolArray]:
    """Polynomial surface ``(h, w, 3)`` and the pixels ``(h, w)`` it stands on, grown from one colour."""
    surface = np.broadcast_to(color, small.shape).astype(np.float32)
    off = np.abs(small - surface).max(axis=2)
    near: BoolArray = usable & (off < _START_LEVELS)
    near &= off < _limit(off[near])
    for order in orders:
        if np.count_nonzero(near) < 50:
            break
        surface = _fit_polynomial(small, near, order)
        off = _unlikeness(small - surface, near)
        near = usable & (off < _limit(off[near]))
    return surface, near


def _unlikeness(rest: Float32Array, near: BoolArray) -> Float32Array:
    """How far off the surface each pixel is, in levels; directions in which the background itself varies count less."""
    matrix = even_out(rest[near])
    return np.asarray(np.abs(cv2.transform(rest, matrix)).max(axis=2), np.float32)


def even_out(rest: Float32Array) -> Float32Array:
    """Matrix ``(3, 3)`` that shrinks colour differences in directions in which those of the background ``(N, 3)`` are large.

    It is ``(1 + C / s²)^(-1/2)``, C their covariance, and leaves alone what varies by less than s levels.
    """
    if len(rest) < 50:
        return np.eye(3, dtype=np.float32)
    sample = rest[:: 1 + len(rest) // 20_000].astype(np.float64)
    middle = np.median(sample, axis=0)
    off = np.abs(sample - middle).max(axis=1)
    inner = sample[off <= np.percentile(off, 95)] - middle
    values, vectors = np.linalg.eigh(inner.T @ inner / max(1, len(inner)) / _PLAIN_LEVELS**2)
    return np.asarray(vectors @ np.diag(1.0 / np.sqrt(1.0 + np.maximum(values, 0.0))) @ vectors.T, np.float32)


def _limit(off: Float32Array) -> float:
    """Levels up to which a pixel is background, from how far those known to be are off the surface."""
    spread = float(np.median(off)) if off.size else 0.0
    return float(np.clip(_SPREADS * spread, _NEAREST_LEVELS, _FARTHEST_LEVELS))


def _ring(usable: BoolArray) -> BoolArray:
    """The outermost pixels of what is looked at."""
    inner = cv2.erode(usable.astype(np.uint8), np.ones((5, 5), np.uint8), borderType=cv2.BORDER_CONSTANT, borderValue=0)
    ring: BoolArray = usable & (inner == 0)
    return ring


def _border_colors(small: Float32Array, usable: BoolArray) -> list[tuple[Float32Array, float]]:
    """Medians of the most frequent colours among the outermost pixels, and the part of them that each has."""
    ring = _ring(usable)
    colors = small[ring] if ring.any() else small.reshape(-1, 3)
    total = len(colors)
    found: list[tuple[Float32Array, float]] = []
    while len(found) < _MOST_COLORS and len(colors):
        packed = np.clip(colors, 0, 255).astype(np.int64) // _BIN_LEVELS @ np.array([1024, 32, 1])
        values, frequency = np.unique(packed, return_counts=True)
        start = np.median(colors[packed == values[frequency.argmax()]], axis=0)
        near = np.abs(colors - start).max(axis=1) < _START_LEVELS
        if found and near.sum() < _COLOR_SHARE * total:
            break
        found.append((np.asarray(np.median(colors[near], axis=0), np.float32), float(near.sum()) / total))
        colors = colors[np.abs(colors - start).max(axis=1) > 3 * _START_LEVELS]
    return found


def _fit_polynomial(small: Float32Array, chosen: BoolArray, order: int) -> Float32Array:
    """Least-squares polynomial in x and y through the chosen pixels, evaluated everywhere, ``(h, w, 3)``."""
    height, width = chosen.shape
    y, x = np.meshgrid(np.linspace(-1, 1, height), np.linspace(-1, 1, width), indexing="ij")
    terms = np.stack([x**i * y**j for i in range(order + 1) for j in range(order + 1 - i)], axis=-1)
    every = 1 + int(np.count_nonzero(chosen)) // _MOST_FITTED
    a, b = terms[chosen][::every], small[chosen][::every].astype(np.float64)
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

"""Where a picture shows paper: alpha, exact key colour, or a noisy plain background → mask ``(H, W)``."""

from __future__ import annotations

import cv2
import numpy as np

from jigsawnet.nearest import nearest_pixels
from jigsawnet.types import BoolArray, Float32Array, UInt8Array

NEAR_LEVELS = 24
"""Largest difference in any channel at which a pixel still counts as background noise (JPEG, sensor)."""
_BORDER_SHARE = 0.5
"""Share of the picture's border that must have one colour for it to be the background."""
_SPREAD_LEVELS = 8
"""Largest median difference within the border's colour: more is a smooth picture, not a plain background."""
_DEEP_PX = 3.0
_CONTRAST_LEVELS = 40
_MIXED_BELOW = 0.6
"""Edges are judged where paper this deep inside has this contrast; t below the last is a mixed pixel."""
_MIXED_SHARE = 0.1
"""By how much mixed outermost pixels may outnumber strong ones at hard edges, beside chance (antialiased: 0.17 and more)."""
_LUMA_WEIGHT = 2.0
"""Luma counts more than chroma, because JPEG stores chroma at half the resolution."""
_COARSE_SIGMA_PX = 1.2
_FINE_SIGMA_PX = 0.7
_NEARBY_SIGMA_PX = 3.0
_FRINGE_PX = 4.0
"""How deep the mixed colours and the ringing of a lossy format reach into a coarse mask."""
_NOISE_FLOOR = 6.0
_HOLE_SHARE = 0.03
"""Enclosed holes below this share of the piece are paper that looks like the background."""
_MAX_SAMPLES = 100_000
_SPECK_SHARE, _SPECK_AREA = 0.02, 16
"""Parts smaller than this share of the largest, or this many px, are specks."""


def has_transparency(pixels: UInt8Array) -> bool:
    """True for RGBA ``(H, W, 4)`` in which at least one pixel is not opaque."""
    return pixels.shape[2] == 4 and bool((pixels[..., 3] < 255).any())


def find_mask(pixels: UInt8Array, key_color: tuple[int, int, int] | None) -> BoolArray | None:
    """Mask of everything that is not background in ``pixels (H, W, 3 | 4)``; None when no background can be told.

    Transparency decides if there is any (alpha > 127); otherwise ``key_color``, or else the colour of the picture's border.
    """
    if has_transparency(pixels):
        opaque: BoolArray = pixels[..., 3] > 127
        return opaque
    rgb = np.ascontiguousarray(pixels[..., :3])
    key = find_key_color(rgb) if key_color is None else key_color
    if key is None:
        return None
    not_key: BoolArray = difference_from(rgb, key) > 0
    if border_has_exactly(rgb, key) and has_hard_edges(rgb, not_key, key):
        return fill_small_holes(not_key)
    return fill_small_holes(find_soft_mask(rgb, key))


def find_soft_mask(rgb: UInt8Array, key: tuple[int, int, int]) -> BoolArray:
    """Mask for pictures whose edges and background are not exact: JPEG, antialiasing, noise.

    A smoothed picture, in which ringing cancels out, gives a coarse mask of all that differs from the background. Its fringe
    is then trimmed twice, because strong ringing reaches further out than one fringe.
    """
    offset = _offset_from_background(rgb, key)
    smooth = _blurred_length(offset, _COARSE_SIGMA_PX)
    fine = _blurred_length(offset, _FINE_SIGMA_PX)
    floor = _noise_floor(smooth)
    mask = fill_small_holes(smooth > floor)
    for _ in range(2):
        mask = _trim_fringe(mask, fine, 0.7 * floor)
    return cv2.medianBlur(mask.astype(np.uint8), 3).astype(np.bool_)


def _trim_fringe(mask: BoolArray, strength: Float32Array, floor: float) -> BoolArray:
    """Keep of the fringe only what is more than halfway from the background to the paper's own colour just inside.

    ``strength (H, W)`` is the colour distance from the background. Deeper pixels always stay, so that paper which happens to
    look like the background is not eaten.
    """
    depth = cv2.distanceTransform(np.pad(mask, 1).astype(np.uint8), cv2.DIST_L2, 5)[1:-1, 1:-1]
    core: BoolArray = depth > _FRINGE_PX
    weight = cv2.GaussianBlur(core.astype(np.float32), (0, 0), _NEARBY_SIGMA_PX)
    inside = cv2.GaussianBlur(strength * core, (0, 0), _NEARBY_SIGMA_PX) / np.maximum(weight, 1e-6)
    strongest = cv2.dilate(strength, np.ones((7, 7), dtype=np.uint8))
    halfway = 0.5 * np.where(weight > 1e-3, inside, strongest)
    trimmed: BoolArray = core | (mask & (strength > np.maximum(halfway, floor)))
    return trimmed


def fill_small_holes(mask: BoolArray) -> BoolArray:
    """Close enclosed holes that are small against the piece; a gap that reaches outside only by a corner is no hole."""
    n, label, stats, _ = cv2.connectedComponentsWithStats((~mask).astype(np.uint8), connectivity=8)
    if n <= 2:
        return mask
    height, width = mask.shape
    x, y, w, h, area = stats.T
    enclosed = (x > 0) & (y > 0) & (x + w < width) & (y + h < height)
    small = enclosed & (area < _HOLE_SHARE * np.count_nonzero(mask))
    small[0] = False
    filled: BoolArray = mask | small[label]
    return filled


def split_pieces(mask: BoolArray) -> tuple[BoolArray, int]:
    """The largest 8-connected part of a mask that is not empty, and how many parts are too large to be specks."""
    _, label, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=8)
    areas = stats[1:, cv2.CC_STAT_AREA]
    largest = int(areas.argmax())
    speck = max(_SPECK_SHARE * areas[largest], _SPECK_AREA)
    part: BoolArray = label == largest + 1
    return part, max(1, int(np.count_nonzero(areas >= speck)))


def _offset_from_background(rgb: UInt8Array, key: tuple[int, int, int]) -> Float32Array:
    """Weighted YCrCb difference from the background, ``(H, W, 3)``.

    The background is the median of what is near ``key``, because lossy formats shift it.
    """
    ycc = cv2.cvtColor(rgb, cv2.COLOR_RGB2YCrCb).astype(np.float32)
    near = difference_from(rgb, key) <= NEAR_LEVELS
    exact = cv2.cvtColor(np.array([[key]], dtype=np.uint8), cv2.COLOR_RGB2YCrCb)[0]
    samples = ycc[near] if near.any() else exact
    background = np.median(samples[:: 1 + len(samples) // _MAX_SAMPLES], axis=0).astype(np.float32)
    offset: Float32Array = (ycc - background) * np.sqrt(np.array([_LUMA_WEIGHT, 1.0, 1.0], dtype=np.float32))
    return offset


def _noise_floor(smooth: Float32Array) -> float:
    """Distance below which a pixel is background: well above what the flatter half of the picture's border shows."""
    border = np.concatenate([smooth[0], smooth[-1], smooth[:, 0], smooth[:, -1]])
    return min(max(_NOISE_FLOOR, 3.0 * float(np.percentile(border, 25))), float(NEAR_LEVELS))


def _blurred_length(vectors: Float32Array, sigma_px: float) -> Float32Array:
    """Length of the smoothed vectors, ``(H, W, 3)`` → ``(H, W)``; smoothing first lets noise around zero cancel out."""
    x, y, z = cv2.split(cv2.GaussianBlur(vectors, (0, 0), sigma_px))
    length: Float32Array = cv2.magnitude(cv2.magnitude(x, y), z).astype(np.float32, copy=False)
    return length


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
    inside = rgb.reshape(-1, 3)[nearest_pixels(deep, outermost)[0]].astype(np.float64) - key
    join = rgb[outermost].astype(np.float64) - key
    contrast = np.linalg.norm(inside, axis=1)
    usable = contrast >= _CONTRAST_LEVELS
    if not usable.any():
        return True
    t = np.linalg.norm(join[usable], axis=1) / contrast[usable]
    surplus = np.mean(t < _MIXED_BELOW) - np.mean(t > 1.0 / _MIXED_BELOW)
    return bool(surplus < _MIXED_SHARE + 1.0 / np.sqrt(t.size))


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

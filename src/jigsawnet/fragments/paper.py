"""Where a scan shows paper: what differs from the background and is not its shadow → mask of the page.

Every pixel has the colour of paper, of the background or of a shadow, which is darker background of the same tint; or it
lies at an edge as sharp as those of paper. What belongs together is decided in `flood`.
"""

from __future__ import annotations

import cv2
import numpy as np

from jigsawnet.fragments.background import Background
from jigsawnet.fragments.flood import EDGE, GROUND, PAPER, SHADOW, flood, keep_sharp_growth
from jigsawnet.fragments.shade import RIM_PX as SHADE_RIM_PX
from jigsawnet.fragments.shade import fit_shade
from jigsawnet.fragments.tiles import Tile, tiles
from jigsawnet.types import BoolArray, Float32Array, UInt8Array

_RGB_TO_WEIGHTED = np.array([[0.423, 0.830, 0.161], [-0.169, -0.331, 0.5], [0.5, -0.419, -0.081]], dtype=np.float32)
"""RGB → luma and two chroma differences; luma counts more, because JPEG stores chroma at half the resolution."""
_SMOOTH_PX = 1.0
_FINE_PX = 0.5
_RIM_PX = 16
_NOISE_TIMES = 4.5
"""Paper differs from the background by this many times what half of the background's pixels stay below."""
_MAX_FLOOR = 40.0
_DEEPEST_SHADOW = 0.4
"""A shadow leaves at least this part of the light."""
_SHADOW_TINT = 0.06
"""How far a shadow's tint may be off, as a part of the light it takes."""
_SHARP_SLOPE = 0.215
"""Slope of an edge, per px, over the range of levels around it: 0.28 for paper in focus, below 0.17 for a shadow."""
_RANGE_PX = 9
_SLOPE_TIMES = 5.0
_MAX_SAMPLES = 200_000
_SHADE_TIMES, _SHADE_MORE = 1.5, 0.03
"""A shadow takes at most so many times the light that the law says, and so much more."""
_SHADE_DOUBT = 0.1
"""How far off the law may be where it says background, as a part of the shadow."""
_SHADE_DEPTH_PX = 3.0
"""A mask that holds some shadow is at most this much too large."""


def weighted(rgb: Float32Array) -> Float32Array:
    """Luma, weighted by the square root of two, and chroma of RGB colours ``(H, W, 3)``."""
    return np.asarray(cv2.transform(rgb, _RGB_TO_WEIGHTED), np.float32)


def find_paper(picture: UInt8Array, background: Background, min_contrast: float) -> tuple[BoolArray, float]:
    """Mask ``(H, W)`` of the paper on a page ``(H, W, 3)``, and the contrast in levels from which on something is paper.

    A first mask shows how shadows fall on this page; knowing that, the second tells them from pale or grey paper.
    """
    floor, slope_floor = _measure_noise(picture, background, min_contrast)
    height, width = picture.shape[:2]
    kinds = np.empty((height, width), np.uint8)
    for tile in tiles(height, width, _RIM_PX):
        kinds[tile.inner] = _kinds(picture[tile.outer], _behind(background, tile), floor, slope_floor)[tile.core]
    paper = flood(kinds)
    shade = fit_shade(picture, paper, background)
    if shade.terms:
        for tile in tiles(height, width, SHADE_RIM_PX):
            taken = _near_border(shade.window(paper[tile.outer]), paper[tile.outer])
            behind = _behind(background, tile)
            kinds[tile.inner] = _kinds(picture[tile.outer], behind, floor, slope_floor, taken, shade.error)[tile.core]
        paper = keep_sharp_growth(paper, flood(kinds), kinds)
    return paper, floor


def _near_border(taken: Float32Array, paper: BoolArray) -> Float32Array:
    """A shadow's part of the light: outside the paper as given, just inside its border as outside, deeper in none."""
    outside = ~paper
    if not outside.any():
        return np.zeros_like(taken)
    inside = paper.astype(np.uint8)
    depth, label = cv2.distanceTransformWithLabels(inside, cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL)
    taken_of_label = np.zeros(int(label.max()) + 1, np.float32)
    taken_of_label[label[outside]] = taken[outside]
    return np.where(depth <= _SHADE_DEPTH_PX, taken_of_label[label], np.float32(0))


def _behind(background: Background, tile: Tile) -> Float32Array:
    rows, cols = tile.outer
    return background.window(*tile.corner, cols.stop - cols.start, rows.stop - rows.start)


def _measure_noise(picture: UInt8Array, background: Background, min_contrast: float) -> tuple[float, float]:
    """Least difference and least slope that stand out from the background's own grain."""
    differences, slopes = [], []
    height, width = picture.shape[:2]
    for tile in tiles(height, width, 0, 512):
        rows, cols = tile.outer
        size = cols.stop - cols.start, rows.stop - rows.start
        seen = cv2.erode(background.seen_window(*tile.corner, *size).astype(np.uint8), np.ones((15, 15), np.uint8))
        if np.count_nonzero(seen) < 1000 and height * width > 1_000_000:
            continue
        smooth = _smooth_offset(picture[tile.outer], background.window(*tile.corner, *size))
        step = 1 + height * width // _MAX_SAMPLES
        differences.append(_length(smooth)[seen > 0][::step])
        slopes.append(_slope(smooth[..., 0])[seen > 0][::step])
    difference = np.concatenate(differences) if differences else np.zeros(0)
    if not difference.size:
        return min_contrast, 0.3 * min_contrast
    floor = min(max(min_contrast, _NOISE_TIMES * float(np.median(difference))), _MAX_FLOOR)
    slope_floor = max(0.15 * floor, _SLOPE_TIMES * float(np.median(np.concatenate(slopes))))
    return floor, slope_floor


def _smooth_offset(rgb: UInt8Array, behind: Float32Array) -> Float32Array:
    offset = weighted(rgb.astype(np.float32) - behind)
    return np.asarray(cv2.GaussianBlur(offset, (0, 0), _SMOOTH_PX), np.float32)


def _kinds(
    rgb: UInt8Array,
    behind: Float32Array,
    floor: float,
    slope_floor: float,
    taken: Float32Array | None = None,
    error: float = 0.0,
) -> UInt8Array:
    """Kind of each pixel of a window ``(H, W, 3)``, of which ``behind`` is the background.

    Where ``taken (H, W)`` says which part of the light a shadow takes, to within ``error``, only what agrees is shadow.
    """
    lit = behind if taken is None else behind * (1.0 - taken[..., None])
    smooth = _smooth_offset(rgb, lit)
    colors = cv2.GaussianBlur(rgb, (0, 0), _SMOOTH_PX).astype(np.float32)
    power = (behind * behind).sum(axis=2)
    light = (colors * behind).sum(axis=2) / np.maximum(power, 1.0)
    tint = _length(weighted(colors - light[..., None] * behind))
    dark = (1.0 - light) * np.sqrt(power)
    shadow = (light > _DEEPEST_SHADOW) & (light < 1.0) & (tint < 0.7 * floor + _SHADOW_TINT * dark)
    if taken is not None:
        shadow &= 1.0 - light < _SHADE_TIMES * taken + _SHADE_MORE + 3.0 * error
    slope = _slope(smooth[..., 0])
    around = np.ones((_RANGE_PX, _RANGE_PX), np.uint8)
    levels = cv2.dilate(smooth[..., 0], around) - cv2.erode(smooth[..., 0], around)
    sharp = (slope > slope_floor) & (slope > _SHARP_SLOPE * levels)
    kinds = np.full(rgb.shape[:2], PAPER, np.uint8)
    kinds[shadow] = SHADOW
    kinds[sharp] = EDGE
    fine = cv2.GaussianBlur(rgb, (0, 0), _FINE_PX).astype(np.float32)
    limit = floor if taken is None else floor + _SHADE_DOUBT * taken * np.sqrt(power)
    kinds[np.minimum(_length(smooth), _length(weighted(fine - lit))) < limit] = GROUND
    if taken is not None:
        plain = np.minimum(_length(weighted(colors - behind)), _length(weighted(fine - behind)))
        kinds[plain < floor] = GROUND
    return kinds


def _slope(values: Float32Array) -> Float32Array:
    """Levels per px of a smooth field ``(H, W)``."""
    across = cv2.Sobel(values, cv2.CV_32F, 1, 0, ksize=3, scale=1 / 8)
    down = cv2.Sobel(values, cv2.CV_32F, 0, 1, ksize=3, scale=1 / 8)
    return np.asarray(cv2.magnitude(across, down), np.float32)


def _length(vectors: Float32Array) -> Float32Array:
    x, y, z = cv2.split(vectors)
    return np.asarray(cv2.magnitude(cv2.magnitude(x, y), z), np.float32)

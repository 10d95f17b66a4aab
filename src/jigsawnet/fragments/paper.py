"""Where a scan shows paper: what differs from the background and is not its shadow → mask of the page, to the pixel.

Every pixel has the colour of paper, of the background or of a shadow, which is darker background of the same tint; or it
lies at an edge as sharp as those of paper. What belongs together is decided in `flood`. Then the border is moved halfway
between the colour just inside and the colour just outside; that is the background's where it lies, shadow included, so that a
shadow moves no border.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from jigsawnet.fragments.background import Background, Tile, even_out, tiles
from jigsawnet.fragments.flood import EDGE, GROUND, PAPER, SHADOW, flood, keep_sharp_growth
from jigsawnet.fragments.shade import RIM_PX as SHADE_RIM_PX
from jigsawnet.fragments.shade import fit_shade
from jigsawnet.fragments.trim import thin_lines
from jigsawnet.nearest import nearest_pixels
from jigsawnet.types import BoolArray, Float32Array, FloatArray, UInt8Array

_RGB_TO_WEIGHTED = np.array([[0.423, 0.830, 0.161], [-0.169, -0.331, 0.5], [0.5, -0.419, -0.081]], dtype=np.float32)
"""RGB → luma and two chroma differences; luma counts more, because JPEG stores chroma at half the resolution."""
_SMOOTH_PX = 1.0
_FINE_PX = 0.5
_RIM_PX = 16
_PART_PX, _PART_RIM_PX = 256, 10
"""Side of the parts in which a window is worked on, and how far around a pixel its kind is decided."""
_NOISE_TIMES = 4.5
"""Paper differs from the background by this many times what half of the background's pixels stay below."""
_MAX_FLOOR = 40.0
TEXTURED_FLOOR = 7.0
"""A background from which only so many levels stand out is textured."""
_TEXTURE_TIMES = 1.0
"""On texture, paper differs by this many times what nearly all of the background's pixels stay below."""
_PARTS_OF_PIECES, _MOST_RAISED = (0.12, 0.09, 0.06), 12.0
"""What part of the pieces' contrast paper must have, the first that fits; in levels at most."""
_VALLEY, _VALLEY_SHARE = 2.5, 0.03
"""Up to so many times the floor at most this part of what stands out."""
_FAR, _ALIKE, _ALIKE_SHARE, _ONE_PAPER, _MOST_ONE_PAPER = 60.0, 0.15, 0.6, 0.3, 16.0
"""Paper is one that stands out by so many levels, to within this part of them on this share of it; then the floor is the last
part of them, in levels at most as given."""
_DEEPEST_SHADOW = 0.4
"""A shadow leaves at least this part of the light."""
_SHADOW_TINT = 0.06
"""How far a shadow's tint may be off, as a part of the light it takes."""
_SHARP_SLOPE = 0.215
"""Slope of an edge, per px, over the range of levels around it: 0.28 for paper in focus, below 0.17 for a shadow."""
_RANGE_PX = 9
_SLOPE_TIMES = 5.0
_MAX_SAMPLES, _MAX_WINDOWS = 100_000, 12
"""Pixels and windows of a page on which its background is measured, about."""
_SHADE_TIMES, _SHADE_MORE = 1.5, 0.03
"""A shadow takes at most so many times the light that the law says, and so much more."""
_SHADE_DOUBT = 0.1
"""How far off the law may be where it says background, as a part of the shadow."""
_SHADE_DEPTH_PX = 3.0
"""A mask that holds some shadow is at most this much too large."""
_BORDER_RIM_PX = 24
"""Around a window in which borders are refined."""
_OUTSIDE_PX = 2.0
"""Distance from the mask from which on a pixel is all background."""
INSIDE_PX = (4.5, 3.0, 2.2)
"""Depth in the mask from which on a pixel is all paper, for each round."""
_PIXEL_PX = 0.5
_NEARBY_PX = 1.5
_ALONG_PX = 1.4
"""Shares of paper are averaged over this distance, so that grain and texture do not roughen the border."""
_REACH_PX = 5.0
"""A fringe pixel is compared with colours at most this far beyond the fringe."""


@dataclass(frozen=True, slots=True, eq=False)
class Contrast:
    """How colours are compared on a page, and what stands out from its background.

    ``matrix (3, 3)`` takes RGB to luma and chroma, less of each where the background itself varies: wood in its light, not
    in its hue. ``floor``: least difference that stands out, ``slope``: least slope per px, both in such levels.
    """

    matrix: Float32Array
    floor: float
    slope: float
    noise: float
    """Least difference that stands out from the background's grain alone, whatever the pieces are."""
    one_paper: bool = False
    """True where all pieces are of one paper, far from the background: what is near the background's colour is background."""

    def weigh(self, rgb: Float32Array) -> Float32Array:
        """RGB differences ``(H, W, 3)`` as they count."""
        return np.asarray(cv2.transform(rgb, self.matrix), np.float32)


def find_paper(
    picture: UInt8Array,
    background: Background,
    contrast: Contrast,
    step: Callable[[], None] = lambda: None,
    reduced: int = 1,
) -> BoolArray:
    """Mask ``(H, W)`` of the paper on a page ``(H, W, 3)``, which was ``reduced`` by that factor.

    A first mask shows how shadows fall on this page; knowing that, the second tells them from pale or grey paper. ``step`` is
    called after each of three parts of the work.
    """
    height, width = picture.shape[:2]
    kinds = np.empty((height, width), np.uint8)
    for tile in tiles(height, width, _RIM_PX):
        kinds[tile.inner] = _tile_kinds(picture[tile.outer], _behind(background, tile), contrast)[tile.core]
    frame = background.frame_mask()
    hidden = thin_lines(kinds != GROUND)
    if frame is not None:
        hidden |= frame
    kinds[hidden] = GROUND
    step()
    paper = flood(kinds, reduced)
    step()
    shade = fit_shade(picture, paper, background)
    if shade.terms:
        second = np.empty_like(kinds)
        for tile in tiles(height, width, SHADE_RIM_PX):
            taken = _near_border(shade.window(paper[tile.outer]), paper[tile.outer])
            behind, before = _behind(background, tile), kinds[tile.outer]
            found = _tile_kinds(picture[tile.outer], behind, contrast, taken, shade.error, before)
            second[tile.inner] = found[tile.core]
        second[hidden] = GROUND
        kinds = second
        paper = keep_sharp_growth(paper, flood(kinds, reduced), kinds)
    step()
    return paper


def _near_border(taken: Float32Array, paper: BoolArray) -> Float32Array:
    """A shadow's part of the light: outside the paper as given, just inside its border as outside, deeper in none."""
    if paper.all():
        return np.zeros_like(taken)
    nearest, depth = nearest_pixels(~paper)
    return np.where(depth <= _SHADE_DEPTH_PX, taken.ravel()[nearest], np.float32(0))


def _behind(background: Background, tile: Tile) -> Float32Array:
    rows, cols = tile.outer
    return background.window(*tile.corner, cols.stop - cols.start, rows.stop - rows.start)


def measure_contrast(picture: UInt8Array, background: Background, min_contrast: float) -> Contrast:
    """What stands out from the background's own grain and texture."""
    offsets, slopes, others = [], [], [np.zeros((0, 3), np.float32)]
    height, width = picture.shape[:2]
    step = 1 + height * width // _MAX_SAMPLES
    windows = list(tiles(height, width, 0, 512))
    for tile in windows[:: 1 + len(windows) // _MAX_WINDOWS]:
        rows, cols = tile.outer
        size = cols.stop - cols.start, rows.stop - rows.start
        seen = cv2.erode(background.seen_window(*tile.corner, *size).astype(np.uint8), np.ones((15, 15), np.uint8))
        rest = picture[tile.outer].astype(np.float32) - background.window(*tile.corner, *size)
        smooth = np.asarray(cv2.GaussianBlur(cv2.transform(rest, _RGB_TO_WEIGHTED), (0, 0), _SMOOTH_PX), np.float32)
        others.append(smooth[seen == 0][::step])
        if np.count_nonzero(seen) < 1000 and height * width > 1_000_000:
            continue
        offsets.append(smooth[seen > 0][::step])
        slopes.append(_slope(smooth[..., 0])[seen > 0][::step])
    offset = np.concatenate(offsets) if offsets else np.zeros((0, 3), np.float32)
    if not len(offset):
        return Contrast(_RGB_TO_WEIGHTED, min_contrast, 0.3 * min_contrast, min_contrast)
    even = even_out(offset)
    difference = np.linalg.norm(offset @ even.T, axis=1)
    floor = min(max(min_contrast, _NOISE_TIMES * float(np.median(difference))), _MAX_FLOOR)
    if floor > TEXTURED_FLOOR:
        floor = float(np.clip(_TEXTURE_TIMES * np.percentile(difference, 98), TEXTURED_FLOOR, floor))
    noise = floor
    floor, one_paper = _follow_pieces(np.linalg.norm(np.concatenate(others) @ even.T, axis=1), floor)
    slope = max(0.15 * floor, _SLOPE_TIMES * float(even[0, 0]) * float(np.median(np.concatenate(slopes))))
    return Contrast(even @ _RGB_TO_WEIGHTED, floor, slope, noise, one_paper)


def _follow_pieces(strength: FloatArray, floor: float) -> tuple[float, bool]:
    """A higher floor where pieces stand out far more than the background's own specks and reflections do.

    ``strength (N,)``: how much pixels stand out that are not plainly background. A floor is raised to a part of what pieces do
    when hardly anything stands out by a little more than that; to more of it where all pieces are of one paper.
    """
    paper = strength[strength > 2.0 * floor]
    if not paper.size:
        return floor, False
    middle = float(np.median(paper))
    alike = np.mean(np.abs(paper - middle) < _ALIKE * middle)
    if middle > _FAR and alike > _ALIKE_SHARE:
        return max(floor, min(_ONE_PAPER * middle, _MOST_ONE_PAPER)), True
    for part in _PARTS_OF_PIECES:
        raised = min(part * middle, _MOST_RAISED)
        if raised > floor and np.mean((paper > raised) & (paper < _VALLEY * raised)) < _VALLEY_SHARE:
            return raised, False
    return floor, False


def _smooth_offset(rgb: UInt8Array, behind: Float32Array, contrast: Contrast) -> Float32Array:
    offset = contrast.weigh(rgb.astype(np.float32) - behind)
    return np.asarray(cv2.GaussianBlur(offset, (0, 0), _SMOOTH_PX), np.float32)


def offset_length(picture: UInt8Array, background: Background, contrast: Contrast) -> Float32Array:
    """How much each pixel of a page ``(H, W, 3)`` stands out from its background, ``(H, W)``."""
    length = np.empty(picture.shape[:2], np.float32)
    for tile in tiles(picture.shape[0], picture.shape[1], _PART_RIM_PX, _PART_PX):
        offset = _smooth_offset(picture[tile.outer], _behind(background, tile), contrast)
        length[tile.inner] = _length(offset)[tile.core]
    return length


def tint_length(picture: UInt8Array, background: Background, contrast: Contrast, window: tuple[slice, slice]) -> Float32Array:
    """How far the tint of each pixel of a window of a page ``(H, W, 3)`` is off the background's, whatever its light."""
    rgb = picture[window]
    behind = background.window(window[1].start, window[0].start, rgb.shape[1], rgb.shape[0])
    return _tint(cv2.GaussianBlur(rgb, (0, 0), _SMOOTH_PX).astype(np.float32), behind, contrast)[0]


def _tint(colors: Float32Array, behind: Float32Array, contrast: Contrast) -> tuple[Float32Array, Float32Array, Float32Array]:
    """How far colours are off the background's tint; which part of its light they have; the background's light, squared."""
    power = _sum(behind * behind)
    light = np.asarray(_sum(colors * behind) / np.maximum(power, 1.0), np.float32)
    return _length(contrast.weigh(colors - _thrice(light) * behind)), light, power


def _tile_kinds(
    rgb: UInt8Array,
    behind: Float32Array,
    contrast: Contrast,
    taken: Float32Array | None = None,
    error: float = 0.0,
    before: UInt8Array | None = None,
) -> UInt8Array:
    """`_kinds` of a large window, in parts that stay in the processor's cache, which is several times as fast.

    What was background ``before``, when nothing was known of shadows, and has none nearby, stays background.
    """
    kinds = np.empty(rgb.shape[:2], np.uint8)
    for part in tiles(rgb.shape[0], rgb.shape[1], _PART_RIM_PX, _PART_PX):
        dark = None if taken is None else taken[part.outer]
        if dark is not None and before is not None and not dark.any() and (before[part.inner] == GROUND).all():
            kinds[part.inner] = GROUND
            continue
        kinds[part.inner] = _kinds(rgb[part.outer], behind[part.outer], contrast, dark, error)[part.core]
    return kinds


def _kinds(
    rgb: UInt8Array,
    behind: Float32Array,
    contrast: Contrast,
    taken: Float32Array | None = None,
    error: float = 0.0,
) -> UInt8Array:
    """Kind of each pixel of a window ``(H, W, 3)``, of which ``behind`` is the background.

    Where ``taken (H, W)`` says which part of the light a shadow takes, to within ``error``, only what agrees is shadow.
    """
    floor = contrast.floor
    lit = behind if taken is None else behind * _thrice(1.0 - taken)
    fine = cv2.GaussianBlur(rgb, (0, 0), _FINE_PX).astype(np.float32)
    fine_off = _length(contrast.weigh(fine - lit))
    if fine_off.max() < floor:
        return np.full(rgb.shape[:2], GROUND, np.uint8)
    smooth = _smooth_offset(rgb, lit, contrast)
    colors = cv2.GaussianBlur(rgb, (0, 0), _SMOOTH_PX).astype(np.float32)
    tint, light, power = _tint(colors, behind, contrast)
    dark = (1.0 - light) * np.sqrt(power)
    shadow = (light > _DEEPEST_SHADOW) & (light < 1.0) & (tint < 0.7 * floor + _SHADOW_TINT * dark)
    if taken is not None:
        shadow &= 1.0 - light < _SHADE_TIMES * taken + _SHADE_MORE + 3.0 * error
    luma = np.ascontiguousarray(smooth[..., 0])
    slope = _slope(luma)
    around = np.ones((_RANGE_PX, _RANGE_PX), np.uint8)
    levels = cv2.dilate(luma, around) - cv2.erode(luma, around)
    sharp = (slope > contrast.slope) & (slope > _SHARP_SLOPE * levels)
    kinds = np.full(rgb.shape[:2], PAPER, np.uint8)
    np.putmask(kinds, shadow, SHADOW)
    np.putmask(kinds, sharp, EDGE)
    limit = floor if taken is None else floor + _SHADE_DOUBT * taken * np.sqrt(power)
    np.putmask(kinds, np.minimum(_length(smooth), fine_off) < limit, GROUND)
    if taken is not None:
        plain = np.minimum(_length(contrast.weigh(colors - behind)), _length(contrast.weigh(fine - behind)))
        np.putmask(kinds, plain < floor, GROUND)
    return kinds


def _slope(values: Float32Array) -> Float32Array:
    """Levels per px of a smooth field ``(H, W)``."""
    across = cv2.Sobel(values, cv2.CV_32F, 1, 0, ksize=3, scale=1 / 8)
    down = cv2.Sobel(values, cv2.CV_32F, 0, 1, ksize=3, scale=1 / 8)
    return np.asarray(cv2.magnitude(across, down), np.float32)


def _length(vectors: Float32Array) -> Float32Array:
    x, y, z = (np.ascontiguousarray(vectors[..., k]) for k in range(3))  # faster than cv2.split
    return np.asarray(cv2.magnitude(cv2.magnitude(x, y), z), np.float32)


def _sum(vectors: Float32Array) -> Float32Array:
    """Of the three values of each pixel; numpy takes twenty times as long over so short an axis."""
    return np.asarray(cv2.transform(vectors, np.ones((1, 3), np.float32)), np.float32)


def _thrice(values: Float32Array | FloatArray) -> Float32Array:
    return np.asarray(cv2.merge([values, values, values]), np.float32)


def refine_borders(
    picture: UInt8Array, paper: BoolArray, contrast: Contrast, inside_px: Sequence[float] = INSIDE_PX
) -> BoolArray:
    """Move the border of ``paper (H, W)`` to where the colours of a page ``(H, W, 3)`` change, by a few px at most.

    Where inside and outside do not differ enough, the border stays. ``inside_px``: depth in the mask from which on a pixel is
    all paper, for each round.
    """
    refined = np.empty_like(paper)
    height, width = paper.shape
    for tile in tiles(height, width, _BORDER_RIM_PX, _PART_PX):
        mask = paper[tile.outer]
        if mask.any() and not mask.all():
            colors = contrast.weigh(picture[tile.outer].astype(np.float32))
            colors = np.asarray(cv2.GaussianBlur(colors, (0, 0), _PIXEL_PX), np.float32)
            for depth_px in inside_px:
                mask = _refine(colors, mask, depth_px, contrast.noise)
        refined[tile.inner] = mask[tile.core]
    return refined


def _refine(colors: Float32Array, mask: BoolArray, inside_px: float, floor: float) -> BoolArray:
    """One round; ``colors (H, W, 3)`` weighted."""
    depth, distance = _depth(mask), _depth(~mask)
    fringe = ((depth > 0) & (depth < inside_px)) | ((distance > 0) & (distance < _OUTSIDE_PX))
    inside, from_inside = _nearest_colors(colors, depth >= inside_px, fringe)
    outside, from_outside = _nearest_colors(colors, distance >= _OUTSIDE_PX, fringe)
    across = inside - outside
    contrast = np.sqrt((across * across).sum(axis=1))
    share = ((colors[fringe] - outside) * across).sum(axis=1) / np.maximum(contrast, 1e-3) ** 2
    reach = inside_px + _OUTSIDE_PX + _REACH_PX
    usable = (contrast > floor) & (from_inside < reach) & (from_outside < reach)
    usable &= (share > 0) | (np.linalg.norm(colors[fringe] - outside, axis=1) < 2.0 * floor)  # else of a third colour
    field = mask.astype(np.float32)
    field[fringe] = np.where(usable, np.clip(share, 0.0, 1.0), field[fringe])
    return np.asarray(cv2.GaussianBlur(field, (0, 0), _ALONG_PX) > 0.5, np.bool_)


def _depth(mask: BoolArray) -> Float32Array:
    """Px from each pixel of the mask to the nearest one outside; beyond the window all is as at its edge."""
    return np.asarray(cv2.distanceTransform(mask.astype(np.uint8), cv2.DIST_L2, 5), np.float32)


def _nearest_colors(colors: Float32Array, core: BoolArray, places: BoolArray) -> tuple[Float32Array, Float32Array]:
    """Colour ``(N, 3)`` of the ``core`` pixel nearest to each of ``places``, smoothed within the core, and its distance."""
    if not core.any():
        n = int(np.count_nonzero(places))
        return np.zeros((n, 3), np.float32), np.full(n, np.inf, np.float32)
    weight = cv2.GaussianBlur(core.astype(np.float32), (0, 0), _NEARBY_PX)
    alone = cv2.copyTo(colors, core.view(np.uint8), np.zeros_like(colors))
    smooth = cv2.GaussianBlur(alone, (0, 0), _NEARBY_PX)
    at, distance = nearest_pixels(core, places)
    nearest = smooth.reshape(-1, 3)[at] / weight.reshape(-1)[at][:, None]
    return np.asarray(nearest, np.float32), distance

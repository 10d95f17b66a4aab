"""What the texture of a background adds to a mask is taken off again: whiskers, lines, phantoms, the scan's own edge.

What is paper stands out as much as the pieces do; thin growths and objects that stand out much less are the background's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from jigsawnet.fragments.objects import usual_area
from jigsawnet.nearest import nearest_pixels
from jigsawnet.types import BoolArray, Float32Array

_THIN_SHARE, _THIN_DEPTH = 0.03, 0.25
"""Half the width of thin growths: at most this part of a usual piece's size, and of its depth."""
_GIVE_BACK = 1.6
"""How far from its thick parts a mask is kept, in half widths: corners come back, whiskers do not."""
_STRONG = 0.5
"""A thin part is paper when it stands out by this part of what pieces do."""
_LINED = 0.004
"""Part of the background in thin parts of its own from which on it has lines, such as a grid: all thin parts are its."""
_FAINT, _SMALL, _RAGGED = 0.35, 0.25, 0.6
"""A phantom stands out by less than this part of what pieces do, and is this small, or this little of it is thick."""
_FAINT_PART, _CORE_PX, _GROWTH_SHARE = 0.2, 1.5, 0.25
"""A growth stands out by less than this part of what pieces do, is at least twice this wide, and at most this part of a usual
piece."""
_POCKET_MOUTH, _POCKET_SIDES, _POCKET_GRAY, _POCKET_COLORED = 0.15, 0.4, 0.3, 1.5
"""A smear of light in a socket opens to the ground on this part of its border; elsewhere paper begins that stands out by this
part of what pieces do. Its tint is off the ground's by the first part of the noise, that of its piece by the second."""
_BESIDE_PX = 6
"""What lies beside a growth begins nearer than this."""
_LEAST_AREA_PX = 32
_LINE_PX, _LINE_LENGTH, _LINE_PART = 2.5, 0.15, 0.015
"""Half the width of lines at most; the length at least of one of them, and of all, as a part of the page."""
_HUGGING = 0.6
"""Part of its length by which a strip lies at the picture's border."""
_EDGE_THICK, _EDGE_ALL_THICK, _EDGE_ALONE = 0.5, 0.75, 0.02
"""Thickness of a scan's edge over that of pieces; the same where it takes a whole side; over the picture's, without pieces."""
_WHOLE_SIDE = 0.9


@dataclass(frozen=True, slots=True, eq=False)
class Trimmed:
    """A mask ``(H, W)`` without what is not paper, and how many phantoms and edges of the scan were dropped."""

    mask: BoolArray
    strength: float = 0.0
    """By how many levels a usual pixel of the mask stands out."""
    n_phantoms: int = 0
    n_edges: int = 0

    def with_mask(self, mask: BoolArray) -> Trimmed:
        """The same at another resolution."""
        return replace(self, mask=mask)


Window = tuple[slice, slice]


@dataclass(frozen=True, slots=True)
class Tint:
    """Of which tint pixels are: ``off(window)`` is how far each is off the ground's tint, whatever its light, ``(h, w)``."""

    off: Callable[[Window], Float32Array]
    noise: float
    """What stands out from the ground's own grain."""


def trim_mask(paper: BoolArray, strength: Float32Array, tint: Tint | None = None) -> Trimmed:
    """Take off a mask ``(H, W)`` what is not paper; ``strength (H, W)``: how much each pixel stands out.

    Without a ``tint``, light that a scanner smears into the sockets of pieces stays.
    """
    areas = _areas(paper)
    if not len(areas):
        return Trimmed(paper)
    depth = _depth(paper)
    radius = _thin_radius(paper, depth, usual_area(areas))
    thick = paper & (cv2.distanceTransform((depth <= radius).astype(np.uint8), cv2.DIST_L2, 5) <= _GIVE_BACK * radius)
    if not thick.any():
        return Trimmed(paper)
    mask = thick | _true_thin(paper, thick, strength)
    mask &= ~_faint_growths(mask, strength, usual_area(areas), tint)
    mask, n_edges = _drop_edges(mask)
    mask, n_phantoms = _drop_phantoms(mask, strength, radius)
    left = strength[mask]
    return Trimmed(mask, float(np.median(left)) if left.size else 0.0, n_phantoms, n_edges)


def thin_lines(objects: BoolArray) -> BoolArray:
    """The lines ``(H, W)`` of a background among all that stands out from it: a grid, the seams of planks.

    They are thin, and reach over much of the page.
    """
    core = _depth(objects) > _LINE_PX
    thick = objects & (cv2.distanceTransform((~core).astype(np.uint8), cv2.DIST_L2, 5) <= _GIVE_BACK * _LINE_PX)
    thin = objects & ~thick
    _, label, stats, _ = cv2.connectedComponentsWithStats(thin.astype(np.uint8), connectivity=8)
    extent = np.maximum(stats[:, cv2.CC_STAT_WIDTH], stats[:, cv2.CC_STAT_HEIGHT])
    extent[0] = 0
    long = extent > _LINE_LENGTH * max(objects.shape)
    if long.any():
        long = extent > _LINE_PART * max(objects.shape)
    lines: BoolArray = long[label]
    return lines


def slits(ground: BoolArray) -> BoolArray:
    """The long parts of a mask ``(H, W)``: background seen between pieces that lie close to each other."""
    _, label, stats, _ = cv2.connectedComponentsWithStats(ground.astype(np.uint8), connectivity=8)
    extent = np.maximum(stats[:, cv2.CC_STAT_WIDTH], stats[:, cv2.CC_STAT_HEIGHT])
    long = extent > _LINE_PART * max(ground.shape)
    long[0] = False
    found: BoolArray = long[label]
    return found


def _areas(mask: BoolArray) -> NDArray[np.int64]:
    _, _, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=4)
    areas = stats[1:, cv2.CC_STAT_AREA].astype(np.int64)
    return areas[areas >= _LEAST_AREA_PX]


def _depth(mask: BoolArray) -> Float32Array:
    """Px from each pixel of a mask to the nearest outside it; beyond the picture all is outside."""
    return np.asarray(cv2.distanceTransform(np.pad(mask, 1).astype(np.uint8), cv2.DIST_L2, 5)[1:-1, 1:-1], np.float32)


def _thin_radius(paper: BoolArray, depth: Float32Array, usual: float) -> float:
    """Half the width up to which parts of this mask are thin."""
    _, label, stats, _ = cv2.connectedComponentsWithStats(paper.astype(np.uint8), connectivity=4)
    deepest = _largest(np.asarray(label), depth, len(stats))
    areas = stats[:, cv2.CC_STAT_AREA]
    large = areas >= 0.3 * usual
    large[0] = False
    usual_depth = float(np.median(deepest[large])) if large.any() else 1.0
    return float(max(1.0, min(_THIN_SHARE * np.sqrt(usual), _THIN_DEPTH * usual_depth)))


def _true_thin(paper: BoolArray, thick: BoolArray, strength: Float32Array) -> BoolArray:
    """The thin parts of a mask that are paper all the same."""
    thin = paper & ~thick
    n, label, stats, _ = cv2.connectedComponentsWithStats(thin.astype(np.uint8), connectivity=8)
    attached = np.zeros(n, np.bool_)
    attached[label[cv2.dilate(thick.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0]] = True
    areas = stats[:, cv2.CC_STAT_AREA]
    long = (np.maximum(stats[:, cv2.CC_STAT_WIDTH], stats[:, cv2.CC_STAT_HEIGHT]) ** 2 > 4 * areas) | ~attached
    lined = areas[1:][long[1:]].sum() > _LINED * np.count_nonzero(~thick)
    if lined:
        return np.zeros_like(thin)
    usual = float(np.median(strength[thick][:: 1 + int(np.count_nonzero(thick)) // 50_000]))
    mean = np.bincount(label.ravel(), strength.ravel(), minlength=n) / np.maximum(1, areas)
    kept = mean > _STRONG * usual
    kept[0] = False
    paper_too: BoolArray = thin & kept[label]
    return paper_too


def _faint_growths(mask: BoolArray, strength: Float32Array, usual: float, tint: Tint | None) -> BoolArray:
    """Parts ``(H, W)`` of a mask that hardly stand out and lie beside pieces, not within: the background's texture.

    A dark part of a picture on a dark ground is bordered by its piece for the most part, a growth by the ground; but light
    smeared into a socket is bordered by its piece, too.
    """
    whole_strength = float(np.median(strength[mask]))
    faint = mask & (strength < _FAINT_PART * whole_strength)
    core = _depth(faint) > _CORE_PX
    n, label = cv2.connectedComponents(core.astype(np.uint8), connectivity=8)
    if n == 1:
        return core
    nearest, away = nearest_pixels(core)
    whole = np.where(away <= _CORE_PX + 2.0, label.ravel()[nearest], 0)
    ring = np.where((away > _CORE_PX + 2.0) & (away <= _CORE_PX + 4.0), label.ravel()[nearest], 0)
    sides = mask & ~faint
    beside = np.bincount(ring[sides], minlength=n)
    outside = np.bincount(ring[~mask], minlength=n)
    areas = np.bincount(whole[faint], minlength=n)
    small = (beside > 0) & (areas < _GROWTH_SHARE * usual)
    growth = (beside < outside) & small
    if tint is not None:
        rises = np.bincount(ring[sides], strength[sides], minlength=n) > _POCKET_SIDES * whole_strength * beside
        mouth = (outside > _POCKET_MOUTH * (beside + outside)) & ~growth & small & rises
        for k in np.flatnonzero(mouth[1:]) + 1:
            growth[k] = _is_gray(np.asarray(label == k), sides, tint)
    growth[0] = False
    return faint & growth[whole]


def _is_gray(part: BoolArray, sides: BoolArray, tint: Tint) -> bool:
    """Whether a part ``(H, W)`` of a mask has the ground's tint, but brighter, beside paper that is of another."""
    x, y, width, height = cv2.boundingRect(part.astype(np.uint8))
    margin = max(width, height) + _BESIDE_PX
    window = slice(max(0, y - margin), y + height + margin), slice(max(0, x - margin), x + width + margin)
    off = tint.off(window)
    own, around = off[part[window]], off[sides[window]]
    return bool(np.percentile(own, 75) < _POCKET_GRAY * tint.noise and np.median(around) > _POCKET_COLORED * tint.noise)


def _drop_phantoms(mask: BoolArray, strength: Float32Array, radius: float) -> tuple[BoolArray, int]:
    """A mask without objects that hardly stand out and are small or ragged, and how many these are."""
    n, label, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=4)
    areas = np.maximum(1.0, stats[:, cv2.CC_STAT_AREA].astype(np.float64))
    mean = np.bincount(label.ravel(), strength.ravel(), minlength=n) / areas
    usual = usual_area(stats[1:, cv2.CC_STAT_AREA].astype(np.int64))
    by_area = np.argsort(mean[1:])
    middle = np.searchsorted(np.cumsum(areas[1:][by_area]), 0.5 * areas[1:].sum()) if n > 1 else 0
    usual_strength = mean[1:][by_area[min(middle, n - 2)]] if n > 1 else 0.0
    thick = np.bincount(label[_depth(mask) > 1.5 * radius], minlength=n) / areas
    phantom = (mean < _FAINT * usual_strength) & ((areas < _SMALL * usual) | (thick < 1.0 - _RAGGED))
    phantom[0] = False
    return mask & ~phantom[label], int(np.count_nonzero(phantom & (areas >= _LEAST_AREA_PX)))


def _drop_edges(mask: BoolArray) -> tuple[BoolArray, int]:
    """A mask without the strips at the picture's border that are thinner than pieces, and how many these are."""
    n, label, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=4)
    height, width = mask.shape
    thickness = 2.0 * _largest(np.asarray(label), _depth(mask), n)
    sides = [np.bincount(side, minlength=n) for side in (label[0], label[-1], label[:, 0], label[:, -1])]
    touching = np.sum(sides, axis=0)
    areas = stats[:, cv2.CC_STAT_AREA].astype(np.int64)
    others = thickness[1:][areas[1:] >= 0.2 * usual_area(areas[1:])] if n > 1 else np.zeros(0)
    usual = float(np.median(others)) if len(others) > 1 else 0.0
    hugging = touching * thickness >= _HUGGING * areas
    whole = np.any([own >= _WHOLE_SIDE * len(side) for own, side in zip(sides, _sides(np.asarray(label)), strict=True)], axis=0)
    thin = (thickness < _EDGE_THICK * usual) | (whole & (thickness < _EDGE_ALL_THICK * usual))
    thin |= thickness < _EDGE_ALONE * min(height, width) if usual == 0.0 else False
    edge = hugging & thin
    edge[0] = False
    return mask & ~edge[label], int(np.count_nonzero(edge))


def _sides(label: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    return label[0], label[-1], label[:, 0], label[:, -1]


def _largest(label: NDArray[Any], values: Float32Array, n: int) -> Float32Array:
    """The largest of ``values (H, W)`` in each numbered part."""
    largest = np.zeros(n, np.float32)
    inside = label > 0
    np.maximum.at(largest, label[inside], values[inside])
    return largest

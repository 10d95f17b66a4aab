"""From kinds of pixels to paper: the background is flooded through its shadows, up to the sharp edges of paper.

Paper has its sharp edge on the outside. A shadow has none there, and one on the inside, where the paper begins.
"""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from jigsawnet.fragments.objects import HOLE_AREA_PX, HOLE_SHARE
from jigsawnet.types import BoolArray, Float32Array, UInt8Array

Window = tuple[slice, slice]

PAPER, SHADOW, GROUND, EDGE = 0, 1, 2, 3
"""Kinds of pixel: the colour of paper, of a shadow, of the background; and a sharp edge that is not background."""

_SLIT_PX = 1
"""Background does not enter an object through slits narrower than twice this."""
_GAP_PX = 8
_SHARP_SIDES = 0.3
"""Part of a gap's sides at sharp edges from which on it shows background."""
_SHARP_GROWTH = 0.25
"""Part of the outer sides of paper found at second sight that lies at sharp edges."""
_LEAK_RADII_PX = (2, 4, 8)
_EDGE_REACH_PX = 4
"""The outer border of paper lies at most this far outside its sharp edge; that of a shadow lies further out."""
_EDGE_AREA_PX = 40
"""Shorter sharp edges are grain and print, not the border of paper."""
_LEAST_REACH_PX, _MOST_REACH_PX = 6.0, 20.0
_REACH_TIMES = 1.25
_PAGE_PERCENTILE, _OBJECT_PERCENTILE = 80, 70
"""A shadow is taken off up to a little further than this part of the outermost pixels are from paper, on the page or object."""
_PAD_PX = 16
_HOLE_GROUND = 0.6
"""Least part of a hole through paper that has the background's own colour."""
_HOLE_ROUND, _HOLE_SHARP = 0.4, 0.6
"""A hole is round, its inscribed disc this part of it; or this part of its rim is a sharp edge."""


def flood(kinds: UInt8Array, reduced: int = 1) -> BoolArray:
    """Paper of a page: all objects on it, less the shadows around each and the holes through it.

    The page was ``reduced`` by this factor: the gaps in print are that much narrower.
    """
    ground = kinds == GROUND
    gap_px = max(1, _GAP_PX // (2 * reduced)) if reduced > 1 else _GAP_PX
    objects = _bridge(~(_dilate(_open(ground, _SLIT_PX), _SLIT_PX) & ground), kinds == EDGE, gap_px)
    _, label, stats, _ = cv2.connectedComponentsWithStats(objects.astype(np.uint8), connectivity=4)
    paper = np.zeros(kinds.shape, np.bool_)
    cut = [_cut(label, kinds, stats[k], k) for k in range(1, len(stats)) if stats[k, cv2.CC_STAT_AREA] >= HOLE_AREA_PX]
    distances = [_edge_distances(own, around) for _, own, around in cut]
    usual = _LEAST_REACH_PX if not cut else float(np.percentile(np.concatenate(distances), _PAGE_PERCENTILE))
    for (window, own, around), distance in zip(cut, distances, strict=True):
        reach_px = _REACH_TIMES * max(_LEAST_REACH_PX, usual, float(np.percentile(distance, _OBJECT_PERCENTILE)))
        clean = _without_shadow(own, around, reach_px)
        paper[window] |= clean[_PAD_PX:-_PAD_PX, _PAD_PX:-_PAD_PX]
    return paper


def keep_sharp_growth(before: BoolArray, after: BoolArray, kinds: UInt8Array) -> BoolArray:
    """A second mask without those parts, new against the first, that end softly: they are shadows all the same."""
    grown = after & ~before
    n, label = cv2.connectedComponents(grown.astype(np.uint8), connectivity=4)
    sides = grown & _dilate(~after, 1)
    sharp = np.bincount(label[sides & _dilate(kinds == EDGE, _EDGE_REACH_PX)], minlength=n)
    soft = sharp < _SHARP_GROWTH * np.bincount(label[sides], minlength=n)
    soft[0] = False
    kept: BoolArray = after & ~soft[label]
    return kept


def _bridge(objects: BoolArray, joins: BoolArray, gap_px: int) -> BoolArray:
    """Close narrow gaps in objects that have soft sides: print that passes through the colour of the background.

    Where there really is background, paper meets it at a sharp edge on at least one side of the gap.
    """
    gaps = cv2.morphologyEx(objects.astype(np.uint8), cv2.MORPH_CLOSE, _disc(gap_px)).astype(np.bool_) & ~objects
    n, label = cv2.connectedComponents(gaps.astype(np.uint8), connectivity=4)
    sides = gaps & _dilate(objects, 1)
    sharp = np.bincount(label[sides & _dilate(joins, _EDGE_REACH_PX)], minlength=n)
    soft = sharp < _SHARP_SIDES * np.bincount(label[sides], minlength=n)
    soft[0] = False
    bridged: BoolArray = objects | soft[label]
    return bridged


def _is_open(kinds: UInt8Array) -> BoolArray:
    """Where a pixel may be background or its shadow."""
    is_open: BoolArray = (kinds == SHADOW) | (kinds == GROUND)
    return is_open


def _cut(label: NDArray[Any], kinds: UInt8Array, stats: NDArray[Any], number: int) -> tuple[Window, BoolArray, UInt8Array]:
    """Where on the page an object lies, its own pixels and their kinds, both with a border of ground."""
    x, y, width, height = (int(value) for value in stats[:4])
    window = slice(y, y + height), slice(x, x + width)
    own = np.pad(label[window] == number, _PAD_PX)
    return window, own, np.where(own, np.pad(kinds[window], _PAD_PX), np.uint8(GROUND))


def _edge_distances(own: BoolArray, kinds: UInt8Array) -> Float32Array:
    """How far from paper or a sharp edge the outermost pixels of an object are."""
    to_join = cv2.distanceTransform(_is_open(kinds).astype(np.uint8), cv2.DIST_L2, 3)
    return np.asarray(np.minimum(to_join[own & _dilate(~own, 1)], _MOST_REACH_PX), np.float32)


def _without_shadow(own: BoolArray, kinds: UInt8Array, reach_px: float) -> BoolArray:
    """One object ``own (H, W)``, with an empty border, less the shadow around it, which is at most ``reach_px`` wide.

    Each round floods through gaps less narrow than the one before. A pixel is taken off when the way out of the object leads
    over no sharp edge, and the way in ends at one: paper has its edge outside, a shadow has it inside.
    """
    paper = _fill_holes(own, kinds)
    joins = _drop_small(own & ~_is_open(kinds), _EDGE_AREA_PX)
    passable = _is_open(kinds)
    passable &= cv2.distanceTransform(paper.astype(np.uint8), cv2.DIST_L2, 3) <= reach_px
    has_soft_side = ~_nearest_of(_dilate(joins, _EDGE_REACH_PX), ~paper)
    for radius in _LEAK_RADII_PX:
        flooded = _reached(_open(passable | ~paper, radius), ~paper) & paper & has_soft_side
        shadow = flooded & _nearest_of(_dilate(joins, radius + 1), paper & ~flooded)
        paper &= ~(_dilate(shadow, radius + 1) & passable & has_soft_side)
    return _fill_holes(paper, kinds)


def _drop_small(mask: BoolArray, least_px: int) -> BoolArray:
    """The connected parts of a mask ``(H, W)`` that have at least ``least_px`` pixels."""
    _, label, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=8)
    large = stats[:, cv2.CC_STAT_AREA] >= least_px
    large[0] = False
    kept: BoolArray = large[label]
    return kept


def _nearest_of(values: BoolArray, places: BoolArray) -> BoolArray:
    """For each pixel, what ``values (H, W)`` says at the nearest pixel of ``places``; nothing when there is none."""
    if not places.any():
        return np.zeros_like(values)
    _, label = cv2.distanceTransformWithLabels((~places).astype(np.uint8), cv2.DIST_L2, 3, labelType=cv2.DIST_LABEL_PIXEL)
    nearest: BoolArray = values[places][label - 1]  # the places are numbered from 1, row by row
    return nearest


def _disc(radius: int) -> UInt8Array:
    return np.asarray(cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * radius + 1, 2 * radius + 1)), np.uint8)


def _open(mask: BoolArray, radius: int) -> BoolArray:
    return cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_OPEN, _disc(radius)).astype(np.bool_)


def _dilate(mask: BoolArray, radius: int) -> BoolArray:
    return cv2.dilate(mask.astype(np.uint8), _disc(radius)).astype(np.bool_)


def _reached(passable: BoolArray, source: BoolArray) -> BoolArray:
    """The connected parts of ``passable (H, W)`` that hold some of ``source``."""
    n, label = cv2.connectedComponents(passable.astype(np.uint8), connectivity=4)
    reached = np.zeros(n, np.bool_)
    reached[label[source]] = True
    reached[0] = False
    connected: BoolArray = reached[label]
    return connected


def _fill_holes(paper: BoolArray, kinds: UInt8Array) -> BoolArray:
    """Fill what paper encloses, unless it is wide enough and shows the background."""
    n, label, stats, _ = cv2.connectedComponentsWithStats(
        np.pad(~paper, 1, constant_values=True).astype(np.uint8), connectivity=4
    )
    label = label[1:-1, 1:-1]
    ground = np.bincount(label[kinds == GROUND], minlength=n)
    least = max(HOLE_AREA_PX, HOLE_SHARE * np.count_nonzero(paper))
    real = (stats[:, cv2.CC_STAT_AREA] >= least) & (ground >= _HOLE_GROUND * stats[:, cv2.CC_STAT_AREA])
    depth = cv2.distanceTransform((label > 0).astype(np.uint8), cv2.DIST_L2, 3)
    deepest = np.zeros(n, np.float32)
    np.maximum.at(deepest, label[label > 0].astype(np.intp), depth[label > 0])
    is_round = np.pi * deepest**2 >= _HOLE_ROUND * stats[:, cv2.CC_STAT_AREA]
    rim = (label > 0) & (depth < 2.0)
    sharp = np.bincount(label[rim & _dilate(kinds == EDGE, _EDGE_REACH_PX)], minlength=n)
    real &= is_round | (sharp >= _HOLE_SHARP * np.bincount(label[rim], minlength=n))
    real[label[0, 0]] = True
    real[0] = False
    filled: BoolArray = ~real[label]
    return filled

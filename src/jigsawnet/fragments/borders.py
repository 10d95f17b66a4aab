"""Borders of paper to the pixel: halfway between the colour just inside and the colour just outside.

The colour outside is that of the background where it lies, shadow included, so that a shadow moves no border.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from jigsawnet.fragments.paper import weighted
from jigsawnet.fragments.tiles import tiles
from jigsawnet.types import BoolArray, Float32Array, UInt8Array

_RIM_PX = 24
_OUTSIDE_PX = 2.0
"""Distance from the mask from which on a pixel is all background."""
_INSIDE_PX = (4.5, 3.0, 2.2)
"""Depth in the mask from which on a pixel is all paper, for each round."""
_PIXEL_PX = 0.5
_NEARBY_PX = 1.5
_ALONG_PX = 1.4
"""Shares of paper are averaged over this distance, so that grain and texture do not roughen the border."""
_REACH_PX = 5.0
"""A fringe pixel is compared with colours at most this far beyond the fringe."""


def refine_borders(picture: UInt8Array, paper: BoolArray, floor: float) -> BoolArray:
    """Move the border of ``paper (H, W)`` to where the colours of a page ``(H, W, 3)`` change, by a few px at most.

    Where inside and outside differ by less than ``floor`` levels, the border stays.
    """
    refined = np.empty_like(paper)
    height, width = paper.shape
    for tile in tiles(height, width, _RIM_PX):
        mask = paper[tile.outer]
        if mask.any() and not mask.all():
            colors = weighted(picture[tile.outer].astype(np.float32))
            colors = np.asarray(cv2.GaussianBlur(colors, (0, 0), _PIXEL_PX), np.float32)
            for inside_px in _INSIDE_PX:
                mask = _refine(colors, mask, inside_px, floor)
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
    smooth = cv2.GaussianBlur(colors * core[..., None], (0, 0), _NEARBY_PX)
    distance, label = cv2.distanceTransformWithLabels((~core).astype(np.uint8), cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL)
    index_of_label = np.zeros(int(label.max()) + 1, np.intp)
    index_of_label[label[core]] = np.flatnonzero(core)
    at: NDArray[np.intp] = index_of_label[label[places]]
    nearest = smooth.reshape(-1, 3)[at] / weight.reshape(-1)[at][:, None]
    return np.asarray(nearest, np.float32), np.asarray(distance[places], np.float32)

"""The mask of a page from coarse to fine.

Pieces are found on a reduced copy, in which noise and weave average out; then only their borders are looked at again, at each
finer level up to that of the scan. On a ground without texture they are found once more pixel by pixel, so that dark corners
on a dark ground are not lost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import cv2
import numpy as np

from jigsawnet.fragments.background import Background
from jigsawnet.fragments.paper import (
    TEXTURED_FLOOR,
    Contrast,
    find_paper,
    measure_contrast,
    offset_length,
    refine_borders,
    tint_length,
)
from jigsawnet.fragments.trim import Tint, Trimmed, slits, trim_mask
from jigsawnet.types import BoolArray, UInt8Array

STEPS = 5
"""Parts of the work."""
_WORK_PX = 1400
"""A page with a longer side is reduced."""
_CLOSE_PX, _MOST_MORE = 5000, 0.06
"""Up to this side a page is looked at pixel by pixel; by the second part the pieces may be larger there than on the copy."""
_LEAST_PX = 600
"""A page is not reduced below this."""
_FAINT_LEVELS = 30.0
"""Pieces that stand out by less are looked for on a larger copy, in which they can be told from their shadows."""
_FINER_PX = (3.0, 2.2)
"""Depth in the mask from which on a pixel is all paper, for each round at a finer level."""


def find_mask(
    picture: UInt8Array, background: Background, min_contrast: float, step: Callable[[], None] = lambda: None
) -> tuple[Trimmed, Contrast]:
    """Mask ``(H, W)`` of the pieces on a page ``(H, W, 3)``, with what was taken off it, and what stands out on this page."""
    factor = -(-max(picture.shape[:2]) // _WORK_PX)
    small, ground, contrast = _level(picture, background, factor, min_contrast)
    if contrast.floor > TEXTURED_FLOOR and max(small.shape[:2]) >= 2 * _LEAST_PX:
        factor *= 2
        small, ground, contrast = _level(picture, background, factor, min_contrast)
    trimmed = _find(small, ground, contrast, step, factor)
    if trimmed.strength < _FAINT_LEVELS and factor > 1 and contrast.floor < TEXTURED_FLOOR:
        factor = -(-factor // 2)
        small, ground, contrast = _level(picture, background, factor, min_contrast)
        trimmed = _find(small, ground, contrast, lambda: None, factor)
    step()
    mask, is_next = trimmed.mask, True
    if factor > 1 and contrast.noise <= TEXTURED_FLOOR and not contrast.one_paper:
        closer = -(-max(picture.shape[:2]) // _CLOSE_PX)
        small, ground, contrast = _level(picture, background, closer, min_contrast)
        seen = _close_look(small, ground, contrast, mask, closer)
        mask, factor = (mask, factor) if seen is None else (seen, closer)
    while factor > 1:
        factor = -(-factor // 2)
        small, ground, contrast = _level(picture, background, factor, min_contrast)
        size = small.shape[1], small.shape[0]
        mask = np.asarray(cv2.resize(mask.astype(np.float32), size, interpolation=cv2.INTER_LINEAR) > 0.5, np.bool_)
        mask = refine_borders(small, mask, contrast, _FINER_PX if factor > 1 or is_next else _FINER_PX[1:])
        if contrast.one_paper and is_next:
            mask &= ~slits(mask & (offset_length(small, ground, contrast) < contrast.floor))
        is_next = False
    step()
    return trimmed.with_mask(mask), contrast


def _find(small: UInt8Array, ground: Background, contrast: Contrast, step: Callable[[], None], factor: int) -> Trimmed:
    paper = refine_borders(small, find_paper(small, ground, contrast, step, factor), contrast)
    tint = Tint(lambda window: tint_length(small, ground, contrast, window), contrast.noise)
    return trim_mask(paper, offset_length(small, ground, contrast), tint)


def _close_look(small: UInt8Array, ground: Background, contrast: Contrast, known: BoolArray, factor: int) -> BoolArray | None:
    """The objects of a coarser mask found again by all that is not noise; None where the ground's own lines come with them."""
    paper = _find(small, ground, replace(contrast, floor=contrast.noise), lambda: None, factor).mask
    known = np.asarray(
        cv2.resize(known.astype(np.uint8), (paper.shape[1], paper.shape[0]), interpolation=cv2.INTER_NEAREST) > 0
    )
    n, label = cv2.connectedComponents(paper.astype(np.uint8), connectivity=4)
    same = np.zeros(n, np.bool_)
    same[label[known]] = True
    same[0] = False
    found: BoolArray = same[label]
    return found if np.count_nonzero(found & ~known) <= _MOST_MORE * np.count_nonzero(known) else None


def _level(
    picture: UInt8Array, background: Background, factor: int, min_contrast: float
) -> tuple[UInt8Array, Background, Contrast]:
    """The page reduced by a factor, its background, and what stands out from that."""
    height, width = picture.shape[:2]
    size = max(1, round(width / factor)), max(1, round(height / factor))
    small = picture if factor == 1 else np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8)
    ground = background.scaled(*size)
    return small, ground, measure_contrast(small, ground, min_contrast)

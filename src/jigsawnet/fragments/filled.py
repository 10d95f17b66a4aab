"""Pictures that one piece fills to all sides, as strips and tiles that a program cut out: how such a set is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from jigsawnet.types import Piece, UInt8Array

_FEWEST, _FEWEST_TILES, _LARGEST_TILE_PX = 3, 6, 1_000_000
"""Strips, tiles, and px of a tile: a few large pictures that are busy at all sides are photographs of pieces on a table."""
_SLENDER = 4.0
"""From this ratio of its sides on, only the long sides of a picture need to be reached."""
_ALIKE = 1.1
"""Ratio of the lengths of pictures that are alike; strips may differ in width as they like."""
_LEVELS = 40
_INK = 0.004
"""Part of a side that differs from the rest of it by `_LEVELS` where what is shown reaches that side."""
_DEEP, _DEEP_PX = 0.06, 6
"""A side is so deep: a part of the shorter side of the picture, at most so many px."""
_MOST = 0.6
"""Part of the pictures in which it does."""


@dataclass(frozen=True, slots=True)
class Outline:
    """Size of a picture, and the part of its left, right, upper and lower side that is not of that side's own main colour."""

    height: int
    width: int
    busy: tuple[float, float, float, float]


def outline_of(pixels: UInt8Array) -> Outline:
    """Look at the outermost pixels of a picture ``(H, W, 3 | 4)``; print is often lost in the very last ones."""
    grey = cv2.cvtColor(np.ascontiguousarray(pixels[..., :3]), cv2.COLOR_RGB2GRAY).astype(np.int16)
    deep = max(1, min(_DEEP_PX, round(_DEEP * min(grey.shape))))
    sides = (grey[:, :deep], grey[:, -deep:], grey[:deep].T, grey[-deep:].T)
    left, right, top, bottom = (float((np.abs(side - np.median(side)) > _LEVELS).any(axis=1).mean()) for side in sides)
    return Outline(grey.shape[0], grey.shape[1], (left, right, top, bottom))


def are_filled(outlines: Sequence[Outline]) -> bool:
    """Whether pictures are alike in size and show something up to their sides: strips up to the long ones, tiles up to all."""
    if len(outlines) < _FEWEST:
        return False
    longer = [max(o.height, o.width) for o in outlines]
    slender = [max(o.height, o.width) >= _SLENDER * min(o.height, o.width) for o in outlines]
    if max(longer) > _ALIKE * min(longer) or (any(slender) and not all(slender)):
        return False
    shorter = [min(o.height, o.width) for o in outlines]
    largest = max(o.height * o.width for o in outlines)
    if not all(slender) and (
        max(shorter) > _ALIKE * min(shorter) or len(outlines) < _FEWEST_TILES or largest > _LARGEST_TILE_PX
    ):
        return False
    reached = [_reaches(o, all(slender)) for o in outlines]
    return sum(reached) >= _MOST * len(reached)


def _reaches(outline: Outline, slender: bool) -> bool:
    upright = outline.height >= outline.width
    sides = outline.busy if not slender else outline.busy[:2] if upright else outline.busy[2:]
    return min(sides) >= _INK


def whole_piece(idx: int, name: str, pixels: UInt8Array) -> Piece:
    """All of a picture as one piece."""
    return Piece(idx, name, np.ascontiguousarray(pixels[..., :3]), np.ones(pixels.shape[:2], np.bool_))

"""Ground floor: the pictures of all pieces as one flat array, so that compiled loops can look at any of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from jigsawnet.raster import njit
from jigsawnet.types import Fragment, Puzzle, UInt8Array

_SHRINK_ABOVE = 1.25
"""Pieces are shrunk only when a unit is more than this many px."""


@dataclass(frozen=True, slots=True, eq=False)
class PixelBank:
    """Pixels ``(P, 4)`` uint8, colour times mask and mask, of n pieces end to end, row by row.

    Piece p owns ``first[p]:first[p + 1]``, ``size[p] = (rows, cols)``. The pictures are ``scale`` times as large as the
    pieces, so that a piece's point (x, y) lies at ``(x + 0.5) * scale - 0.5``.
    """

    scale: float
    first: NDArray[np.int64]
    size: NDArray[np.int32]
    pixels: UInt8Array

    def arrays(self) -> tuple[Any, ...]:
        """The arrays the compiled loops take, in their order."""
        return np.float32(self.scale), self.first, self.size, self.pixels


def build_pixels(puzzle: Puzzle, unit_px: float) -> PixelBank:
    """Lay out all pictures; pieces much finer than ``unit_px`` are shrunk to it, by area."""
    scale = 1.0 / unit_px if unit_px > _SHRINK_ABOVE else 1.0
    pictures = [_premultiplied(fragment, scale) for fragment in puzzle.fragments]
    return PixelBank(
        scale=scale,
        first=np.concatenate([[0], np.cumsum([p.shape[0] * p.shape[1] for p in pictures])]).astype(np.int64),
        size=np.array([p.shape[:2] for p in pictures], dtype=np.int32).reshape(-1, 2),
        pixels=np.concatenate([np.zeros((0, 4), np.uint8), *(p.reshape(-1, 4) for p in pictures)]),
    )


def _premultiplied(fragment: Fragment, scale: float) -> UInt8Array:
    """Colour times mask, and mask: ``(rows, cols, 4)``."""
    rgba = np.dstack([fragment.image * fragment.mask[..., None], fragment.mask * np.uint8(255)])
    if scale == 1.0:
        return np.ascontiguousarray(rgba)
    rows, cols = (max(1, round(side * scale)) for side in fragment.mask.shape)
    return np.asarray(cv2.resize(rgba, (cols, rows), interpolation=cv2.INTER_AREA), dtype=np.uint8)


@njit
def pixel_at(piece, x, y, scale, first, size, pixels):  # type: ignore[no-untyped-def]
    """The bilinear value of a piece at its point (x, y): red, green, blue times mask, and mask; 0 outside its picture."""
    u, v = (x + 0.5) * scale - 0.5, (y + 0.5) * scale - 0.5
    rows, cols = size[piece, 0], size[piece, 1]
    red = green = blue = paper = 0.0
    if not (-1.0 < u < cols and -1.0 < v < rows):
        return red, green, blue, paper
    left, top = int(np.floor(u)), int(np.floor(v))
    right_weight, down_weight = u - left, v - top
    for dr in range(2):
        r = top + dr
        if r < 0 or r >= rows:
            continue
        weight_r = down_weight if dr else 1.0 - down_weight
        for dc in range(2):
            c = left + dc
            if c < 0 or c >= cols:
                continue
            w = weight_r * (right_weight if dc else 1.0 - right_weight)
            at = first[piece] + r * cols + c
            red += w * pixels[at, 0]
            green += w * pixels[at, 1]
            blue += w * pixels[at, 2]
            paper += w * pixels[at, 3]
    return red, green, blue, paper

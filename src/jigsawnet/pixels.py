"""Ground floor: the pictures of all pieces as one flat array, so that compiled loops can look at any of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from jigsawnet.borders import njit_part
from jigsawnet.stopping import Stop
from jigsawnet.types import Piece, Puzzle, UInt8Array

_SHRINK_ABOVE = 1.25
"""Pieces are shrunk only when a unit is more than this many px."""
_NOTHING, _HALF, _ONE = np.float32(0.0), np.float32(0.5), np.float32(1.0)


class PixelArrays(NamedTuple):
    """The arrays of `Pixels` as compiled loops take them."""

    scale: np.float32
    first: NDArray[np.int64]
    size: NDArray[np.int32]
    pixels: UInt8Array


@dataclass(frozen=True, slots=True, eq=False)
class Pixels:
    """Pixels ``(P, 4)`` uint8, colour times mask and mask, of n pieces end to end, row by row, each with an empty rim.

    Piece p owns ``first[p]:first[p + 1]``, ``size[p] = (rows, cols)``. The pictures are ``scale`` times as large as the
    pieces, so that a piece's point (x, y) lies at ``(x + 0.5) * scale + 0.5``, the rim counted.
    """

    scale: float
    first: NDArray[np.int64]
    size: NDArray[np.int32]
    pixels: UInt8Array
    kernel: PixelArrays = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kernel", PixelArrays(np.float32(self.scale), self.first, self.size, self.pixels))


def build_pixels(puzzle: Puzzle, unit_px: float, stop: Stop | None = None) -> Pixels:
    """Lay out all pictures; pieces much finer than ``unit_px`` are shrunk to it, by area.

    Raises `StoppedError` when it is to end.
    """
    scale = 1.0 / unit_px if unit_px > _SHRINK_ABOVE else 1.0
    size = np.array([_drawn_size(piece, scale) for piece in puzzle.pieces], dtype=np.int32).reshape(-1, 2) + 2
    first = np.concatenate([[0], np.cumsum(size.prod(1, dtype=np.int64))]).astype(np.int64)
    pixels = np.zeros((first[-1], 4), np.uint8)
    for piece, start, end, shape in zip(puzzle.pieces, first, first[1:], size.tolist(), strict=False):
        if stop is not None:
            stop.check()
        _draw_premultiplied(piece, scale, pixels[start:end].reshape(*shape, 4)[1:-1, 1:-1])
    return Pixels(scale, first, size, pixels)


def _drawn_size(piece: Piece, scale: float) -> tuple[int, ...]:
    """Rows and columns of a piece's picture, without the rim."""
    return piece.mask.shape if scale == 1.0 else tuple(max(1, round(side * scale)) for side in piece.mask.shape)


def _draw_premultiplied(piece: Piece, scale: float, room: UInt8Array) -> None:
    """Write colour times mask, and mask, into ``room (rows, cols, 4)``."""
    mask = piece.mask * np.uint8(255)
    color = np.asarray(cv2.bitwise_and(piece.image, piece.image, mask=mask), np.uint8)
    if scale != 1.0:
        color, mask = (_resized(layer, *room.shape[:2]) for layer in (color, mask))
    room[..., :3], room[..., 3] = color, mask


def _resized(layer: UInt8Array, rows: int, cols: int) -> UInt8Array:
    return np.asarray(cv2.resize(layer, (cols, rows), interpolation=cv2.INTER_AREA), np.uint8)


@njit_part
def pixel_at(arrays, piece, x, y):  # type: ignore[no-untyped-def]
    """The bilinear value of a piece at its point (x, y): red, green, blue times mask, and mask; 0 outside its picture.

    ``arrays`` are `PixelArrays`.
    With the point at (right, down) between pixels a b over c d: ``(1-right)(1-down) a + right (1-down) b + ...``.
    """
    u, v = (x + _HALF) * arrays.scale + _HALF, (y + _HALF) * arrays.scale + _HALF  # past the rim
    cols, pixels = arrays.size[piece, 1], arrays.pixels
    left, top = int(u), int(v)
    if u < 0 or v < 0 or left >= cols - 1 or top >= arrays.size[piece, 0] - 1:
        return _NOTHING, _NOTHING, _NOTHING, _NOTHING
    a = arrays.first[piece] + top * cols + left
    b, c = a + 1, a + cols
    d = c + 1
    if pixels[a, 3] | pixels[b, 3] | pixels[c, 3] | pixels[d, 3] == 0:
        return _NOTHING, _NOTHING, _NOTHING, _NOTHING
    right, down = u - np.float32(left), v - np.float32(top)
    wd = right * down
    wb, wc = right - wd, down - wd
    wa = _ONE - right - wc
    return (
        wa * pixels[a, 0] + wb * pixels[b, 0] + wc * pixels[c, 0] + wd * pixels[d, 0],
        wa * pixels[a, 1] + wb * pixels[b, 1] + wc * pixels[c, 1] + wd * pixels[d, 1],
        wa * pixels[a, 2] + wb * pixels[b, 2] + wc * pixels[c, 2] + wd * pixels[d, 2],
        wa * pixels[a, 3] + wb * pixels[b, 3] + wc * pixels[c, 3] + wd * pixels[d, 3],
    )

"""The stitched pair as the paper's network sees it: a picture around the abutting area, and the box of that area in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jigsawnet.borders import njit, njit_part
from jigsawnet.errors import ConfigError
from jigsawnet.pixels import Pixels, pixel_at
from jigsawnet.types import Float32Array, UInt8Array

BACKGROUND = (255, 0, 255)
"""Colour where there is no paper; rare in pictures, so that gaps and outlines can be told from dark content."""
_MARGIN_UNITS = 8.0
"""How far the box reaches beyond the line where the pieces meet."""
_FILL = 0.95
"""Largest part of the picture that the box may take."""


@dataclass(frozen=True, slots=True)
class PictureConfig:
    """How the stitched pair is drawn. The paper's setting is 160 by 160, as the pieces lie."""

    width: int = 160
    """Width of the picture in px."""
    height: int = 64
    """Height of the picture in px; the paper has 160."""
    upright: bool = True
    """Turn the pair so that the seam runs from left to right: its box is then thin, and a low picture is enough."""

    def __post_init__(self) -> None:
        if min(self.width, self.height) < 32 or max(self.width, self.height) > 1024 or self.width % 8 or self.height % 8:
            raise ConfigError("The picture's width and height must be multiples of 8 between 32 and 1024.")


def render_pairs(
    pixels: Pixels, i: NDArray[np.int32], j: NDArray[np.int32], pose: Float32Array, path: Float32Array,
    span: Float32Array, unit_px: float, config: PictureConfig,
) -> tuple[UInt8Array, Float32Array]:  # fmt: skip
    """Pictures ``(C, height, width, 3)`` and boxes ``(C, 4)``: x0, y0, x1, y1 as parts of the picture, 0 to 1.

    ``path`` and ``span`` as from `trace_seams`. The picture is centred on the box, at ``unit_px`` a pixel where the box
    fits and coarser where it does not.
    """
    pictures = np.empty((len(i), config.height, config.width, 3), np.uint8)
    boxes = np.zeros((len(i), 4), np.float32)
    pieces, poses = np.column_stack([i, j]).astype(np.int64), np.array(pose, np.float32, order="C")
    _render_all(pixels.kernel, pieces, poses, path, span, np.float32(unit_px), config.upright, pictures, boxes)
    return pictures, boxes


@njit
def _render_all(arrays, pieces, poses, paths, spans, unit, upright, pictures, boxes):  # type: ignore[no-untyped-def]
    """Each pixel shows one point of the view, or the mean of four where the view is coarse.

    Pixels hold colour times mask: the colour is ``share (c_i + c_j) / (mask_i + mask_j) + (1 - share) BACKGROUND``, where
    ``share`` is how much of the pixel is paper.
    """
    height, width = pictures.shape[1], pictures.shape[2]
    for c in range(len(pieces)):
        turn, middle_x, middle_y, zoom = _view(paths[c], spans[c], unit, upright, height, width, boxes[c])
        cos, sin = np.cos(poses[c, 0]), np.sin(poses[c, 0])
        cos_view, sin_view = np.cos(turn), np.sin(turn)
        fine = 2 if zoom > 1.5 * unit else 1
        for row in range(height):
            for col in range(width):
                red = green = blue = paper = 0.0
                for part in range(fine * fine):
                    u = (col + (part % fine + 0.5) / fine - 0.5 * width) * zoom
                    v = (row + (part // fine + 0.5) / fine - 0.5 * height) * zoom
                    x = cos_view * u - sin_view * v + middle_x
                    y = sin_view * u + cos_view * v + middle_y
                    of_i = pixel_at(arrays, pieces[c, 0], x, y)
                    dx, dy = x - poses[c, 1], y - poses[c, 2]
                    of_j = pixel_at(arrays, pieces[c, 1], cos * dx + sin * dy, cos * dy - sin * dx)
                    red += of_i[0] + of_j[0]
                    green += of_i[1] + of_j[1]
                    blue += of_i[2] + of_j[2]
                    paper += of_i[3] + of_j[3]
                share = min(1.0, paper / (255.0 * fine * fine))
                bright = share * 255.0 / max(paper, 1e-6)
                pictures[c, row, col, 0] = np.uint8(min(255.0, red * bright + (1.0 - share) * BACKGROUND[0] + 0.5))
                pictures[c, row, col, 1] = np.uint8(min(255.0, green * bright + (1.0 - share) * BACKGROUND[1] + 0.5))
                pictures[c, row, col, 2] = np.uint8(min(255.0, blue * bright + (1.0 - share) * BACKGROUND[2] + 0.5))


@njit_part
def _view(path, span, unit, upright, height, width, box):  # type: ignore[no-untyped-def]
    """Angle, centre (in i's frame) and px per pixel of the picture; fills in the box."""
    samples = len(path)
    inside = int(min(samples, np.ceil(span[0] / max(span[1], 1e-6))))
    a = (samples - inside) // 2
    b = max(a + 1, samples - a)
    turn = 0.0
    if upright:
        turn = np.arctan2(path[b - 1, 1] - path[a, 1], path[b - 1, 0] - path[a, 0])
    cos, sin = np.cos(turn), np.sin(turn)
    low_u = low_v = np.inf
    high_u = high_v = -np.inf
    for s in range(a, b):
        u, v = cos * path[s, 0] + sin * path[s, 1], cos * path[s, 1] - sin * path[s, 0]
        low_u, high_u = min(low_u, u), max(high_u, u)
        low_v, high_v = min(low_v, v), max(high_v, v)
    u, v = 0.5 * (low_u + high_u), 0.5 * (low_v + high_v)
    half_u, half_v = 0.5 * (high_u - low_u) + _MARGIN_UNITS * unit, 0.5 * (high_v - low_v) + _MARGIN_UNITS * unit
    zoom = max(unit, 2 * half_u / (_FILL * width), 2 * half_v / (_FILL * height))
    box[0], box[2] = 0.5 - half_u / (zoom * width), 0.5 + half_u / (zoom * width)
    box[1], box[3] = 0.5 - half_v / (zoom * height), 0.5 + half_v / (zoom * height)
    return turn, cos * u - sin * v, sin * u + cos * v, zoom

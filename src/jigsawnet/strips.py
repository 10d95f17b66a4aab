"""Ground floor: long, narrow pieces as a shredder leaves them, straightened, and what is printed along their two long sides.

A strip's own frame stands upright: rows run along its length from end to end, its middle line is vertical. Which of its two
ends is the upper one is arbitrary. All strips of a puzzle have one scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import scipy

from jigsawnet.geometry import SE2
from jigsawnet.types import BoolArray, Float32Array, FloatArray, Piece, UInt8Array

WIDTH_PX = 64.0
"""Strips that are wider are scaled down to this, the median one of a puzzle."""
OUTSIDE_PX, INSIDE_PX = 8, 32
"""A band shows so much beyond the edge, and so much of the strip."""
_SLENDER = 5.0
"""A strip is at least so many times longer than wide."""
_FILLED = 0.5
"""Part of its upright box that a strip fills at least."""
_SMOOTH_PX = 16.0
"""Edges are followed as far as they wander over so many px; what is finer is seen in the band."""
_INK = 96.0
"""Grey levels darker than the paper that count as one unit."""
_ROOM = 3


@dataclass(frozen=True, slots=True, eq=False)
class Strip:
    """One piece, upright: ``grey (H, W)``, ``mask (H, W)``, and where its left and right edges run: ``edges (2, H)``, in px.

    ``paper`` is the grey level of what is not printed. A point p of the piece lies at ``scale * (upright_from_piece @ p)``.
    """

    grey: UInt8Array
    mask: BoolArray
    edges: FloatArray
    paper: float
    upright_from_piece: SE2
    scale: float


def are_strips(pieces: Sequence[Piece]) -> bool:
    """Whether there are three and more pieces, nearly all of them slender and full."""
    slender = [is_slender(piece) for piece in pieces]
    return len(slender) >= 3 and sum(slender) >= 0.8 * len(slender)


def is_slender(piece: Piece) -> bool:
    """Whether a piece is much longer than wide and fills its box."""
    (_, (a, b), _), area = _box(piece.mask), np.count_nonzero(piece.mask)
    return bool(max(a, b) >= _SLENDER * max(1.0, min(a, b)) and area >= _FILLED * a * b)


def straighten(pieces: Sequence[Piece]) -> list[Strip]:
    """All strips in one scale."""
    boxes = [_box(piece.mask) for piece in pieces]
    widths = [np.count_nonzero(piece.mask) / max(1.0, box[1][1]) for piece, box in zip(pieces, boxes, strict=True)]
    width = float(np.median(widths)) if boxes else 1.0
    scale = min(1.0, WIDTH_PX / max(width, 1.0))
    return [_upright(piece, box, scale) for piece, box in zip(pieces, boxes, strict=True)]


_Box = tuple[tuple[float, float], tuple[float, float], float]


def _box(mask: BoolArray) -> _Box:
    """The smallest box around a mask: middle, sides, and the angle of its long side's normal, in radians."""
    if not mask.any():
        return (0.0, 0.0), (0.0, 0.0), 0.0
    left, right = mask.argmax(1), mask.shape[1] - 1 - mask[:, ::-1].argmax(1)
    rows = np.flatnonzero(mask.any(1))
    ends = np.concatenate([np.column_stack([side[rows], rows]) for side in (left, right)]).astype(np.int32)
    (x, y), (a, b), angle = cv2.minAreaRect(cv2.convexHull(ends))
    across = angle if b >= a else angle + 90.0
    across = (across + 90.0) % 180.0 - 90.0
    return (float(x), float(y)), (float(min(a, b)) + 1.0, float(max(a, b)) + 1.0), float(np.radians(across))


def _upright(piece: Piece, box: _Box, scale: float) -> Strip:
    (x, y), (across, along), theta = box
    room = _ROOM + OUTSIDE_PX
    width, height = round(across * scale) + 2 * room, round(along * scale) + 2 * _ROOM
    turn = SE2(-theta, 0.0, 0.0)
    middle = turn @ np.array([x, y])
    upright = SE2(-theta, (width - 1) / 2.0 / scale - float(middle[0]), (height - 1) / 2.0 / scale - float(middle[1]))
    matrix = scale * upright.matrix()[:2]
    grey = cv2.cvtColor(piece.image, cv2.COLOR_RGB2GRAY)
    inside = grey[piece.mask]
    paper = float(np.percentile(inside, 85)) if len(inside) else 255.0
    solid = piece.mask.astype(np.float32)
    layers = cv2.merge([grey * solid, solid])
    if scale < 0.8:
        layers = cv2.GaussianBlur(layers, (0, 0), 0.35 / scale)
    light, cover = cv2.split(cv2.warpAffine(layers, matrix, (width, height), flags=cv2.INTER_LINEAR))
    mask = np.asarray(
        cover > 0.5, np.bool_
    )  # beyond the edge there is no colour: light is divided by the paper's part of a pixel
    upright_grey = np.clip(np.rint(light / np.maximum(cover, 0.1)), 0, 255).astype(np.uint8)
    return Strip(upright_grey, mask, _edges(mask), paper, upright, scale)


def _edges(mask: BoolArray) -> FloatArray:
    """Where the first and the last pixel of each row lie, ``(2, H)``, smoothed; rows without any take their neighbours'."""
    there = mask.any(1)
    rows = np.flatnonzero(there)
    if not len(rows):
        return np.zeros((2, len(mask)))
    left, right = mask.argmax(1).astype(np.float64), mask.shape[1] - 1.0 - mask[:, ::-1].argmax(1)
    edges = [np.interp(np.arange(len(mask)), rows, side[there]) for side in (left, right)]
    wide = int(_SMOOTH_PX) | 1
    calm = [scipy.ndimage.median_filter(side, wide, mode="nearest") for side in edges]
    return np.array([scipy.ndimage.gaussian_filter1d(side, _SMOOTH_PX / 2.0, mode="nearest") for side in calm])


def bands(strip: Strip) -> Float32Array:
    """What is seen along the left and the right edge: ``(2, 2, H, OUTSIDE_PX + INSIDE_PX)``; [0] the left side, [1] the right.

    Of each: how much darker than the paper, in units of ink, and the mask. Columns run from left to right, so the left side's
    band starts outside, the right one's ends there.
    """
    rows = np.arange(len(strip.mask), dtype=np.float32)[:, None]
    ink = np.where(strip.mask, (strip.paper - strip.grey.astype(np.float32)) / _INK, 0.0).astype(np.float32)
    layers = cv2.merge([np.clip(ink, -0.5, 2.5), strip.mask.astype(np.float32)])
    reach = np.arange(OUTSIDE_PX + INSIDE_PX, dtype=np.float32)
    offsets = (reach - OUTSIDE_PX, reach - INSIDE_PX + 1.0)
    found = []
    for edge, offset in zip(strip.edges, offsets, strict=True):
        x = (edge[:, None] + offset).astype(np.float32)
        seen = cv2.remap(layers, x, np.broadcast_to(rows, x.shape).copy(), cv2.INTER_LINEAR, borderValue=0)
        found.append(seen.transpose(2, 0, 1))
    return np.asarray(np.stack(found), np.float32)

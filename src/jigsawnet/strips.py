"""Ground floor: long, narrow pieces as a shredder leaves them, straightened, and what is printed along their two long sides.

A strip's own frame stands upright: rows run along its length from end to end, its middle line is vertical. Which of its two
ends is the upper one is arbitrary. All strips of a puzzle have one scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
import scipy
from numpy.typing import NDArray

from jigsawnet.geometry import SE2
from jigsawnet.types import BoolArray, Float32Array, FloatArray, Piece, UInt8Array

WIDTH_PX = 64.0
"""Strips that are wider are scaled down to this, the median one of a puzzle."""
OUTSIDE_PX, INSIDE_PX = 8, 32
"""A band shows so much beyond the edge, and so much of the strip."""
_SLENDER = 3.0
"""A strip is at least so many times longer than wide."""
_FILLED = 0.5
"""Part of its upright box that a strip fills at least."""
_SMOOTH_PX = 16.0
"""Edges are followed as far as they wander over so many px; what is finer is seen in the band."""
INK_LEVELS, MOST_INK = 96.0, (-0.5, 2.5)
"""Grey levels darker than the paper that count as one unit of ink; the least and the most of it that is seen."""
_RIM_PX, _FAINT, _PRINTED = 9, 0.4, 5e-4
"""On blank paper no more than the last part of all pixels, so many px from the rim, has this much ink."""
_PAPER = 0.85
"""The quantile of all grey levels that is the paper's."""
_PLAIN, _PLAIN_LEVELS = 0.52, 16.0
"""Of pages, at least the first part of all pixels is within the second of the paper's grey level: measured 0.59 to 0.96 on
made-up pages, 0.66 to 0.96 on real strips; 0.08 to 0.46 on 29 of 30 photographs."""
_ROOM, _WORN_PX = 3, 2
"""Room around a strip; and what is not looked at next to the ends of a chad."""
_END_PX, _COVERED = 12, 0.75
"""A chad's ends are where a row has the second part of all paper that some row has within the first, further in."""
_CHADS = (3.0, 20.0)
"""Chads are by so much longer than wide, the median one; strips of whole pages by more."""


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


def are_printed(pieces: Sequence[Piece]) -> bool:
    """Whether most of what the pieces show is plain paper, as of pages. Strips of photographs differ in colour."""
    shares = [_plain_share(piece) for piece in pieces]
    return bool(shares) and float(np.median(shares)) >= _PLAIN


def _plain_share(piece: Piece) -> float:
    """Part of a piece that is within some levels of its paper, by its histogram; the paper is that of `paper_level`."""
    grey = cv2.cvtColor(piece.image, cv2.COLOR_RGB2GRAY)
    count = cv2.calcHist([grey], [0], piece.mask.astype(np.uint8), [256], [0, 256]).ravel()
    total = float(count.sum())
    if not total:
        return 0.0
    place = _PAPER * (total - 1)
    low, high = np.searchsorted(count.cumsum(), [np.floor(place), np.floor(place) + 1], side="right").clip(max=255)
    level = low + (high - low) * (place % 1)
    return float(count[np.abs(np.arange(256) - level) < _PLAIN_LEVELS].sum()) / total


def are_chads(pieces: Sequence[Piece]) -> bool:
    """Whether strips were cut across, too, by how long they are."""
    boxes = [_box(piece.mask)[1] for piece in pieces]
    longer = float(np.median([b / max(1.0, a) for a, b in boxes])) if boxes else 0.0
    return _CHADS[0] <= longer <= _CHADS[1]


def is_slender(piece: Piece) -> bool:
    """Whether a piece is much longer than wide and fills its box."""
    (_, (a, b), _), area = _box(piece.mask), np.count_nonzero(piece.mask)
    return bool(max(a, b) >= _SLENDER * max(1.0, min(a, b)) and area >= _FILLED * a * b)


def straighten(pieces: Sequence[Piece]) -> list[Strip]:
    """All strips in one scale."""
    scale = common_scale(pieces)
    return [stand_up(piece, lean(piece), scale) for piece in pieces]


def common_scale(pieces: Sequence[Piece]) -> float:
    """By which strips are scaled down."""
    widths = [np.count_nonzero(piece.mask) / max(1.0, _box(piece.mask)[1][1]) for piece in pieces]
    return min(1.0, WIDTH_PX / max(float(np.median(widths)), 1.0)) if widths else 1.0


def lean(piece: Piece) -> float:
    """The angle of a piece's short direction, in radians: turned back by it, the piece stands upright."""
    return _box(piece.mask)[2]


_Box = tuple[tuple[float, float], tuple[float, float], float]


def _box(mask: BoolArray) -> _Box:
    """The smallest box around a mask: middle, sides, and the angle of its long side's normal, in radians."""
    if not mask.any():
        return (0.0, 0.0), (0.0, 0.0), 0.0
    (x, y), (a, b), angle = cv2.minAreaRect(cv2.convexHull(_ends(mask)))
    across = angle if b >= a else angle + 90.0
    across = (across + 90.0) % 180.0 - 90.0
    return (float(x), float(y)), (float(min(a, b)) + 1.0, float(max(a, b)) + 1.0), float(np.radians(across))


def laid_down(strip: Strip) -> Strip:
    """The same, turned by a quarter: its upper end is the left side, its lower end the right one."""
    grey, mask = np.ascontiguousarray(np.rot90(strip.grey)), np.ascontiguousarray(np.rot90(strip.mask))
    turn = SE2(-np.pi / 2.0, 0.0, (strip.mask.shape[1] - 1) / strip.scale)
    return Strip(grey, mask, _edges(mask), strip.paper, turn @ strip.upright_from_piece, strip.scale)


def _ends(mask: BoolArray) -> NDArray[np.int32]:
    """The first and the last pixel of every row that has any, ``(K, 2)``."""
    left, right = mask.argmax(1), mask.shape[1] - 1 - mask[:, ::-1].argmax(1)
    rows = np.flatnonzero(mask.any(1))
    return np.concatenate([np.column_stack([side[rows], rows]) for side in (left, right)]).astype(np.int32)


def is_blank(piece: Piece) -> bool:
    """Whether nothing is printed on a piece; its rim, where halos and shadows lie, is not looked at."""
    inside = cv2.erode(piece.mask.astype(np.uint8), np.ones((_RIM_PX, _RIM_PX), np.uint8), borderValue=0) > 0
    grey = np.asarray(cv2.cvtColor(piece.image, cv2.COLOR_RGB2GRAY)[inside], np.uint8)
    return bool(np.count_nonzero(grey < paper_level(grey) - _FAINT * INK_LEVELS) <= _PRINTED * grey.size)


def paper_level(grey: UInt8Array) -> float:
    """The grey level of what is not printed."""
    return float(np.quantile(grey, _PAPER)) if grey.size else 255.0


def stand_up(piece: Piece, theta: float, scale: float) -> Strip:
    """A piece, or several that lie together, turned back by ``theta``."""
    turn = SE2(-theta, 0.0, 0.0)
    ends = turn @ _ends(piece.mask).astype(np.float64) if piece.mask.any() else np.zeros((1, 2))
    low, high = ends.min(axis=0), ends.max(axis=0)
    (across, along), middle = high - low + 1.0, (low + high) / 2.0
    room = _ROOM + OUTSIDE_PX
    width, height = round(across * scale) + 2 * room, round(along * scale) + 2 * _ROOM
    upright = SE2(-theta, (width - 1) / 2.0 / scale - float(middle[0]), (height - 1) / 2.0 / scale - float(middle[1]))
    matrix = scale * upright.matrix()[:2]
    grey = cv2.cvtColor(piece.image, cv2.COLOR_RGB2GRAY)
    paper = paper_level(np.asarray(grey[piece.mask], np.uint8))
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


def trimmed(chad: Strip) -> Strip:
    """The same with its edges followed between its ends only: rows of corners and fibres beyond them would mislead."""
    first, stop = ends_of(chad.mask)
    edges = np.pad(_edges(chad.mask[first:stop]), ((0, 0), (first, len(chad.mask) - stop)), mode="edge")
    return replace(chad, edges=edges)


def ends_of(mask: BoolArray) -> tuple[int, int]:
    """The first row between a chad's ends and the one after the last; all rows where there is no paper."""
    paper = mask.sum(1)
    below, above = (scipy.ndimage.maximum_filter1d(paper, 2 * _END_PX + 1, origin=shift) for shift in (-_END_PX, _END_PX))
    starts, ends = (np.flatnonzero((paper > 0) & (paper >= _COVERED * near)) for near in (below, above))
    return (int(starts[0]), int(ends[-1]) + 1) if len(starts) and len(ends) and starts[0] <= ends[-1] else (0, len(mask))


def chad_bands(chad: Strip) -> Float32Array:
    """As `bands`; before and after a chad, whose ends are near everything, blank paper goes on, which says nothing."""
    found = bands(chad)
    first, stop = ends_of(chad.mask)
    beyond = np.ones(len(chad.mask), np.bool_)
    beyond[first + _WORN_PX : stop - _WORN_PX] = False
    found[:, :, beyond] = blank_bands(1)
    return found


def blank_bands(rows: int) -> Float32Array:
    """What `bands` sees along a strip of blank paper: ``(2, 2, rows, OUTSIDE_PX + INSIDE_PX)``."""
    found = np.zeros((2, 2, rows, OUTSIDE_PX + INSIDE_PX), np.float32)
    found[0, 1, :, OUTSIDE_PX:], found[1, 1, :, :INSIDE_PX] = 1.0, 1.0
    return found


def bands(strip: Strip) -> Float32Array:
    """What is seen along the left and the right edge: ``(2, 2, H, OUTSIDE_PX + INSIDE_PX)``; [0] the left side, [1] the right.

    Of each: how much darker than the paper, in units of ink, and the mask. Columns run from left to right, so the left side's
    band starts outside, the right one's ends there.
    """
    rows = np.arange(len(strip.mask), dtype=np.float32)[:, None]
    ink = np.where(strip.mask, (strip.paper - strip.grey.astype(np.float32)) / INK_LEVELS, 0.0).astype(np.float32)
    layers = cv2.merge([np.clip(ink, *MOST_INK), strip.mask.astype(np.float32)])
    reach = np.arange(OUTSIDE_PX + INSIDE_PX, dtype=np.float32)
    offsets = (reach - OUTSIDE_PX, reach - INSIDE_PX + 1.0)
    found = []
    for edge, offset in zip(strip.edges, offsets, strict=True):
        x = (edge[:, None] + offset).astype(np.float32)
        seen = cv2.remap(layers, x, np.broadcast_to(rows, x.shape).copy(), cv2.INTER_LINEAR, borderValue=0)
        found.append(seen.transpose(2, 0, 1))
    return np.asarray(np.stack(found), np.float32)

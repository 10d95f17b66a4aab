"""The pictures of the report: close-ups of seams, pairs and single pieces in small, and the whole assembly."""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np
import scipy

from jigsawnet.geometry import SE2
from jigsawnet.render.cutout import mask_box
from jigsawnet.types import Float32Array, FloatArray, Piece, Puzzle, UInt8Array

PAPER = 236
"""Grey that shows where there is no piece."""
_LONGEST_SIDE = 1600
_TOUCHING_PX = 3.0
_SEARCHED_PX = 12.0
"""So far the other border is looked for first; farther only when less than a tenth of a border comes that near."""
_CLOSED_PX = 0.75
"""Half the width, in px of the pieces, of what is closed between them."""
_MOST_ZOOM = 3.0
_SHORTEST_PX = 24.0
"""A seam is shown with at least this much around it."""


@dataclass(frozen=True, slots=True)
class CloseUp:
    """A picture ``(H, W, 3)`` turned so that the seam runs across it with piece i above and piece j below.

    ``from_x, to_x``: where the seam begins and ends; ``left_y, right_y``: how high its ends lie; all in px of the picture.
    """

    image: UInt8Array
    from_x: float
    to_x: float
    left_y: float
    right_y: float


class DrawnPiece:
    """One piece, ready to be drawn at several sizes."""

    def __init__(self, piece: Piece) -> None:
        left, top, width, height = mask_box(piece.mask)
        rows, cols = slice(top, top + max(height, 1)), slice(left, left + max(width, 1))
        self._corner = (left, top)
        self._mask = piece.mask[rows, cols]
        self._image = piece.image[rows, cols]
        self._levels: dict[int, UInt8Array] = {}

    @cached_property
    def border(self) -> FloatArray:
        """Every border pixel, ``(N, 2)`` px in the piece's frame."""
        curves, _ = cv2.findContours(self._mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
        points = np.concatenate([curve.reshape(-1, 2) for curve in curves]) if curves else np.zeros((1, 2))
        return points.astype(np.float64) + self._corner

    def draw(self, canvas: Float32Array, canvas_from_piece: SE2, zoom: float) -> None:
        """Add the piece to a canvas ``(H, W, 4)`` of sums: its points are moved, then enlarged ``zoom`` times."""
        shrink = max(1, int(1.0 / zoom))
        picture = self._shrunk(shrink)
        c, s = math.cos(canvas_from_piece.theta), math.sin(canvas_from_piece.theta)
        turn = zoom * shrink * np.array([[c, -s], [s, c]])
        first = np.array(self._corner) + (shrink - 1) / 2.0  # where the first pixel of the shrunk picture has its centre
        shift = zoom * (canvas_from_piece @ first)
        size = (canvas.shape[1], canvas.shape[0])
        matrix = np.column_stack([turn, shift])
        drawn = cv2.warpAffine(picture, matrix, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT)
        cv2.accumulate(drawn, canvas)

    def _shrunk(self, shrink: int) -> UInt8Array:
        """Colour times mask, and mask: ``(H, W, 4)``, one pixel for ``shrink x shrink``."""
        if shrink not in self._levels:
            mask = self._mask.astype(np.uint8)
            rgba = cv2.cvtColor(cv2.bitwise_and(self._image, self._image, mask=mask), cv2.COLOR_RGB2RGBA)
            rgba[..., 3] = 255 * mask
            if shrink > 1:
                height, width = mask.shape
                rgba = np.pad(rgba, ((0, -height % shrink), (0, -width % shrink), (0, 0)))
                size = (rgba.shape[1] // shrink, rgba.shape[0] // shrink)
                rgba = cv2.resize(rgba, size, interpolation=cv2.INTER_AREA)
            self._levels[shrink] = np.asarray(rgba, dtype=np.uint8)
        return self._levels[shrink]


class DrawnPieces:
    """The pieces of a puzzle, made ready when they are first asked for."""

    def __init__(self, puzzle: Puzzle) -> None:
        self._puzzle = puzzle
        self._made: dict[int, DrawnPiece] = {}

    def __getitem__(self, idx: int) -> DrawnPiece:
        if idx not in self._made:
            self._made[idx] = DrawnPiece(self._puzzle.pieces[idx])
        return self._made[idx]


def close_up(i: DrawnPiece, j: DrawnPiece, i_from_j: SE2, size: tuple[int, int]) -> CloseUp:
    """Draw the seam of two pieces into ``(width, height)`` px."""
    seam = _touching(i.border, i_from_j @ j.border)
    view_from_i, low, high = _across(seam, i.border, i_from_j @ j.border)
    span = np.maximum(high - low, _SHORTEST_PX)
    zoom = float(min(_MOST_ZOOM, 0.86 * size[0] / span[0], 0.5 * size[1] / span[1]))
    middle = (low + high) / 2.0
    centred = SE2(0.0, size[0] / 2 / zoom - float(middle[0]), size[1] / 2 / zoom - float(middle[1])) @ view_from_i
    image = _draw([(i, centred), (j, centred @ i_from_j)], zoom, size)
    points = zoom * (centred @ seam)
    left, right = points[points[:, 0].argmin()], points[points[:, 0].argmax()]
    return CloseUp(image, float(left[0]), float(right[0]), float(left[1]), float(right[1]))


def whole_pair(first: DrawnPiece, second: DrawnPiece, first_from_second: SE2, size: tuple[int, int]) -> UInt8Array:
    """Both pieces in small, fitted into ``(width, height)`` px, in the frame of the first."""
    return _fitted([(first, SE2.identity()), (second, first_from_second)], size)


def thumbnail(piece: DrawnPiece, size: tuple[int, int]) -> UInt8Array:
    """One piece, fitted into ``(width, height)`` px."""
    return _fitted([(piece, SE2.identity())], size)


def _fitted(placed: Sequence[tuple[DrawnPiece, SE2]], size: tuple[int, int]) -> UInt8Array:
    points = np.concatenate([pose @ piece.border for piece, pose in placed])
    low, high = points.min(axis=0), points.max(axis=0)
    zoom = float(min(_MOST_ZOOM, *(0.94 * np.array(size) / np.maximum(high - low, 1.0))))
    x, y = np.array(size) / 2 / zoom - (low + high) / 2.0
    return _draw([(piece, SE2(0.0, float(x), float(y)) @ pose) for piece, pose in placed], zoom, size)


def _draw(placed: Sequence[tuple[DrawnPiece, SE2]], zoom: float, size: tuple[int, int]) -> UInt8Array:
    """Pieces that touch share the pixels of their border, and what masks of whole pixels leave open there is closed."""
    canvas = np.zeros((size[1], size[0], 4), dtype=np.float32)
    for piece, pose in placed:
        piece.draw(canvas, pose, zoom)
    reach = 2 * round(_CLOSED_PX * max(zoom, 1.0)) + 1
    alpha = np.minimum(canvas[..., 3], 255.0)
    closed = cv2.morphologyEx(alpha, cv2.MORPH_CLOSE, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (reach, reach)))
    bare = closed - alpha > 0.5
    canvas[bare] = cv2.blur(canvas, (reach, reach))[bare]  # colours for what is closed, from around it
    *colors, weight = cv2.split(canvas)
    share = np.asarray(closed / np.maximum(weight, 1.0), dtype=np.float32)
    paper = np.asarray(PAPER * (1.0 - closed / 255.0), dtype=np.float32)
    return np.asarray(cv2.merge([cv2.add(color * share, paper, dtype=cv2.CV_8U) for color in colors]), dtype=np.uint8)


def _touching(mine: FloatArray, theirs: FloatArray) -> FloatArray:
    """The middle between the borders where they touch, or come nearest when worn edges leave a gap."""
    tree = scipy.spatial.cKDTree(theirs)
    distance, nearest = tree.query(mine, distance_upper_bound=_SEARCHED_PX)
    if np.isinf(distance).mean() > 0.9:
        distance, nearest = tree.query(mine)
    near = np.asarray(distance) <= max(_TOUCHING_PX, float(np.quantile(distance, 0.05)) + 1.0)
    return np.asarray((mine[near] + theirs[np.asarray(nearest)[near]]) / 2.0)


def _across(seam: FloatArray, mine: FloatArray, theirs: FloatArray) -> tuple[SE2, FloatArray, FloatArray]:
    """The turn that lays the seam from left to right with the first piece above, and the seam's box after it."""
    centred = seam - seam.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    down = axes[:, 0]  # across the seam: where it spreads least
    if float(down @ (theirs.mean(axis=0) - mine.mean(axis=0))) < 0:
        down = -down
    turn = SE2(math.atan2(down[0], down[1]), 0.0, 0.0)  # carries `down` to (0, 1)
    turned = turn @ seam
    return turn, turned.min(axis=0), turned.max(axis=0)


def shrunk(picture: UInt8Array) -> UInt8Array:
    """RGBA ``(H, W, 4)`` as RGB on grey, the longest side at most `_LONGEST_SIDE`; ``(H, W, 3)``."""
    height, width = picture.shape[:2]
    factor = min(1.0, _LONGEST_SIDE / max(height, width))
    if factor < 1.0:
        size = (max(1, round(width * factor)), max(1, round(height * factor)))
        picture = np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    image = np.ascontiguousarray(picture[..., :3])
    partly = picture[..., 3] < 255
    alpha = picture[partly, 3:].astype(np.uint16)
    image[partly] = (image[partly] * alpha + PAPER * (255 - alpha) + 127) // 255
    return image


def jpeg(image: UInt8Array, quality: int = 85) -> str:
    """An RGB picture ``(H, W, 3)`` as the address of an embedded JPEG."""
    _, data = cv2.imencode(".jpg", cv2.cvtColor(image, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, quality])
    return f"data:image/jpeg;base64,{base64.b64encode(np.asarray(data).tobytes()).decode('ascii')}"

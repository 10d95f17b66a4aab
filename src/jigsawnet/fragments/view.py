"""How a flat sheet is seen in a photograph: perspective and lens; and the photograph as if it had been scanned.

``flat`` is the frame of the straightened picture, ``ideal`` that of a camera without lens errors, ``picture`` the
photograph: ``picture = lens(ideal)``, ``ideal ~ matrix @ (x, y, 1)`` for ``(x, y)`` in flat. All in px.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import cv2
import numpy as np

from jigsawnet.fragments.background import Box
from jigsawnet.types import Float32Array, FloatArray, UInt8Array

Size = tuple[int, int]
Side = Literal["upper", "lower", "left", "right"]

USUAL_FOCAL = 0.6
"""Focal length over the picture's diagonal where it cannot be told: 26 mm of a full-frame camera, as phones have."""
_FOCAL_RANGE = (0.35, 3.0)
_TELLS_FOCAL = 0.02
"""A view tells the focal length when lengths of the sheet are seen changed by this part."""
_ROUNDS = 12
_ROWS, _STEP_PX = 256, 8


@dataclass(frozen=True, slots=True)
class Lens:
    """Radial distortion: ``picture = center + (ideal - center) (1 + k1 r^2 + k2 r^4)``, r in units of ``radius_px``."""

    center: tuple[float, float]
    radius_px: float
    k1: float = 0.0
    k2: float = 0.0

    @staticmethod
    def of(size: Size, k1: float = 0.0, k2: float = 0.0) -> Lens:
        """The lens of a picture of this width and height: its centre is the picture's, its unit half the diagonal."""
        width, height = size
        return Lens(((width - 1) / 2, (height - 1) / 2), math.hypot(width, height) / 2, k1, k2)

    def distort(self, ideal: FloatArray) -> FloatArray:
        """Where the lens shows points ``(N, 2)``."""
        away = (ideal - self.center) / self.radius_px
        square = (away**2).sum(axis=1, keepdims=True)
        return np.asarray(self.center + self.radius_px * away * (1 + square * (self.k1 + self.k2 * square)), np.float64)

    def correct(self, picture: FloatArray) -> FloatArray:
        """Where points ``(N, 2)`` of the picture would be without the lens, by Newton's method on the radius."""
        away = (picture - self.center) / self.radius_px
        seen = np.linalg.norm(away, axis=1)
        radius = seen.copy()
        for _ in range(_ROUNDS):
            square = radius**2
            value = radius * (1 + square * (self.k1 + self.k2 * square)) - seen
            slope = 1 + square * (3 * self.k1 + 5 * self.k2 * square)
            radius = radius - value / np.maximum(slope, 0.2)
        part = np.where(seen > 1e-12, radius / np.maximum(seen, 1e-12), 1.0)
        return np.asarray(self.center + self.radius_px * away * part[:, None], np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A flat sheet in a photograph, and the part of it, ``size`` wide and high, that becomes the straightened picture."""

    by: Literal["markers", "sheet"]
    """What it was found by: the markers of a printed sheet, or the edges of a plain one."""
    matrix: FloatArray
    """``ideal_from_flat (3, 3)``."""
    lens: Lens
    size: Size
    error_px: float
    """How far what it was found by lies from where it should, in the mean, in px of the photograph."""
    dpi: float | None = None
    """Dots per inch of the straightened picture, where the size of the sheet is known."""
    outline: FloatArray | None = None
    """``(N, 2)`` in the picture: what it was found by, to be drawn."""

    def to_picture(self, flat: FloatArray) -> FloatArray:
        """Where points ``(N, 2)`` of the sheet are seen."""
        return self.lens.distort(project(self.matrix, flat))

    def to_flat(self, picture: FloatArray) -> FloatArray:
        """Where points ``(N, 2)`` of the picture lie on the sheet."""
        return project(np.asarray(np.linalg.inv(self.matrix), np.float64), self.lens.correct(picture))

    def straighten(self, picture: UInt8Array) -> UInt8Array:
        """The sheet ``(h, w, 3)`` as if it had been scanned; only cut out, to the bit, where nothing is to be straightened."""
        width, height = self.size
        corner = self._shift()
        if corner is not None:
            return np.ascontiguousarray(picture[corner[1] : corner[1] + height, corner[0] : corner[0] + width])
        flat = np.empty((height, width, 3), np.uint8)
        for top in range(0, height, _ROWS):
            n_rows = min(_ROWS, height - top)
            x, y = self._places(top, n_rows)
            flat[top : top + n_rows] = cv2.remap(picture, x, y, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
        return flat

    def _places(self, top: int, n_rows: int) -> tuple[Float32Array, Float32Array]:
        """Where rows of the straightened picture are seen, x and y ``(n_rows, width)``.

        Every eighth place is computed and those between are interpolated, off by less than 0.01 px: the view is smooth.
        One more place beyond each side keeps the interpolation from ending before the last pixel.
        """
        n_across, n_down = -(-self.size[0] // _STEP_PX) + 2, -(-n_rows // _STEP_PX) + 2
        middle = (_STEP_PX - 1) / 2 - _STEP_PX
        xs, ys = middle + _STEP_PX * np.arange(n_across), top + middle + _STEP_PX * np.arange(n_down)
        grid = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
        coarse = self.to_picture(grid).astype(np.float32).reshape(n_down, n_across, 2)
        fine = cv2.resize(coarse, (n_across * _STEP_PX, n_down * _STEP_PX), interpolation=cv2.INTER_LINEAR)
        kept = fine[_STEP_PX : _STEP_PX + n_rows, _STEP_PX : _STEP_PX + self.size[0]].astype(np.float32, copy=False)
        return np.ascontiguousarray(kept[..., 0]), np.ascontiguousarray(kept[..., 1])

    def _shift(self) -> tuple[int, int] | None:
        """The corner of the sheet when it is seen unturned, undistorted and at whole pixels."""
        x, y = (round(float(value)) for value in self.matrix[:2, 2])
        plain = np.array([[1.0, 0.0, x], [0.0, 1.0, y], [0.0, 0.0, 1.0]])
        return (x, y) if self.lens.k1 == self.lens.k2 == 0 and np.array_equal(self.matrix, plain) else None

    def box_to_flat(self, box: Box) -> Box | None:
        """The box around a box of the picture, in the straightened one; None when it lies beside the sheet."""
        x, y, width, height = box
        steps = np.linspace(0.0, 1.0, 9)
        rim = np.concatenate([np.column_stack(pair) for pair in _rim(steps)])
        flat = self.to_flat(np.array([x, y]) + rim * np.array([width - 1, height - 1]))
        low = np.maximum(np.floor(flat.min(axis=0)), 0).astype(int)
        high = np.minimum(np.ceil(flat.max(axis=0)) + 1, self.size).astype(int)
        if (high <= low).any():
            return None
        return int(low[0]), int(low[1]), int(high[0] - low[0]), int(high[1] - low[1])

    def scales(self, flat: FloatArray) -> FloatArray:
        """Px of the picture per px of the sheet at points ``(N, 2)``, in the mean of all directions."""
        step = 0.5
        right, left, down, up = (
            self.to_picture(flat + np.array(move)) for move in ((step, 0), (-step, 0), (0, step), (0, -step))
        )
        across, along = right - left, down - up
        return np.asarray(np.sqrt(np.abs(across[:, 0] * along[:, 1] - across[:, 1] * along[:, 0])), np.float64)

    def larger_side(self) -> tuple[Side, float]:
        """At which side of the photograph pieces appear larger than at the opposite one, and by which part."""
        width, height = self.size
        middles = np.array([[0.5, 0.0], [1.0, 0.5], [0.5, 1.0], [0.0, 0.5]]) * (width - 1, height - 1)
        scales, places = self.scales(middles), self.to_picture(middles)
        pairs = [(k, (k + 2) % 4) for k in range(4)]
        near, far = max(pairs, key=lambda pair: scales[pair[0]] / scales[pair[1]])
        x, y = places[near] - places[far]
        side: Side = ("lower" if y > 0 else "upper") if abs(y) > abs(x) else ("right" if x > 0 else "left")
        return side, float(scales[near] / scales[far] - 1)

    def tilt_deg(self, picture_size: Size) -> float:
        """By which angle the camera looked obliquely."""
        first, second = _columns(self.matrix, picture_size)
        diagonal = math.hypot(*picture_size)
        focal = _focal(first, second, diagonal)
        normal = np.cross(first * (1, 1, focal), second * (1, 1, focal))
        return math.degrees(math.acos(min(1.0, abs(float(normal[2])) / float(np.linalg.norm(normal)))))

    def record(self) -> dict[str, Any]:
        """All that leads from the straightened picture to the photograph, as plain data."""
        lens = {"center": list(self.lens.center), "radius_px": self.lens.radius_px, "k1": self.lens.k1, "k2": self.lens.k2}
        matrix = (self.matrix / self.matrix[2, 2]).tolist()
        return {"by": self.by, "size": list(self.size), "dpi": self.dpi, "ideal_from_flat": matrix, "lens": lens}

    def cut(self, corner: tuple[float, float], size: Size) -> View:
        """The part of the sheet whose top-left pixel is at ``corner`` xy."""
        shift = np.array([[1.0, 0.0, corner[0]], [0.0, 1.0, corner[1]], [0.0, 0.0, 1.0]])
        return replace(self, matrix=self.matrix @ shift, size=size)


def project(matrix: FloatArray, points: FloatArray) -> FloatArray:
    """Points ``(N, 2)`` through a homography ``(3, 3)``."""
    mapped = points @ matrix[:, :2].T + matrix[:, 2]
    return np.asarray(mapped[:, :2] / mapped[:, 2:], np.float64)


def _rim(steps: FloatArray) -> tuple[tuple[FloatArray, FloatArray], ...]:
    low, high = np.zeros_like(steps), np.ones_like(steps)
    return (steps, low), (high, steps), (steps, high), (low, steps)


def _columns(matrix: FloatArray, picture_size: Size) -> tuple[FloatArray, FloatArray]:
    """The first two columns of a homography about the picture's centre, at the middle of what it shows as ``w = 1``."""
    center = np.array([[1.0, 0.0, -(picture_size[0] - 1) / 2], [0.0, 1.0, -(picture_size[1] - 1) / 2], [0.0, 0.0, 1.0]])
    centered = center @ matrix
    return centered[:, 0], centered[:, 1]


def _focal(first: FloatArray, second: FloatArray, diagonal: float) -> float:
    """Focal length in px for which the two directions are seen at a right angle and equally long; the usual one in doubt.

    With ``x = 1 / f^2``: ``x (a1 b1 + a2 b2) + a3 b3 = 0`` and ``x (a1^2 + a2^2 - b1^2 - b2^2) + a3^2 - b3^2 = 0``.
    """
    flat = np.array([first[:2] @ second[:2], (first[:2] @ first[:2] - second[:2] @ second[:2]) / 2])
    deep = np.array([first[2] * second[2], (first[2] ** 2 - second[2] ** 2) / 2])
    usual = USUAL_FOCAL * diagonal
    if np.linalg.norm(flat) < _TELLS_FOCAL * float(first[:2] @ first[:2] + second[:2] @ second[:2]) / 2:
        return usual
    inverse = -float(flat @ deep) / float(flat @ flat)
    if inverse <= 0:
        return usual
    focal = 1 / math.sqrt(inverse)
    return focal if _FOCAL_RANGE[0] * diagonal <= focal <= _FOCAL_RANGE[1] * diagonal else usual

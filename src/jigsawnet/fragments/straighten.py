"""Before pieces are looked for: a photograph taken obliquely becomes as if scanned, when markers or a sheet tell how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import cv2
import numpy as np

from jigsawnet.errors import InputError
from jigsawnet.fragments.background import Box
from jigsawnet.fragments.markers import Markers, find_markers, view_of_markers
from jigsawnet.fragments.sheet_edges import find_sheet, may_be_sheet
from jigsawnet.fragments.view import Size, View
from jigsawnet.types import BoolArray, FloatArray, UInt8Array

_LENS_PART = 0.002
"""A lens that moves the picture's corners by a smaller part is not spoken of."""
_OBLIQUE = 0.002
"""Nor is a view in which pieces at one side appear larger by a smaller part."""
_LEAST_PHOTOGRAPH_PX = 1_000_000
"""A plain sheet that fills a smaller picture is taken for a piece."""
_MAX_SIDE_PX = 2000
_N_LINES = 9
_FOUND, _GRID = (0, 170, 60), (255, 140, 0)


@dataclass(frozen=True, slots=True, eq=False)
class Straightening:
    """What a picture tells of how it was taken."""

    view: View | None
    """How its sheet is seen; None: nothing is straightened."""
    sentence: str
    """What was done, or why nothing was, for a person."""
    boxes: tuple[Box, ...] = ()
    """Where markers are in a picture that stays as it is: no pieces."""

    def straighten(self, picture: UInt8Array) -> UInt8Array:
        """The picture ``(H, W, 3)`` as if it had been scanned; itself where nothing is straightened."""
        return picture if self.view is None else self.view.straighten(picture)

    def exclude(self, boxes: Sequence[Box]) -> tuple[Box, ...]:
        """Boxes of the picture as boxes of the straightened one."""
        if self.view is None:
            return (*boxes, *self.boxes)
        return tuple(flat for box in boxes if (flat := self.view.box_to_flat(box)) is not None)


UNCHANGED = Straightening(None, "")
"""Nothing is known of how the picture was taken, and nothing is to be said."""


def find_straightening(name: str, picture: UInt8Array, *, switched_on: bool = True) -> Straightening:
    """How the picture ``(H, W, 3)`` of this file was taken, by the markers of a printed sheet or by the edges of a plain one.

    ``switched_on`` false: it stays as it is, and what remains crooked is said.

    Raises:
        InputError: it shows two printed sheets.
    """
    size = picture.shape[1], picture.shape[0]
    markers = find_markers(picture)
    if markers is not None:
        if markers.two_sheets:
            raise InputError(f"{name} shows two sheets with markers: photograph each by itself, or cut the picture in two.")
        view = view_of_markers(markers, size)
        if view is None:
            return Straightening(None, _too_few(markers), markers.boxes())
        if switched_on:
            return Straightening(view, _done(view, size, f"{len(markers.places)} markers of the sheet"))
        return Straightening(None, _stays(view), markers.boxes())
    view, doubtful = find_sheet(picture)
    if view is not None:
        return (
            Straightening(view, _done(view, size, "the edges of the sheet"))
            if switched_on
            else Straightening(None, _stays(view))
        )
    return Straightening(None, _DOUBTFUL) if doubtful else UNCHANGED


def shows_sheet(picture: UInt8Array, mask: BoolArray) -> bool:
    """Whether the one thing ``mask (H, W)`` in a picture ``(H, W, 3)`` is a sheet with pieces on it, not a piece."""
    if not may_be_sheet(mask):
        return False
    return find_markers(picture) is not None or (mask.size >= _LEAST_PHOTOGRAPH_PX and find_sheet(picture)[0] is not None)


_DOUBTFUL = (
    "A sheet was seen, but its edges not clearly enough to straighten the picture by, so it was left as it is: let all four "
    "edges be seen on a ground of another colour, or use a printed sheet (jigsawnet sheet)."
)


def _too_few(markers: Markers) -> str:
    n, of = len(markers.places), len(markers.paper.corners())
    seen = "Only one marker" if n == 1 else f"Only {n} markers"
    return f"{seen} of the sheet's {of} can be used, too few to straighten by; the picture is left as it is: uncover more."


def _done(view: View, size: Size, by: str) -> str:
    side, larger = view.larger_side()
    bent = abs(view.lens.k1 + view.lens.k2)
    if larger < _OBLIQUE and bent < _LENS_PART:
        start = f"Photographed from straight above; cut out by {by}"
    elif larger < _OBLIQUE:
        start = f"The lens bends the picture ({100 * bent:.1f} % at its corners); made straight by {by}"
    else:
        lens = f", and {100 * bent:.1f} % of lens distortion taken out" if bent >= _LENS_PART else ""
        tilt = max(1, round(view.tilt_deg(size)))
        start = (
            f"Photographed obliquely (pieces at the {side} side appeared {_percent(larger)} larger), "
            f"straightened by {tilt}° by {by}{lens}"
        )
    left = "less than 0.1 px stays" if view.error_px < 0.1 else f"{view.error_px:.1f} px stay"
    dpi = f"; {view.dpi:g} dpi" if view.dpi is not None else ""
    return f"{start}; {left}{dpi}."


def _stays(view: View) -> str:
    side, larger = view.larger_side()
    if larger < _OBLIQUE:
        return ""
    return f"Photographed obliquely and not straightened: pieces at the {side} side appear {_percent(larger)} larger."


def _percent(part: float) -> str:
    return f"{100 * part:.0f} %" if part >= 0.015 else f"{100 * part:.1f} %"


def draw_straightening(picture: UInt8Array, view: View) -> UInt8Array:
    """The photograph, reduced to at most 2000 px: green what it was straightened by, orange lines that become straight."""
    height, width = picture.shape[:2]
    scale = min(1.0, _MAX_SIDE_PX / max(height, width))
    size = max(1, round(width * scale)), max(1, round(height * scale))
    canvas = np.ascontiguousarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8)
    line_px = max(1, round(max(size) / 700))
    for line in _grid(view):
        _draw(canvas, view.to_picture(line), scale, _GRID, max(1, line_px // 2), closed=False)
    for outline in () if view.outline is None else view.outline:
        _draw(canvas, outline, scale, _FOUND, 2 * line_px, closed=True)
    return canvas


def _grid(view: View) -> list[FloatArray]:
    """Lines ``(N, 2)`` across and along the straightened picture."""
    width, height = view.size[0] - 1.0, view.size[1] - 1.0
    steps = np.linspace(0.0, 1.0, 40)
    across = [np.column_stack([steps * width, np.full(40, part * height)]) for part in np.linspace(0, 1, _N_LINES)]
    return across + [np.column_stack([np.full(40, part * width), steps * height]) for part in np.linspace(0, 1, _N_LINES)]


def _draw(
    canvas: UInt8Array, line: FloatArray, scale: float, color: tuple[int, int, int], thickness: int, *, closed: bool
) -> None:
    points = np.rint((line + 0.5) * scale - 0.5).astype(np.int32)
    ends = [*pairwise(points.tolist()), *([(points[-1].tolist(), points[0].tolist())] if closed else [])]
    for start, end in ends:
        cv2.line(canvas, tuple(start), tuple(end), color, thickness, cv2.LINE_AA)

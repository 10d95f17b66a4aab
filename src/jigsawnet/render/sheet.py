"""One page as a sheet for people: the picture, and over it what was asked for: outlines, labels, a scale bar. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from jigsawnet.geometry import SE2
from jigsawnet.render.image import render_assembly
from jigsawnet.render.layout import lay_out
from jigsawnet.types import Assembly, FloatArray, Piece, Puzzle, UInt8Array

MM_PER_INCH = 25.4
_LINE_MM, _TEXT_MM, _BAR_MM = 0.35, 3.0, 2.5
_USUAL_DPI = 300.0
"""What lines and letters are measured by when the resolution is not known."""
_INK, _PAPER = (20, 20, 20, 255), (255, 255, 255, 255)
_OUTLINE = (214, 39, 40, 255)
_STEPS_MM = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


@dataclass(frozen=True, slots=True)
class SheetStyle:
    """What is drawn over a page; ``dpi`` None: not known."""

    outlines: bool = False
    labels: bool = False
    scale_bar: bool = False
    dpi: float | None = None

    def px(self, mm: float) -> float:
        """A length on the sheet in px."""
        return mm / MM_PER_INCH * (self.dpi or _USUAL_DPI)


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """``picture (H, W, 4)``, where the pieces lie in it, and how many of its rows belong to the page itself."""

    picture: UInt8Array
    canvas_from_piece: Mapping[int, SE2]
    page_height: int


def page_assembly(assembly: Assembly, page: tuple[int, ...]) -> Assembly:
    """One page of an assembly alone."""
    members = set(page)
    return Assembly(
        assembly.n_pieces,
        {idx: assembly.poses[idx] for idx in page},
        (tuple(sorted(page)),),
        tuple(join for join in assembly.joins if members.issuperset((join.alignment.i, join.alignment.j))),
        {idx: sure for idx, sure in assembly.confidence.items() if idx in members},
    )


def draw_sheet(puzzle: Puzzle, page: Assembly, style: SheetStyle) -> Sheet:
    """A page of one component as it lies; the scale bar goes below it."""
    layout, picture = lay_out(puzzle, page), render_assembly(puzzle, page)
    poses, height = layout.canvas_from_piece, layout.height
    if style.scale_bar and style.dpi:
        room = math.ceil(style.px(_BAR_MM + _TEXT_MM + 3.0))
        below = np.zeros((room, layout.width, 4), np.uint8)
        below[:] = _PAPER
        picture = np.concatenate([picture, below])
    if style.outlines or style.labels or style.scale_bar:
        picture = _drawn_over(puzzle, poses, picture, style, height)
    return Sheet(picture, poses, height)


def _drawn_over(
    puzzle: Puzzle, poses: Mapping[int, SE2], picture: UInt8Array, style: SheetStyle, page_height: int
) -> UInt8Array:
    if style.outlines:
        picture, width = picture.copy(), max(1, round(style.px(_LINE_MM)))
        curves = [
            np.rint(16 * (pose @ outer_border(puzzle.pieces[idx]))).astype(np.int32) for idx, pose in sorted(poses.items())
        ]
        cv2.polylines(picture, curves, True, _OUTLINE, width, cv2.LINE_AA, shift=4)
    canvas = Image.fromarray(picture)
    pen = ImageDraw.Draw(canvas)
    if style.labels:
        for idx, pose in sorted(poses.items()):
            x, y = (float(v) for v in pose @ deepest_point(puzzle.pieces[idx]))
            _write(pen, (x, y), label_of(puzzle.pieces[idx]), style)
    if style.scale_bar and style.dpi:
        _draw_bar(pen, canvas.width, page_height, style)
    return np.asarray(canvas, np.uint8)


def _font(style: SheetStyle) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(max(8.0, style.px(_TEXT_MM)))


def _write(pen: ImageDraw.ImageDraw, at: tuple[float, float], text: str, style: SheetStyle, anchor: str = "mm") -> None:
    edge = max(1, round(style.px(_LINE_MM)))
    pen.text(at, text, fill=_INK, font=_font(style), anchor=anchor, stroke_width=edge, stroke_fill=_PAPER)


def bar_mm(width_px: int, dpi: float) -> int:
    """Length of the scale bar: the longest round one within a third of the page's width."""
    room = width_px / dpi * MM_PER_INCH / 3.0
    return max((step for step in _STEPS_MM if step <= room), default=_STEPS_MM[0])


def _draw_bar(pen: ImageDraw.ImageDraw, width: int, top: int, style: SheetStyle) -> None:
    assert style.dpi is not None
    length = bar_mm(width, style.dpi)
    x, y, thick = style.px(2.0), top + style.px(1.5), style.px(_BAR_MM)
    pen.rectangle((x, y, x + style.px(length), y + thick), fill=_PAPER, outline=_INK, width=max(1, round(style.px(0.2))))
    pen.rectangle((x, y, x + style.px(length) / 2, y + thick), fill=_INK)
    _write(pen, (x, y + thick + style.px(0.5)), f"{length} mm" if length < 10 else f"{length / 10:g} cm", style, "la")


def label_of(piece: Piece) -> str:
    """A short label: the name without its ending, or the number where the letters cannot be drawn."""
    stem = piece.name.rsplit(".", 1)[0] or piece.name
    return stem[:32] if stem.isprintable() and stem.isascii() else f"{piece.idx + 1}"


def deepest_point(piece: Piece) -> FloatArray:
    """The point (x, y) of the mask farthest from its border; the corner of a piece without paper."""
    inside = np.pad(piece.mask.astype(np.uint8), 1)
    y, x = np.unravel_index(int(np.argmax(cv2.distanceTransform(inside, cv2.DIST_L2, 5))), inside.shape)
    return np.array([float(x) - 1.0, float(y) - 1.0]).clip(0.0)


def outer_border(piece: Piece, tolerance_px: float = 0.75) -> FloatArray:
    """The outer border with few points, ``(N, 2)`` px in the piece's frame."""
    curves, _ = cv2.findContours(piece.mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    if not curves:
        return np.zeros((1, 2))
    largest = max(curves, key=cv2.contourArea)
    return np.asarray(cv2.approxPolyDP(largest, tolerance_px, True), np.float64).reshape(-1, 2)


def on_paper(picture: UInt8Array) -> UInt8Array:
    """A picture ``(H, W, 4)`` laid on white, ``(H, W, 3)``."""
    alpha = picture[..., 3:].astype(np.uint16)
    return ((picture[..., :3] * alpha + 255 * (255 - alpha) + 127) // 255).astype(np.uint8)

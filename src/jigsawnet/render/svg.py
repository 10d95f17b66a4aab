"""The editable drawing: one named ``<image>`` per piece, one layer per component, unplaced pieces in a tray below.

SVG puts pixel edges at whole numbers, we put pixel centres there: a point p of ours is p + (0.5, 0.5) in the drawing. Each
image is put at its place in its own piece, so its matrix depends on the pose alone and the pose can be read back from it.
"""

from __future__ import annotations

import base64
import html
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import cv2
import numpy as np

from jigsawnet.geometry import SE2
from jigsawnet.render.cutout import cut_out, mask_box
from jigsawnet.render.guessed import DrawnGuesses, lay_out_guesses
from jigsawnet.render.image import shrink_piece
from jigsawnet.render.layout import MARGIN_PX, Layout, lay_out, outline, simple_outline
from jigsawnet.types import Assembly, BestGuess, Piece, Puzzle

_NOT_XML = re.compile("[^\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MM_PER_INCH = 25.4
_PAD_PX = 1
_GUESSED_PX = 200
"""Pictures of best guesses are at most so large."""
_GUESS_COLOR = "#7b3294"
_AT_A_TIME = 256
"""Pieces that are drawn ahead of what is written."""
_HALF_PIXEL = SE2(0.0, 0.5, 0.5)


@dataclass(frozen=True, slots=True)
class SvgLayers:
    """Layers on top of the pieces: ``outlines`` None is no such layer, False one that is not shown.

    ``title`` is what the layer of the pieces is called, where there is one component. ``guesses`` are drawn pale, over the
    picture where they lead to a placed piece, else below the tray; without the tray, not at all.
    """

    title: str = ""
    outlines: bool | None = None
    names: bool = False
    guesses: tuple[BestGuess, ...] = ()


def assembly_svg(
    puzzle: Puzzle,
    assembly: Assembly,
    *,
    with_unplaced: bool = True,
    margin_px: int = MARGIN_PX,
    dpi: float | None = None,
    layers: SvgLayers | None = None,
) -> str:
    """Write an assembly as an SVG document that Inkscape and browsers read, pieces embedded as PNG.

    The picture lies as in `render_assembly` with the same ``margin_px``; one unit of the drawing is one pixel. A layer with the
    names of the pieces lies on top, not shown until somebody switches it on.

    Args:
        puzzle: The pieces.
        assembly: Their poses, drawn as they stand (see `straighten_components`).
        with_unplaced: Also draw the unplaced pieces, in a layer of their own below the picture.
        margin_px: Distance between components, and between pieces of the tray.
        dpi: Resolution of the pieces; when it is known the drawing has its true size in mm.
        layers: What lies on top; None: only the names, not shown.
    """
    lines = svg_lines(puzzle, assembly, with_unplaced=with_unplaced, margin_px=margin_px, dpi=dpi, layers=layers)
    return "\n".join(lines) + "\n"


def svg_lines(
    puzzle: Puzzle,
    assembly: Assembly,
    *,
    with_unplaced: bool = True,
    margin_px: int = MARGIN_PX,
    dpi: float | None = None,
    layers: SvgLayers | None = None,
) -> Iterator[str]:
    """The lines of `assembly_svg`, one after the other: of thousands of pieces they are more than should be held at once."""
    layers = layers or SvgLayers()
    layout = lay_out(puzzle, assembly, with_unplaced=with_unplaced, margin_px=margin_px)
    guessed = lay_out_guesses(puzzle, layout, layers.guesses, margin_px)
    left, top, width, height = guessed.box
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
        ' xmlns:inkscape="http://www.inkscape.org/namespaces/inkscape" version="1.1"'
        f' width="{_side(width, dpi)}" height="{_side(height, dpi)}" viewBox="{left} {top} {width} {height}">'
    )
    yield f"<title>{_text(puzzle.name)}</title>"
    with ThreadPoolExecutor() as pool:
        for number, component in enumerate(assembly.components):
            title = _text(layers.title) or f"Component {number}"
            yield from _layer(f"component-{number}", title, _images(pool, puzzle, layout, component))
        if layout.tray:
            yield from _layer("unplaced", "Unplaced pieces", _images(pool, puzzle, layout, layout.tray))
    if guessed.canvas_from_piece:
        yield from _guesses(puzzle, guessed, layers.guesses)
    if layers.outlines is not None:
        yield from _outlines(puzzle, layout, layers.outlines)
    yield from _names(puzzle, layout, layers.names)
    yield "</svg>"


def _images(pool: ThreadPoolExecutor, puzzle: Puzzle, layout: Layout, members: Sequence[int]) -> Iterator[str]:
    """The elements of pieces, in their order, some at a time; a piece without paper has none."""
    drawn = [idx for idx in members if idx in layout.canvas_from_piece and puzzle.pieces[idx].mask.any()]
    for start in range(0, len(drawn), _AT_A_TIME):
        own = drawn[start : start + _AT_A_TIME]
        yield from pool.map(lambda idx: _image(puzzle.pieces[idx], layout.canvas_from_piece[idx]), own)


def _layer(layer_id: str, label: str, images: Iterable[str]) -> Iterator[str]:
    """Lines of one Inkscape layer that holds some images."""
    yield f'<g inkscape:groupmode="layer" id="{layer_id}" inkscape:label="{label}">'
    yield from images
    yield "</g>"


def _outlines(puzzle: Puzzle, layout: Layout, shown: bool) -> Iterator[str]:
    """Lines of a layer with the border of each piece."""
    yield (
        f'<g inkscape:groupmode="layer" id="outlines" inkscape:label="Outlines" style="display:{_display(shown)}"'
        ' fill="none" stroke="#d62728" stroke-width="2" stroke-linejoin="round">'
    )
    for idx, canvas_from_piece in sorted(layout.canvas_from_piece.items()):
        points = _HALF_PIXEL @ canvas_from_piece @ outline(puzzle.pieces[idx])
        yield f'<polygon points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points.tolist())}"/>'
    yield "</g>"


def _guesses(puzzle: Puzzle, guessed: DrawnGuesses, guesses: Sequence[BestGuess]) -> Iterator[str]:
    """Lines of a layer with small pale pictures, dashed borders, and how likely each place is."""
    best = {guess.piece: guess.best for guess in guesses}
    yield '<g inkscape:groupmode="layer" id="guesses" inkscape:label="Best guesses" opacity="0.6">'
    for idx, pose in sorted(guessed.canvas_from_piece.items(), key=lambda item: (item[0] in best, item[0])):
        piece, place = puzzle.pieces[idx], best.get(idx)
        left, top, width, height = mask_box(piece.mask)
        likely = f"{100 * place.probability:.0f} %" if place else ""
        what = f"best guess, {likely}, beside {puzzle.pieces[place.beside].name}" if place else "not placed"
        times, size = max(1, math.ceil(max(width, height) / _GUESSED_PX)), max(8.0, min(width, height) / 5)
        points = _HALF_PIXEL @ pose @ simple_outline(piece, 0.5 * times)
        x, y = _HALF_PIXEL @ pose @ np.array([left + (width - 1) / 2, top + (height - 1) / 2])
        yield f'<g id="guess-{idx}"><title>{_text(f"{piece.name}: {what}")}</title>'
        yield _picture(shrink_piece(piece, times), pose, times)
        yield (
            f'<polygon points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points.tolist())}" fill="none" stroke="{_GUESS_COLOR}"'
            f' stroke-width="{size / 10:.1f}" stroke-dasharray="{size / 2:.1f} {size / 3:.1f}"/>'
        )
        yield (
            f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:.1f}" text-anchor="middle" font-family="sans-serif"'
            f' fill="{_GUESS_COLOR}" stroke="#fff" stroke-width="{size / 6:.1f}" paint-order="stroke">{likely}</text></g>'
        )
    yield "</g>"


def _display(shown: bool) -> str:
    return "inline" if shown else "none"


def _names(puzzle: Puzzle, layout: Layout, shown: bool) -> Iterator[str]:
    """Lines of a layer with the name of each piece in its middle."""
    yield (
        f'<g inkscape:groupmode="layer" id="names" inkscape:label="Names of pieces" style="display:{_display(shown)}"'
        ' text-anchor="middle" font-family="sans-serif" fill="#000" stroke="#fff" paint-order="stroke">'
    )
    for idx, canvas_from_piece in sorted(layout.canvas_from_piece.items()):
        piece = puzzle.pieces[idx]
        left, top, width, height = mask_box(piece.mask)
        if width:
            x, y = _HALF_PIXEL @ canvas_from_piece @ np.array([left + (width - 1) / 2, top + (height - 1) / 2])
            size = max(2.0, min(width, height) / 8)
            yield (
                f'<text x="{_number(round(x, 2))}" y="{_number(round(y, 2))}" font-size="{size:.1f}"'
                f' stroke-width="{size / 6:.2f}">{_text(piece.name)}</text>'
            )
    yield "</g>"


def _side(length_px: int, dpi: float | None) -> str:
    """A side of the drawing with its unit."""
    return f"{length_px}px" if dpi is None else f"{_number(round(length_px / dpi * _MM_PER_INCH, 4))}mm"


def _image(piece: Piece, canvas_from_piece: SE2) -> str:
    """One piece as an ``<image>`` element with its name."""
    name = _text(piece.name)
    named = f' id="piece-{piece.idx}" inkscape:label="{name}"'
    return _picture(piece, canvas_from_piece, 1, named, f"<title>{name}</title>")


def _picture(piece: Piece, canvas_from_piece: SE2, times: int, attributes: str = "", inside: str = "") -> str:
    """A piece that was made so many times smaller, as an ``<image>`` element of its full size."""
    cutout = cut_out(piece, _PAD_PX)
    bgra = cv2.cvtColor(cutout.image, cv2.COLOR_RGB2BGRA)
    bgra[..., 3] = np.where(cutout.mask, np.uint8(255), np.uint8(0))
    _, png = cv2.imencode(".png", bgra)
    height, width = cutout.mask.shape
    m = (_HALF_PIXEL @ canvas_from_piece @ _HALF_PIXEL.inverse()).matrix()
    numbers = " ".join(_number(v) for v in (m[0, 0], m[1, 0], m[0, 1], m[1, 1], m[0, 2], m[1, 2]))
    return (
        f'<image{attributes} x="{times * cutout.left}" y="{times * cutout.top}"'
        f' width="{times * width}" height="{times * height}" preserveAspectRatio="none" transform="matrix({numbers})"'
        f' xlink:href="data:image/png;base64,{base64.b64encode(png.tobytes()).decode("ascii")}">{inside}</image>'
    )


def _text(name: str) -> str:
    """A name as XML text or attribute; what XML cannot hold, and control characters, are dropped."""
    return html.escape(_NOT_XML.sub("", name))


def _number(value: float) -> str:
    """Shortest plain form with nine decimals at most, never a negative zero."""
    return f"{round(float(value), 9) + 0.0:.9f}".rstrip("0").rstrip(".")

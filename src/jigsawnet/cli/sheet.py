"""``jigsawnet sheet``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import tyro

from jigsawnet.cli.console import Command, say
from jigsawnet.errors import ConfigError, OutputError
from jigsawnet.fragments.markers import CELLS, MARGIN_MM, MARKER_MM, PAPERS, Paper, PaperName, marker_cells
from jigsawnet.io.drawing_pdf import Color, Rectangle, Words, drawing_pdf
from jigsawnet.io.files import write_bytes

GroundName = Literal["white", "blue", "green", "grey", "black"]
_GROUNDS: dict[GroundName, Color] = {
    "blue": (0.10, 0.25, 0.60),
    "green": (0.10, 0.50, 0.25),
    "grey": (0.50, 0.50, 0.50),
    "black": (0.05, 0.05, 0.05),
}
_PALE: Color = (0.75, 0.75, 0.75)
_LINE_MM, _TICK_MM = 0.2, 0.15
_TICKS_MM = {10: 3.5, 5: 2.5, 1: 1.6}
"""Length of the ruler's ticks: every 10, 5 and 1 mm."""
_CLEAR_MM = 2.0
"""White that markers need beside them."""


@dataclass(frozen=True, slots=True)
class Sheet(Command):
    """Make a page with markers to print: photographs of pieces on it are straightened exactly."""

    out: Annotated[Path, tyro.conf.arg(aliases=["-o"], metavar="FILE")]
    """The PDF to write, such as sheet.pdf. Print it at 100 %, without fitting it to the page."""
    paper: PaperName = "a4"
    """Size of the paper."""
    ground: GroundName = "white"
    """Colour printed where pieces are laid: one that they do not have makes their borders exact."""

    def run(self) -> int:
        """Draw and write."""
        if self.out.suffix.lower() != ".pdf":
            raise ConfigError(f"The sheet is a PDF, so its name must end in .pdf, such as {self.out.stem or 'sheet'}.pdf.")
        if self.out.exists():
            raise OutputError(f"{self.out} already exists; remove it or give another name.")
        paper = PAPERS[self.paper]
        write_bytes(self.out, draw_sheet(paper, self.ground))
        _, _, width, height = paper.inside
        say(f"{self.out}: {paper.name}, with {len(paper.corners())} markers around {width:.0f} x {height:.0f} mm")
        say("  print it at 100 %, lay the pieces inside the line, photograph all of it")
        return 0


def draw_sheet(paper: Paper, ground: GroundName = "white") -> bytes:
    """The page as PDF."""
    left, top, width, height = paper.inside
    shapes: list[Rectangle] = []
    if ground != "white":
        shapes.append(Rectangle(left, top, width, height, _GROUNDS[ground]))
    shapes += [
        Rectangle(left, top, width, _LINE_MM, _PALE),
        Rectangle(left, top + height - _LINE_MM, width, _LINE_MM, _PALE),
        Rectangle(left, top, _LINE_MM, height, _PALE),
        Rectangle(left + width - _LINE_MM, top, _LINE_MM, height, _PALE),
    ]
    for number, (x, y) in enumerate(paper.corners()):
        shapes += _marker(paper.first + number, float(x), float(y))
    ticks = list(_ruler(paper))
    words = [word for _, word in ticks if word is not None]
    said = (f"jigsawnet sheet, {paper.name}", "Print at 100 %: the ruler is in mm.", "Lay pieces inside the line.")
    start = MARGIN_MM + MARKER_MM + _CLEAR_MM
    words += [Words(start, MARGIN_MM + 3.5 * (k + 1), line, 2.0) for k, line in enumerate(said)]
    return drawing_pdf(f"jigsawnet sheet {paper.name}", (paper.width, paper.height), shapes + [s for s, _ in ticks], words)


def _marker(number: int, left: float, top: float) -> Iterator[Rectangle]:
    """A black square with its white cells; cells of a row that lie side by side are one rectangle."""
    cell = MARKER_MM / CELLS
    yield Rectangle(left, top, MARKER_MM, MARKER_MM)
    for row, cells in enumerate(~marker_cells(number)):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], cells.astype(int), [0]])))
        for start, stop in edges.reshape(-1, 2):
            yield Rectangle(left + cell * start, top + cell * row, cell * (stop - start), cell, (1.0, 1.0, 1.0))


def _ruler(paper: Paper) -> Iterator[tuple[Rectangle, Words | None]]:
    """Ticks along the lower and the left side, from the edge of the first marker on, where no marker is."""
    corners = paper.corners()
    far_y = float(corners[:, 1].max())
    for upwards, length in ((False, paper.width - 2 * MARGIN_MM), (True, paper.height - 2 * MARGIN_MM)):
        side = (
            corners[corners[:, 1] == far_y][:, 0] - MARGIN_MM
            if not upwards
            else far_y - corners[corners[:, 0] == MARGIN_MM][:, 1]
        )
        for mm in range(int(length) + 1):
            if ((mm > side - _CLEAR_MM) & (mm < side + MARKER_MM + _CLEAR_MM)).any():
                continue
            tick = next(value for step, value in _TICKS_MM.items() if mm % step == 0)
            label = str(mm) if mm % 10 == 0 else ""
            if upwards:
                y = paper.height - MARGIN_MM - mm
                word = Words(MARGIN_MM + 6.5, y + len(label) * 0.6, label, 2.0, upwards=True)
                yield Rectangle(MARGIN_MM, y - _TICK_MM / 2, tick, _TICK_MM), word if label else None
            else:
                x, y = MARGIN_MM + mm, paper.height - MARGIN_MM
                word = Words(x - len(label) * 0.6, y - 4.8, label, 2.0)
                yield Rectangle(x - _TICK_MM / 2, y - tick, _TICK_MM, tick), word if label else None

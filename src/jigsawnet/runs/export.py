"""The pages of a run as files for archives: each by itself and all together."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from jigsawnet.edits import Arrangement, Page
from jigsawnet.errors import ConfigError
from jigsawnet.io.files import write_text
from jigsawnet.io.images import srgb_profile, write_png, write_tiff
from jigsawnet.io.json_files import to_json
from jigsawnet.io.pdf_files import POINTS_PER_INCH, PdfSheet, sheet_of_its_size, write_pdf
from jigsawnet.io.result_files import pages_to_csv
from jigsawnet.io.staged import staged_folder
from jigsawnet.render.iiif import Canvas, CanvasPiece, manifest
from jigsawnet.render.layout import begin_at_zero
from jigsawnet.render.sheet import MM_PER_INCH, Sheet, SheetStyle, draw_sheet, on_paper, outer_border, page_assembly
from jigsawnet.render.svg import SvgLayers, assembly_svg
from jigsawnet.runs.run import Run
from jigsawnet.runs.table import table_of
from jigsawnet.types import Assembly
from jigsawnet.version import __version__

FORMAT, VERSION, EXPORT_FILE = "jigsawnet/export", 1, "export.json"
Format = Literal["pdf", "tiff", "png", "svg", "csv", "iiif"]
FORMATS: tuple[Format, ...] = ("pdf", "tiff", "png", "svg", "csv", "iiif")
Paper = Literal["fitting", "a4", "a3", "letter"]
_PAPER_MM: dict[str, tuple[float, float]] = {"a4": (210.0, 297.0), "a3": (297.0, 420.0), "letter": (215.9, 279.4)}
_EDGE_MM, _OVERLAP_MM = 10.0, 10.0
"""Printers leave the edge white; parts of a page that is too large overlap by this much."""
MOST_SHEETS = 400
ASSUMED_DPI = 300.0
_NOT_IN_NAMES = re.compile(r"[^\w .-]+")
_URL = re.compile(r"https?://[\w.:/%~-]{1,200}")


@dataclass(frozen=True, slots=True)
class ExportConfig:
    """What is exported, and how."""

    formats: tuple[Format, ...] = ("pdf", "tiff", "png", "svg", "csv")
    """pdf: one for each page and one of all; tiff and png: without loss, with resolution and the sRGB profile; svg: pieces to
    move, outlines and names in layers; csv: the list of pieces; iiif: a manifest with a canvas for each page, and pictures."""
    pages: tuple[int, ...] = ()
    """Numbers of the pages to export, from 1; left out, all."""
    outlines: bool = False
    """Draw the outline of every piece."""
    labels: bool = False
    """Write its name on every piece."""
    scale_bar: bool = False
    """Draw a scale bar below the page; the resolution must be known."""
    dpi: float | None = None
    """Resolution of the pieces; left out, that of the scan."""
    paper: Paper = "fitting"
    """Sheets of the PDF: as large as the page (fitting), or A4, A3 or letter at true size, where a page that is too large goes
    over several sheets that overlap by 10 mm."""
    base_url: str = "http://localhost:8000"
    """Where the folder will be served, for the addresses in the IIIF manifest."""

    def __post_init__(self) -> None:
        if self.dpi is not None and not 1 <= self.dpi <= 20_000:
            raise ConfigError("dpi must lie between 1 and 20000.")
        if not self.formats:
            raise ConfigError("formats must name at least one format.")
        if not _URL.fullmatch(self.base_url):
            raise ConfigError("base-url must be a plain http or https address.")


@dataclass(frozen=True, slots=True)
class Exported:
    """The names of the files, and what a person should know of them."""

    files: tuple[str, ...]
    notes: tuple[str, ...]


def export_pages(run: Run, out: Path, config: ExportConfig, table: Arrangement | None = None) -> Exported:
    """Write the pages of a run, as they lie after all edits, into the folder ``out``: all files or none.

    ``table`` is where the pieces lie; None reads it from the run's folder.

    Raises:
        ConfigError: a page does not exist, or the resolution is needed and not known.
        InputError: there is no page, or one is too large to be drawn.
        OutputError: the folder holds an export already, or cannot be written.
    """
    table = table_of(run) if table is None else table
    pages = _chosen(table.pages, config.pages)
    dpi = config.dpi or run.dpi
    if dpi is None and (config.scale_bar or config.paper != "fitting"):
        raise ConfigError("The resolution of the pieces is not known, so there is no true size; give it with --dpi.")
    notes = () if dpi or "pdf" not in config.formats else (f"The resolution is not known; the PDF takes {ASSUMED_DPI:g} dpi.",)
    assembly = begin_at_zero(run.puzzle, table.to_assembly(len(run.puzzle)))
    style = SheetStyle(config.outlines, config.labels, config.scale_bar, dpi)
    with staged_folder(out, EXPORT_FILE) as stage:
        writer = _Writer(run, assembly, config, style, stage)
        for page in pages:
            writer.write_page(page)
        writer.finish(pages)
        files = tuple(sorted(path.relative_to(stage).as_posix() for path in stage.rglob("*") if path.is_file()))
        _write_record(stage / EXPORT_FILE, run, config, pages, files)
    return Exported((*files, EXPORT_FILE), notes)


def _chosen(pages: Sequence[Page], numbers: Sequence[int]) -> list[Page]:
    if not pages:
        raise ConfigError("No piece is placed, so there is no page to export.")
    for number in numbers:
        if not 1 <= number <= len(pages):
            raise ConfigError(f"There is no page number {number}: the run has {len(pages)}.")
    return [page for page in pages if not numbers or page.number in numbers]


class _Writer:
    """Writes page by page, so that no more than one picture is held beside those of the common PDF."""

    def __init__(self, run: Run, assembly: Assembly, config: ExportConfig, style: SheetStyle, folder: Path) -> None:
        self._run, self._assembly, self._config, self._style, self._folder = run, assembly, config, style, folder
        self._sheets: list[PdfSheet] = []
        self._canvases: list[Canvas] = []

    def write_page(self, page: Page) -> None:
        """All files of one page."""
        config, puzzle, style = self._config, self._run.puzzle, self._style
        own, name = page_assembly(self._assembly, page.pieces), file_name(page)
        sheet = draw_sheet(puzzle, own, style)
        if "png" in config.formats or "iiif" in config.formats:
            write_png(self._folder / f"{name}.png", sheet.picture, style.dpi, profile=srgb_profile())
        if "tiff" in config.formats:
            write_tiff(self._folder / f"{name}.tif", sheet.picture, style.dpi, profile=srgb_profile())
        if "svg" in config.formats:
            layers = SvgLayers(page.title, config.outlines, config.labels)
            text = assembly_svg(puzzle, own, with_unplaced=False, dpi=style.dpi, layers=layers)
            write_text(self._folder / f"{name}.svg", text)
        if "pdf" in config.formats:
            sheets = list(_on_sheets(sheet, style.dpi or ASSUMED_DPI, config.paper))
            write_pdf(self._folder / f"{name}.pdf", sheets)
            self._sheets += sheets
        if "iiif" in config.formats:
            self._canvases.append(self._canvas(page, sheet, f"{name}.png"))

    def _canvas(self, page: Page, sheet: Sheet, file: str) -> Canvas:
        pieces = self._run.puzzle.pieces
        shapes = [
            CanvasPiece(pieces[idx].name, sheet.canvas_from_piece[idx] @ outer_border(pieces[idx]) + 0.5) for idx in page.pieces
        ]
        height, width = sheet.picture.shape[:2]
        return Canvas(page.title, quote(file), width, height, shapes)

    def finish(self, pages: Sequence[Page]) -> None:
        """The files of all pages."""
        if self._sheets:
            write_pdf(self._folder / "pages.pdf", self._sheets)
        if "csv" in self._config.formats:
            listed = [(page.title, page.pieces) for page in pages]
            write_text(self._folder / "pieces.csv", pages_to_csv(self._assembly, self._run.puzzle.names(), listed))
        if self._canvases:
            data = manifest(self._run.puzzle.name, self._canvases, self._config.base_url.rstrip("/"))
            write_text(self._folder / "manifest.json", to_json(data))


def _on_sheets(sheet: Sheet, dpi: float, paper: Paper) -> Iterator[PdfSheet]:
    """A page at true size: on a sheet as large as it is, or in the middle of a sheet of paper, or over several."""
    picture = on_paper(sheet.picture)
    if paper == "fitting":
        yield sheet_of_its_size(picture, dpi)
        return
    height, width = picture.shape[:2]
    sides = _PAPER_MM[paper] if height >= width else _PAPER_MM[paper][::-1]
    room = [math.floor((side - 2 * _EDGE_MM) / MM_PER_INCH * dpi) for side in sides]
    step = [side - math.floor(_OVERLAP_MM / MM_PER_INCH * dpi) for side in room]
    counts = [max(1, math.ceil((size - side) / s) + 1) for size, side, s in zip((width, height), room, step, strict=True)]
    if math.prod(counts) > MOST_SHEETS:
        raise ConfigError(f"A page would take {math.prod(counts)} sheets of {paper}; take larger paper, or --paper fitting.")
    points = [side / MM_PER_INCH * POINTS_PER_INCH for side in sides]
    for row in range(counts[1]):
        for column in range(counts[0]):
            left, top = column * step[0], row * step[1]
            part = picture[top : top + room[1], left : left + room[0]]
            margins = [(side - size / dpi * POINTS_PER_INCH) / 2 for side, size in zip(points, part.shape[1::-1], strict=True)]
            yield PdfSheet(part, dpi, points[0], points[1], margins[0], margins[1])


def file_name(page: Page) -> str:
    """The beginning of the names of a page's files: its number and, where it has one, its name."""
    plain = _NOT_IN_NAMES.sub("_", page.name).strip(" ._")[:60]
    return f"page-{page.number:03d}" + (f"-{plain}" if plain else "")


def _write_record(path: Path, run: Run, config: ExportConfig, pages: Sequence[Page], files: Sequence[str]) -> None:
    names = run.puzzle.names()
    data: dict[str, Any] = {
        "format": FORMAT, "version": VERSION, "jigsawnet": __version__, "puzzle": run.puzzle.name,
        "dpi": config.dpi or run.dpi, "options": asdict(config),
        "pages": [
            {"number": page.number, "title": page.title, "file": file_name(page), "pieces": [names[idx] for idx in page.pieces]}
            for page in pages
        ],
        "files": list(files),
    }  # fmt: skip
    write_text(path, to_json(data))

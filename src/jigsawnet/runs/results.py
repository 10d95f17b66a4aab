"""All files that a person or another program looks at, out of a run."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from jigsawnet.config import SolveConfig
from jigsawnet.io.assembly_json import CANDIDATES_FILE, Choice, write_assembly, write_candidates
from jigsawnet.io.authors import write_alignments, write_joins, write_poses
from jigsawnet.io.files import RESULT_FILE, write_stream, write_text
from jigsawnet.io.images import write_png, write_tiff
from jigsawnet.io.result_files import POSES_FILE, write_poses_csv, write_report
from jigsawnet.io.run_folder import RunFolder
from jigsawnet.io.staged import staged_folder
from jigsawnet.match.stitch import stitch_lines
from jigsawnet.render.image import MAX_PIXELS, render_assembly, render_back, shrink_piece, shrink_to_preview
from jigsawnet.render.report import ReportInput, report_html
from jigsawnet.render.svg import SvgLayers, svg_lines
from jigsawnet.runs.request import request_to_plain
from jigsawnet.types import Alignment, Assembly, Puzzle, RunReport, UInt8Array

if TYPE_CHECKING:
    from jigsawnet.runs.run import Run

_SMALLER = (
    "The picture at full size would be too large to be drawn at once, so assembly.png is {shrink} times smaller; solving again "
    "with --full-picture draws all of it, and assembly.svg has the pieces as they are."
)


def write_results(run: Run) -> tuple[str, ...]:
    """Write the result files into the run's folder, in place of old ones, all or none; gives their names.

    Raises:
        OutputError: the disk is full or the folder cannot be written; the old files are as they were.
    """
    with staged_folder(run.folder, replace=True) as stage:
        _write_files(run, stage)
        return tuple(sorted(path.relative_to(stage).as_posix() for path in stage.rglob("*") if path.is_file()))


def replace_results(folder: RunFolder, run: Run, key: str) -> None:
    """Write the results unless they are there already; while they are replaced, ``run.json`` does not name them as whole."""
    old = folder.record.result_files
    if not run.cut_short and folder.record.results == key and all((folder.path / name).is_file() for name in old):
        if not folder.is_saved:  # the same pieces may have been given from another place
            folder.set()
        return
    if folder.record.results:
        folder.set(results="")
    new = write_results(run)
    for name in set(old) - set(new):
        folder.remove_result(name)
    folder.set(results="" if run.cut_short else key, result_files=new, request=request_to_plain(run.request, folder.path))


@dataclass(frozen=True, slots=True, eq=False)
class _Shown:
    """A run, and what its picture is drawn from: the pieces, or smaller ones where the picture would be too large."""

    run: Run
    report: RunReport
    puzzle: Puzzle
    assembly: Assembly
    shrink: int


def _write_files(run: Run, folder: Path) -> None:
    """All files, those that take long side by side."""
    limit = sys.maxsize if run.request.full_picture else MAX_PIXELS
    puzzle, assembly, shrink = shrink_to_preview(run.puzzle, run.assembly, limit)
    note = (_SMALLER.format(shrink=shrink),) if shrink > 1 else ()
    shown = _Shown(run, replace(run.report, warnings=(*run.report.warnings, *note)), puzzle, assembly, shrink)
    with ThreadPoolExecutor() as pool:
        drawing, data = pool.submit(_write_drawing, shown, folder), pool.submit(_write_candidates, run, folder)
        picture = render_assembly(puzzle, assembly, max_pixels=limit)
        written = [pool.submit(write, shown, folder, picture) for write in (_write_pictures, _write_page)]
        for each in (drawing, data, *written):
            each.result()
    write_report(
        folder / "report.json", _report_until_now(shown), run.puzzle.names()
    )  # last, since it holds the seconds of all before


def _report_until_now(shown: _Shown) -> RunReport:
    run = shown.run
    if run.by_hand:
        return replace(shown.report, seconds=sum(stage.seconds for stage in run.stages))
    return replace(shown.report, seconds=run.corridor.context.clock.seconds)


def _write_pictures(shown: _Shown, folder: Path, picture: UInt8Array) -> None:
    run = shown.run
    dpi = None if run.dpi is None else run.dpi / shown.shrink
    write_png(folder / "assembly.png", picture, dpi)
    if run.request.tiff:
        write_tiff(folder / "assembly.tif", picture, dpi)
    if backs := run.backs:
        small = {idx: shrink_piece(back, shown.shrink) for idx, back in backs.items()} if shown.shrink > 1 else backs
        write_png(folder / "assembly-back.png", render_back(shown.puzzle, small, shown.assembly), dpi)


def _write_page(shown: _Shown, folder: Path, picture: UInt8Array) -> None:
    run = shown.run
    facts = ReportInput(
        run.puzzle, run.assembly, run.candidates, _report_until_now(shown), picture, run.dpi, asdict(SolveConfig()),
        run.page_names, run.notes, shown.shrink,
    )  # fmt: skip
    write_text(folder / "report.html", report_html(facts))


def _write_drawing(shown: _Shown, folder: Path) -> None:
    run, layers = shown.run, SvgLayers(guesses=shown.report.best_guesses)

    def write(stream: IO[bytes]) -> None:
        for line in svg_lines(run.puzzle, run.assembly, dpi=run.dpi, layers=layers):
            stream.write(f"{line}\n".encode("utf-8", errors="backslashreplace"))

    write_stream(folder / "assembly.svg", write)


def _choices(run: Run, alignments: Sequence[Alignment]) -> list[Choice | None]:
    """Which candidates the composer could choose, and did."""
    could = {(a.i, a.j, a.i_from_j) for a in run.corridor.offered.alignments()}
    did = {(e.alignment.i, e.alignment.j, e.alignment.i_from_j) for e in run.assembly.chosen or ()}
    keys = [(a.i, a.j, a.i_from_j) for a in alignments]
    return ["chosen" if key in did else "offered" if key in could else None for key in keys]


def _write_candidates(run: Run, folder: Path) -> None:
    """Places and joins, for programs."""
    assembly, names = run.assembly, run.puzzle.names()
    write_assembly(folder / RESULT_FILE, assembly, names)
    write_poses_csv(folder / POSES_FILE, assembly, names, run.notes.pieces)
    found = run.corridor.find("candidates")  # in the order they were found in, or given
    rows = run.candidates.take(np.argsort(-run.candidates.fit, kind="stable")) if found is None else found.rows
    alignments = rows.alignments()
    write_candidates(folder / CANDIDATES_FILE, alignments, names, _choices(run, alignments))
    if run.request.authors_text:
        write_alignments(folder / "alignments.txt", alignments, len(names), stitch_lines(run.borders, alignments))
        write_joins(folder / "selected_transformation.txt", assembly.joins)
        for k in range(len(assembly.components)):
            write_poses(folder / f"pose_result_{k}.txt", assembly, k)

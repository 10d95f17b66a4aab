"""All files that a person or another program looks at, out of a run."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from jigsawnet.config import SolveConfig
from jigsawnet.io.assembly_json import CANDIDATES_FILE, Choice, write_assembly, write_candidates
from jigsawnet.io.authors import write_alignments, write_joins, write_poses
from jigsawnet.io.files import RESULT_FILE, write_text
from jigsawnet.io.images import write_png, write_tiff
from jigsawnet.io.result_files import POSES_FILE, write_poses_csv, write_report
from jigsawnet.io.run_folder import RunFolder
from jigsawnet.io.staged import staged_folder
from jigsawnet.match.stitch import stitch_lines
from jigsawnet.render.image import render_assembly, render_back
from jigsawnet.render.report import ReportInput, report_html
from jigsawnet.render.svg import assembly_svg
from jigsawnet.runs.request import request_to_plain
from jigsawnet.types import Alignment, RunReport, UInt8Array

if TYPE_CHECKING:
    from jigsawnet.runs.run import Run


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


def _write_files(run: Run, folder: Path) -> None:
    """All files, those that take long side by side."""
    with ThreadPoolExecutor() as pool:
        drawing, data = pool.submit(_write_drawing, run, folder), pool.submit(_write_candidates, run, folder)
        picture = render_assembly(run.puzzle, run.assembly)
        shown = [pool.submit(write, run, folder, picture) for write in (_write_pictures, _write_page)]
        for written in (drawing, data, *shown):
            written.result()
    write_report(
        folder / "report.json", _report_until_now(run), run.puzzle.names()
    )  # last, since it holds the seconds of all before


def _report_until_now(run: Run) -> RunReport:
    if run.by_hand:
        return replace(run.report, seconds=sum(stage.seconds for stage in run.stages))
    return replace(run.report, seconds=run.corridor.context.clock.seconds)


def _write_pictures(run: Run, folder: Path, picture: UInt8Array) -> None:
    write_png(folder / "assembly.png", picture, run.dpi)
    if run.request.tiff:
        write_tiff(folder / "assembly.tif", picture, run.dpi)
    if backs := run.backs:
        write_png(folder / "assembly-back.png", render_back(run.puzzle, backs, run.assembly), run.dpi)


def _write_page(run: Run, folder: Path, picture: UInt8Array) -> None:
    facts = ReportInput(
        run.puzzle,
        run.assembly,
        run.candidates,
        _report_until_now(run),
        picture,
        run.dpi,
        asdict(SolveConfig()),
        run.page_names,
        run.notes,
    )
    write_text(folder / "report.html", report_html(facts))


def _write_drawing(run: Run, folder: Path) -> None:
    write_text(folder / "assembly.svg", assembly_svg(run.puzzle, run.assembly, dpi=run.dpi))


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

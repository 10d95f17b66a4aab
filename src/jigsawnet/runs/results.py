"""All files that a person or another program looks at, out of a run."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from jigsawnet.config import SolveConfig
from jigsawnet.io.alignments_json import CANDIDATES_FILE, write_candidates
from jigsawnet.io.assembly_json import write_assembly
from jigsawnet.io.authors import write_alignments, write_edges, write_poses
from jigsawnet.io.csv_poses import POSES_FILE, write_poses_csv
from jigsawnet.io.files import RESULT_FILE, staged_folder, write_text
from jigsawnet.io.images import write_png
from jigsawnet.io.report_json import write_report
from jigsawnet.io.run_folder import RunFolder
from jigsawnet.io.tiff import write_tiff
from jigsawnet.match.stitch import stitch_lines
from jigsawnet.render.back import render_back
from jigsawnet.render.image import render_assembly
from jigsawnet.render.report import ReportInput, report_html
from jigsawnet.render.svg import assembly_svg
from jigsawnet.runs.request import request_to_plain

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
    """Write the results unless they are there already; while they are replaced, ``run.json`` does not vouch for them."""
    old = folder.record.result_files
    if not run.cut_short and folder.record.results == key and all((folder.path / name).is_file() for name in old):
        return
    if folder.record.results:
        folder.set(results="")
    new = write_results(run)
    for name in set(old) - set(new):
        if _is_plain(name):
            with suppress(OSError):
                (folder.path / name).unlink()
    folder.set(results="" if run.cut_short else key, result_files=new, request=request_to_plain(run.request))


def _is_plain(name: str) -> bool:
    """True for a path that stays below the folder it is taken from."""
    path = PurePosixPath(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts and not Path(name).is_absolute()


def _write_files(run: Run, folder: Path) -> None:
    puzzle, assembly = run.puzzle, run.assembly
    write_assembly(folder / RESULT_FILE, assembly, puzzle.names())
    write_poses_csv(folder / POSES_FILE, assembly, puzzle.names())
    picture = render_assembly(puzzle, assembly)
    write_png(folder / "assembly.png", picture, run.dpi)
    if run.request.tiff:
        write_tiff(folder / "assembly.tif", picture, run.dpi)
    write_text(folder / "assembly.svg", assembly_svg(puzzle, assembly, dpi=run.dpi))
    if run.backs:
        write_png(folder / "assembly-back.png", render_back(puzzle, run.backs, assembly), run.dpi)
    report = run.report
    write_report(folder / "report.json", report)
    facts = ReportInput(puzzle, assembly, run.graph, report, picture, run.dpi, asdict(SolveConfig()))
    write_text(folder / "report.html", report_html(facts))
    write_candidates(folder / CANDIDATES_FILE, run.alignments, puzzle.names())
    if run.request.authors_text:
        lines = stitch_lines(run.bank, run.alignments)
        write_alignments(folder / "alignments.txt", run.alignments, len(puzzle), lines)
        write_edges(folder / "selected_transformation.txt", assembly.edges)
        for k in range(len(assembly.components)):
            write_poses(folder / f"pose_result_{k}.txt", assembly, k)

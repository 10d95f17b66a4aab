"""``jigsawnet solve``."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from jigsawnet.cli.console import Flag, Out, check_seed, progress_bars, say, say_notes
from jigsawnet.config import SolveConfig
from jigsawnet.contours import ContourConfig, trace_contours
from jigsawnet.errors import ConfigError
from jigsawnet.io.alignments_json import CANDIDATES_FILE, write_candidates
from jigsawnet.io.assembly_json import write_assembly
from jigsawnet.io.authors import read_alignments, write_alignments, write_edges, write_poses
from jigsawnet.io.files import RESULT_FILE, staged_folder, write_text
from jigsawnet.io.images import silent_decoders, write_png
from jigsawnet.io.report_json import write_report
from jigsawnet.io.scans import CHECK_FOLDER, write_checks
from jigsawnet.loading import ScanInput, load_input
from jigsawnet.match.stitch import stitch_lines
from jigsawnet.pipeline import Solution, solve_puzzle
from jigsawnet.raster import build_bank
from jigsawnet.render.back import render_back
from jigsawnet.render.image import render_assembly
from jigsawnet.render.svg import assembly_svg
from jigsawnet.types import Puzzle
from jigsawnet.workers import open_workers


@dataclass(frozen=True, slots=True)
class Solve:
    """Put pieces together, from a folder of them or from scans that show many.

    The pieces and -o are all that is needed; the options of the single stages further down are for fine tuning.
    """

    input: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="PIECES", help_behavior_hint="(required)")]
    """Folder with one picture per piece, with a transparent background or on one plain colour; or scans or photos that show
    many pieces lying apart on one plain background, as files or as a folder."""
    out: Out
    """Folder for the result: the picture (assembly.png), the pieces to move by hand (assembly.svg), their places
    (assembly.json), all joins considered (alignments.json) and a record of the run (report.json)."""
    seed: int = 0
    """Number that all randomness comes from; the same seed gives the same result."""
    time_limit: float | None = None
    """Seconds after which composition ends with the best it has; reading and matching are not cut short."""
    alignments: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Take candidate joins from this alignments.txt of the paper's authors instead of looking for them."""
    authors_text: Flag = False
    """Also write alignments.txt, pose_result_0.txt, ... and selected_transformation.txt, as the program of the paper's authors
    does."""
    workers: int | None = None
    """Cores of this machine that match and score; left out, all. The result is the same."""
    scheduler: Annotated[str | None, tyro.conf.arg(metavar="ADDRESS")] = None
    """Match and score on the Dask cluster whose scheduler is at this address, as tcp://host:8786."""
    json: Flag = False
    """Print a summary as one JSON line, for programs."""
    scans: Annotated[ScanInput, tyro.conf.arg(name="")] = field(default_factory=ScanInput)
    config: Annotated[SolveConfig, tyro.conf.arg(name="")] = field(default_factory=SolveConfig)

    def __post_init__(self) -> None:
        check_seed(self.seed)
        if self.time_limit is not None and not self.time_limit >= 0:
            raise ConfigError("time-limit must be a number of seconds, 0 or more.")

    def run(self) -> int:
        """Solve and write; the exit code says whether every piece is placed in one component."""
        with (
            open_workers(self.workers, self.scheduler) as workers,
            staged_folder(self.out) as stage,
            progress_bars() as progress,
        ):
            with silent_decoders():
                loaded = load_input(self.input, self.scans, progress)
            puzzle = loaded.puzzle
            if not self.json:
                say_notes(puzzle.warnings)
            given = None if self.alignments is None else read_alignments(self.alignments, len(puzzle))
            solution = solve_puzzle(
                puzzle, self.config, seed=self.seed, candidates=given, time_limit=self.time_limit, workers=workers,
                progress=progress,
            )  # fmt: skip
            _write_solution(stage, puzzle, solution, self.authors_text)
            write_checks(stage / CHECK_FOLDER, {check.name: check.picture for check in loaded.checks})
            if loaded.backs:
                write_png(stage / "assembly-back.png", render_back(puzzle, loaded.backs, solution.assembly))
        _say_solution(self.out, solution, len(puzzle.warnings), self.json)
        return 0 if solution.assembly.complete else 1


def _write_solution(folder: Path, puzzle: Puzzle, solution: Solution, authors_text: bool) -> None:
    assembly = solution.assembly
    write_assembly(folder / RESULT_FILE, assembly, puzzle.names())
    write_png(folder / "assembly.png", render_assembly(puzzle, assembly))
    write_text(folder / "assembly.svg", assembly_svg(puzzle, assembly))
    write_report(folder / "report.json", solution.report)
    write_candidates(folder / CANDIDATES_FILE, solution.alignments, puzzle.names())
    if authors_text:
        lines = stitch_lines(build_bank(trace_contours(puzzle, ContourConfig())), solution.alignments)
        write_alignments(folder / "alignments.txt", solution.alignments, len(puzzle), lines)
        write_edges(folder / "selected_transformation.txt", assembly.edges)
        for k in range(len(assembly.components)):
            write_poses(folder / f"pose_result_{k}.txt", assembly, k)


def _say_solution(out: Path, solution: Solution, n_said: int, as_json: bool) -> None:
    assembly, report = solution.assembly, solution.report
    seconds = sum(stage.seconds for stage in report.stages)
    if as_json:
        say(json.dumps({
            "out": str(out), "pieces": assembly.n_fragments, "placed": len(assembly.poses),
            "components": len(assembly.components), "seconds": round(seconds, 3), "warnings": report.warnings,
        }))  # fmt: skip
        return
    say_notes(report.warnings[n_said:])
    parts = {0: "", 1: " in one picture"}.get(len(assembly.components), f" in {len(assembly.components)} separate parts")
    say(f"{len(assembly.poses)} of {assembly.n_fragments} pieces placed{parts}, {seconds:.1f} s")
    for name in ("assembly.png", "assembly.svg", "report.json"):
        say(f"  {out / name}")

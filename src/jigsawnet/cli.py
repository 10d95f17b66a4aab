"""The front door: ``jigsawnet solve | shred | eval``."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress

from jigsawnet.config import SolveConfig
from jigsawnet.errors import InputError, JigsawNetError
from jigsawnet.evaluation.metrics import candidate_recall, evaluate
from jigsawnet.io.alignments_json import read_candidates, write_candidates
from jigsawnet.io.assembly_json import read_assembly, write_assembly
from jigsawnet.io.authors import read_ground_truth, write_edges, write_ground_truth, write_poses
from jigsawnet.io.files import staged_folder, write_text
from jigsawnet.io.images import read_image, write_png
from jigsawnet.io.pieces import write_pieces
from jigsawnet.io.report_json import write_report
from jigsawnet.loading import load_puzzle
from jigsawnet.pipeline import Solution, solve_puzzle
from jigsawnet.render.image import render_assembly
from jigsawnet.render.svg import assembly_svg
from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.types import Assembly, Progress, Puzzle, no_progress

DESCRIPTION = """Put torn, shredded or cut pictures together again.

Exit code 0: every piece is placed in one picture; 1: solved in part; 2: bad input, said in one sentence."""
TRUTH_FILE = "truth.json"
AUTHORS_TRUTH_FILE = "groundTruth.txt"

Out = Annotated[Path, tyro.conf.arg(aliases=["-o"], metavar="DIR")]


@dataclass(frozen=True, slots=True)
class Solve:
    """Put the pieces in a folder together."""

    input: Annotated[tuple[Path, ...], tyro.conf.Positional]
    """Folder with one picture per piece: RGBA, or on a plain background."""
    out: Out
    """Folder for the result: assembly.json, assembly.png, assembly.svg, report.json and alignments.json."""
    seed: int = 0
    """Seed of everything random."""
    authors_text: bool = False
    """Also write pose_result_K.txt and selected_transformation.txt as the JigsawNet authors' program does."""
    json: bool = False
    """Print a summary as one JSON line, for programs."""
    config: Annotated[SolveConfig, tyro.conf.arg(name="")] = field(default_factory=SolveConfig)

    def run(self) -> int:
        """Solve and write; the exit code says whether every piece is placed in one component."""
        if len(self.input) != 1:
            raise InputError("give exactly one folder of pieces; put all pieces of a puzzle into it")
        with staged_folder(self.out) as stage, _progress() as progress:
            puzzle = load_puzzle(self.input[0], progress=progress)
            solution = solve_puzzle(puzzle, self.config, seed=self.seed, progress=progress)
            _write_solution(stage, puzzle, solution, self.authors_text)
        _say_solution(self.out, solution, self.json)
        return 0 if solution.assembly.complete else 1


@dataclass(frozen=True, slots=True)
class Shred:
    """Cut pictures into pieces with known truth, for tests, training and trials."""

    images: Annotated[tuple[Path, ...], tyro.conf.Positional]
    """Pictures to cut; more than one gives a mixed puzzle."""
    out: Out
    """Folder for the pieces and the truth (truth.json, and groundTruth.txt when it is one picture)."""
    seed: int = 0
    """Seed of everything random."""
    key_color: tuple[int, int, int] | None = None
    """Write RGB pieces on this background colour and bg_color.txt, as the JigsawNet authors do, instead of RGBA."""
    config: Annotated[ShredConfig, tyro.conf.arg(name="")] = field(default_factory=ShredConfig)

    def run(self) -> int:
        """Cut and write."""
        if not self.images:
            raise InputError("no picture given; name at least one picture to cut")
        pictures = [read_image(path)[..., :3] for path in self.images]
        puzzle, truth = shred_images(pictures, self.config, np.random.default_rng(self.seed))
        with staged_folder(self.out, TRUTH_FILE) as stage:
            write_pieces(stage, puzzle, self.key_color)
            write_assembly(stage / TRUTH_FILE, truth, puzzle.names())
            if truth.complete:
                write_ground_truth(stage / AUTHORS_TRUTH_FILE, truth, puzzle.names())
        _say(f"{len(puzzle)} pieces and the truth in {self.out}")
        return 0


@dataclass(frozen=True, slots=True)
class Eval:
    """Compare a result with the truth."""

    result: Annotated[Path, tyro.conf.Positional]
    """Folder that `jigsawnet solve` wrote, or an assembly.json."""
    truth: Annotated[Path, tyro.conf.arg(metavar="DIR")]
    """Folder of the pieces with truth.json or groundTruth.txt."""
    gap_px: float = 5.0
    """Pieces whose borders come this close in the truth are neighbours; give more for eroded pieces."""
    json: bool = False
    """Print one JSON line, for programs."""

    def run(self) -> int:
        """Read, compare, print."""
        puzzle = load_puzzle(self.truth)
        truth = read_truth(self.truth, puzzle)
        path = self.result / "assembly.json" if self.result.is_dir() else self.result
        assembly, _ = read_assembly(path, puzzle.names())
        values = dataclasses.asdict(evaluate(puzzle, assembly, truth, self.gap_px))
        candidates = path.parent / "alignments.json"
        if candidates.is_file():
            found = read_candidates(candidates, puzzle.names())
            values["candidate_recall"] = candidate_recall(puzzle, found, truth)
        _say(json.dumps(values) if self.json else _metric_lines(values))
        return 0


def read_truth(folder: Path, puzzle: Puzzle) -> Assembly:
    """The truth that lies beside the pieces, in our format or the authors'."""
    if (folder / TRUTH_FILE).is_file():
        return read_assembly(folder / TRUTH_FILE, puzzle.names())[0]
    if (folder / AUTHORS_TRUTH_FILE).is_file():
        return read_ground_truth(folder / AUTHORS_TRUTH_FILE, puzzle.names())
    raise InputError(f"{folder} holds no {TRUTH_FILE} and no {AUTHORS_TRUTH_FILE}; without the truth nothing can be compared")


def _write_solution(folder: Path, puzzle: Puzzle, solution: Solution, authors_text: bool) -> None:
    assembly = solution.assembly
    write_assembly(folder / "assembly.json", assembly, puzzle.names())
    write_png(folder / "assembly.png", render_assembly(puzzle, assembly))
    write_text(folder / "assembly.svg", assembly_svg(puzzle, assembly))
    write_report(folder / "report.json", solution.report)
    write_candidates(folder / "alignments.json", solution.alignments, puzzle.names())
    if authors_text:
        write_edges(folder / "selected_transformation.txt", assembly.edges)
        for k in range(len(assembly.components)):
            write_poses(folder / f"pose_result_{k}.txt", assembly, k)


def _say_solution(out: Path, solution: Solution, as_json: bool) -> None:
    assembly, report = solution.assembly, solution.report
    seconds = sum(stage.seconds for stage in report.stages)
    if as_json:
        _say(json.dumps({
            "out": str(out), "pieces": assembly.n_fragments, "placed": len(assembly.poses),
            "components": len(assembly.components), "seconds": round(seconds, 3), "warnings": report.warnings,
        }))  # fmt: skip
        return
    for warning in report.warnings:
        _say(f"note: {warning}", error=True)
    where = "one picture" if len(assembly.components) == 1 else f"{len(assembly.components)} separate parts"
    _say(f"{len(assembly.poses)} of {assembly.n_fragments} pieces placed in {where}, {seconds:.1f} s")
    for name in ("assembly.png", "assembly.svg", "report.json"):
        _say(f"  {out / name}")


def _metric_lines(values: dict[str, float | None]) -> str:
    def percent(key: str) -> str:
        value = values.get(key)
        return "-" if value is None else f"{100 * value:.1f} %"

    return "\n".join([
        f"PCR {percent('pcr')} (tight {percent('pcr_tight')})   pieces in the right place, {values['n']} in all",
        f"ACR {percent('acr_precision')} (recall {percent('acr_recall')})   joins that are right",
        f"LCR {percent('lcr')}   largest part connected by right joins",
        f"candidate recall {percent('candidate_recall')}   true neighbours with a right candidate",
    ])  # fmt: skip


def _say(text: str, *, error: bool = False) -> None:
    print(text, file=sys.stderr if error else sys.stdout)


@contextmanager
def _progress() -> Iterator[Progress]:
    """A bar with time left for each stage, on a terminal; nothing elsewhere."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield no_progress
        return
    columns = (TextColumn("{task.description:>9}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with RichProgress(*columns, console=console, transient=True) as bars:
        tasks = {}

        def tell(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done, total=total)

        yield tell


def run(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the ``jigsawnet`` command."""
    sys.exit(main_code(arguments))


def main_code(arguments: Sequence[str] | None = None) -> int:
    """Run a command and give its exit code; every `JigsawNetError` becomes one sentence and 2."""
    try:
        command = tyro.extras.subcommand_cli_from_dict(
            {"solve": Solve, "shred": Shred, "eval": Eval}, prog="jigsawnet", description=DESCRIPTION, args=arguments
        )
        return int(command.run())
    except JigsawNetError as error:
        _say(f"jigsawnet: {error}", error=True)
        return 2
    except KeyboardInterrupt:
        _say("jigsawnet: stopped", error=True)
        return 130

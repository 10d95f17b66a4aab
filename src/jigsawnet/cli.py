"""The front door: ``jigsawnet solve | shred | eval``."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress

from jigsawnet.config import SolveConfig
from jigsawnet.errors import ConfigError, InputError, JigsawNetError
from jigsawnet.evaluation.metrics import candidate_recall, evaluate
from jigsawnet.io.alignments_json import read_candidates, write_candidates
from jigsawnet.io.assembly_json import read_assembly, write_assembly
from jigsawnet.io.authors import read_ground_truth, write_edges, write_ground_truth, write_poses
from jigsawnet.io.files import RESULT_FILE, staged_folder, write_text
from jigsawnet.io.images import read_image, silent_decoders, write_png
from jigsawnet.io.pieces import write_pieces
from jigsawnet.io.report_json import write_report
from jigsawnet.loading import load_puzzle
from jigsawnet.pipeline import Solution, solve_puzzle
from jigsawnet.render.image import render_assembly
from jigsawnet.render.svg import assembly_svg
from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.types import Assembly, Progress, Puzzle, no_progress

DESCRIPTION = """Put torn, shredded or cut pictures together again.

  jigsawnet solve pieces/ -o result/       pieces in, picture out
  jigsawnet shred photo.jpg -o pieces/     cut a picture into pieces, to try it
  jigsawnet eval result/ --truth pieces/   how much of the result is right

Exit code 0: done, every piece is placed in one picture; 1: solved in part; 2: bad input, said in one sentence."""
TRUTH_FILE = "truth.json"
AUTHORS_TRUTH_FILE = "groundTruth.txt"
CANDIDATES_FILE = "alignments.json"

Out = Annotated[Path, tyro.conf.arg(aliases=["-o"], metavar="FOLDER")]
Flag = tyro.conf.FlagCreatePairsOff[bool]


@dataclass(frozen=True, slots=True)
class Solve:
    """Put the pieces in a folder together.

    The folder and -o are all that is needed; the options of the single stages further down are for fine tuning.
    """

    input: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="FOLDER", help_behavior_hint="(required)")]
    """Folder with one picture per piece: with a transparent background, or on one plain colour."""
    out: Out
    """Folder for the result: the picture (assembly.png), the pieces to move by hand (assembly.svg), their places
    (assembly.json), all joins considered (alignments.json) and a record of the run (report.json)."""
    seed: int = 0
    """Number that all randomness comes from; the same seed gives the same result."""
    authors_text: Flag = False
    """Also write pose_result_0.txt, ... and selected_transformation.txt, as the program of the paper's authors does."""
    json: Flag = False
    """Print a summary as one JSON line, for programs."""
    config: Annotated[SolveConfig, tyro.conf.arg(name="")] = field(default_factory=SolveConfig)

    def __post_init__(self) -> None:
        _check_seed(self.seed)

    def run(self) -> int:
        """Solve and write; the exit code says whether every piece is placed in one component."""
        if len(self.input) != 1:
            raise InputError(f"Give one folder that holds all pieces, not {len(self.input)} files or folders.")
        with staged_folder(self.out) as stage, _progress() as progress:
            with silent_decoders():
                puzzle = load_puzzle(self.input[0], progress=progress)
            solution = solve_puzzle(puzzle, self.config, seed=self.seed, progress=progress)
            _write_solution(stage, puzzle, solution, self.authors_text)
        _say_solution(self.out, solution, self.json)
        return 0 if solution.assembly.complete else 1


@dataclass(frozen=True, slots=True)
class Shred:
    """Cut pictures into pieces whose true places are known, for tests, training and trials."""

    images: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="PICTURE", help_behavior_hint="(required)")]
    """Pictures to cut; the pieces of several pictures are mixed."""
    out: Out
    """Folder for the pieces and the truth (truth.json, and groundTruth.txt when it is one picture)."""
    seed: int = 0
    """Number that all randomness comes from; the same seed gives the same pieces."""
    key_color: Annotated[tuple[int, int, int] | None, tyro.conf.arg(metavar="RED GREEN BLUE")] = None
    """Colour, 0 to 255 each, to put behind the pieces instead of transparency; bg_color.txt will name it."""
    config: Annotated[ShredConfig, tyro.conf.arg(name="")] = field(default_factory=ShredConfig)

    def __post_init__(self) -> None:
        _check_seed(self.seed)
        if self.key_color is not None and not all(0 <= level <= 255 for level in self.key_color):
            raise ConfigError("The key colour must be three whole numbers from 0 to 255.")

    def run(self) -> int:
        """Cut and write."""
        if not self.images:
            raise InputError("Name at least one picture to cut.")
        with staged_folder(self.out, TRUTH_FILE) as stage:
            with silent_decoders():
                pictures = [read_image(path)[..., :3] for path in self.images]
            puzzle, truth = shred_images(pictures, self.config, np.random.default_rng(self.seed))
            write_pieces(stage, puzzle, self.key_color)
            write_assembly(stage / TRUTH_FILE, truth, puzzle.names())
            if truth.complete:
                write_ground_truth(stage / AUTHORS_TRUTH_FILE, truth, puzzle.names())
        _say_notes(puzzle.warnings)
        _say(f"{len(puzzle)} pieces and the truth in {self.out}")
        return 0


@dataclass(frozen=True, slots=True)
class Eval:
    """Compare a result with the truth."""

    result: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RESULT")]
    """Folder that `jigsawnet solve` wrote, or an assembly.json."""
    truth: Annotated[Path, tyro.conf.arg(metavar="FOLDER")]
    """Folder of the pieces, with truth.json or groundTruth.txt."""
    gap_px: float = 5.0
    """Pieces whose borders come this close in the truth are neighbours; give more for worn pieces."""
    json: Flag = False
    """Print one JSON line, for programs."""

    def __post_init__(self) -> None:
        if not 0 < self.gap_px <= 1000:
            raise ConfigError("gap-px must be more than 0 and at most 1000.")

    def run(self) -> int:
        """Read, compare, print."""
        with silent_decoders():
            puzzle = load_puzzle(self.truth)
        truth = read_truth(self.truth, puzzle)
        path = self.result / RESULT_FILE if self.result.is_dir() else self.result
        assembly, _ = read_assembly(path, puzzle.names())
        values = dataclasses.asdict(evaluate(puzzle, assembly, truth, self.gap_px))
        candidates = path.parent / CANDIDATES_FILE
        if candidates.is_file():
            found = read_candidates(candidates, puzzle.names())
            values["candidate_recall"] = candidate_recall(puzzle, found, truth, gap_px=self.gap_px)
        for line in [json.dumps(values)] if self.json else _metric_lines(values):
            _say(line)
        return 0


def read_truth(folder: Path, puzzle: Puzzle) -> Assembly:
    """The truth that lies beside the pieces, in our format or the authors'."""
    if (folder / TRUTH_FILE).is_file():
        return read_assembly(folder / TRUTH_FILE, puzzle.names())[0]
    if (folder / AUTHORS_TRUTH_FILE).is_file():
        return read_ground_truth(folder / AUTHORS_TRUTH_FILE, puzzle.names())
    raise InputError(f"{folder} holds no {TRUTH_FILE} and no {AUTHORS_TRUTH_FILE}, so there is nothing to compare with.")


def _write_solution(folder: Path, puzzle: Puzzle, solution: Solution, authors_text: bool) -> None:
    assembly = solution.assembly
    write_assembly(folder / RESULT_FILE, assembly, puzzle.names())
    write_png(folder / "assembly.png", render_assembly(puzzle, assembly))
    write_text(folder / "assembly.svg", assembly_svg(puzzle, assembly))
    write_report(folder / "report.json", solution.report)
    write_candidates(folder / CANDIDATES_FILE, solution.alignments, puzzle.names())
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
    _say_notes(report.warnings)
    parts = {0: "", 1: " in one picture"}.get(len(assembly.components), f" in {len(assembly.components)} separate parts")
    _say(f"{len(assembly.poses)} of {assembly.n_fragments} pieces placed{parts}, {seconds:.1f} s")
    for name in ("assembly.png", "assembly.svg", "report.json"):
        _say(f"  {out / name}")


def _metric_lines(values: dict[str, Any]) -> list[str]:
    def percent(key: str) -> str:
        value = values.get(key)
        return "-" if value is None else f"{100 * value:.1f} %"

    return [
        f"PCR {percent('pcr')} (tight {percent('pcr_tight')})   pieces in the right place, {values['n']} in all",
        f"ACR {percent('acr_precision')} (recall {percent('acr_recall')})   joins that are right",
        f"LCR {percent('lcr')}   largest part connected by right joins",
        f"candidate recall {percent('candidate_recall')}   true neighbours with a right candidate",
    ]


def _check_seed(seed: int) -> None:
    if seed < 0:
        raise ConfigError(f"seed is {seed}; it must be 0 or more.")


def _say(line: str, *, error: bool = False) -> None:
    """Print one line; a character that breaks the line or that the stream cannot show appears as its escape code."""
    stream = sys.stderr if error else sys.stdout
    if stream is None:  # a process may be started without one
        return
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
    encoding = stream.encoding or "utf-8"
    print(shown.encode(encoding, "backslashreplace").decode(encoding), file=stream)


def _say_notes(notes: Sequence[str]) -> None:
    for note in notes:
        _say(f"note: {note}", error=True)


def _say_error(text: str) -> None:
    _say(f"jigsawnet: {text}" if text.endswith((".", "?")) else f"jigsawnet: {text}.", error=True)


@contextmanager
def _progress() -> Iterator[Progress]:
    """A bar with time left for each stage, on a terminal; nothing elsewhere."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield no_progress
        return
    columns = (TextColumn("{task.description:>9}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with RichProgress(*columns, console=Console(stderr=True), transient=True) as bars:
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
    """Run a command and give its exit code; bad input becomes one sentence and 2."""
    commands: dict[str, Callable[..., Any]] = {"solve": Solve, "shred": Shred, "eval": Eval}
    try:
        command = tyro.extras.subcommand_cli_from_dict(commands, prog="jigsawnet", description=DESCRIPTION, args=arguments)
        return int(command.run())
    except JigsawNetError as error:
        _say_error(str(error))
        return 2
    except BrokenPipeError:  # the reader has seen enough, as in `jigsawnet --help | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        _say_error(f"{error.filename or 'A file'} cannot be used: {error.strerror or error}")
        return 2
    except KeyboardInterrupt:
        _say_error("Stopped.")
        return 130

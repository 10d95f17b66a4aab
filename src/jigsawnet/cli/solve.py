"""``jigsawnet solve``."""

from __future__ import annotations

import json
import time
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import tyro

from jigsawnet.borders import is_compiled, mark_compiled
from jigsawnet.cli.commands import without_collecting
from jigsawnet.cli.console import Command, Flag, Operator, Out, answer, check_seed, progress_bars, say, say_error, say_notes
from jigsawnet.cli.signals import leave_on_signals, stop_on_signals
from jigsawnet.cli.view import hold_workbench, watching
from jigsawnet.config import SolveConfig
from jigsawnet.context import Context, StageClock
from jigsawnet.errors import ConfigError, UnreadError
from jigsawnet.io.replay import check_free
from jigsawnet.loading import ScanInput
from jigsawnet.options import group
from jigsawnet.runs import Request, Run, read_size
from jigsawnet.runs.again import kept_edits, solve_again
from jigsawnet.runs.history import check_operator
from jigsawnet.stopping import Stop
from jigsawnet.workers import open_workers

_STARTED = time.time() - time.process_time()
"""About when this process was started."""
STOPPED = 130
"""Exit code after SIGINT (Ctrl-C) or SIGTERM."""


@dataclass(frozen=True, slots=True)
class Solve(Command):
    """Put pieces together, from a folder of them or from scans that show many.

    The pieces and -o are all that is needed; the options of the single stages further down are for fine tuning.
    """

    input: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="PIECES", help_behavior_hint="(required)")]
    """Folder with one picture per piece, with a transparent background or on one plain colour; or scans or photos that show
    many pieces lying apart on one plain background, as files or as a folder."""
    out: Out
    """Folder for the run: solving into it again takes what is done already, and pieces added meanwhile are matched with the old
    ones only. In it are the picture (assembly.png), what to make of it (report.html), the pieces to move by hand
    (assembly.svg), their places (assembly.json and poses.csv), all joins considered (alignments.json) and a record of the run
    (report.json)."""
    seed: int = 0
    """Number that all randomness comes from; the same seed gives the same result."""
    time_limit: float | None = None
    """Seconds after which it ends with the best assembly so far; solving again into the same folder goes on from there."""
    memory_limit: Annotated[str | None, tyro.conf.arg(metavar="SIZE")] = None
    """Memory that may be used, such as 4GB or 512MB; a puzzle that needs more is refused, and what was finished stays."""
    alignments: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Take candidate joins from this alignments.txt of the paper's authors instead of looking for them."""
    tiff: Flag = False
    """Also write the picture as assembly.tif: without loss, with transparency and resolution."""
    full_picture: Flag = False
    """Draw assembly.png at full size also where that is more than 400 million pixels, each of which takes 4 bytes of memory;
    otherwise it is made smaller, and the report says so. Solving again into the same folder with this only draws."""
    authors_text: Flag = False
    """Also write alignments.txt, pose_result_0.txt, ... and selected_transformation.txt, as the program of the paper's authors
    does."""
    workers: int | None = None
    """Cores of this machine that match and score; left out, all. The result is the same."""
    scheduler: Annotated[str | None, tyro.conf.arg(metavar="ADDRESS")] = None
    """Match and score on the Dask cluster whose scheduler is at this address, as tcp://host:8786."""
    weights: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None
    """Use what was learned in this folder, which jigsawnet train writes, instead of what comes with the program."""
    edits: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Corrections by hand from this edits.json, which the workbench (jigsawnet view) writes: what was fixed and forbidden is
    kept, and the rest is solved. Those of the folder that is solved into are kept to without being asked."""
    without_edits: Flag = False
    """Pass over the corrections in the folder that is solved into; they stay in edits.json."""
    operator: Operator = ""
    """Who solves, for the history (history.jsonl)."""
    view: Flag = False
    """Watch in the browser while the pieces come together; afterwards it is the workbench, until Ctrl-C."""
    review: Flag = False
    """See in the browser what is cut out of the scans, and correct it, before the solve is started there; afterwards it is the
    workbench. The corrections are kept in the run folder, in review.json."""
    no_browser: Flag = False
    """With --view or --review: only print the address."""
    json: Flag = False
    """Print a summary as one JSON line, for programs."""
    scans: Annotated[ScanInput, tyro.conf.arg(name="")] = group(ScanInput)
    config: Annotated[SolveConfig, tyro.conf.arg(name="")] = group(SolveConfig)

    def __post_init__(self) -> None:
        check_seed(self.seed)
        if self.time_limit is not None and not self.time_limit >= 0:
            raise ConfigError("time-limit must be a number of seconds, 0 or more.")
        check_operator(self.operator)
        if self.memory_limit is not None:
            read_size(self.memory_limit)

    def run(self) -> int:
        """Solve and write; the exit code says whether every piece is placed in one component, none of them by a guess."""
        request = Request(
            self.input,
            self.scans,
            self.config,
            self.seed,
            self.alignments,
            self.authors_text,
            self.tiff,
            self.full_picture,
            self.weights,
            tuple(self.from_file.splitlines()),
        )
        if self.review:
            return self._review(request)
        stop, limit = Stop.after(self.time_limit), self.memory_limit and read_size(self.memory_limit)
        edits = self.edits or (None if self.without_edits else kept_edits(self.out))
        passed_over = check_free(self.out, edits)
        holding = nullcontext if self.view else partial(hold_workbench, self.out)
        if edits and not self.edits:
            with holding():  # an open workbench is told before the long work
                say_notes([] if self.json else [f"The edits in {self.out} are kept; --without-edits passes over them."])
        code = STOPPED
        if not (compiled := is_compiled()):
            from jigsawnet.cli.compiling import compile_beside  # noqa: PLC0415 - once after an installation

            compile_beside()
            if not self.json:
                say_notes(["Preparing compiled code; this happens once after an installation."])
        with watching(self.view, self.out, stop, self.no_browser, check_operator(self.operator)) as watcher:

            def on_pieces(run: Run) -> None:
                if not self.json:
                    say_notes(run.puzzle.warnings)  # what a person should know before the long work
                watcher.on_pieces(run)

            with (
                open_workers(self.workers, self.scheduler) as workers, stop_on_signals(stop), progress_bars() as progress,
                nullcontext() if compiled else without_collecting(),
            ):  # fmt: skip
                try:
                    run = solve_again(
                        request, self.out, edits=edits, holding=holding,
                        context=Context(watcher.with_progress(progress), stop, workers, StageClock(_STARTED)),
                        memory_limit=limit or None, on_pieces=on_pieces, on_poses=watcher.on_snapshot,
                        operator=check_operator(self.operator),
                    )  # fmt: skip
                except UnreadError as error:
                    say_error(str(error))
                    return STOPPED if stop.is_requested else 1
            if not run.cut_short:
                mark_compiled()
            _say_run(run, self.json)
            if passed_over and not self.json:
                say_notes([f"The edits in {self.out} were passed over; they are kept to without --without-edits."])
            if not stop.is_requested or watcher.has_stopped:
                code = 0 if run.assembly.complete and not run.guesses and not run.cut_short else 1
                with leave_on_signals():
                    watcher.stay(run)
        return code

    def _review(self, request: Request) -> int:
        """Show what is cut out first."""
        from jigsawnet.cli.review import review_first  # noqa: PLC0415 - only this needs the extra web

        for option in ("view", "json", "edits", "time_limit", "memory_limit", "workers", "scheduler"):
            if getattr(self, option):
                raise ConfigError(f"--review cannot be combined with --{option.replace('_', '-')}; give only one of them.")
        if self.scans.corrections is not None:
            raise ConfigError("--review begins with the corrections in the run folder; leave --corrections out.")
        return review_first(request, self.out, self.no_browser)


def _say_run(run: Run, as_json: bool) -> None:
    assembly, report = run.assembly, run.report
    seconds = run.seconds
    if as_json:
        answer(json.dumps({
            "out": str(run.folder), "pieces": assembly.n_pieces, "placed": len(assembly.poses),
            "guesses": len(run.guesses), "components": len(assembly.components), "seconds": round(seconds, 3),
            "warnings": report.warnings,
            "stages": {"done": run.done, "reused": run.reused}, "pairs_matched": run.pairs_matched, "cut_short": run.cut_short,
        }))  # fmt: skip
        return
    if not assembly.poses and run.cut_short:
        say_notes(("It was stopped before any piece was placed.",))
    say_notes(report.warnings[len(run.puzzle.warnings) :])
    parts = {0: "", 1: " in one picture"}.get(len(assembly.components), f" in {len(assembly.components)} separate parts")
    before = "" if run.done or run.cut_short else "; all of it was done already"
    guesses = f", {len(run.guesses)} of them by a guess" if run.guesses else ""
    say(f"{len(assembly.poses)} of {assembly.n_pieces} pieces placed{parts}{guesses}, {seconds:.1f} s{before}")
    for name in ("assembly.png", "assembly.svg", "report.html"):
        say(f"  {run.folder / name}")

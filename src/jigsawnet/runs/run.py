"""A run, as it lies in its folder: pieces, scored candidates, assembly, and the record of how they came about."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from jigsawnet.config import SolveConfig
from jigsawnet.io.run_folder import RunFolder, lock_folder
from jigsawnet.judging import Judge
from jigsawnet.pipeline import assemble, trace_bank
from jigsawnet.raster import ShapeBank
from jigsawnet.runs.keys import assembly_key, results_key
from jigsawnet.runs.request import Request, effective_config, request_to_plain
from jigsawnet.runs.results import write_results
from jigsawnet.runs.stages import Pieces, assembly_from_arrays, assembly_to_arrays
from jigsawnet.stage_clock import StageClock
from jigsawnet.stopping import Stop
from jigsawnet.types import (
    Alignment,
    Assembly,
    Constraints,
    Fragment,
    MatchGraph,
    Progress,
    Puzzle,
    RunReport,
    StageReport,
    no_progress,
)
from jigsawnet.version import __version__
from jigsawnet.workers import Workers

DRAFT = "draft-"
"""Stages that were cut short are saved under their name behind this: they can be looked at, but are done again."""
CUT_SHORT = "It was stopped before it was finished; this is the best so far, and solving again goes on from here."
NOTHING_DECIDED = Constraints()


@dataclass(frozen=True, eq=False)
class Run:
    """A run and what it found; a run that was stopped early has what there was at that time."""

    folder: Path
    request: Request
    puzzle: Puzzle
    backs: Mapping[int, Fragment]
    dpi: float | None
    alignments: tuple[Alignment, ...]
    """The candidates in the matcher's order."""
    graph: MatchGraph
    """All scored candidates, best first."""
    graph_key: str
    assembly: Assembly
    candidate_stages: tuple[StageReport, ...] = ()
    """Seconds and counts of the stages up to the scores."""
    assembly_stages: tuple[StageReport, ...] = ()
    notes: tuple[str, ...] = ()
    """What was found out about the pieces after they were read, in sentences."""
    graph_cut_short: bool = False
    """True when candidates are missing, since the time or a person ended the search."""
    cut_short: bool = False
    """True when the time or a person ended it before it was finished."""
    done: tuple[str, ...] = ()
    """Stages that were done by this call, in order."""
    reused: tuple[str, ...] = ()
    """Stages that had been saved before and were taken as they are."""
    pairs_matched: int = 0
    """Pairs of pieces that this call laid against each other."""
    workers: Workers | None = None
    """Who matches and scores; None: the cores of this machine."""

    @property
    def config(self) -> SolveConfig:
        """The options as they are used."""
        return effective_config(self.request)

    @property
    def report(self) -> RunReport:
        """The record of the run."""
        stages, options = self.candidate_stages + self.assembly_stages, dataclasses.asdict(self.config)
        warnings = (*self.puzzle.warnings, *self.notes, *((CUT_SHORT,) if self.cut_short else ()))
        return RunReport(__version__, self.puzzle.name, self.request.seed, stages, warnings, options)

    @cached_property
    def bank(self) -> ShapeBank:
        """The contours of the pieces; traced when first asked for."""
        return trace_bank(self.puzzle, self.config, StageClock())

    @cached_property
    def judge(self) -> Judge:
        """Who scores joins that come about while composing."""
        return Judge(self.puzzle, self.bank, self.config.chosen_scorer, self.alignments, self.workers)

    def changed(self, **changes: object) -> Run:
        """A copy with other values of some fields; contours that were traced are kept."""
        other = dataclasses.replace(self, **changes)  # type: ignore[arg-type]
        for name in ("bank",) if "alignments" in changes else ("bank", "judge"):
            if name in self.__dict__:
                other.__dict__[name] = self.__dict__[name]
        return other

    def solve_on(
        self, constraints: Constraints = NOTHING_DECIDED, *, progress: Progress = no_progress, stop: Stop | None = None
    ) -> Run:
        """Compose again from the saved candidates with what a person has decided, and write the results.

        Raises:
            InputError: the constraints contradict each other; nothing has changed.
            OutputError: somebody else writes into the folder, or it cannot be written.
        """
        with lock_folder(self.folder, __version__) as folder:
            run = self.changed(done=(), reused=(), pairs_matched=0)
            return assemble_run(folder, run, constraints, progress, stop or Stop())


def unsolved_run(folder: Path, request: Request, pieces: Pieces) -> Run:
    """A run that knows no more than its pieces."""
    puzzle, n = pieces.puzzle, len(pieces.puzzle)
    nothing = MatchGraph(n, ()), "", Assembly(n, {}, ())
    return Run(folder, request, puzzle, pieces.backs, pieces.dpi, (), *nothing)


def assemble_run(folder: RunFolder, run: Run, constraints: Constraints, progress: Progress, stop: Stop) -> Run:
    """Take the saved assembly, or compose and save it, and write the results; ``folder`` is locked."""
    key = assembly_key(run.graph_key, run.config, run.request.seed, constraints)
    saved = None if run.graph_cut_short else folder.load("assembly", key)
    assembly = saved and assembly_from_arrays(saved[1])
    if saved and assembly and assembly.n_fragments == len(run.puzzle):
        reused = (*run.reused, "assembly")
        run = run.changed(assembly=assembly, assembly_stages=saved[0].reports, cut_short=False, reused=reused)
        folder.drop(f"{DRAFT}graph", f"{DRAFT}assembly")
    else:
        run = _compose(folder, run, key, constraints, progress, stop)
    _write(folder, run, results_key(key, run.puzzle.names(), run.dpi, run.request))
    return run


def _compose(folder: RunFolder, run: Run, key: str, constraints: Constraints, progress: Progress, stop: Stop) -> Run:
    clock = StageClock()
    assembly = assemble(
        run.puzzle, run.bank, run.graph, run.config, clock,
        judge=run.judge, seed=run.request.seed, constraints=constraints, stop=stop, progress=progress, workers=run.workers,
    )  # fmt: skip
    cut_short, reports = run.graph_cut_short or stop.has_cut, tuple(clock.stages)
    folder.save(f"{DRAFT}assembly" if cut_short else "assembly", key, run.graph_key, assembly_to_arrays(assembly), reports)
    if not cut_short:
        folder.drop(f"{DRAFT}graph", f"{DRAFT}assembly")
    return run.changed(assembly=assembly, assembly_stages=reports, cut_short=cut_short, done=(*run.done, "assembly"))


def _write(folder: RunFolder, run: Run, key: str) -> None:
    """Write the results unless they are there; while they are replaced, ``run.json`` does not vouch for them."""
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

"""A run, as it lies in its folder: pieces, scored candidates, assembly, and the record of how they came about."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from jigsawnet.config import SolveConfig
from jigsawnet.io.run_folder import lock_folder
from jigsawnet.judging import Judge
from jigsawnet.match import Scales
from jigsawnet.pipeline import trace_bank
from jigsawnet.raster import ShapeBank
from jigsawnet.runs.assembling import assemble_run
from jigsawnet.runs.request import Request, effective_config
from jigsawnet.runs.snapshots import OnPoses
from jigsawnet.runs.stages import Candidates, Pieces, Steps
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
    """Stages that were finished by this call, in order."""
    reused: tuple[str, ...] = ()
    """Stages that had been saved before and were taken as they are."""
    pairs_matched: int = 0
    """Pairs of pieces that this call laid against each other."""
    steps: Steps | None = None
    """The steps that the contours were traced with; None: their own."""
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
        """The contours of the pieces; traced when first asked for, as the matcher saw them."""
        scales = None if self.steps is None else Scales(*self.steps, 0.0, np.zeros(0, np.int64))
        return trace_bank(self.puzzle, self.config, StageClock(), scales)

    @cached_property
    def judge(self) -> Judge:
        """Who scores joins that come about while composing."""
        return Judge(self.puzzle, self.bank, self.config.chosen_scorer, self.alignments, self.workers)

    def with_bank(self, bank: ShapeBank) -> Run:
        """A copy that need not trace the contours."""
        other = self.changed()
        other.__dict__["bank"] = bank
        return other

    def with_candidates(self, found: Candidates, reports: tuple[StageReport, ...]) -> Run:
        """A copy with the candidates of the matcher, not yet scored."""
        return self.changed(alignments=found.alignments, notes=found.notes, steps=found.steps, candidate_stages=reports)

    def changed(self, **changes: object) -> Run:
        """A copy with other values of some fields; contours that were traced are kept."""
        other = dataclasses.replace(self, **changes)  # type: ignore[arg-type]
        for name in ("bank",) if "alignments" in changes else ("bank", "judge"):
            if name in self.__dict__:
                other.__dict__[name] = self.__dict__[name]
        return other

    def solve_on(
        self,
        constraints: Constraints = NOTHING_DECIDED,
        *,
        progress: Progress = no_progress,
        stop: Stop | None = None,
        on_snapshot: OnPoses | None = None,
    ) -> Run:
        """Compose again from the saved candidates with what a person has decided, and write the results.

        ``on_snapshot`` is shown the pieces that are joined so far, some times a second, as poses in one frame.

        Raises:
            InputError: the constraints contradict each other; nothing has changed.
            OutputError: somebody else writes into the folder, or it cannot be written.
        """
        with lock_folder(self.folder, __version__) as folder:
            run = self.changed(done=(), reused=(), pairs_matched=0)
            return assemble_run(folder, run, constraints, progress, stop or Stop(), on_snapshot)


def unsolved_run(folder: Path, request: Request, pieces: Pieces) -> Run:
    """A run that knows no more than its pieces."""
    puzzle, n = pieces.puzzle, len(pieces.puzzle)
    nothing = MatchGraph(n, ()), "", Assembly(n, {}, ())
    return Run(folder, request, puzzle, pieces.backs, pieces.dpi, (), *nothing)

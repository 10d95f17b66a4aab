"""The corridor: every stage in order, each a pure function of what came before."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from jigsawnet.compose import compose
from jigsawnet.confidence import judge_assembly, leave_out_unsure
from jigsawnet.config import SolveConfig
from jigsawnet.contours import trace_contours
from jigsawnet.graph import build_graph
from jigsawnet.match import propose_alignments
from jigsawnet.raster import ShapeBank, build_bank
from jigsawnet.refine import refine_poses
from jigsawnet.render.layout import straighten_components
from jigsawnet.second_round import second_round
from jigsawnet.types import Alignment, Assembly, Constraints, MatchGraph, Progress, Puzzle, RunReport, StageReport, no_progress
from jigsawnet.version import __version__


@dataclass(frozen=True, slots=True)
class Solution:
    """What a solve gives: the assembly, the candidates it chose from, and the record of the run."""

    assembly: Assembly
    alignments: tuple[Alignment, ...]
    report: RunReport


def solve_puzzle(
    puzzle: Puzzle,
    config: SolveConfig | None = None,
    *,
    seed: int = 0,
    constraints: Constraints = Constraints(),  # noqa: B008 - frozen and empty
    time_limit: float | None = None,
    progress: Progress = no_progress,
) -> Solution:
    """Put a puzzle together and report each stage.

    Args:
        puzzle: the pieces.
        config: options of the stages; None takes the defaults.
        seed: recorded, and the only source of randomness for stages that use any.
        constraints: what a person has decided.
        time_limit: seconds after which composition ends with the best it has.
        progress: told how far each stage is.
    """
    config = config or SolveConfig()
    clock = _Clock()
    deadline = None if time_limit is None else time.monotonic() + time_limit
    with clock.stage("contours") as counts:
        contours = trace_contours(puzzle, config.contours)
        bank = build_bank(contours)
        lost = [f.name for f, c in zip(puzzle.fragments, contours, strict=True) if c is None]
        counts.update(pieces=len(puzzle), samples=len(bank.points))
    with clock.stage("match") as counts:
        alignments = propose_alignments(bank, config.matcher, config.match, progress)
        counts.update(candidates=len(alignments))
    with clock.stage("compose") as counts:
        graph = build_graph(len(puzzle), alignments, [a.fit for a in alignments])
        assembly = _compose(graph, bank, config, constraints, seed, deadline, progress)
        counts.update(
            joins=len(assembly.edges), components=len(assembly.components),
            placed=len(assembly.poses), unplaced=len(assembly.unplaced),
        )  # fmt: skip
    with clock.stage("refine") as counts:
        assembly, stats = refine_poses(assembly, bank, config.refine, progress, pinned=constraints.pinned)
        counts.update(dataclasses.asdict(stats))
    if config.matcher == "dense" and config.second_round.enabled:
        with clock.stage("second round") as counts:
            assembly, found = second_round(puzzle, bank, graph, assembly, config.second_round, constraints)
            if found.groups_merged:
                assembly, _ = refine_poses(assembly, bank, config.refine, progress, pinned=constraints.pinned)
            counts.update(dataclasses.asdict(found))
    assembly = leave_out_unsure(judge_assembly(assembly, graph), config.min_confidence)
    if not constraints.pinned:
        assembly = straighten_components(puzzle, assembly)
    warnings = puzzle.warnings + tuple(f"{name} is too small to have a border and was left out." for name in lost)
    report = RunReport(__version__, puzzle.name, seed, tuple(clock.stages), warnings, dataclasses.asdict(config))
    return Solution(assembly, alignments, report)


def _compose(
    graph: MatchGraph,
    bank: ShapeBank,
    config: SolveConfig,
    constraints: Constraints,
    seed: int,
    deadline: float | None,
    progress: Progress,
) -> Assembly:
    """Baseline matchers score by rank, not by probability: they compose greedily, down to their last candidate."""
    options, composer = config.compose, config.composer or "hlm"
    if config.matcher != "dense":
        options, composer = dataclasses.replace(options, min_score=0.0), config.composer or "best-first"
    return compose(graph, bank, composer, options, constraints=constraints, seed=seed, deadline=deadline, progress=progress)


def solve(puzzle: Puzzle, config: SolveConfig | None = None, *, progress: Progress = no_progress) -> Assembly:
    """Put a puzzle together: `solve_puzzle` without the record."""
    return solve_puzzle(puzzle, config, progress=progress).assembly


class _Clock:
    """Collects a `StageReport` for every stage."""

    def __init__(self) -> None:
        self.stages: list[StageReport] = []

    @contextmanager
    def stage(self, name: str) -> Iterator[dict[str, int | float]]:
        counts: dict[str, int | float] = {}
        start = time.perf_counter()
        yield counts
        self.stages.append(StageReport(name, time.perf_counter() - start, counts))

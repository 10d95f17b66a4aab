"""The corridor: every stage in order, each a pure function of what came before."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from jigsawnet.compose import compose
from jigsawnet.config import SolveConfig
from jigsawnet.contours import trace_contours
from jigsawnet.graph import build_graph
from jigsawnet.match import propose_alignments
from jigsawnet.raster import build_bank
from jigsawnet.refine import refine_poses
from jigsawnet.render.layout import straighten_components
from jigsawnet.types import Alignment, Assembly, Progress, Puzzle, RunReport, StageReport, no_progress
from jigsawnet.version import __version__


@dataclass(frozen=True, slots=True)
class Solution:
    """What a solve gives: the assembly, the candidates it chose from, and the record of the run."""

    assembly: Assembly
    alignments: tuple[Alignment, ...]
    report: RunReport


def solve_puzzle(
    puzzle: Puzzle, config: SolveConfig | None = None, *, seed: int = 0, progress: Progress = no_progress
) -> Solution:
    """Put a puzzle together and report each stage.

    Args:
        puzzle: the pieces.
        config: options of the stages; None takes the defaults.
        seed: recorded, and the only source of randomness for stages that use any.
        progress: told how far each stage is.
    """
    config = config or SolveConfig()
    clock = _Clock()
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
        assembly = compose(graph, bank, config.compose, progress)
        counts.update(
            joins=len(assembly.edges), components=len(assembly.components),
            placed=len(assembly.poses), unplaced=len(assembly.unplaced),
        )  # fmt: skip
    with clock.stage("refine") as counts:
        assembly, stats = refine_poses(assembly, bank, config.refine, progress)
        counts.update(dataclasses.asdict(stats))
        assembly = straighten_components(puzzle, assembly)
    warnings = puzzle.warnings + tuple(f"{name} is too small to have a border and was left out." for name in lost)
    report = RunReport(__version__, puzzle.name, seed, tuple(clock.stages), warnings, dataclasses.asdict(config))
    return Solution(assembly, alignments, report)


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

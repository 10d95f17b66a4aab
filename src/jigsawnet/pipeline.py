"""The corridor: every stage in order, each a pure function of what came before."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from jigsawnet.compose import ComposeConfig, ComposerName, OnSnapshot, compose
from jigsawnet.confidence import judge_assembly, leave_out_unsure
from jigsawnet.config import SolveConfig
from jigsawnet.contours import trace_again
from jigsawnet.graph import build_graph
from jigsawnet.judging import Judge
from jigsawnet.match import Known, Scales, propose_with_known
from jigsawnet.raster import ShapeBank, build_bank
from jigsawnet.refine import refine_poses
from jigsawnet.render.layout import straighten_components
from jigsawnet.second_round import second_round
from jigsawnet.stage_clock import StageClock
from jigsawnet.stopping import Stop
from jigsawnet.types import Alignment, Assembly, Constraints, MatchGraph, Progress, Puzzle, RunReport, no_progress
from jigsawnet.version import __version__
from jigsawnet.workers import Workers


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
    candidates: Sequence[Alignment] | None = None,
    time_limit: float | None = None,
    stop: Stop | None = None,
    workers: Workers | None = None,
    progress: Progress = no_progress,
) -> Solution:
    """Put a puzzle together and report each stage.

    Args:
        puzzle: the pieces.
        config: options of the stages; None takes the defaults.
        seed: recorded, and the only source of randomness for stages that use any.
        constraints: what a person has decided.
        candidates: joins to choose from, found by another program; None finds them here. Their fits only rank them.
        time_limit: seconds after which it ends with the best it has.
        stop: ends it early as the time limit does, and takes its place.
        workers: who matches and scores; None are the cores of this machine. The result is the same.
        progress: told how far each stage is.
    """
    config = config or SolveConfig()
    clock, stop = StageClock(), stop or Stop.after(time_limit)
    if candidates is None:
        bank, alignments = find_candidates(puzzle, config, clock, progress, workers, stop)
    else:
        bank, alignments, config = trace_bank(puzzle, config, clock), rank_given(candidates), config_for_given(config)
    judge, graph = score_candidates(puzzle, bank, alignments, config, clock, progress, workers, stop)
    assembly = assemble(
        puzzle, bank, graph, config, clock,
        judge=judge, seed=seed, constraints=constraints, stop=stop, workers=workers, progress=progress,
    )  # fmt: skip
    warnings = puzzle.warnings + without_border(puzzle, bank)
    report = RunReport(__version__, puzzle.name, seed, tuple(clock.stages), warnings, dataclasses.asdict(config))
    return Solution(assembly, alignments, report)


def without_border(puzzle: Puzzle, bank: ShapeBank) -> tuple[str, ...]:
    """A sentence for every piece that is too small to be matched."""
    lost = (puzzle.fragments[k].name for k in range(len(puzzle)) if bank.first[k] == bank.first[k + 1])
    return tuple(f"{name} is too small to have a border and was left out." for name in lost)


def find_candidates(
    puzzle: Puzzle,
    config: SolveConfig,
    clock: StageClock | None = None,
    progress: Progress = no_progress,
    workers: Workers | None = None,
    stop: Stop | None = None,
) -> tuple[ShapeBank, tuple[Alignment, ...]]:
    """The first half: pieces → contours → candidate joins."""
    found = find_with_known(puzzle, config, None, clock, progress, workers, stop)
    return found.bank, found.alignments


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Candidates of a puzzle, the borders they were found on, and what to keep for when pieces are added."""

    bank: ShapeBank
    alignments: tuple[Alignment, ...]
    kept: Known | None


def find_with_known(
    puzzle: Puzzle,
    config: SolveConfig,
    known: Known | None,
    clock: StageClock | None = None,
    progress: Progress = no_progress,
    workers: Workers | None = None,
    stop: Stop | None = None,
) -> Found:
    """As `find_candidates`; pairs of pieces that are ``known``, in today's numbers, are not looked at again.

    Contours are traced with the kept step while that is within a tenth; otherwise nothing counts as known.
    """
    clock = clock or StageClock()
    bank, step_px = _trace(puzzle, config, clock, known.scales if known else None)
    with clock.stage("match") as counts:
        proposed = propose_with_known(bank, step_px, config.matcher, config.match, known, progress, workers, stop)
        counts.update(candidates=len(proposed.alignments), pairs=proposed.new_pairs)
    return Found(bank, proposed.alignments, proposed.kept)


def trace_bank(puzzle: Puzzle, config: SolveConfig, clock: StageClock, scales: Scales | None = None) -> ShapeBank:
    """Pieces → contours, laid out for the compiled loops; with the kept ``scales`` of a run, the same as there."""
    return _trace(puzzle, config, clock, scales)[0]


def _trace(puzzle: Puzzle, config: SolveConfig, clock: StageClock, scales: Scales | None) -> tuple[ShapeBank, float]:
    with clock.stage("contours") as counts:
        contours, step_px = trace_again(puzzle, config.contours, scales.contour_step_px if scales else None)
        kept = scales is not None and step_px == scales.contour_step_px
        bank = build_bank(contours, step_px=scales.bank_step_px if scales and kept else None)
        counts.update(pieces=len(puzzle), samples=len(bank.points))
    return bank, step_px


def rank_given(candidates: Sequence[Alignment]) -> tuple[Alignment, ...]:
    """Candidates of another program with their fits divided by the largest."""
    largest = max((a.fit for a in candidates), default=0.0)
    return tuple(dataclasses.replace(a, fit=max(0.0, a.fit / largest) if largest > 0 else 0.0) for a in candidates)


def config_for_given(config: SolveConfig) -> SolveConfig:
    """Options for candidates of another program: scored by their fits, which are ranks, unless a scorer is named."""
    config = dataclasses.replace(config, scorer=config.scorer or "fit")
    if config.scorer != "fit":
        return config
    return dataclasses.replace(config, compose=dataclasses.replace(config.compose, min_score=0.0))


def score_candidates(
    puzzle: Puzzle,
    bank: ShapeBank,
    alignments: Sequence[Alignment],
    config: SolveConfig,
    clock: StageClock,
    progress: Progress = no_progress,
    workers: Workers | None = None,
    stop: Stop | None = None,
) -> tuple[Judge, MatchGraph]:
    """Candidates → scores, and the judge that gave them."""
    with clock.stage("score") as counts:
        judge = Judge(puzzle, bank, config.chosen_scorer, alignments, workers)
        graph = build_graph(len(puzzle), alignments, judge(alignments, progress, stop).tolist())
        counts.update(likely=sum(edge.score >= config.compose.min_score for edge in graph.edges))
    return judge, graph


def assemble(
    puzzle: Puzzle,
    bank: ShapeBank,
    graph: MatchGraph,
    config: SolveConfig,
    clock: StageClock | None = None,
    *,
    judge: Judge | None = None,
    seed: int = 0,
    constraints: Constraints = Constraints(),  # noqa: B008 - frozen and empty
    stop: Stop | None = None,
    progress: Progress = no_progress,
    workers: Workers | None = None,
    on_snapshot: OnSnapshot | None = None,
) -> Assembly:
    """The second half: scored candidates → composition → refinement → second round → confidence.

    ``judge`` scores the joins that come about on the way; None scores them by their fit. ``on_snapshot`` is shown the groups
    while they grow.
    """
    clock = clock or StageClock()
    laid = lay_pieces(puzzle, bank, graph, config, clock, judge, seed, constraints, stop, progress, workers, on_snapshot)
    assembly = leave_out_unsure(judge_assembly(laid, graph, constraints), config.min_confidence, constraints.pinned)
    return assembly if constraints.pinned else straighten_components(puzzle, assembly)


def lay_pieces(
    puzzle: Puzzle,
    bank: ShapeBank,
    graph: MatchGraph,
    config: SolveConfig,
    clock: StageClock,
    judge: Judge | None = None,
    seed: int = 0,
    constraints: Constraints = Constraints(),  # noqa: B008 - frozen and empty
    stop: Stop | None = None,
    progress: Progress = no_progress,
    workers: Workers | None = None,
    on_snapshot: OnSnapshot | None = None,
) -> Assembly:
    """As `assemble`, up to the second round: the joins keep their scores, and pieces have no confidence yet."""
    stop = stop or Stop()
    with clock.stage("compose") as counts:
        composer, options = _composer(config)
        assembly = compose(
            graph, bank, composer, options, constraints=constraints, seed=seed, stop=stop, progress=progress,
            on_snapshot=on_snapshot, names=puzzle.names(),
        )  # fmt: skip
        counts.update(
            joins=len(assembly.edges), components=len(assembly.components),
            placed=len(assembly.poses), unplaced=len(assembly.unplaced),
        )  # fmt: skip
    with clock.stage("refine") as counts:
        assembly, stats = refine_poses(assembly, bank, config.refine, progress, pinned=constraints.pinned)
        counts.update(dataclasses.asdict(stats))
    if config.matcher == "dense" and config.second_round.enabled and not stop.is_over():
        with clock.stage("second round") as counts:
            assembly, found = second_round(
                puzzle, bank, graph, assembly, config.compose.min_score, config.second_round, constraints, judge, workers, stop
            )
            if found.groups_merged:
                assembly, _ = refine_poses(assembly, bank, config.refine, progress, pinned=constraints.pinned)
            counts.update(dataclasses.asdict(found))
    return assembly


def _composer(config: SolveConfig) -> tuple[ComposerName, ComposeConfig]:
    """The fits of baseline matchers are ranks, not probabilities: with these, compose greedily, down to the last candidate."""
    if config.chosen_scorer == "fit" and config.matcher != "dense":
        return config.composer or "best-first", dataclasses.replace(config.compose, min_score=0.0)
    return config.composer or "hlm", config.compose


def solve(puzzle: Puzzle, config: SolveConfig | None = None, *, progress: Progress = no_progress) -> Assembly:
    """Put a puzzle together: `solve_puzzle` without the record."""
    return solve_puzzle(puzzle, config, progress=progress).assembly

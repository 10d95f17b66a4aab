"""``jigsawnet bench detect``: how well right candidates are told from wrong ones, and what that is worth to the composers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

from jigsawnet.evaluation.bench_compose import methods
from jigsawnet.evaluation.bench_solve import NEIGHBOR_PX
from jigsawnet.evaluation.detect_candidates import (
    SCORERS,
    Candidates,
    Job,
    Verdict,
    cut_puzzle,
    detect_jobs,
    find,
    label,
    score,
)
from jigsawnet.evaluation.detect_networks import Ensemble, judge, load_ensembles
from jigsawnet.evaluation.detect_plots import plot_calibration, plot_convergence, plot_greedy, plot_networks, plot_scorers
from jigsawnet.evaluation.detect_tables import (
    calibration_rows,
    calibrations,
    convergence_rows,
    decision_rows,
    decision_table,
    greedy_rows,
    greedy_table,
    speed_rows,
)
from jigsawnet.evaluation.metrics import evaluate
from jigsawnet.evaluation.results import Row, mean_rows, write_results
from jigsawnet.graph import build_graph
from jigsawnet.judging import Judge
from jigsawnet.match import MatcherName
from jigsawnet.pipeline import assemble
from jigsawnet.pixels import build_pixels
from jigsawnet.raster import ShapeBank
from jigsawnet.score import ScorerName
from jigsawnet.score.seam_path import unit_of
from jigsawnet.score.views import SeamViews
from jigsawnet.types import Alignment, Assembly, Progress, Puzzle, no_progress

SHOWN_TO_NETWORKS: tuple[MatcherName, ...] = ("dense", "zhang")
"""Whose candidates the networks of the paper's table are compared on."""
_MEANS = ("pcr", "pcr_tight", "acr_precision", "acr_recall", "lcr")
_WARM_UP = 64


def bench_detect(
    photos: Path, out: Path, runs: Sequence[Path], seeds: Sequence[int], largest: int, command: str,
    progress: Progress = no_progress,
) -> list[list[Row]]:  # fmt: skip
    """Compare networks and scorers on the same candidates, and composers with each scorer; write tables and figures.

    ``runs`` are folders of finished trainings: the networks without RoI and the curves of convergence come from there.
    Gives the tables: decisions, greedy selection, calibration, convergence, speed, and what the composers make of the scores.
    """
    jobs = detect_jobs(photos, seeds, largest)
    ensembles = load_ensembles(runs)
    out.mkdir(parents=True, exist_ok=True)
    steps, total = count(1), sum(_steps(job) for job in jobs)
    sets: list[Candidates] = []
    solved: list[Row] = []
    for number, job in enumerate(jobs):
        if not number:
            _warm_up(job)
        own_sets, own_rows = study_puzzle(job, ensembles, lambda: progress("bench", next(steps), total))
        sets += own_sets
        solved += own_rows
    return _write(out, command, sets, solved, ensembles)


def study_puzzle(job: Job, ensembles: Sequence[Ensemble], tell: Callable[[], None]) -> tuple[list[Candidates], list[Row]]:
    """Cut one puzzle; candidates of each matcher, found once, with what every detector says; and solves of the dense ones."""
    puzzle, truth = cut_puzzle(job)
    sets: list[Candidates] = []
    rows: list[Row] = []
    for matcher in job.kind.matchers:
        bank, found = find(puzzle, matcher)
        scored = {scorer: score(puzzle, bank, found, scorer) for scorer in SCORERS}
        verdicts: dict[str, Verdict] = {scorer: verdict for scorer, (_, verdict) in scored.items()}
        tell()
        if matcher == "dense":
            rows = solve_with_scorers(job, puzzle, truth, bank, found, scored)
            tell()
        if job.kind.networks and matcher in SHOWN_TO_NETWORKS:
            views = SeamViews(build_pixels(puzzle, unit_of(bank)), bank, found)
            for ensemble in ensembles:
                verdicts |= judge(ensemble, views)
            tell()
        sets.append(label(job, matcher, puzzle, truth, found, verdicts))
    return sets, rows


def solve_with_scorers(
    job: Job, puzzle: Puzzle, truth: Assembly, bank: ShapeBank, found: Sequence[Alignment],
    scored: Mapping[ScorerName, tuple[Judge, Verdict]],
) -> list[Row]:  # fmt: skip
    """The paper's composers by themselves, and the default, with the scores of each scorer."""
    graphs = {scorer: build_graph(len(puzzle), found, verdict.score.tolist()) for scorer, (_, verdict) in scored.items()}
    rows: list[Row] = []
    for method in methods():
        for scorer, graph in graphs.items():
            assembly = assemble(
                puzzle, bank, graph, replace(method.config, scorer=scorer), judge=scored[scorer][0], seed=job.seed
            )
            metrics = evaluate(puzzle, assembly, truth, NEIGHBOR_PX + 2 * job.kind.shred.erosion_px)
            rows.append({
                "puzzle": job.kind.name, "method": method.name, "scorer": scorer, "seed": job.seed,
                "picture": job.picture.name, **{name: round(getattr(metrics, name) or 0.0, 4) for name in _MEANS},
            })  # fmt: skip
    return rows


def _steps(job: Job) -> int:
    shown = len(set(SHOWN_TO_NETWORKS).intersection(job.kind.matchers)) if job.kind.networks else 0
    return len(job.kind.matchers) + ("dense" in job.kind.matchers) + shown


def _warm_up(job: Job) -> None:
    """Score a few candidates, so that nothing is compiled while the clock runs."""
    puzzle, _ = cut_puzzle(job)
    bank, found = find(puzzle, "dense")
    for scorer in SCORERS:
        score(puzzle, bank, found[:_WARM_UP], scorer)


def _write(
    out: Path, command: str, sets: Sequence[Candidates], solved: Sequence[Row], ensembles: Sequence[Ensemble]
) -> list[list[Row]]:
    """Write every table as JSON and Markdown, and the figures beside them."""
    greedy, scorers = greedy_rows(sets), calibrations(sets)
    tables: dict[str, tuple[list[Row], list[Row]]] = {
        "detect": (decision_rows(sets), decision_table(sets)),
        "detect_greedy": (greedy, greedy_table(greedy)),
        "detect_calibration": calibration_rows(scorers),
        "detect_convergence": convergence_rows(ensembles),
        "detect_speed": speed_rows(sets),
        "detect_solve": ([*solved], mean_rows(solved, ("puzzle", "method", "scorer"), _MEANS)),
    }
    for name, (rows, summary) in tables.items():
        write_results(out, name, command, rows, summary)
    plot_networks(sets, out / "detect_networks.png")
    plot_scorers(sets, out / "detect_scorers.png")
    plot_greedy(tables["detect_greedy"][1], [c.kind.name for c in sets if c.kind.plain], out / "detect_greedy.png")
    plot_convergence(ensembles, out / "detect_convergence.png")
    plot_calibration(scorers, out / "detect_calibration.png")
    return [summary for _, summary in tables.values()]

"""Records of one stage looked at → tables and figures: matchers, composers, detectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jigsawnet_bench import plots
from jigsawnet_bench.decisions import (
    Judged,
    calibration_rows,
    calibrations,
    convergence_rows,
    decision_rows,
    greedy_rows,
    precision_rows,
    speed_rows,
)
from jigsawnet_bench.methods import Task
from jigsawnet_bench.networks import NETWORKS, Verdict, load_ensembles
from jigsawnet_bench.real import real_tables
from jigsawnet_bench.records import Run
from jigsawnet_bench.results import Row
from jigsawnet_bench.tables import mean_rows
from jigsawnet_bench.tasks import MEANS, SCORERS
from jigsawnet_bench.tiles import FALSE_PER_TRUE, compose_tiles

Tables = dict[str, tuple[Sequence[Row], Sequence[Row]]]
"""By the name of the results file: a row for each puzzle, and the summary."""


def match_tables(runs: Sequence[Run], out: Path, trainings: Sequence[Path]) -> Tables:
    """How many true neighbours the matchers find, how fast, in how much memory."""
    rows = list(_rows(runs))
    means = ("recall", "recall_touching", "per_piece", "residual_px", "ms_per_pair", "seconds")
    return {"match": (rows, mean_rows(rows, ("puzzle", "matcher"), means, ("seconds", "peak_mb")))}


def compose_tables(runs: Sequence[Run], out: Path, trainings: Sequence[Path]) -> Tables:
    """What the composers make of the same candidates, and of tiles flooded with false joins."""
    rows = list(_rows(runs))
    seeds = sorted({run.case.number for run in runs})
    tiles = [row for false in FALSE_PER_TRUE for seed in seeds for row in compose_tiles(false, seed)]
    flooded = mean_rows(tiles, ("false_per_true", "method"), ("pcr",))
    plots.plot_tiles(flooded, out / "compose_tiles.png")
    summary = mean_rows(rows, ("pieces", "scores", "method"), (*MEANS, "compose_seconds", "refine_seconds"))
    return {"compose": (rows, summary), "compose_tiles": (tiles, flooded)}


def detect_tables(runs: Sequence[Run], out: Path, trainings: Sequence[Path]) -> Tables:
    """How well networks and scorers tell right candidates from wrong ones, and what that is worth to the composers."""
    rows, ensembles = list(_rows(runs)), load_ensembles(trainings)
    solved = [
        {"puzzle": row["puzzle"], "seed": row["seed"], "picture": row["picture"], **own}
        for row in rows
        for own in row["solved"]
    ]
    sets = [_candidates(run, row) for run in runs for row in run.record.measured.get("rows", ())]
    scorers, greedy = calibrations(sets), greedy_rows(sets)
    plots.plot_detectors(sets, NETWORKS, out / "detect_networks.png")
    plots.plot_detectors(sets, SCORERS, out / "detect_scorers.png")
    plots.plot_greedy(greedy[1], [each.group.kind.name for each in sets if each.plain], out / "detect_greedy.png")
    plots.plot_convergence(ensembles, out / "detect_convergence.png")
    plots.plot_calibration(scorers, out / "detect_calibration.png")
    return {
        "detect": decision_rows(sets),
        "detect_greedy": greedy,
        "detect_calibration": calibration_rows(scorers),
        "detect_convergence": convergence_rows(ensembles),
        "detect_speed": speed_rows(sets),
        "detect_solve": (solved, mean_rows(solved, ("puzzle", "method", "scorer"), MEANS)),
    }


def precision_tables(runs: Sequence[Run], out: Path, trainings: Sequence[Path]) -> Tables:
    """Candidate recall, and the average precision of every scorer, for each kind of puzzle."""
    return {"precision": precision_rows(list(_rows(runs)))}


TABLES: Mapping[Task, Callable[[Sequence[Run], Path, Sequence[Path]], Tables]] = {
    "match": match_tables,
    "compose": compose_tables,
    "detect": detect_tables,
    "precision": precision_tables,
    "real": lambda runs, out, trainings: real_tables(runs),
}
"""Called as ``tables(runs, out, trainings)``: plots go to the folder ``out``."""


def _rows(runs: Sequence[Run]) -> Iterator[dict[str, Any]]:
    """The rows of all records, each with its puzzle before them."""
    for run in runs:
        head = {"puzzle": run.case.group.kind.name, "seed": run.case.number, "picture": run.case.title}
        for row in run.record.measured.get("rows", ()):
            yield {**head, **row}


def _candidates(run: Run, row: Row) -> Judged:
    verdicts = {
        name: Verdict(
            **{**each, "score": np.array(each["score"], np.float64), "said_right": np.array(each["said_right"], bool)}
        )
        for name, each in row["verdicts"].items()
    }
    joins = np.array(row["joins"], dtype=np.int64).reshape(-1, 2)
    right = np.array(row["right"], dtype=bool)
    return Judged(run.case.group, row["matcher"], run.case.number, run.case.title, row["n_pieces"], joins, right, verdicts)

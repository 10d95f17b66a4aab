"""Runs → rows of plain values: one for each puzzle and method, and the means of each group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from jigsawnet.evaluation.results import Row
from jigsawnet.evaluation.suites.definition import Group
from jigsawnet.evaluation.suites.report.paper import OTHER_PUZZLES, SAME_PUZZLES, figures_for, is_named_after, sets_for_folder
from jigsawnet.evaluation.suites.runner import Run

ACCURACIES = ("pcr", "pcr_tight", "acr_recall", "lcr")
"""Means over all puzzles; one that failed counts as 0: nothing of it was put together."""
SHARES = ("acr_precision", "candidate_recall", "pcr_rest")
"""Means over the puzzles that have such a figure."""
_COUNTS = ("right_scores", "wrong_scores")


def run_rows(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """One row for each puzzle and method, without the counts of scores."""
    return [
        {
            "group": run.case.group.kind.name,
            "puzzle": run.case.title,
            "seed": run.case.number,
            "method": run.method,
            "key": run.key,
            "error": run.record.error,
            "seconds": run.record.seconds,
            "peak_mb": run.record.peak_mb,
            "memory": dict(run.record.memory),
            "stages": dict(run.record.stages),
            **{key: value for key, value in run.record.measured.items() if key not in _COUNTS},
        }
        for run in runs
    ]


def summary_rows(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """The means of each group and method, in order of appearance, with the paper's figures beside them."""
    groups: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        groups.setdefault((run.case.group.kind.name, run.method), []).append(run)
    return [_summary(own) for own in groups.values()]


def _summary(runs: Sequence[Run]) -> dict[str, Any]:
    group, method = runs[0].case.group, runs[0].method
    solved = [run.record for run in runs if run.record.error is None]
    measured = [record.measured for record in solved]
    pieces = _mean(row["n"] for row in measured)
    worst = [min(row["pcr_pictures"]) for row in measured if row["pcr_pictures"]]
    return {
        "group": group.kind.name,
        "curve": asdict(group.curve) if group.curve else None,
        "method": method,
        "puzzles": len(runs),
        "failed": len(runs) - len(solved),
        "pieces": pieces,
        **{name: _mean([row[name] for row in measured] + [0.0] * (len(runs) - len(solved))) if solved else None
           for name in ACCURACIES},
        **{name: _mean(row[name] for row in measured) for name in SHARES},
        "pcr_worst_picture": _mean(worst),
        "separated": _mean(float(row["separated"]) for row in measured),
        **{name: sum(row.get(name, 0) for row in measured) for name in ("foreign", "foreign_placed")},
        "seconds": _mean(record.seconds for record in solved),
        "max_seconds": max((record.seconds for record in solved), default=None),
        "peak_mb": max((record.peak_mb for record in solved if record.peak_mb is not None), default=None),
        "stages": _mean_stages([record.stages for record in solved]),
        **{name: np.sum([row[name] for row in measured], axis=0).tolist() if measured else [] for name in _COUNTS},
        "paper": _paper(group, method, pieces),
    }  # fmt: skip


def _paper(group: Group, method: str, pieces: float | None) -> list[dict[str, Any]]:
    """The paper's figures to compare with, each with a note on how far it can be compared."""
    kind, is_folder = group.kind, group.kind.source == "folders"
    sets = kind.paper or (sets_for_folder(kind.name, pieces or 0.0) if is_folder else ())
    return [
        {
            **asdict(figure),
            "seconds": figure.seconds,
            "note": SAME_PUZZLES if is_folder and is_named_after(kind.name, figure) else OTHER_PUZZLES,
        }
        for figure in figures_for(method, sets)
    ]


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(float(np.mean(known)), 4) if known else None


def _mean_stages(stages: Sequence[Row]) -> dict[str, float]:
    names = dict.fromkeys(name for each in stages for name in each)
    return {name: round(float(np.mean([each.get(name, 0.0) for each in stages])), 4) for name in names}

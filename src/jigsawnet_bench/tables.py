"""Runs → rows of plain values → means of each group → tables, the paper's figures beside ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from jigsawnet.evaluation.markdown import cell_text
from jigsawnet_bench.paper import OTHER_PUZZLES, SAME_PUZZLES, figures_for, is_named_after, sets_for_folder
from jigsawnet_bench.records import Run
from jigsawnet_bench.results import Results, Row
from jigsawnet_bench.suite import Group

ACCURACIES = ("pcr", "pcr_tight", "acr_recall", "lcr")
"""Means over all puzzles; one that failed counts as 0: nothing of it was put together."""
SHARES = ("acr", "acr_precision", "candidate_recall", "pcr_rest")
"""Means over the puzzles that have such a figure."""
_COUNTS = ("right_scores", "wrong_scores")
NOTHING = "–"


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
            "stage_seconds": run.record.stage_seconds,
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
        **{name: _mean(row.get(name) for row in measured) for name in SHARES},
        "pcr_worst_picture": _mean(worst),
        "separated": _mean(float(row["separated"]) for row in measured),
        **_spread(runs),
        **{name: sum(row.get(name, 0) for row in measured) for name in ("foreign", "foreign_placed")},
        "seconds": _mean(record.seconds for record in solved),
        "stage_seconds": _mean(record.stage_seconds for record in solved),
        "max_seconds": max((record.seconds for record in solved), default=None),
        "peak_mb": max((record.peak_mb for record in solved if record.peak_mb is not None), default=None),
        "stages": _mean_stages([record.stages for record in solved]),
        **{name: np.sum([row[name] for row in measured], axis=0).tolist() if measured else [] for name in _COUNTS},
        "paper": _paper(group, method, pieces),
    }  # fmt: skip


def _spread(runs: Sequence[Run]) -> dict[str, dict[str, float]]:
    """Where pictures are cut several times: the standard deviation of the mean PCR, ACR and LCR from one cut to the next."""
    puzzles, rounds = runs[0].case.group.kind.puzzles, dict[int, list[Row]]()
    for run in runs:
        rounds.setdefault(run.case.number // puzzles, []).append({} if run.record.error else run.record.measured)
    whole = [rows for rows in rounds.values() if len(rows) == puzzles]
    of_nothing = {"pcr": 0.0, "acr": None, "lcr": 0.0}
    means = {name: [_mean(row.get(name, nothing) for row in rows) for rows in whole] for name, nothing in of_nothing.items()}
    known = {name: np.array(values, np.float64) for name, values in means.items() if None not in values}
    return {"spread": {name: round(float(values.std(ddof=1)), 4) for name, values in known.items()}} if len(whole) > 1 else {}


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
    """Mean seconds of each stage; a puzzle that has not passed a stage counts with 0."""
    means = pd.DataFrame(list(stages)).fillna(0.0).mean().round(4)
    return {str(name): float(value) for name, value in means.items()}


def mean_rows(rows: Sequence[Row], by: Sequence[str], mean: Sequence[str], most: Sequence[str] = ()) -> list[Row]:
    """Group rows by some columns, in order of appearance; means of some, maxima of others, and how many there were."""
    if not rows:
        return []
    groups = pd.DataFrame(list(rows)).groupby(list(by), sort=False, dropna=False)
    columns = {"puzzles": groups.size(), **{name: groups[name].mean().round(4) for name in mean}}
    columns |= {f"max {name}": groups[name].max().astype(float).round(4) for name in most}
    found: list[Row] = pd.DataFrame(columns).reset_index().to_dict("records")
    return found


@dataclass(frozen=True, slots=True)
class Table:
    """A table for people; all cells are text."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""

    def markdown(self) -> str:
        """The table in Markdown; what has a meaning there is escaped."""
        lines = [self.head, ("---",) * len(self.head), *self.rows]
        return "\n".join("| " + " | ".join(map(plain, line)) + " |" for line in lines)


def plain(text: str) -> str:
    """Text that Markdown leaves as it is."""
    return "".join(f"\\{c}" if c in "\\`*_[]<>|" else " " if c in "\r\n" else c for c in text)


def percent(share: float | None) -> str:
    """A share in percent, with one decimal."""
    return NOTHING if share is None else f"{100 * share:.1f}"


def figure(value: float | None) -> str:
    """A number with at least three digits."""
    if value is None:
        return NOTHING
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


_Columns = Mapping[str, Callable[[Row], str]]
_MEASURED: _Columns = {
    "method": lambda row: row["method"],
    "puzzles": lambda row: str(row["puzzles"]),
    "PCR, %": lambda row: _with_spread(row, "pcr"),
    "PCR-tight, %": lambda row: percent(row["pcr_tight"]),
    "ACR, %": lambda row: _with_spread(row, "acr"),
    "joins right, %": lambda row: percent(row["acr_precision"]),
    "joins found, %": lambda row: percent(row["acr_recall"]),
    "LCR, %": lambda row: _with_spread(row, "lcr"),
    "candidate recall, %": lambda row: percent(row["candidate_recall"]),
    "seconds": lambda row: figure(row["seconds"]),
    "of stages": lambda row: figure(row.get("stage_seconds")),
    "peak MB": lambda row: figure(row["peak_mb"]),
}
_PAPER: _Columns = {
    "paper PCR, %": lambda row: _printed(row, "pcr"),
    "paper ACR, %": lambda row: _printed(row, "acr"),
    "paper LCR, %": lambda row: _printed(row, "lcr"),
    "paper time": lambda row: _printed(row, "time"),
}


def table_of(title: str, rows: Sequence[Row], note: str = "") -> Table:
    """Rows with the same keys as a table."""
    head = tuple(rows[0]) if rows else ()
    return Table(
        title, head, tuple(tuple(NOTHING if row[key] is None else cell_text(row[key]) for key in head) for row in rows), note
    )


def suite_tables(results: Results) -> list[Table]:
    """A table for each group and one for each curve, in the order of the suite."""
    tables: dict[tuple[str, bool], list[Row]] = {}
    for row in results.summary:
        curve = row["curve"]
        tables.setdefault((curve["name"] if curve else row["group"], bool(curve)), []).append(row)
    return [_table(name, rows) for (name, _), rows in tables.items()]


def _table(title: str, rows: Sequence[Row]) -> Table:
    curve = rows[0]["curve"]
    columns: dict[str, Callable[[Row], str]] = {curve["axis"]: lambda row: f"{row['curve']['at']:g}"} if curve else {}
    columns |= _MEASURED
    if not any("stage_seconds" in row for row in rows):  # results of an older version, whose seconds are those of the stages
        del columns["of stages"]
    if any(row["pcr_rest"] is not None and row["pcr_rest"] != row["pcr"] for row in rows):
        columns["PCR of the rest, %"] = lambda row: percent(row["pcr_rest"])
    if any(row["pcr_worst_picture"] is not None and row["pcr_worst_picture"] != row["pcr"] for row in rows):
        columns["PCR of the worst picture, %"] = lambda row: percent(row["pcr_worst_picture"])
        columns["separated, %"] = lambda row: percent(row["separated"])
    if any(row.get("foreign") for row in rows):
        columns["foreign pieces placed"] = lambda row: f"{row['foreign_placed']} of {row['foreign']}"
    if any(row["failed"] for row in rows):
        columns["failed"] = lambda row: str(row["failed"])
    if any(row["paper"] for row in rows):
        columns |= _PAPER
    cells = tuple(tuple(cell(row) for cell in columns.values()) for row in rows)
    return Table(title, tuple(columns), cells, _note(rows))


def _with_spread(row: Row, key: str) -> str:
    """A share in percent, and how far it differs from one cut of the pictures to the next where that is known."""
    spread = row.get("spread", {}).get(key)
    return percent(row.get(key)) + ("" if spread is None else f" ± {percent(spread)}")


def _printed(row: Row, key: str) -> str:
    """The paper's figures as printed, one for each of its sets."""
    values = [entry[key] for entry in row["paper"]]
    shown = [NOTHING if value is None else value if isinstance(value, str) else f"{value:.1f}" for value in values]
    return " / ".join(shown) or NOTHING


def _note(rows: Sequence[Row]) -> str:
    """Where the paper's figures come from."""
    entries = [entry for row in rows for entry in row["paper"]]
    sets = dict.fromkeys(entry["puzzles"] for entry in entries)
    tables = {name: dict.fromkeys(entry["table"] for entry in entries if entry["puzzles"] == name) for name in sets}
    named = " / ".join(f"Table{'s' * (len(tables[name]) > 1)} {' and '.join(tables[name])}, {name}" for name in sets)
    notes = "; ".join(dict.fromkeys(entry["note"] for entry in entries))
    return f"Paper: {named} ({notes})." if sets else ""

"""Means of a suite as tables: a table for each group, one for each curve, the paper's figures beside ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jigsawnet.evaluation.suites.report.results_file import Results

Row = Mapping[str, Any]
NOTHING = "–"


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
    "PCR, %": lambda row: percent(row["pcr"]),
    "PCR-tight, %": lambda row: percent(row["pcr_tight"]),
    "ACR, %": lambda row: percent(row["acr_precision"]),
    "ACR recall, %": lambda row: percent(row["acr_recall"]),
    "LCR, %": lambda row: percent(row["lcr"]),
    "candidate recall, %": lambda row: percent(row["candidate_recall"]),
    "seconds": lambda row: figure(row["seconds"]),
    "peak MB": lambda row: figure(row["peak_mb"]),
}
_PAPER: _Columns = {
    "paper PCR, %": lambda row: _printed(row, "pcr"),
    "paper ACR, %": lambda row: _printed(row, "acr"),
    "paper LCR, %": lambda row: _printed(row, "lcr"),
    "paper time": lambda row: _printed(row, "time"),
}


def suite_tables(results: Results) -> list[Table]:
    """A table for each group and one for each curve, in the order of the suite."""
    titles = dict.fromkeys((row["curve"]["name"], True) if row["curve"] else (row["group"], False) for row in results.summary)
    return [_curve_table(name, results) if is_curve else _group_table(name, results) for name, is_curve in titles]


def _group_table(name: str, results: Results) -> Table:
    rows = [row for row in results.summary if not row["curve"] and row["group"] == name]
    columns: dict[str, Callable[[Row], str]] = {"method": lambda row: row["method"], "puzzles": lambda row: str(row["puzzles"])}
    return _table(name, rows, columns)


def _curve_table(name: str, results: Results) -> Table:
    rows = [row for row in results.summary if row["curve"] and row["curve"]["name"] == name]
    columns: dict[str, Callable[[Row], str]] = {
        rows[0]["curve"]["axis"]: lambda row: f"{row['curve']['at']:g}",
        "method": lambda row: row["method"],
        "puzzles": lambda row: str(row["puzzles"]),
    }
    return _table(name, rows, columns)


def _table(title: str, rows: Sequence[Row], columns: dict[str, Callable[[Row], str]]) -> Table:
    columns |= _MEASURED
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

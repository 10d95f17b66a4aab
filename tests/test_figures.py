"""Figures in the papers are measured: a row of a table of results is a row of a results file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jigsawnet_bench.documents import failures_text, results_text, stages_text
from jigsawnet_bench.results import EXPERIMENT, SUITE, all_results

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?")
MEASURED = re.compile(r"PCR|seconds")
"""Tables with such a column show figures."""

Cells = list[str]


def table_rows(text: str) -> Iterator[Cells]:
    """Rows of the tables of results in a Markdown text."""
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        head, _, *rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in table.splitlines()]
        if any(MEASURED.search(cell) for cell in head):
            yield from rows


def leaves(value: Any) -> Iterator[float | str]:
    """All numbers and texts inside a JSON value."""
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from leaves(part)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield value


def shows(cell: str, value: float) -> bool:
    """True when a cell is a value, or a share in percent, rounded to the digits shown."""
    half = 0.5 * 10.0 ** -len(cell.partition(".")[2]) + 1e-9
    return any(abs(float(cell) - shown) <= half for shown in (value, 100.0 * value))


def is_row_of(cells: Cells, row: dict[str, Any]) -> bool:
    """True when every text of a table's row names the JSON row, and every number is in it."""
    found = list(leaves(row))
    numbers = [value for value in found if not isinstance(value, str)]
    for cell in (cell for cell in cells if cell not in ("", "–")):
        if NUMBER.fullmatch(cell):
            if not any(shows(cell, value) for value in numbers):
                return False
        elif cell not in found:
            return False
    return True


def summaries() -> list[dict[str, Any]]:
    """Means of all results files."""
    files = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(RESULTS.glob("*.json"))]
    return [row for data in files for row in data.get("summary", [])]


def test_a_figure_that_nobody_measured_is_found() -> None:
    row = {"puzzle": "9 pieces", "pcr": 0.9815, "seconds": 1.1253}
    assert is_row_of(["9 pieces", "98.2", "1.1"], row)
    assert not is_row_of(["9 pieces", "98.3", "1.1"], row)
    assert not is_row_of(["36 pieces", "98.2", "1.1"], row)
    (cells,) = table_rows(
        "text\n\n| puzzle | PCR, % |\n|---|---|\n| 9 pieces | 98.2 |\n\n| code | meaning |\n|---|---|\n| 0 | done |\n"
    )
    assert cells == ["9 pieces", "98.2"]


def test_figures_of_the_readme_are_in_the_results() -> None:
    if not RESULTS.is_dir():
        pytest.skip("the results are not here")
    measured = summaries()
    rows = list(table_rows((ROOT / "README.md").read_text(encoding="utf-8")))
    assert rows, "the table of results is gone"
    for cells in rows:
        assert any(is_row_of(cells, row) for row in measured), f"not in benchmarks/results: {' | '.join(cells)}"


def test_the_pages_of_the_bench_are_as_the_command_writes_them() -> None:
    suites, stages, docs = all_results(RESULTS), all_results(RESULTS, EXPERIMENT), ROOT / "docs"
    written = {
        "results.md": results_text(suites, docs, stages),
        "stages.md": stages_text(stages),
        "failures.md": failures_text(suites),
    }
    for name, text in written.items():
        assert (docs / name).read_text(encoding="utf-8") == text, f"docs/{name}: run `jigsawnet bench docs`"


def test_results_of_suites_were_measured_by_one_version() -> None:
    files = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(RESULTS.glob("*.json"))]
    versions = {data["jigsawnet"] for data in files if data.get("format") == SUITE}
    assert len(versions) <= 1, f"results of several versions: {sorted(versions)}"

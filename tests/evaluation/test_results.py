"""Results of benchmarks: means by group, Markdown tables, and files that say what was run where."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jigsawnet.evaluation.results import describe_machine, markdown_table, mean_rows, write_results
from jigsawnet.version import __version__

ROWS = [
    {"case": "b", "matcher": "dense", "recall": 1.0, "seconds": 2.0},
    {"case": "a", "matcher": "dense", "recall": 0.5, "seconds": 1.0},
    {"case": "b", "matcher": "dense", "recall": 0.5, "seconds": 5.0},
    {"case": "b", "matcher": "zhang", "recall": 0.25, "seconds": 3.0},
]


def test_rows_become_a_table() -> None:
    table = markdown_table([{"case": "36 pieces", "recall": 0.98765, "n": 3}, {"case": "9", "recall": 1.0, "n": 12}])
    assert table.splitlines() == [
        "| case | recall | n |",
        "| --- | --- | --- |",
        "| 36 pieces | 0.9877 | 3 |",
        "| 9 | 1 | 12 |",
    ]
    assert markdown_table([]) == ""


def test_means_are_taken_by_group_in_order_of_appearance() -> None:
    assert mean_rows(ROWS, ("case", "matcher"), ("recall", "seconds"), ("seconds",)) == [
        {"case": "b", "matcher": "dense", "puzzles": 2, "recall": 0.75, "seconds": 3.5, "max seconds": 5.0},
        {"case": "a", "matcher": "dense", "puzzles": 1, "recall": 0.5, "seconds": 1.0, "max seconds": 1.0},
        {"case": "b", "matcher": "zhang", "puzzles": 1, "recall": 0.25, "seconds": 3.0, "max seconds": 3.0},
    ]
    assert mean_rows([], ("case",), ("recall",)) == []


def test_results_can_be_read_back(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    summary = mean_rows(ROWS, ("case",), ("recall",))
    write_results(folder, "match", "jigsawnet bench match photos", ROWS, summary)
    data = json.loads((folder / "match.json").read_text(encoding="utf-8"))
    assert (data["format"], data["version"], data["name"]) == ("jigsawnet/bench", 1, "match")
    assert (data["command"], data["jigsawnet"]) == ("jigsawnet bench match photos", __version__)
    assert (data["rows"], data["summary"]) == (ROWS, summary)
    text = (folder / "match.md").read_text(encoding="utf-8")
    assert markdown_table(summary) in text
    assert "`jigsawnet bench match photos`" in text
    assert data["machine"]["processor"] in text


def test_the_machine_is_described() -> None:
    machine = describe_machine()
    assert set(machine) == {"processor", "cores", "memory_gb", "system", "python", "numpy", "numba"}
    assert machine["cores"] >= 1
    assert machine["processor"]
    json.dumps(machine)


def test_a_row_without_a_column_is_not_passed_over() -> None:
    with pytest.raises(KeyError):
        mean_rows([*ROWS, {"case": "b"}], ("case",), ("recall",))

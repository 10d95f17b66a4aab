"""Means by group, tables of rows, the machine, and files of experiments that say what was run where."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jigsawnet.evaluation.markdown import markdown_table
from jigsawnet.version import __version__
from jigsawnet_bench.machine import commit_of, describe_machine, git
from jigsawnet_bench.results import EXPERIMENT, Results, all_results, read_results, write_results
from jigsawnet_bench.tables import mean_rows, table_of

ROWS = [
    {"case": "b", "matcher": "dense", "recall": 1.0, "seconds": 2.0},
    {"case": "a", "matcher": "dense", "recall": 0.5, "seconds": 1.0},
    {"case": "b", "matcher": "dense", "recall": 0.5, "seconds": 5.0},
    {"case": "b", "matcher": "zhang", "recall": 0.25, "seconds": 3.0},
]


def test_rows_become_a_table() -> None:
    rows = [{"case": "36 pieces", "recall": 0.98765, "n": 3}, {"case": "9", "recall": 1.0, "n": 12}]
    lines = ["| case | recall | n |", "| --- | --- | --- |", "| 36 pieces | 0.9877 | 3 |", "| 9 | 1 | 12 |"]
    assert table_of("title", rows).markdown().splitlines() == lines
    assert markdown_table(rows).splitlines() == lines
    assert markdown_table([]) == ""
    assert table_of("title", []).rows == ()


def test_means_are_taken_by_group_in_order_of_appearance() -> None:
    assert mean_rows(ROWS, ("case", "matcher"), ("recall", "seconds"), ("seconds",)) == [
        {"case": "b", "matcher": "dense", "puzzles": 2, "recall": 0.75, "seconds": 3.5, "max seconds": 5.0},
        {"case": "a", "matcher": "dense", "puzzles": 1, "recall": 0.5, "seconds": 1.0, "max seconds": 1.0},
        {"case": "b", "matcher": "zhang", "puzzles": 1, "recall": 0.25, "seconds": 3.0, "max seconds": 3.0},
    ]
    assert mean_rows([], ("case",), ("recall",)) == []


def test_a_missing_column_is_not_passed_over() -> None:
    with pytest.raises(KeyError):
        mean_rows([{"case": "b"}], ("case",), ("recall",))


def test_results_of_an_experiment_can_be_read_back(tmp_path: Path) -> None:
    summary = mean_rows(ROWS, ("case",), ("recall",))
    results = Results("match", "A title", "jigsawnet bench match photos", 1, summary, ROWS, format=EXPERIMENT)
    path = write_results(tmp_path / "new" / "folder", results)
    data = json.loads(path.read_text(encoding="utf-8"))
    assert (data["format"], data["version"], data["name"]) == ("jigsawnet/bench", 1, "match")
    assert (data["command"], data["jigsawnet"]) == ("jigsawnet bench match photos", __version__)
    assert (data["rows"], data["summary"]) == (ROWS, summary)
    assert data["commit"] == commit_of()
    assert all_results(path.parent, EXPERIMENT) == [read_results(path)] == [results]


def test_the_machine_is_described() -> None:
    machine = describe_machine()
    assert set(machine) == {"processor", "cores", "memory_gb", "system", "python", "numpy", "numba"}
    assert machine["cores"] >= 1
    assert machine["processor"]
    json.dumps(machine)


def test_a_commit_is_named_and_changes_are_marked(tmp_path: Path) -> None:
    assert commit_of(tmp_path) == ""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("a = 1\n", encoding="utf-8")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "-c", "user.name=n", "-c", "user.email=n@example.org", "commit", "-qm", "one")
    commit = commit_of(tmp_path)
    assert len(commit) == 40
    (tmp_path / "src" / "a.py").write_text("a = 2\n", encoding="utf-8")
    assert commit_of(tmp_path) == f"{commit}+"

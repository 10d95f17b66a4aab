"""``jigsawnet bench paper``: every row of the paper is asked for, one command makes all, and what is missing is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jigsawnet.errors import ConfigError
from jigsawnet_bench import whole_paper
from jigsawnet_bench.bench import SuiteOptions
from jigsawnet_bench.paper import FIGURES
from jigsawnet_bench.results import read_results
from jigsawnet_bench.runner import Launch
from jigsawnet_bench.suite import load_suite
from jigsawnet_bench.tables import Table
from jigsawnet_bench.whole_paper import bench_paper

HEADS = {"paper": 'methods = ["Zhang", "ours"]', "detect": 'task = "detect"\nmethods = ["zhang"]'}
GROUP = '[[group]]\nname = "four"\npuzzles = 1\ncuts = 2\nshred = {pieces = 4}\n'


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Suites of the same names with puzzles of four pieces."""
    for name, head in HEADS.items():
        (tmp_path / f"{name}.toml").write_text(f'title = "t"\n{head}\n{GROUP}', encoding="utf-8")
    monkeypatch.setattr("jigsawnet_bench.suite.BUILTIN", tmp_path)


def test_every_row_of_the_papers_tables_is_asked_for() -> None:
    suite = load_suite("paper")
    asked = {(name, method) for group in suite.groups for name in group.kind.paper for method in suite.methods_of(group)}
    assert {(figure.puzzles, figure.method) for figure in FIGURES} <= asked
    large = [group.kind for group in suite.groups if group.shred.pieces >= 100]
    assert [(kind.puzzles >= 5, kind.cuts >= 3) for kind in large] == [(True, True)] * 2


@pytest.mark.usefixtures("small")
def test_one_command_makes_all_and_says_what_it_leaves_out(photos: Path, tmp_path: Path, at_once: Launch) -> None:
    out, said = tmp_path / "out", list[str]()
    tables, failed = bench_paper(out, tmp_path / "work", SuiteOptions(photos), "c", say=said.append, launch=at_once)
    assert not failed
    assert [sentence.split(":")[0] for sentence in said] == ["Table I is left out"]
    assert read_results(out / "paper.json").summary[0]["spread"].keys() >= {"pcr", "lcr"}
    assert tables[0].rows[1][:2] == ("ours", "2")
    assert {row["puzzle"] for row in read_results(out / "detect_greedy.json").rows} == {"four"}
    assert (out / "paper-gallery.jpg").is_file()


def test_table_one_is_made_where_its_networks_are(photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Any, ...]] = []
    table = Table("table-1", (), ())
    monkeypatch.setattr(whole_paper, "bench_suite", lambda name, *given: asked.append((name, given[2])) or ([], []))
    monkeypatch.setattr(whole_paper, "measure_table", lambda *given: asked.append(("table-1", given)) or table)
    (tmp_path / "learners").mkdir()
    (tmp_path / "learners" / "roi-paper.json").write_text("{}", encoding="utf-8")
    options, said = SuiteOptions(photos, most=5, largest=100), list[str]()
    assert bench_paper(tmp_path, tmp_path, options, "c", say=said.append) == ([table], [])
    assert asked[0] == ("paper", options)
    assert asked[1] == ("detect", replace(options, most=3, exactly=True))
    assert (asked[2][1][3], asked[2][1][-1]) == (5, 100)
    assert not said


def test_photographs_are_needed(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="give their folder with --photos"):
        bench_paper(tmp_path, tmp_path, SuiteOptions(), "c")

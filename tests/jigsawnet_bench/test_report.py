"""Tables, page and papers: the paper's figures beside ours, names escaped, failures explained, other versions refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jigsawnet.errors import FormatError, InputError, OutputError
from jigsawnet.shred import ShredConfig
from jigsawnet_bench.cases import Case
from jigsawnet_bench.documents import explain, failures, write_documents, write_page
from jigsawnet_bench.measure import SCORE_EDGES
from jigsawnet_bench.paper import sets_for_folder
from jigsawnet_bench.pictures import worst_first
from jigsawnet_bench.plots import plot_curves, plot_precision_recall, plot_sizes, plot_stages
from jigsawnet_bench.records import Record, Run
from jigsawnet_bench.results import (
    EXPERIMENT,
    Results,
    all_results,
    check_free,
    read_results,
    write_results,
)
from jigsawnet_bench.suite import Curve, Group, Kind
from jigsawnet_bench.tables import run_rows, suite_tables, summary_rows

EVIL = "<script>alert(1)</script> | *x*"
COUNTS = [0] * (len(SCORE_EDGES) + 1)


def measured(**changes: Any) -> dict[str, Any]:
    whole = {
        "n": 9, "placed": 9, "components": 1, "pcr": 1.0, "pcr_tight": 1.0, "acr_precision": 1.0, "acr_recall": 1.0, "lcr": 1.0,
        "neighbors": 12, "candidate_recall": 1.0, "missed_pairs": 0, "doubted_pairs": 0, "believed_wrong": 0, "wrong_joins": 0,
        "pcr_rest": 1.0, "true_parts": 1, "pcr_pictures": [1.0], "separated": True, "candidates": 40,
        "right_scores": [*COUNTS[:-1], 12], "wrong_scores": [28, *COUNTS[1:]],
    }  # fmt: skip
    return whole | changes


def run_of(group: Group, method: str = "ours", number: int = 0, error: str | None = None, **changes: Any) -> Run:
    record = (
        Record(error=error) if error else Record(2.5, 2.0, {"match": 1.5, "compose": 0.5}, 300.0, measured=measured(**changes))
    )
    return Run(Case(group, number, (Path("photos/p.jpg"),)), method, f"{group.kind.name} {method} {number}", record)


NINE = Group(Kind("9 pieces", paper=("MIT 9",)), ShredConfig(pieces=9))
BOTH = Group(Kind("36 pieces", paper=("BGU 36", "TestingSet1 36")))


def results_of(*runs: Run, name: str = "mine") -> Results:
    return Results(name, "A title", "jigsawnet bench quick", 1, summary_rows(runs), run_rows(runs))


def test_folders_are_compared_with_the_set_of_their_name_and_size() -> None:
    assert sets_for_folder("MIT_ex", 9) == ("MIT 9",)
    assert sets_for_folder("BGU", 98) == ("BGU 100",)
    assert sets_for_folder("mine", 36) == ("BGU 36", "TestingSet1 36")
    assert sets_for_folder("mine", 1000) == ()


def test_the_papers_figures_stand_beside_ours() -> None:
    table, other = suite_tables(results_of(run_of(NINE, "CNN+HLM"), run_of(NINE), run_of(BOTH, "Zhang", acr_precision=None)))
    first = dict(zip(table.head, table.rows[0], strict=True))
    assert (first["PCR, %"], first["seconds"], first["of stages"], first["peak MB"]) == ("100.0", "2.50", "2.00", "300")
    assert (first["paper PCR, %"], first["paper ACR, %"], first["paper time"]) == ("100.0", "99.2", "0.94 min")
    assert dict(zip(table.head, table.rows[1], strict=True))["paper PCR, %"] == "–"
    assert table.note == "Paper: Table II, MIT 9 (other puzzles, another machine)."
    zhang = dict(zip(other.head, other.rows[0], strict=True))
    assert (zhang["ACR, %"], zhang["paper PCR, %"], zhang["paper ACR, %"]) == ("–", "76.6 / 50.6", "– / –")


def test_the_authors_own_puzzles_are_told_from_others() -> None:
    folder = Group(Kind("MIT_ex", "folders"))
    (table,) = suite_tables(results_of(run_of(folder, "CNN+HLM")))
    assert table.note == "Paper: Table II, MIT 9 (puzzles of the paper's authors, another machine)."


def test_a_failed_puzzle_counts_as_nothing_put_together() -> None:
    runs = [run_of(NINE), run_of(NINE, number=1, error="It does not fit.")]
    (row,) = summary_rows(runs)
    assert (row["puzzles"], row["failed"], row["pcr"], row["seconds"]) == (2, 1, 0.5, 2.5)
    (table,) = suite_tables(results_of(*runs))
    assert dict(zip(table.head, table.rows[0], strict=True))["failed"] == "1"
    (row,) = summary_rows(runs[1:])
    assert (row["failed"], row["pcr"], row["seconds"]) == (1, None, None)


def test_the_spread_is_that_of_the_means_over_the_cuts() -> None:
    twice = Group(Kind("9 pieces", puzzles=2, cuts=2))
    shares = (1.0, 0.8, 0.6, 0.4)  # means of the cuts 0.9 and 0.5
    runs = [run_of(twice, number=number, pcr=pcr, acr=None) for number, pcr in enumerate(shares)]
    (row,) = summary_rows(runs)
    assert (row["pcr"], row["spread"]) == (0.7, {"pcr": 0.2828, "lcr": 0.0})
    (table,) = suite_tables(results_of(*runs))
    shown = dict(zip(table.head, table.rows[0], strict=True))
    assert (shown["PCR, %"], shown["ACR, %"], shown["LCR, %"]) == ("70.0 ± 28.3", "–", "100.0 ± 0.0")
    failed = [*runs[:3], run_of(twice, number=3, error="It does not fit.")]
    assert summary_rows(failed)[0]["spread"]["pcr"] == pytest.approx(0.6 / 2**0.5, abs=1e-4), "what failed counts as 0"
    assert "spread" not in summary_rows(runs[:3])[0], "one cut of two is whole"


def test_the_rest_and_single_pictures_have_columns_where_they_differ() -> None:
    (plain,) = suite_tables(results_of(run_of(NINE)))
    assert "PCR of the rest, %" not in plain.head
    curve = Group(Kind("missing 0.2"), curve=Curve("missing", "part missing", 0.2))
    mixed = Group(Kind("mixed 2", mix=2), curve=Curve("mixed", "pictures", 2))
    rest, two = suite_tables(results_of(run_of(curve, pcr=0.8), run_of(mixed, pcr=0.9, pcr_rest=0.9, pcr_pictures=[1.0, 0.8])))
    assert (rest.title, rest.head[0], rest.rows[0][0]) == ("missing", "part missing", "0.2")
    assert dict(zip(rest.head, rest.rows[0], strict=True))["PCR of the rest, %"] == "100.0"
    assert dict(zip(two.head, two.rows[0], strict=True))["PCR of the worst picture, %"] == "80.0"


def test_names_are_escaped(tmp_path: Path) -> None:
    group = Group(Kind(EVIL))
    run = Run(Case(group, 0, (Path(EVIL.replace("/", "")),)), "ours", "key", Record(error=EVIL))
    results = results_of(run, name="mine")
    text = write_page(tmp_path, [results]).read_text(encoding="utf-8")
    assert "<script>" not in text
    assert "&lt;script&gt;" in text
    assert "\\|" in suite_tables(results_of(run_of(group, EVIL)))[0].markdown()
    write_results(tmp_path, results)
    write_documents(tmp_path, tmp_path)
    for name in ("results.md", "stages.md", "failures.md"):
        assert "<script>" not in (tmp_path / name).read_text(encoding="utf-8").replace("\\<", "")


def test_results_can_be_read_back(tmp_path: Path) -> None:
    results = results_of(run_of(NINE))
    assert read_results(write_results(tmp_path / "new", results)) == results


def test_results_of_an_older_program_have_no_commit_and_no_sum_of_stages(tmp_path: Path) -> None:
    path = write_results(tmp_path, results_of(run_of(NINE)))
    data = json.loads(path.read_text(encoding="utf-8"))
    del data["commit"], data["summary"][0]["stage_seconds"]
    path.write_text(json.dumps(data), encoding="utf-8")
    old = read_results(path)
    assert old.commit == ""
    (table,) = suite_tables(old)
    assert "seconds" in table.head
    assert "of stages" not in table.head


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"version": 7}, r"mine\.json is of version 7, and this program reads version 1; run `jigsawnet bench quick` again"),
        ({"format": "jigsawnet/assembly"}, "does not hold results of a benchmark"),
        ({"rows": None}, "lacks the field 'rows'"),
    ],
)
def test_a_file_of_another_version_or_kind_is_named(tmp_path: Path, change: dict[str, Any], sentence: str) -> None:
    path = write_results(tmp_path, results_of(run_of(NINE)))
    data = json.loads(path.read_text(encoding="utf-8")) | change
    path.write_text(json.dumps({key: value for key, value in data.items() if value is not None}), encoding="utf-8")
    with pytest.raises(FormatError, match=sentence):
        read_results(path)


def test_only_results_of_suites_are_gathered(tmp_path: Path) -> None:
    (tmp_path / "solve.json").write_text('{"format": "jigsawnet/bench", "version": 1}', encoding="utf-8")
    with pytest.raises(InputError, match="holds no results of suites; run `jigsawnet bench quick` first"):
        all_results(tmp_path)
    write_results(tmp_path, results_of(run_of(BOTH, n=36), name="a"))
    write_results(tmp_path, results_of(run_of(NINE), name="b"))
    assert [results.name for results in all_results(tmp_path)] == ["b", "a"]
    check_free(tmp_path, "a")
    with pytest.raises(OutputError, match="holds results of another kind"):
        check_free(tmp_path, "solve")
    (tmp_path / "c.json").write_text("{", encoding="utf-8")
    with pytest.raises(FormatError, match=r"c\.json is not valid JSON"):
        all_results(tmp_path)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"pcr_tight": 2 / 3}, "All pieces are in place, but 3 of 9 lie more than 2 degrees or 5 px off."),
        ({"pcr": 0.5, "true_parts": 2}, "Nothing connects the 2 parts that are left of it; each of them is right."),
        ({"pcr": 0.5, "pcr_rest": 0.5, "placed": 7, "missed_pairs": 3, "doubted_pairs": 1},
         "2 pieces are left out: 3 of 12 true joins have no right candidate, and 1 right one scores too low; "
         "0 wrong candidates are believed."),
        ({"pcr": 0.5, "pcr_rest": 0.5, "wrong_joins": 2, "components": 2, "believed_wrong": 5},
         "2 joins are wrong, the result is in 2 parts: all true joins were found and believed; "
         "5 wrong candidates are believed."),
    ],
)  # fmt: skip
def test_a_failure_is_explained(changes: dict[str, Any], sentence: str) -> None:
    (row,) = failures(results_of(run_of(NINE, **changes)))
    assert explain(row) == sentence


def test_failures_are_ours_and_the_worst_come_first() -> None:
    runs = [
        run_of(NINE, "Zhang", pcr=0.1), run_of(NINE, number=1), run_of(NINE, number=2, pcr=0.9),
        run_of(NINE, number=3, pcr=0.5), run_of(NINE, number=4, error="It does not fit."),
    ]  # fmt: skip
    assert [row["seed"] for row in failures(results_of(*runs))] == [4, 3, 2]
    assert [run.case.number for run in worst_first(runs[1:])] == [3, 2, 1]


def test_the_papers_are_made_from_the_results(tmp_path: Path) -> None:
    write_results(tmp_path / "results", results_of(run_of(NINE, "CNN+HLM"), run_of(NINE, pcr=0.5, pcr_rest=0.5, wrong_joins=1)))
    (tmp_path / "results" / "sizes.png").write_bytes(b"a plot")
    write_results(
        tmp_path / "results", Results("match", "t", "jigsawnet bench match", 1, [{"recall": 0.5}], [], format=EXPERIMENT)
    )
    (tmp_path / "results" / "table-1.png").write_bytes(b"curves")
    write_results(tmp_path / "results", Results("table-1", "t", "c", 1, [{"detector": "Boost"}], [], format=EXPERIMENT))
    write_documents(tmp_path / "results", tmp_path / "docs")
    text = (tmp_path / "docs" / "results.md").read_text(encoding="utf-8")
    assert "| CNN+HLM | 1 | 100.0 |" in text
    assert "`jigsawnet bench quick`" in text
    worst = (tmp_path / "docs" / "failures.md").read_text(encoding="utf-8")
    assert "- 9 pieces, p.jpg, seed 0 (PCR 50.0 %, tight 100.0 %). 1 join is wrong: all true joins" in worst
    assert "](images/bench-sizes.png)" in text
    assert (tmp_path / "docs" / "images" / "bench-sizes.png").read_bytes() == b"a plot"
    stages = (tmp_path / "docs" / "stages.md").read_text(encoding="utf-8")
    assert "| recall |\n| --- |\n| 0.5 |" in stages
    assert "| Boost |" not in stages
    assert "## Table I: detectors on all candidates" in text
    assert "| Boost |" in text
    assert "](images/bench-table-1.png)" in text


def test_every_plot_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    curve = Group(Kind("missing 0.2"), curve=Curve("missing", "part missing", 0.2))
    summary = summary_rows([run_of(NINE), run_of(NINE, "CNN+HLM"), run_of(BOTH, n=36), run_of(curve, pcr=0.8)])
    plots = {"sizes": plot_sizes, "curves": plot_curves, "pr": plot_precision_recall, "stages": plot_stages}
    for name, plot in plots.items():
        plot(summary, tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").stat().st_size > 5000
        plot([], tmp_path / "nothing.png")
    plot_sizes(summary[:1], tmp_path / "nothing.png")
    assert not (tmp_path / "nothing.png").exists()

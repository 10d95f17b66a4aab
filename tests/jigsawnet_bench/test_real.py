"""``bench real`` and ``bench precision`` on a small collection: pieces with truth, strips in order, pieces without truth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jigsawnet.candidates import Candidates
from jigsawnet.context import Context
from jigsawnet.geometry import SE2
from jigsawnet.io.authors import write_ground_truth
from jigsawnet.io.images import read_image
from jigsawnet.io.pieces import write_pieces
from jigsawnet.learned import PACKAGED
from jigsawnet.score import Scene, scorers
from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.types import Assembly, FloatArray, Puzzle, UInt8Array
from jigsawnet_bench.bench import SuiteOptions, bench_suite
from jigsawnet_bench.cases import Case
from jigsawnet_bench.documents import results_text, stages_text
from jigsawnet_bench.methods import METHODS
from jigsawnet_bench.real import real_tables, right_in_parts
from jigsawnet_bench.records import Record, Run
from jigsawnet_bench.results import EXPERIMENT, all_results
from jigsawnet_bench.runner import Launch, warm_up_jobs
from jigsawnet_bench.suite import Group, Kind
from jigsawnet_bench.tables import Table
from jigsawnet_bench.tasks import SCORERS
from jigsawnet_bench.work import Job


@pytest.fixture
def collection(tmp_path: Path, picture: UInt8Array, tiny_puzzle: tuple[Puzzle, Assembly]) -> Path:
    folder = tmp_path / "all"
    puzzle, truth = tiny_puzzle
    write_pieces(folder / "goa" / "tiny", puzzle)
    write_ground_truth(folder / "goa" / "tiny" / "groundTruth.txt", truth, puzzle.names())
    upright, _ = shred_images([picture], ShredConfig(pieces=4, rotate=False), np.random.default_rng(4))
    write_pieces(folder / "sherds" / "jug", upright)
    portrait = np.ascontiguousarray(picture.transpose(1, 0, 2))
    strips, order = shred_images([portrait], ShredConfig(pieces=4, strips=True, rotate=False), np.random.default_rng(4))
    write_pieces(folder / "strips" / "page" / "pieces", strips)
    from_left = sorted(order.poses, key=lambda idx: order.poses[idx].x)
    places = {strips.pieces[idx].name: place for place, idx in enumerate(from_left)}
    (folder / "strips" / "page" / "truth.json").write_text(json.dumps(places))
    return folder


def run(name: str, collection: Path, tmp_path: Path, launch: Launch) -> tuple[list[Table], list[str]]:
    options = SuiteOptions(folders=(collection,))
    return bench_suite(name, tmp_path / "out", tmp_path / "work", options, "the command", launch=launch)


def rows_of(out: Path, name: str, key: str = "summary") -> list[dict[str, Any]]:
    data = json.loads((out / f"{name}.json").read_text(encoding="utf-8"))
    assert (data["format"], data["command"]) == ("jigsawnet/bench", "the command")
    assert data["machine"]["cores"] >= 1
    rows: list[dict[str, Any]] = data[key]
    return rows


def test_each_kind_is_measured_by_what_is_known(collection: Path, tmp_path: Path, at_once: Launch) -> None:
    tables, failed = run("real", collection, tmp_path, at_once)
    out = tmp_path / "out"
    assert not failed
    assert [table.title for table in tables] == ["real", "real_strips", "real_unknown"]
    (tiny,), (page,), (jug,) = (rows_of(out, table.title) for table in tables)
    assert (tiny["kind"], tiny["pieces"], tiny["placed"], tiny["PCR, %"], tiny["joins right, %"]) == ("goa", 4, 4, 100, 100)
    assert tiny["candidate recall, %"] == tiny["LCR, %"] == 100
    assert tiny["sure and right"] == tiny["sure"]
    assert (page["kind"], page["strips"], page["pairs right, %"], page["joins right, %"]) == ("strips", 4, 100, 100)
    assert (jug["kind"], jug["pieces"], jug["placed"], jug["components"]) == ("sherds", 4, 4, 1)
    assert jug["joins"] == jug["upright joins"] >= 3
    assert jug["pieces in these"] == 4
    (row,) = rows_of(out, "real", "rows")
    assert (row["puzzle"], row["truth"], row["pcr"], row["error"]) == ("tiny", "poses", 1.0, None)
    assert row["seconds"] > 0
    assert read_image(out / "real-contact.jpg").shape[0] > 3 * 250


def test_the_page_of_results_shows_it_and_that_of_the_stages_does_not(
    collection: Path, tmp_path: Path, at_once: Launch
) -> None:
    run("real", collection, tmp_path, at_once)
    found = all_results(tmp_path / "out", EXPERIMENT)
    text = results_text([], tmp_path, found)
    assert "## real\n" in text
    assert "### Strips, by their order\n" in text
    assert "| goa | ours | 1 | 4 | 4 | 100 |" in text
    assert "goa" not in stages_text(found)
    assert "## real" not in results_text([], tmp_path)


def test_sure_pieces_may_be_right_in_any_component(tiny_puzzle: tuple[Puzzle, Assembly]) -> None:
    puzzle, truth = tiny_puzzle
    moved = {idx: SE2(0.0, 900.0, 0.0) @ truth.poses[idx] for idx in (2, 3)}
    parts = Assembly(4, {**truth.poses, **moved}, ((0, 1), (2, 3)))
    assert right_in_parts(puzzle, parts, truth) == {0, 1, 2, 3}
    wrong = Assembly(4, {**parts.poses, 3: SE2(0.0, 0.0, 400.0) @ moved[3]}, parts.components)
    assert right_in_parts(puzzle, wrong, truth) == {0, 1}


def test_what_fails_counts_as_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "torn" / "letter"
    folder.mkdir(parents=True)
    case = Case(Group(Kind("torn", "real")), 0, (folder,))
    solved = {"pieces": 6, "placed": 4, "components": 1, "joins": 3, "sure": 2, "upright_joins": None, "upright_pieces": None}
    runs = [
        Run(case, "ours", "a", Record(seconds=3.0, measured={"rows": [solved]})),
        Run(case, "ours", "b", Record(error="It broke.")),
    ]
    tables = real_tables(runs)
    assert tables["real"] == tables["real_strips"] == ([], [])
    rows, (torn,) = tables["real_unknown"]
    assert [row["error"] for row in rows] == [None, "It broke."]
    assert (torn["puzzles"], torn["failed"], torn["pieces"], torn["placed"]) == (2, 1, 6, 4)
    assert torn["upright joins"] is None


def test_what_is_cut_to_warm_up_is_solved(tmp_path: Path) -> None:
    job = Job(Case(Group(Kind("torn", "real")), 0), METHODS["real"]["ours"], tmp_path, "", "real")
    assert [tiny.task for tiny in warm_up_jobs([job])] == ["solve"]


def test_precision_is_told_for_every_kind_with_truth(
    collection: Path, tmp_path: Path, at_once: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    def backwards(rows: Candidates, scene: Scene, context: Context) -> FloatArray:
        return 1.0 - rows.fit

    for scorer in SCORERS[1:]:
        monkeypatch.setitem(scorers._items, scorer, backwards)
    tables, failed = run("precision", collection, tmp_path, at_once)
    assert not failed
    assert [row[:3] for row in tables[0].rows] == [("goa", "dense", "1"), ("strips", "dense", "1")]
    tiny, page = rows_of(tmp_path / "out", "precision")
    assert (tiny["neighbors"], tiny["candidate_recall"]) == (4, 1.0)
    assert (page["neighbors"], page["candidate_recall"]) == (3, 1.0)
    for row in (tiny, page):
        assert row["AP fit"] > 0.8 > row["AP seam"]
        assert row["R97 fit"] > row["R97 combined"] == 0.0


def test_other_weights_are_other_work(collection: Path, tmp_path: Path) -> None:
    case = Case(Group(Kind("goa", "real")), 0, (collection / "goa" / "tiny",))
    jobs = [Job(case, METHODS["precision"]["dense"], tmp_path, "", "precision", weights=w) for w in (None, PACKAGED)]
    assert jobs[0].key() != jobs[1].key()

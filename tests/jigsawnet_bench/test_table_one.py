"""The paper's Table I: who votes how, candidates that stand for several, answers that are kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from jigsawnet.errors import InputError
from jigsawnet.learned import load_learned
from jigsawnet.score.pair_picture import PictureConfig
from jigsawnet_bench import table_one
from jigsawnet_bench.learners import EXAMPLES, SERIES
from jigsawnet_bench.paper import TABLE_ONE
from jigsawnet_bench.table_one import Cut, Judged, Voters, detectors, judge_puzzle, load_series, measure_table, part_rows

WriteRun = Callable[..., Path]
RIGHT = np.array([True, True, False, False])
SAID = {
    "first": np.array([0.9, 0.4, 0.6, 0.1], np.float32),
    "second": np.array([0.9, 0.9, 0.1, 0.1], np.float32),
    "third": np.array([0.4, 0.6, 0.4, 0.2], np.float32),
}
JUDGED = Judged("400 pieces", RIGHT, np.array([1.0, 1.0, 10.0, 10.0]), SAID)


@pytest.fixture
def results(tmp_path: Path, write_run: WriteRun, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of results with two series of networks, one of each kind, for small pictures."""
    small = EXAMPLES.__class__(picture=PictureConfig(width=64, height=32))
    monkeypatch.setattr(table_one, "EXAMPLES", small)
    monkeypatch.setattr(table_one, "CUTS", (Cut("36 and 100 pieces", 4, 2, 1.0), Cut("400 pieces", 6, 1, 0.5)))
    folder = tmp_path / "results" / "learners"
    folder.mkdir(parents=True)
    for name, roi in (("roi-paper", True), ("pool-plain", False)):
        run = write_run(roi=roi)
        for path in run.glob("*.onnx"):
            path.rename(folder / f"{name}-{path.name}")
        manifest = json.loads((run / "jigsawnet.json").read_text(encoding="utf-8"))
        for entry in manifest["files"]:
            entry["name"] = f"{name}-{entry['name']}"
            history = [{"learner": 0, "step": step, "loss": 1.0 / step} for step in (1, 2)]
            (folder / entry["name"]).with_suffix(".json").write_text(json.dumps({"history": history}), encoding="utf-8")
        (folder / f"{name}.json").write_text(json.dumps(manifest), encoding="utf-8")
    return folder.parent


def test_the_vote_overrules_the_first_network_only_with_more_say() -> None:
    names = ("first", "second", "third")
    strong, weak = (Voters("Boost", names, alphas, votes=True) for alphas in ((1.0, 0.7, 0.7), (1.9, 0.7, 0.7)))
    assert strong.judge(JUDGED)[1].tolist() == [True, True, False, False]
    assert weak.judge(JUDGED)[1].tolist() == [True, False, True, False], "1.9 > 0.7 + 0.7"
    assert strong.judge(JUDGED)[0] == pytest.approx((SAID["first"] + 0.7 * SAID["second"] + 0.7 * SAID["third"]) / 2.4)


def test_a_plain_mean_decides_by_the_mean_probability() -> None:
    score, said = Voters("Mean of five", ("first", "third"), (1.0, 1.0), votes=False).judge(JUDGED)
    assert score == pytest.approx([0.65, 0.5, 0.5, 0.15])
    assert said.tolist() == (score >= 0.5).tolist()


def test_a_candidate_counts_for_those_it_stands_for() -> None:
    rows = [Voters("RoI", ("first",), (1.0,), votes=False), Voters("Boost+RoI", tuple(SAID), (1.0, 0.7, 0.7), votes=True)]
    alone, boosted = part_rows("400 pieces", [JUDGED], rows)
    assert (alone["tp"], alone["fn"], alone["fp"], alone["tn"]) == (1, 1, 10, 10)
    assert alone["precision"] == pytest.approx(1 / 11, abs=1e-4)
    assert alone["right, %"] == pytest.approx(100 * 2 / 22, abs=0.01)
    assert alone["average precision"] == pytest.approx((1 + 2 / 12) / 2, abs=1e-4)
    assert (boosted["precision"], boosted["recall"], boosted["precision at recall 97 %"]) == (1.0, 1.0, 1.0)
    assert (boosted["overruled"], boosted["for the better"]) == (11, 11), "a right one, and a wrong one that stands for ten"
    assert (alone["overruled"], alone["networks"], boosted["networks"]) == (0, 1, 3)
    assert boosted["paper's precision"] == pytest.approx(2362 / (2362 + 670))


def test_the_papers_figures_are_those_it_prints() -> None:
    printed = {"Baseline": (61.7, 97.4), "Boost": (72.4, 98.2), "RoI": (82.8, 96.2), "Boost+RoI": (85.3, 97.6)}
    for name, figures in printed.items():
        counts = TABLE_ONE["36 and 100 pieces", name]
        assert (100 * counts.precision, 100 * counts.recall) == pytest.approx(figures, abs=0.06)
    assert 100 * TABLE_ONE["400 pieces", "Boost+RoI"].precision == pytest.approx(77.9, abs=0.06)


def test_each_kind_has_its_first_network_its_votes_and_its_mean(results: Path) -> None:
    rows = detectors(load_series(results / "learners"))
    assert [(row.name, len(row.networks), row.votes) for row in rows] == [
        ("Baseline", 1, False), ("Mean of five", 3, False), ("RoI", 1, False), ("Boost+RoI", 3, True),
    ]  # fmt: skip
    assert rows[3].alphas == (1.0, 0.7, 0.7)
    assert rows[2].networks == rows[3].networks[:1]


def test_the_table_is_measured_and_answers_are_kept(
    results: Path, photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = measure_table(photos, results, tmp_path / "work", None, "the command")
    written = json.loads((results / "table-1.json").read_text(encoding="utf-8"))
    assert [row["puzzles"] for row in written["rows"]] == ["2 of 36 and 100 pieces"] * 4 + ["1 of 400 pieces"] * 4
    assert len(table.rows) == 8
    assert (results / "table-1.png").is_file()
    losses = json.loads((results / "table-1-convergence.json").read_text(encoding="utf-8"))["summary"]
    assert losses == [{"step": step, "loss with RoI": 1.0 / step, "loss without RoI": 1.0 / step} for step in (1, 2)]
    assert (results / "table-1-convergence.png").is_file()
    monkeypatch.setattr(table_one, "_ask", lambda *given: pytest.fail("what is kept is not asked again"))
    measure_table(photos, results, tmp_path / "work", None, "the command")


def test_large_puzzles_can_be_left_out(results: Path, photos: Path, tmp_path: Path) -> None:
    assert len(measure_table(photos, results, tmp_path / "work", 1, "the command", largest=4).rows) == 4
    with pytest.raises(InputError, match="more than 3 pieces"):
        measure_table(photos, results, tmp_path / "work", 1, "the command", largest=3)


def test_a_part_of_the_wrong_candidates_stands_for_all(photos: Path, results: Path, tmp_path: Path) -> None:
    photo, learned = photos / "a.png", load_learned()
    whole, part = (judge_puzzle(photo, Cut("x", 6, 1, share), 0, {}, learned, tmp_path) for share in (1.0, 0.3))
    assert whole.each.tolist() == [1.0] * len(whole.right)
    assert part.right.sum() == whole.right.sum() > 0
    assert len(part.right) < len(whole.right)
    assert part.each.sum() == pytest.approx(len(whole.right))


def test_a_folder_without_networks_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="bench learners"):
        load_series(tmp_path)


def test_the_experiment_is_that_of_the_paper() -> None:
    for name, config in SERIES.items():
        assert (config.learners, config.warm_start, config.later_steps, config.weigh_at_most) == (5, False, 0, 0), name
        assert (config.sampling.oversample, config.sampling.keep, config.sampling.positive_share) == (20, 0.5, 0.3)
    assert {(config.roi, config.rule) for config in SERIES.values()} == {
        (roi, rule) for roi in (True, False) for rule in ("paper", "code", "none")
    }

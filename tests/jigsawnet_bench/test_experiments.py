"""``bench match``, ``compose`` and ``detect``: one stage measured, and the whole command on small puzzles."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jigsawnet.candidates import Candidates
from jigsawnet.context import Context
from jigsawnet.errors import InputError
from jigsawnet.score import Scene, scorers
from jigsawnet.shred import ShredConfig
from jigsawnet.types import FloatArray
from jigsawnet_bench.bench import SuiteOptions, bench_suite
from jigsawnet_bench.cases import Case, suite_cases
from jigsawnet_bench.methods import METHODS, Task
from jigsawnet_bench.records import read_record
from jigsawnet_bench.runner import Launch
from jigsawnet_bench.suite import Group, Kind, Source, load_suite
from jigsawnet_bench.tasks import SCORERS, compose_case, detect_case, match_case, run_job
from jigsawnet_bench.work import Job, source_digest

GROUPS = {
    "4 pieces": "shred = {pieces = 4}\n",
    "4 pieces, straight cuts": 'methods = ["dense"]\nshred = {pieces = 4, perturbation = 0}\n',
}
MATCH_KEYS = {
    "matcher", "pieces", "recall", "recall_touching", "candidates", "per_piece", "per_piece_most", "residual_px",
    "ms_per_pair", "seconds", "peak_mb",
}  # fmt: skip


def job_of(
    task: Task, method: str, tmp_path: Path, pieces: int = 4, photo: Path | None = None, source: Source = "photos"
) -> Job:
    case = Case(Group(Kind("some pieces", source), ShredConfig(pieces=pieces)), 3, (photo,) if photo else ())
    return Job(case, METHODS[task][method], tmp_path / "work", source_digest(), task)


def write_suite(folder: Path, name: str, groups: Sequence[str] = tuple(GROUPS)) -> str:
    path = folder / f"{name}.toml"
    parts = [f'[[group]]\nname = "{group}"\npuzzles = 1\n{GROUPS[group]}' for group in groups]
    path.write_text("\n".join([f'title = "t"\ntask = "{name}"\n', *parts]), encoding="utf-8")
    return str(path)


def read(out: Path, name: str) -> dict[str, Any]:
    return json.loads((out / f"{name}.json").read_text(encoding="utf-8"))


@pytest.fixture
def noisy_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Instead of the networks: the matcher's score with noise."""

    def noisy(scorer: str) -> Callable[[Candidates, Scene, Context], FloatArray]:
        def score(rows: Candidates, scene: Scene, context: Context) -> FloatArray:
            return np.clip(rows.fit + 0.1 * np.random.default_rng(len(scorer)).standard_normal(len(rows)), 0, 1)

        return score

    for scorer in SCORERS[1:]:
        monkeypatch.setitem(scorers._items, scorer, noisy(scorer))


def test_the_dense_matcher_finds_all_neighbours_of_nine_pieces(photos: Path, tmp_path: Path) -> None:
    (row,) = match_case(job_of("match", "dense", tmp_path, 9, photos / "a.png")).measured["rows"]
    assert set(row) == MATCH_KEYS
    assert (row["matcher"], row["pieces"], row["recall"]) == ("dense", 9, 1.0)
    assert 0 < row["recall_touching"] <= 1
    assert row["per_piece"] == pytest.approx(2 * row["candidates"] / 9)
    assert row["per_piece"] <= row["per_piece_most"] <= 40
    assert 0 < row["residual_px"] < 1
    assert row["seconds"] > 0
    assert row["peak_mb"] > 10


def test_a_page_needs_no_photo(tmp_path: Path) -> None:
    job = job_of("match", "dense", tmp_path, source="pages")
    run_job(job)
    record = read_record(job.folder, job.key())
    assert record is not None
    assert record.error is None
    assert record.measured["rows"][0]["recall"] == 1.0


def test_every_composer_solves_four_pieces_with_scores_of_the_seams(photos: Path, tmp_path: Path) -> None:
    rows = compose_case(job_of("compose", "glc", tmp_path, photo=photos / "a.png")).measured["rows"]
    assert [(row["scores"], row["method"]) for row in rows] == [("simulated", "glc"), ("seam", "glc")]
    assert rows[1]["pcr"] == 1.0
    again = compose_case(job_of("compose", "glc", tmp_path, photo=photos / "a.png")).measured["rows"]
    assert [{**row, "compose_seconds": 0, "refine_seconds": 0} for row in again] == [
        {**row, "compose_seconds": 0, "refine_seconds": 0} for row in rows
    ]


def test_the_stage_of_a_puzzle_can_be_made_smaller_and_larger(photos: Path) -> None:
    suite = load_suite("match")
    small = suite_cases(suite, photos, most=5, largest=36, exactly=True)
    assert max(case.group.shred.pieces for case in small) == 36
    assert sum(case.group.kind.name == "9 pieces" for case in small) == 5
    every = suite_cases(suite, photos, most=5, exactly=True)
    assert sum(case.group.kind.name == "1000 pieces" for case in every) == 1
    with pytest.raises(InputError, match="All puzzles of detect have more than 35 pieces"):
        suite_cases(load_suite("detect"), photos, largest=35)


def test_matching_is_measured_and_written(photos: Path, tmp_path: Path, at_once: Launch) -> None:
    out, told = tmp_path / "out", list[tuple[str, int, int]]()
    options = SuiteOptions(photos, methods=("dense",), most=2, exactly=True)
    suite = write_suite(tmp_path, "match", ["4 pieces"])
    tables, failed = bench_suite(
        suite, out, tmp_path / "work", options, "the command", lambda *step: told.append(step), at_once
    )
    assert not failed
    assert told == [("bench", 0, 1), ("bench", 1, 1)]
    data = read(out, "match")
    assert (data["format"], data["command"], data["title"]) == ("jigsawnet/bench", "the command", "t")
    assert [(row["puzzle"], row["puzzles"], row["recall"]) for row in data["summary"]] == [("4 pieces", 1, 1.0)]
    assert [(row["picture"], row["seed"]) for row in data["rows"]] == [("a.png", 0)]
    assert tables[0].rows[0][:2] == ("4 pieces", "dense")
    assert "| 4 pieces | dense |" in (out / "match.md").read_text(encoding="utf-8")


def test_composers_are_compared_on_puzzles_and_on_tiles(photos: Path, tmp_path: Path, at_once: Launch) -> None:
    out, options = tmp_path / "out", SuiteOptions(photos, methods=("hlm", "default"))
    suite = write_suite(tmp_path, "compose", ["4 pieces"])
    tables, _ = bench_suite(suite, out, tmp_path / "work", options, "the command", launch=at_once)
    assert [table.title for table in tables] == ["compose", "compose_tiles"]
    whole = {(row["scores"], row["method"]): row["pcr"] for row in read(out, "compose")["summary"]}
    assert whole["seam", "hlm"] == whole["seam", "default"] == 1.0
    assert {(row["false_per_true"], row["pcr"]) for row in read(out, "compose_tiles")["summary"]} >= {(0, 1.0)}
    assert (out / "compose_tiles.png").stat().st_size > 5000


@pytest.mark.usefixtures("noisy_fits")
def test_one_puzzle_gives_the_same_twice(photos: Path, tmp_path: Path) -> None:
    job = job_of("detect", "zhang", tmp_path, photo=photos / "a.png")
    (row,), (again,) = (detect_case(job).measured["rows"] for _ in range(2))
    assert list(row["verdicts"]) == [*SCORERS, "RoI", "Boost+RoI"]
    assert row["solved"] == []
    for name, verdict in row["verdicts"].items():
        assert {**verdict, "seconds": 0.0} == {**again["verdicts"][name], "seconds": 0.0}


@pytest.mark.usefixtures("noisy_fits")
def test_detectors_are_compared_in_tables_and_figures(
    photos: Path, write_run: Callable[..., Path], tmp_path: Path, at_once: Launch
) -> None:
    out, trainings = tmp_path / "out", (write_run(roi=False), write_run(roi=True))
    options = SuiteOptions(photos, trainings=trainings)
    tables, failed = bench_suite(
        write_suite(tmp_path, "detect"), out, tmp_path / "work", options, "the command", launch=at_once
    )
    assert not failed
    written = ["detect", "detect_greedy", "detect_calibration", "detect_convergence", "detect_speed", "detect_solve"]
    assert [table.title for table in tables] == written
    data = {name: read(out, name) for name in written}
    assert data["detect"]["command"] == "the command"
    detectors: dict[tuple[str, str], list[str]] = {}
    for row in data["detect"]["summary"]:
        detectors.setdefault((row["puzzle"], row["matcher"]), []).append(row["detector"])
        assert row["tp"] + row["tn"] + row["fp"] + row["fn"] == row["candidates"]
    scorers, networks = [*SCORERS], ["Baseline", "Boost", "RoI", "Boost+RoI"]
    assert detectors == {
        ("4 pieces", "dense"): networks + scorers,
        ("4 pieces", "zhang"): networks + scorers,
        ("4 pieces", "tsamoura"): scorers,
        ("4 pieces, straight cuts", "dense"): networks + scorers,
    }
    solved = {(row["puzzle"], row["method"], row["scorer"]): row["pcr"] for row in data["detect_solve"]["summary"]}
    assert len(solved) == 2 * 4 * 4
    assert solved["4 pieces", "default", "fit"] == 1.0
    figures = {"networks", "scorers", "greedy", "convergence", "calibration"}
    assert {path.name for path in out.glob("*.png")} == {f"detect_{name}.png" for name in figures}


def test_a_folder_that_is_no_training_is_named_before_the_work(photos: Path, tmp_path: Path) -> None:
    options = SuiteOptions(photos, trainings=(tmp_path,))
    with pytest.raises(InputError, match=r"holds no jigsawnet\.json"):
        bench_suite("detect", tmp_path / "out", tmp_path / "work", options, "the command")
    assert not (tmp_path / "out").exists()

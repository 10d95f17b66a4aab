"""``bench match``: one puzzle measured, the suite's names, and its files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

from jigsawnet.errors import InputError
from jigsawnet.evaluation import bench_match as module
from jigsawnet.evaluation.bench_match import Case, bench_match, match_cases, run_case
from jigsawnet.io.images import write_png
from jigsawnet.shred import ShredConfig
from jigsawnet.types import UInt8Array

KEYS = {
    "case", "matcher", "seed", "picture", "pieces", "recall", "recall_touching", "candidates", "per_piece", "per_piece_most",
    "residual_px", "ms_per_pair", "seconds", "peak_mb",
}  # fmt: skip


class InThisProcess:
    """Stands for a pool of one process, and works at once."""

    def __init__(self, *_: object, **__: object) -> None:
        pass

    def __enter__(self) -> InThisProcess:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        pass

    def submit(self, work: Callable[..., Any], *args: object) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(work(*args))
        return done


@pytest.fixture
def photo(tmp_path: Path, picture: UInt8Array) -> Path:
    path = tmp_path / "photos" / "photo.png"
    path.parent.mkdir()
    write_png(path, picture)
    return path


def test_the_dense_matcher_finds_all_neighbours_of_nine_pieces(photo: Path) -> None:
    row = run_case(Case("9 pieces", "dense", ShredConfig(pieces=9), (3,)), 3, photo)
    assert set(row) == KEYS
    assert (row["case"], row["matcher"], row["seed"], row["picture"]) == ("9 pieces", "dense", 3, "photo.png")
    assert (row["pieces"], row["recall"]) == (9, 1.0)
    assert 0 < row["recall_touching"] <= 1
    assert row["per_piece"] == pytest.approx(2 * row["candidates"] / 9)
    assert row["per_piece"] <= row["per_piece_most"] <= 40
    assert 0 < row["residual_px"] < 1
    assert row["seconds"] > 0
    assert row["peak_mb"] > 10


def test_a_page_needs_no_photo(tmp_path: Path) -> None:
    row = run_case(Case("pages", "dense", ShredConfig(pieces=4), (0,), pages=True), 0, tmp_path / "missing.png")
    assert row["picture"] == "generated page"
    assert row["recall"] == 1.0


def test_names_are_unique_for_each_matcher() -> None:
    cases = match_cases()
    assert max(Counter((case.name, case.matcher) for case in cases).values()) == 1
    assert {case.matcher for case in cases} == {"dense", "zhang", "tsamoura"}
    assert any(case.pages for case in cases)


def test_the_suite_can_be_made_smaller() -> None:
    small = match_cases(seeds=(5,), largest=36)
    assert max(case.shred.pieces for case in small) == 36
    assert all(case.seeds == (5,) for case in small)
    assert max(case.shred.pieces for case in match_cases()) == 1000


def test_results_are_written_and_progress_is_told(photo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ProcessPoolExecutor", InThisProcess)
    told: list[tuple[str, int, int]] = []
    cases = [Case("4 pieces", "dense", ShredConfig(pieces=4), (0, 1))]
    summary = bench_match(photo.parent, tmp_path / "out", cases, "the command", lambda *step: told.append(step))
    assert told == [("bench", 1, 2), ("bench", 2, 2)]
    assert [(row["case"], row["puzzles"], row["recall"]) for row in summary] == [("4 pieces", 2, 1.0)]
    data = json.loads((tmp_path / "out" / "match.json").read_text(encoding="utf-8"))
    assert data["command"] == "the command"
    assert [row["seed"] for row in data["rows"]] == [0, 1]
    assert data["summary"] == summary
    assert "| 4 pieces | dense |" in (tmp_path / "out" / "match.md").read_text(encoding="utf-8")


def test_a_folder_without_photos_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no pictures"):
        bench_match(tmp_path, tmp_path / "out", match_cases(), "the command")
    assert not (tmp_path / "out").exists()

"""Strips taken away, and what is said of the joins of those that are left."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from shredded import page, strips_of

from jigsawnet.errors import ConfigError
from jigsawnet_bench import missing_strips
from jigsawnet_bench.missing_strips import MissingStrips, main, measure_trial, summary_of, take_away


def test_strips_beside_a_gap_are_no_neighbours() -> None:
    puzzle = strips_of(page(0, 640, 1450), 9)
    order = {idx: idx for idx in range(9)}
    left, places = take_away(puzzle, order, 0.3, np.random.default_rng(0))
    assert len(left) == 6
    assert [piece.idx for piece in left.pieces] == list(range(6))
    assert [left.pieces[new].name for new in range(6)] == [puzzle.pieces[old].name for old in places.values()]
    assert take_away(puzzle, order, 0.0, np.random.default_rng(0))[1] == order


def test_joins_are_judged_by_the_order() -> None:
    puzzle = strips_of(page(0, 640, 1450), 9)
    found = measure_trial(puzzle, {idx: idx for idx in range(9)})
    assert (found["strips"], found["joins"], found["joins_right"]) == (9, 8, 8)
    assert found["sure"] == found["sure_right"] >= 5
    apart = measure_trial(puzzle, {idx: 2 * idx for idx in range(9)})
    assert (apart["joins"], apart["joins_right"], apart["sure_right"]) == (8, 0, 0)


def test_pages_of_a_kind_are_summed() -> None:
    row = {"kind": "a", "strips": 9, "joins": 8, "joins_right": 7, "sure": 5, "sure_right": 4}
    (found,) = summary_of([row, row])
    assert (found["trials"], found["joins"], found["right"], found["sure"], found["sure and wrong"]) == (2, 16, 14, 10, 2)
    assert found["in %"] == 20.0
    (none,) = summary_of([row | {"sure": 0, "sure_right": 0}])
    assert none["in %"] is None


def test_the_command_writes_what_it_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = {"strips": 4, "joins": 3, "joins_right": 3, "sure": 2, "sure_right": 1}
    monkeypatch.setattr(missing_strips, "measure_trial", lambda puzzle, order: made)
    monkeypatch.setattr(MissingStrips, "_pages", lambda self: iter([("a page", lambda: (strips_of(page(), 5), {}))]))
    assert main(["-o", str(tmp_path), "--trials", "2"]) == 0
    data = json.loads((tmp_path / "missing-strips.json").read_text(encoding="utf-8"))
    assert data["command"].startswith("python -m jigsawnet_bench.missing_strips --pages 4 --trials 2")
    assert data["summary"][0]["sure and wrong"] == 2
    assert len(data["rows"]) == 2


def test_bad_options_are_refused() -> None:
    with pytest.raises(ConfigError, match="missing must be"):
        MissingStrips(missing=1.0)

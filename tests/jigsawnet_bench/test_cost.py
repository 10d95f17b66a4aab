"""``bench cost``: what matching and scoring cost, measured on one small puzzle."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from jigsawnet.candidates import Candidates
from jigsawnet.errors import InputError
from jigsawnet_bench import cost


def test_cost_is_measured_and_written(photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "PIECES", (4, 6))
    table = cost.bench_cost(photos, tmp_path / "out", "the command")
    data = json.loads((tmp_path / "out" / "cost_per_pair.json").read_text(encoding="utf-8"))
    assert data["command"] == "the command"
    assert [(row["pieces"], row["pairs"], row["pairs measured"]) for row in data["rows"]] == [(4, 6, 6), (6, 15, 15)]
    assert all(value > 0 for row in data["rows"] for value in row.values())
    assert table.head == tuple(data["rows"][0])


def test_a_folder_without_pictures_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no pictures"):
        cost.bench_cost(tmp_path, tmp_path / "out", "the command")


def test_columns_of_equal_numbers_take_no_memory() -> None:
    rows = Candidates.make([0, 0], [1, 2], np.zeros((2, 3), np.float32), np.zeros((2, 13), np.float32))
    assert cost.size_of(rows) == 2 * (4 + 4 + 3 * 4 + 13 * 4)

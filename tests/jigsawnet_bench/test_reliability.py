"""The reliability table: what is said against what is seen, and placements that are kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from jigsawnet.io.pieces import list_pictures
from jigsawnet.learned import Learned, Logistic, load_learned
from jigsawnet.pipeline import Corridor
from jigsawnet.shred import ShredConfig
from jigsawnet_bench import reliability
from jigsawnet_bench.reliability import Said, judge, place_puzzle, reliability_rows

KIND = "straight cuts"


def test_rows_count_what_was_called_sure_and_is_wrong() -> None:
    said = Said(KIND, np.array([0.99, 0.96, 0.97, 0.4]), np.array([True, False, True, False]))
    row = said.row()
    assert (row["number"], row["wrong"], row["sure"], row["sure and wrong"], row["in %"]) == (4, 2, 3, 1, "33.33")
    nonsense = Said("noise", np.array([0.999]), np.array([False]))
    *bins, total = reliability_rows([said, nonsense])
    assert [(row["said between"], row["number"], row["seen"]) for row in bins] == [
        ("0.00-0.50", 1, "0.0000"), ("0.95-0.99", 2, "0.5000"), ("0.99-1.00", 1, "1.0000"),
    ]  # fmt: skip
    assert (total["number"], total["sure and wrong"]) == (4, 1), "squares of nothing are not among the real puzzles"


def test_a_placement_is_kept_and_judged_anew(photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(reliability.KINDS, KIND, (ShredConfig(pieces=4), 1))
    learned, pictures = load_learned(), list_pictures(photos)
    first = place_puzzle(KIND, 0, pictures, tmp_path / "kept", learned)

    def never(*_: object) -> None:
        raise AssertionError("it was put together again")

    monkeypatch.setattr(Corridor, "get", never)
    again = place_puzzle(KIND, 0, pictures, tmp_path / "kept", learned)
    assert (dict(again.assembly.poses), again.assembly.components) == (dict(first.assembly.poses), first.assembly.components)
    (pieces,), (joins,) = judge([again], learned)
    assert pieces.right.all()
    assert joins.right.all()
    assert pieces.probability.min() > 0.5
    (doubted,), _ = judge([again], _never_sure(learned))
    assert doubted.probability.max() < 0.01


def _never_sure(learned: Learned) -> Learned:
    return replace(learned, confidence=Logistic(-20.0, (0.0,) * len(learned.confidence.weights)))

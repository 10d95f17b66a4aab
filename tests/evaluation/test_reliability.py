"""What was said against what is seen, bin by bin, with values counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from jigsawnet.evaluation.reliability import Bin, confidence_bins, reliability_bins
from jigsawnet.geometry import SE2
from jigsawnet.types import Alignment, Assembly, Join, Piece, Puzzle


def test_bins_hold_what_lies_in_them_and_empty_ones_are_left_out() -> None:
    said = np.array([0.0, 0.4999, 0.5, 0.97, 0.96, 1.0])
    right = np.array([False, True, True, True, False, True])
    assert reliability_bins(said, right) == [
        Bin(0.0, 0.5, pytest.approx(0.24995), 0.5, 2),  # type: ignore[arg-type]
        Bin(0.5, 0.8, 0.5, 1.0, 1),
        Bin(0.95, 0.99, pytest.approx(0.965), 0.5, 2),  # type: ignore[arg-type]
        Bin(0.99, 1.0, 1.0, 1.0, 1),
    ]
    assert reliability_bins(np.zeros(0), np.zeros(0, bool)) == []


def test_pieces_and_joins_are_held_against_the_truth() -> None:
    """Four squares in a row, the last in a wrong place and sure of little; a fifth, not placed, does not count."""
    pieces = tuple(Piece(k, f"{k}.png", np.zeros((100, 100, 3), np.uint8), np.ones((100, 100), bool)) for k in range(5))
    puzzle = Puzzle("row", pieces)
    truth = Assembly(5, {k: SE2(0.0, 100.0 * k, 0.0) for k in range(5)}, ((0, 1, 2, 3, 4),))
    beside, wrong = SE2(0.0, 100.0, 0.0), SE2(0.0, 0.0, 300.0)
    joins = (
        Join(Alignment(0, 1, beside, 1.0), 0.2, 0.97), Join(Alignment(1, 2, beside, 1.0), 0.2, 0.999),
        Join(Alignment(2, 3, wrong, 1.0), 0.2, 0.3),
    )  # fmt: skip
    poses = {0: SE2(0.0, 0.0, 0.0), 1: beside, 2: SE2(0.0, 200.0, 0.0), 3: SE2(0.0, 200.0, 300.0)}
    solved = Assembly(5, poses, ((0, 1, 2, 3),), joins, {0: 0.9, 1: 0.9, 2: 0.9, 3: 0.2, 4: 0.6})
    found = confidence_bins(puzzle, solved, truth)
    assert [(each.low, each.right, each.count) for each in found["pieces"]] == [(0.0, 0.0, 1), (0.8, 1.0, 3)]
    assert [(each.low, each.said, each.right, each.count) for each in found["joins"]] == [
        (0.0, 0.3, 0.0, 1), (0.95, 0.97, 1.0, 1), (0.99, 0.999, 1.0, 1),
    ]  # fmt: skip

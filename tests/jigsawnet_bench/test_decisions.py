"""Scores against the truth, of candidates: calibration, greedy selection and the tables, on examples done by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from jigsawnet.shred import ShredConfig
from jigsawnet.types import BoolArray, FloatArray
from jigsawnet_bench.decisions import (
    Judged,
    calibrations,
    decision_rows,
    greedy_rows,
    precision_at_recall,
    precision_rows,
    recall_at_precision,
    reliability,
    speed_rows,
    take_until_connected,
)
from jigsawnet_bench.networks import Verdict
from jigsawnet_bench.suite import Group, Kind
from jigsawnet_bench.tasks import SCORERS

SCORE = np.array([0.9, 0.8, 0.7, 0.6, 0.1])
RIGHT = np.array([True, False, True, True, False])
PLAIN = Group(Kind("4 pieces"), ShredConfig(pieces=4))
STRAIGHT = Group(Kind("4 pieces, straight cuts"), ShredConfig(pieces=4, perturbation=0.0))
LARGE = Group(Kind("400 pieces"), ShredConfig(pieces=400))


@st.composite
def scored(draw: st.DrawFn) -> tuple[FloatArray, BoolArray]:
    """Coarse scores, so that some are equal, and labels."""
    n = draw(st.integers(1, 40))
    score = draw(arrays(np.int64, n, elements=st.integers(0, 8))) / 8.0
    return score, draw(arrays(np.bool_, n))


def some_candidates(group: Group, score: Sequence[float], right: Sequence[bool], seconds: float = 0.5) -> Judged:
    """Candidates along a chain of pieces, with a verdict of every scorer."""
    values = np.array(score)
    joins = np.array([(k, k + 1) for k in range(len(values))])
    verdicts = dict.fromkeys(SCORERS, Verdict(values, values >= 0.5, seconds=seconds))
    return Judged(group, "dense", 0, "photo.png", len(values) + 1, joins, np.array(right), verdicts)


def test_precision_at_a_recall_is_the_best_among_the_thresholds_that_reach_it() -> None:
    assert precision_at_recall(SCORE, RIGHT, 1 / 3) == 1.0
    assert precision_at_recall(SCORE, RIGHT, 0.5) == 0.75
    assert precision_at_recall(SCORE, RIGHT, 1.0) == 0.75


def test_recall_at_a_precision_is_the_best_among_the_thresholds_that_keep_it() -> None:
    assert recall_at_precision(SCORE, RIGHT, 0.97) == pytest.approx(1 / 3)
    assert recall_at_precision(SCORE, RIGHT, 0.75) == 1.0
    assert recall_at_precision(1.0 - SCORE, RIGHT, 0.97) == 0.0


def test_precision_is_pooled_over_the_puzzles_of_a_kind() -> None:
    def row(seed: int, score: list[float], right: list[bool], found: int) -> dict[str, Any]:
        head = {"puzzle": "fresco", "seed": seed, "picture": f"{seed}.png", "matcher": "dense", "pieces": 3}
        return {**head, "neighbors": 2, "found": found, "right": right, "scores": dict.fromkeys(SCORERS, score)}

    rows, (kind,) = precision_rows([row(0, [0.9, 0.2], [True, False], 1), row(1, [0.8, 0.5], [False, True], 1)])
    assert [each["AP seam"] for each in rows] == [1.0, 0.5]
    assert [each["picture"] for each in rows] == ["0.png", "1.png"]
    assert (kind["puzzles"], kind["neighbors"], kind["candidate_recall"], kind["candidates"]) == (2, 4, 0.5, 4)
    assert kind["AP seam"] == pytest.approx((1.0 + 2 / 3) / 2, abs=1e-4)
    assert kind["R97 seam"] == 0.5


def test_a_share_of_nothing_is_zero() -> None:
    assert precision_at_recall(SCORE, np.zeros(5, dtype=bool), 0.5) == 0.0
    assert reliability(np.zeros(0), np.zeros(0, dtype=bool)).error == 0.0


@given(scored())
@settings(deadline=None, max_examples=60)
def test_bins_hold_all_candidates_and_their_scores(case: tuple[FloatArray, BoolArray]) -> None:
    score, right = case
    found = reliability(score, right)
    assert found.count.sum() == len(score)
    assert found.mean_score @ found.count == pytest.approx(score.sum())
    assert found.share_right @ found.count == pytest.approx(right.sum())
    assert 0 <= found.error <= 1


def test_scores_that_hold_as_often_as_they_say_have_no_calibration_error() -> None:
    score = np.repeat([0.25, 0.75], 4)
    right = np.array([True, False, False, False, True, True, True, False])
    assert reliability(score, right).error == 0.0
    assert reliability(score, ~right).error == pytest.approx(0.5)


def test_the_highest_score_has_a_bin() -> None:
    found = reliability(np.array([1.0, 0.95]), np.array([True, True]))
    assert found.count.tolist() == [2]


def test_candidates_are_taken_until_the_last_piece_is_connected() -> None:
    joins = np.array([(2, 3), (0, 1), (0, 1), (1, 2), (0, 3)])
    score = np.array([0.2, 0.9, 0.8, 0.7, 0.1])
    assert take_until_connected(4, joins, score).tolist() == [1, 2, 3, 0], "the second join of 0 and 1 is not skipped"
    assert take_until_connected(4, joins, np.array([0.9, 0.9, 0.1, 0.9, 0.2])).tolist() == [0, 1, 3], "ties by order"


def test_all_candidates_are_taken_when_they_do_not_connect_all_pieces() -> None:
    joins, score = np.array([(0, 1), (0, 1)]), np.array([0.4, 0.6])
    assert take_until_connected(3, joins, score).tolist() == [1, 0]
    assert take_until_connected(3, np.zeros((0, 2), dtype=np.int64), np.zeros(0)).tolist() == []


def test_decisions_of_all_puzzles_of_a_kind_are_counted_together() -> None:
    sets = [
        some_candidates(PLAIN, [0.9, 0.6, 0.2], [True, False, False]),
        some_candidates(STRAIGHT, [0.9], [True]),
        some_candidates(PLAIN, [0.8, 0.4], [True, True]),
    ]
    rows = [row for row in decision_rows(sets)[1] if row["detector"] == "seam"]
    assert [(row["puzzle"], row["puzzles"], row["candidates"]) for row in rows] == [
        (PLAIN.kind.name, 2, 5),
        (STRAIGHT.kind.name, 1, 1),
    ]
    assert [rows[0][key] for key in ("tp", "tn", "fp", "fn")] == [2, 1, 1, 1]
    assert (rows[0]["precision"], rows[0]["recall"]) == (0.6667, 0.6667)
    assert rows[0]["average_precision"] == round((1 + 1 + 3 / 4) / 3, 4)
    assert rows[0]["precision at recall 97 %"] == 0.75


def test_the_greedy_table_holds_means_over_puzzles() -> None:
    sets = [some_candidates(PLAIN, [0.9, 0.6], [True, False]), some_candidates(PLAIN, [0.9, 0.6], [True, True])]
    _, table = greedy_rows(sets)
    assert {(row["detector"], row["puzzles"], row["taken"], row["precision"], row["recall"]) for row in table} == {
        (scorer, 2, 2.0, 0.75, 1.0) for scorer in SCORERS
    }


def test_calibration_leaves_out_large_puzzles() -> None:
    sets = [some_candidates(PLAIN, [0.75] * 4, [True, True, True, False]), some_candidates(LARGE, [0.75] * 4, [False] * 4)]
    assert calibrations(sets)["combined"].error == 0.0


def test_speed_is_that_of_the_largest_plain_puzzles() -> None:
    larger = Group(Kind("9 pieces"), ShredConfig(pieces=9))
    sets = [some_candidates(PLAIN, [0.5] * 3, [True] * 3), some_candidates(larger, [0.5] * 6, [True] * 6)]
    _, means = speed_rows(sets)
    assert {(row["scorer"], row["puzzle"], row["per_second"]) for row in means} == {
        (scorer, "9 pieces", 12.0) for scorer in ("jigsawnet", "seam", "combined")
    }
    assert speed_rows([]) == ([], [])

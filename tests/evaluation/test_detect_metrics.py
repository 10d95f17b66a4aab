"""Scores against the truth: counts, curves, calibration and greedy selection, on examples that can be done by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from jigsawnet.evaluation.detect_metrics import (
    Confusion,
    average_precision,
    count_decisions,
    precision_at_recall,
    precision_recall,
    reliability,
    take_until_connected,
)
from jigsawnet.types import BoolArray, FloatArray

SCORE = np.array([0.9, 0.8, 0.7, 0.6, 0.1])
RIGHT = np.array([True, False, True, True, False])


@st.composite
def scored(draw: st.DrawFn) -> tuple[FloatArray, BoolArray]:
    """Coarse scores, so that some are equal, and labels."""
    n = draw(st.integers(1, 40))
    score = draw(arrays(np.int64, n, elements=st.integers(0, 8))) / 8.0
    return score, draw(arrays(np.bool_, n))


def test_decisions_are_counted() -> None:
    counts = count_decisions(SCORE >= 0.65, RIGHT)
    assert counts == Confusion(tp=2, tn=1, fp=1, fn=1)
    assert (counts.precision, counts.recall) == (pytest.approx(2 / 3), pytest.approx(2 / 3))


def test_a_share_of_nothing_is_zero() -> None:
    nothing = count_decisions(np.zeros(0, dtype=bool), np.zeros(0, dtype=bool))
    assert (nothing.precision, nothing.recall) == (0.0, 0.0)
    assert average_precision(np.zeros(0), np.zeros(0, dtype=bool)) == 0.0
    assert precision_at_recall(SCORE, np.zeros(5, dtype=bool), 0.5) == 0.0
    assert reliability(np.zeros(0), np.zeros(0, dtype=bool)).error == 0.0


def test_the_curve_has_a_point_for_every_threshold() -> None:
    precision, recall = precision_recall(SCORE, RIGHT)
    assert precision.tolist() == pytest.approx([1, 1 / 2, 2 / 3, 3 / 4, 3 / 5])
    assert recall.tolist() == pytest.approx([1 / 3, 1 / 3, 2 / 3, 1, 1])
    assert average_precision(SCORE, RIGHT) == pytest.approx((1 + 2 / 3 + 3 / 4) / 3)


def test_candidates_with_equal_scores_pass_together() -> None:
    precision, recall = precision_recall(np.array([0.5, 0.5, 0.5, 0.2]), np.array([True, False, False, True]))
    assert precision.tolist() == pytest.approx([1 / 3, 1 / 2])
    assert recall.tolist() == [0.5, 1.0]


def test_precision_at_a_recall_is_the_best_among_the_thresholds_that_reach_it() -> None:
    assert precision_at_recall(SCORE, RIGHT, 1 / 3) == 1.0
    assert precision_at_recall(SCORE, RIGHT, 0.5) == 0.75
    assert precision_at_recall(SCORE, RIGHT, 1.0) == 0.75


@given(scored())
@settings(deadline=None, max_examples=60)
def test_the_curve_agrees_with_counting_at_each_threshold(case: tuple[FloatArray, BoolArray]) -> None:
    score, right = case
    precision, recall = precision_recall(score, right)
    expected = [count_decisions(score >= threshold, right) for threshold in sorted(set(score.tolist()), reverse=True)]
    assert precision.tolist() == pytest.approx([counts.precision for counts in expected])
    assert recall.tolist() == pytest.approx([counts.recall for counts in expected])
    assert average_precision(score, right) <= 1.0 + 1e-12


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

"""Scores against the truth: counts and curves, on examples that can be done by hand."""

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
    precision_recall,
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


def test_the_curve_has_a_point_for_every_threshold() -> None:
    precision, recall = precision_recall(SCORE, RIGHT)
    assert precision.tolist() == pytest.approx([1, 1 / 2, 2 / 3, 3 / 4, 3 / 5])
    assert recall.tolist() == pytest.approx([1 / 3, 1 / 3, 2 / 3, 1, 1])
    assert average_precision(SCORE, RIGHT) == pytest.approx((1 + 2 / 3 + 3 / 4) / 3)


def test_candidates_with_equal_scores_pass_together() -> None:
    precision, recall = precision_recall(np.array([0.5, 0.5, 0.5, 0.2]), np.array([True, False, False, True]))
    assert precision.tolist() == pytest.approx([1 / 3, 1 / 2])
    assert recall.tolist() == [0.5, 1.0]


@given(scored())
@settings(deadline=None, max_examples=60)
def test_the_curve_agrees_with_counting_at_each_threshold(case: tuple[FloatArray, BoolArray]) -> None:
    score, right = case
    precision, recall = precision_recall(score, right)
    expected = [count_decisions(score >= threshold, right) for threshold in sorted(set(score.tolist()), reverse=True)]
    assert precision.tolist() == pytest.approx([counts.precision for counts in expected])
    assert recall.tolist() == pytest.approx([counts.recall for counts in expected])
    assert average_precision(score, right) <= 1.0 + 1e-12

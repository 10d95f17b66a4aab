from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jigsawnet.training.measures import average_precision, measure


def test_average_precision_by_hand() -> None:
    right = np.array([True, False, True, False])
    assert average_precision(np.array([0.9, 0.8, 0.7, 0.1]), right) == pytest.approx(0.5 * 1 + 0.5 * 2 / 3)


def test_equal_probabilities_are_worth_the_share_of_right_ones() -> None:
    assert average_precision(np.full(8, 0.4), np.arange(8) < 2) == pytest.approx(0.25)


def test_nothing_right_is_worth_nothing() -> None:
    assert average_precision(np.array([0.3, 0.2]), np.zeros(2, bool)) == 0.0
    assert average_precision(np.zeros(0), np.zeros(0, bool)) == 0.0


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40), st.randoms())
def test_order_of_the_examples_does_not_matter(entries: list[tuple[float, bool]], random) -> None:
    shuffled = list(entries)
    random.shuffle(shuffled)
    first, again = (measure(np.array([e[0] for e in es]), np.array([e[1] for e in es])) for es in (entries, shuffled))
    assert first.average_precision == pytest.approx(again.average_precision)
    assert (first.precision, first.recall) == (again.precision, again.recall)


def test_counts_at_one_half() -> None:
    scores = measure(np.array([0.9, 0.5, 0.6, 0.1]), np.array([True, False, True, True]))
    assert (scores.precision, scores.recall) == pytest.approx((2 / 3, 2 / 3))

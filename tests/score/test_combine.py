"""The combined score: a probability that listens to the measured seam and to the network."""

from __future__ import annotations

import numpy as np
import pytest

from jigsawnet.learned import load_learned
from jigsawnet.score.combine import combine, combined_terms, logit

TERMS = 77


def test_log_odds_stay_finite_at_certainty() -> None:
    odds = logit(np.array([0.0, 0.5, 1.0]))
    assert odds[1] == 0.0
    assert np.isfinite(odds).all()
    assert odds[0] == pytest.approx(-odds[2])


def test_there_is_a_weight_for_every_term() -> None:
    assert combined_terms(np.zeros((2, TERMS)), np.full((2, 2), 0.5)).shape == (2, len(load_learned().combined.weights))


def test_no_candidates_no_probabilities() -> None:
    assert combine(np.zeros((0, TERMS)), np.zeros((0, 2)), load_learned().combined).shape == (0,)


def test_terms_hold_the_votes_their_products_and_their_products_with_what_was_measured() -> None:
    terms = np.arange(TERMS, dtype=np.float64)[None]
    votes = np.array([[1 / (1 + np.exp(-2.0)), 1 / (1 + np.exp(3.0))]])  # log odds 2 and -3
    row = combined_terms(terms, votes)[0]
    assert row[:TERMS] == pytest.approx(terms[0])
    assert row[TERMS : TERMS + 5] == pytest.approx([2, -3, 4, -6, 9])
    assert row[TERMS + 5 :] == pytest.approx([*(2.0 * np.arange(11)), *(-3.0 * np.arange(11))])

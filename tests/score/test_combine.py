"""The combined score: a probability that listens to the measured seam and to the network."""

from __future__ import annotations

import numpy as np
import pytest

from jigsawnet.candidates import CONTACT, FEATURES, Candidates
from jigsawnet.learned import Combined, load_learned
from jigsawnet.score.combine import LOWEST, combine, combined_terms, logit, printed_terms, ragged_terms
from jigsawnet.seam_fit import contact_terms

TERMS = 77


def test_log_odds_stay_finite_at_certainty() -> None:
    odds = logit(np.array([0.0, 0.5, 1.0]))
    assert odds[1] == 0.0
    assert np.isfinite(odds).all()
    assert odds[0] == pytest.approx(-odds[2])


def test_there_is_a_weight_for_every_term() -> None:
    assert combined_terms(np.zeros((2, TERMS)), np.full((2, 2), 0.5)).shape == (2, len(load_learned().combined.weights))


def test_no_candidates_no_probabilities() -> None:
    learned = load_learned()
    assert combine(combined_terms(np.zeros((0, TERMS)), np.zeros((0, 2))), learned.combined).shape == (0,)
    assert combine(ragged_terms(Candidates.none(), 3.0, np.zeros((0, 2)), np.zeros((0, 2))), learned.touching).shape == (0,)


def test_a_probability_is_that_of_the_weighed_terms() -> None:
    weights = Combined(bias=-1.0, weights=(2.0, 0.5), hopeless=0.0)
    found = combine(np.array([[0.5, 0.0], [0.0, 4.0], [1e6, 0.0]]), weights)
    assert found == pytest.approx([0.5, 1 / (1 + np.exp(-1.0)), 1.0])


def test_terms_of_seams_that_touch_hold_the_votes_and_the_lead_before_rivals() -> None:
    rng = np.random.default_rng(0)
    features, contact = (rng.uniform(0, 9, (3, len(names))).astype(np.float32) for names in (FEATURES, CONTACT))
    rows = Candidates.make([0] * 3, [1, 2, 3], np.zeros((3, 3)), features, contact=contact)
    odds = np.array([[2.0, -3.0], [1.0, 1.5], [0.0, 0.0]])
    rivals = np.array([[1.0, 4.0], [LOWEST, 0.5], [30.0, 30.0]])
    terms = ragged_terms(rows, 3.0, 1 / (1 + np.exp(-odds)), rivals)
    plain = contact_terms(rows, 3.0)
    assert terms.shape == (3, len(load_learned().touching.weights))
    assert terms[:, :25] == pytest.approx(plain)
    assert terms[0, 25:30] == pytest.approx([2, -3, -6, 9, 4])
    assert terms[:, 30:55] == pytest.approx(odds[:, 1:] * plain)
    assert terms[0, 55:] == pytest.approx([-2, 1, 6]), "behind one rival, before the other; that counts against the network"
    assert terms[1, 55:] == pytest.approx([0.5, 8, 0]), "without a rival the lead is as large as it gets"
    assert terms[2, 55:57] == pytest.approx([-8, -8])


def test_on_a_page_lines_that_turn_count_and_unclear_ones_do_not() -> None:
    rng = np.random.default_rng(0)
    features, contact = (rng.uniform(0, 9, (4, len(names))).astype(np.float32) for names in (FEATURES, CONTACT))
    rows = Candidates.make([0] * 4, [1, 2, 3, 4], np.zeros((4, 3)), features, contact=contact)
    votes, rivals = np.full((4, 2), 1 / (1 + np.exp(-2.0))), np.zeros((4, 2))
    terms = printed_terms(rows, 3.0, votes, rivals, np.array([0.0, -0.2, 1.5, np.nan]))
    assert terms.shape == (4, len(load_learned().lines.weights))
    assert terms[:, :-3] == pytest.approx(ragged_terms(rows, 3.0, votes, rivals))
    assert terms[:, -3:] == pytest.approx(np.array([[1, 0, 2], [1, 2, 2], [1, 5, 2], [0, 0, 0]]))


def test_terms_hold_the_votes_their_products_and_their_products_with_what_was_measured() -> None:
    terms = np.arange(TERMS, dtype=np.float64)[None]
    votes = np.array([[1 / (1 + np.exp(-2.0)), 1 / (1 + np.exp(3.0))]])  # log odds 2 and -3
    row = combined_terms(terms, votes)[0]
    assert row[:TERMS] == pytest.approx(terms[0])
    assert row[TERMS : TERMS + 5] == pytest.approx([2, -3, 4, -6, 9])
    assert row[TERMS + 5 :] == pytest.approx([*(2.0 * np.arange(11)), *(-3.0 * np.arange(11))])

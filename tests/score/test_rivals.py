"""Rivals: the best candidate of another pair for the same stretch of border, on each side."""

from __future__ import annotations

import math

import numpy as np

from jigsawnet.candidates import FEATURES, MIDDLE, Candidates, Claims
from jigsawnet.score.rivals import best_rivals

LOWEST = -9.0


def claims(*rows: tuple[int, int, tuple[float, float], tuple[float, float], float]) -> Claims:
    """Claims of candidates (i, j, middle in i, middle in j, length)."""
    i, j = np.array([r[0] for r in rows], np.int64), np.array([r[1] for r in rows], np.int64)
    middles = np.array([r[2] for r in rows] + [r[3] for r in rows], np.float64).reshape(-1, 2)
    length = np.array([r[4] for r in rows], np.float64)
    return Claims(np.concatenate([i, j]), np.concatenate([j, i]), middles, np.tile(length, 2))


def rivals(own: Claims, others: Claims, odds: list[float]) -> list[list[float]]:
    return best_rivals(own, others, np.tile(np.array(odds, np.float64), 2), LOWEST).tolist()


def test_another_piece_at_the_same_place_is_a_rival_on_that_side_alone() -> None:
    both = claims((0, 1, (0, 0), (50, 50), 40.0), (0, 2, (10, 0), (7, 7), 40.0))
    assert rivals(both, both, [1.5, 2.5]) == [[2.5, LOWEST], [1.5, LOWEST]]


def test_a_rival_for_the_border_of_j_counts_on_its_side() -> None:
    own = claims((0, 2, (0, 0), (5, 5), 40.0))
    others = claims((1, 2, (80, 80), (6, 5), 40.0), (2, 3, (5, 7), (0, 0), 40.0))
    assert rivals(own, others, [0.5, 3.0]) == [[LOWEST, 3.0]], "whether the piece is the first or the second of its pair"


def test_the_best_one_counts() -> None:
    own = claims((0, 1, (0, 0), (0, 0), 40.0))
    others = claims(*((0, k, (float(k), 0.0), (99.0, 99.0), 40.0) for k in (2, 3, 4)))
    assert rivals(own, others, [-1.0, 2.0, 0.5]) == [[2.0, LOWEST]]


def test_the_order_of_the_others_does_not_matter() -> None:
    own = claims((0, 1, (0, 0), (0, 0), 40.0), (4, 5, (0, 0), (0, 0), 40.0))
    others = claims((4, 9, (0, 0), (0, 0), 40.0), (1, 8, (0, 0), (0, 0), 40.0), (0, 7, (0, 0), (0, 0), 40.0))
    assert rivals(own, others, [1.0, 2.0, 3.0]) == [[3.0, 2.0], [1.0, LOWEST]]


def test_candidates_of_the_same_pair_are_no_rivals() -> None:
    both = claims((0, 1, (0, 0), (0, 0), 40.0), (0, 1, (1, 0), (0, 1), 40.0))
    assert rivals(both, both, [5.0, 6.0]) == [[LOWEST, LOWEST]] * 2


def test_seams_rival_when_their_middles_are_near_for_their_lengths() -> None:
    own = claims((0, 1, (0, 0), (0, 0), 60.0))
    for far, counts in ((0.34 * 100, True), (0.36 * 100, False)):
        other = claims((0, 2, (far, 0.0), (0, 0), 40.0))
        assert rivals(own, other, [1.0]) == [[1.0 if counts else LOWEST, LOWEST]]
    diagonal = claims((0, 2, (30.0, 30.0), (0, 0), 40.0))
    assert rivals(own, diagonal, [1.0]) == [[LOWEST, LOWEST]], "42 px away"


def test_pieces_that_only_one_side_names_do_no_harm() -> None:
    own, others = claims((7, 9, (0, 0), (0, 0), 40.0)), claims((0, 1, (0, 0), (0, 0), 40.0))
    assert rivals(own, others, [4.0]) == [[LOWEST, LOWEST]]
    assert rivals(others, own, [4.0]) == [[LOWEST, LOWEST]]


def test_none_at_all() -> None:
    nothing = Claims.of(Candidates.none())
    assert best_rivals(nothing, nothing, np.zeros(0), LOWEST).shape == (0, 2)
    own = claims((0, 1, (0, 0), (0, 0), 40.0))
    assert best_rivals(own, nothing, np.zeros(0), LOWEST).tolist() == [[LOWEST, LOWEST]]


def test_claims_are_in_the_frame_of_the_piece_whose_border_it_is() -> None:
    features = np.full((1, len(FEATURES)), 8.0, np.float32)
    features[0, MIDDLE] = 30.0, 40.0
    rows = Candidates.make([2], [5], [[math.pi / 2, 10.0, 20.0]], features)
    found = Claims.of(rows)
    assert (found.piece.tolist(), found.other.tolist()) == ([2, 5], [5, 2])
    assert found.length.tolist() == [8.0, 8.0]
    np.testing.assert_allclose(found.middle, [[30.0, 40.0], [20.0, -20.0]], atol=1e-4)

"""A simulated detector is as good as it is asked to be, no better and no worse."""

from __future__ import annotations

import math

import numpy as np
import pytest

from jigsawnet.evaluation.detector import simulate_scores

RIGHT = np.arange(40_000) % 10 == 0
"""One candidate in ten is right."""


def rates(scores: np.ndarray, right: np.ndarray) -> tuple[float, float]:
    passed = scores > 0.5
    return float(right[passed].mean()), float(passed[right].mean())


@pytest.mark.parametrize(("precision", "recall"), [(0.9, 0.9), (0.5, 0.95), (0.99, 0.6), (0.2, 0.3), (1.0, 0.5)])
def test_precision_and_recall_are_as_asked(precision: float, recall: float) -> None:
    got_precision, got_recall = rates(simulate_scores(RIGHT, precision, recall, np.random.default_rng(1)), RIGHT)
    assert got_recall == pytest.approx(recall, abs=4 * math.sqrt(recall * (1 - recall) / RIGHT.sum()))
    assert got_precision == pytest.approx(precision, abs=5 * math.sqrt(precision * (1 - precision) / (recall * RIGHT.sum())))


def test_scores_are_probabilities_and_right_ones_lie_higher() -> None:
    scores = simulate_scores(RIGHT, 0.8, 0.8, np.random.default_rng(2))
    assert scores.shape == RIGHT.shape
    assert ((scores > 0) & (scores < 1)).all()
    assert scores[RIGHT].mean() > scores[~RIGHT].mean() + 0.3


def test_the_seed_decides() -> None:
    a, b, c = (simulate_scores(RIGHT[:50], 0.8, 0.8, np.random.default_rng(seed)) for seed in (3, 3, 4))
    assert (a == b).all()
    assert not (a == c).all()


@pytest.mark.parametrize("right", [[], [True] * 5, [False] * 5], ids=["no candidates", "only right", "only wrong"])
def test_one_kind_alone_is_harmless(right: list[bool]) -> None:
    scores = simulate_scores(right, 0.9, 0.9, np.random.default_rng(5))
    assert scores.shape == (len(right),)
    assert np.isfinite(scores).all()

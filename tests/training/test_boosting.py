from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jigsawnet.training import boosting

RIGHT = np.array([True, True, False, False])


def test_first_weights_count_repetitions() -> None:
    assert boosting.start_weights(np.array([3, 1, 1])).tolist() == [0.6, 0.2, 0.2]


def test_one_round_by_hand() -> None:
    weights = np.full(4, 0.25)
    said = np.array([True, True, False, True])  # the last one is wrong: E = 1/4, alpha = log(3) / 2
    error = boosting.weighted_error(weights, RIGHT, said)
    alpha = boosting.learner_weight(error)
    assert error == 0.25
    assert alpha == pytest.approx(np.log(3) / 2)
    # exp(-alpha) = 1/sqrt(3) on the three that are right, sqrt(3) on the other: one sixth each, and a half
    assert boosting.update_weights(weights, RIGHT, said, alpha) == pytest.approx([1 / 6, 1 / 6, 1 / 6, 1 / 2])


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.floats(0.01, 1), st.booleans(), st.booleans()), min_size=2, max_size=30))
def test_after_the_update_the_network_is_no_better_than_chance(entries: list[tuple[float, bool, bool]]) -> None:
    weights = np.array([e[0] for e in entries])
    right, said = np.array([e[1] for e in entries]), np.array([e[2] for e in entries])
    error = boosting.weighted_error(weights, right, said)
    updated = boosting.update_weights(weights, right, said, boosting.learner_weight(error))
    assert updated.sum() == pytest.approx(weights.sum())
    if 1e-3 < error < 0.5:
        assert boosting.weighted_error(updated, right, said) == pytest.approx(0.5)


def test_a_perfect_network_has_a_finite_say() -> None:
    assert 5 < boosting.learner_weight(0.0) < 10


@pytest.mark.parametrize("error", [0.5, 0.8, 1.0])
def test_a_network_no_better_than_chance_has_no_say_and_changes_nothing(error: float) -> None:
    assert boosting.learner_weight(error) == 0.0
    weights = np.array([0.1, 0.2, 0.3, 0.4])
    assert boosting.update_weights(weights, RIGHT, ~RIGHT, 0.0) == pytest.approx(weights)


def test_the_vote_is_the_weighted_sum_of_decisions() -> None:
    probabilities = np.array([[0.9, 0.5, 0.1], [0.2, 0.1, 0.3], [0.6, 0.2, 0.4]])
    assert boosting.vote((2.0, 1.0, 1.0), probabilities) == pytest.approx([0.5, 0.0, -1.0])
    assert boosting.ensemble_probability((2.0, 1.0, 1.0), probabilities) == pytest.approx([0.65, 0.325, 0.225])
    assert boosting.ensemble_probability((0.0, 0.0, 0.0), probabilities) == pytest.approx(probabilities.mean(axis=0))


def test_boosted_stumps_learn_what_no_single_one_can() -> None:
    """Points in the middle third are right: one threshold errs on a third, three boosted thresholds on none."""
    x = np.arange(30) / 30
    right = (x > 0.33) & (x < 0.66)
    stumps = [side for t in np.linspace(0, 1, 31) for side in ((x >= t) * 1.0, (x < t) * 1.0)]
    weights, alphas, votes = boosting.start_weights(np.ones(30, dtype=np.int64)), [], []
    for _ in range(6):
        errors = [boosting.weighted_error(weights, right, boosting.decide(stump)) for stump in stumps]
        best = int(np.argmin(errors))
        alphas.append(boosting.learner_weight(errors[best]))
        votes.append(stumps[best])
        weights = boosting.update_weights(weights, right, boosting.decide(stumps[best]), alphas[-1])
    assert np.array_equal(boosting.vote(alphas, np.array(votes)) > 0, right)


def test_the_cascade_rejects_as_much_as_the_tolerance_allows() -> None:
    first = np.array([0.01, 0.05, 0.1, 0.2, 0.3, 0.9, 0.95])
    later = np.array([0.00, 0.00, 0.9, 0.0, 0.9, 1.0, 0.90])  # rescues the third and, by a hair, the fifth
    votes = np.stack([first, later])
    assert boosting.rejection_threshold([1.0, 1.0], votes, most_changed=0.0) == pytest.approx(0.1)
    assert boosting.rejection_threshold([1.0, 1.0], votes, most_changed=0.15) == pytest.approx(0.3)
    assert boosting.rejection_threshold([1.0, 1.0], votes, most_changed=0.9) == pytest.approx(0.5)

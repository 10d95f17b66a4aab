"""Sampling, boosting and measures: the paper's figures, and cases worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jigsawnet.errors import ConfigError, InputError
from jigsawnet.training import boosting
from jigsawnet.training.boosting import average_precision, measure, sample_rows
from jigsawnet.training.config import SamplingConfig

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


def _labels(right: int, wrong: int) -> np.ndarray:
    return np.random.default_rng(3).permutation(np.arange(right + wrong) < right)


def test_the_papers_figures_with_plenty_of_wrong_joins() -> None:
    right = _labels(100, 9000)
    rows = sample_rows(right, SamplingConfig(), np.random.default_rng(0))
    positives = rows[right[rows]]
    assert len(positives) == 1000  # 100 x 20, and half of that
    assert len(rows) == round(1000 / 0.3)
    wrong = rows[~right[rows]]
    assert len(np.unique(wrong)) == len(wrong)
    assert np.bincount(positives).max() <= 20


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 60), st.integers(1, 400), st.integers(1, 20), st.floats(0.1, 1), st.floats(0.1, 0.9))
def test_the_share_holds_whichever_class_is_in_excess(right: int, wrong: int, times: int, keep: float, share: float) -> None:
    labels = _labels(right, wrong)
    rows = sample_rows(labels, SamplingConfig(times, keep, share), np.random.default_rng(1))
    n_good, n_bad = int(labels[rows].sum()), int((~labels[rows]).sum())
    odds = share / (1 - share)
    assert n_good >= 1
    assert 1 <= n_bad <= wrong
    assert abs(n_good - n_bad * odds) <= 0.5 + 0.5 * odds or n_good == 1 or n_bad == 1


def test_the_same_generator_draws_the_same_rows() -> None:
    first, again, other = (sample_rows(_labels(20, 300), SamplingConfig(), np.random.default_rng(s)) for s in (5, 5, 6))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(("right", "wrong", "missing"), [(0, 5, "right"), (5, 0, "wrong")])
def test_one_class_alone_is_refused(right: int, wrong: int, missing: str) -> None:
    with pytest.raises(InputError, match=f"no {missing} joins"):
        sample_rows(_labels(right, wrong), SamplingConfig(), np.random.default_rng(0))


@pytest.mark.parametrize("options", [{"oversample": 0}, {"keep": 0.0}, {"positive_share": 1.0}])
def test_options_out_of_range_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        SamplingConfig(**options)  # type: ignore[arg-type]


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


def test_the_rule_of_the_authors_code_gives_the_misjudged_less_weight() -> None:
    """e and 1/e instead of exp(alpha) and exp(-alpha): 16 % at an error of 2.5 %, where the paper's rule gives a half."""
    right, said = np.ones(40, dtype=bool), np.arange(40) > 0
    weights = np.full(40, 1 / 40)
    alpha = boosting.learner_weight(boosting.weighted_error(weights, right, said))
    shares = {rule: boosting.update_weights(weights, right, said, alpha, rule)[0] for rule in ("paper", "code", "none")}
    assert shares["paper"] == pytest.approx(0.5)
    assert shares["code"] == pytest.approx(np.e / (np.e + 39 / np.e))
    assert shares["code"] == pytest.approx(0.16, abs=0.001)
    assert shares["none"] == 1 / 40


def test_later_networks_overrule_the_first_only_together() -> None:
    assert not boosting.can_overrule([1.83, 0.35, 0.10])
    assert boosting.can_overrule([1.0, 0.6, 0.6])
    assert not boosting.can_overrule([1.0])

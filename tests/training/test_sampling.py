from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jigsawnet.errors import ConfigError, InputError
from jigsawnet.training.config import SamplingConfig
from jigsawnet.training.sampling import sample_rows


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

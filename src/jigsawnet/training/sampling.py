"""Between-class imbalance: right joins are repeated, the class in excess is thinned out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jigsawnet.errors import InputError
from jigsawnet.training.config import SamplingConfig
from jigsawnet.types import BoolArray

IntArray = NDArray[np.int64]


def sample_rows(right: BoolArray, config: SamplingConfig, rng: np.random.Generator) -> IntArray:
    """Rows to train on, sorted, with repetition, from labels ``right (N,)``.

    Right joins are repeated ``oversample`` times and a random share ``keep`` of the result stays. Then wrong joins are thinned
    out until ``positive_share`` of all rows are right, or, where wrong joins are too few for that, the right ones are.

    Raises:
        InputError: there are no right or no wrong joins.
    """
    good, bad = np.flatnonzero(right), np.flatnonzero(~right)
    if not len(good) or not len(bad):
        raise InputError(f"The examples hold no {'wrong' if len(good) else 'right'} joins; give more photos or more puzzles.")
    repeated = np.repeat(good, config.oversample)
    n_good = max(1, round(len(repeated) * config.keep))
    odds = config.positive_share / (1 - config.positive_share)
    n_bad = max(1, round(n_good / odds))
    if n_bad > len(bad):
        n_bad = len(bad)
        n_good = max(1, min(n_good, round(n_bad * odds)))
    chosen = (rng.choice(repeated, n_good, replace=False), rng.choice(bad, n_bad, replace=False))
    return np.sort(np.concatenate(chosen)).astype(np.int64)

"""Greedy loop closing: what counts as a closed loop."""

from __future__ import annotations

import math

import numpy as np
import pytest

from jigsawnet.borders import Borders
from jigsawnet.candidates import Candidates
from jigsawnet.compose import ComposeConfig, compose
from jigsawnet.context import Context
from jigsawnet.geometry import SE2
from jigsawnet.types import Alignment

TileCandidates = tuple[Candidates, Borders, dict[int, SE2]]


@pytest.mark.parametrize(("turn_deg", "closes"), [(1.9, True), (2.8, False), (-2.8, False)])
def test_a_loop_closes_in_angle_as_well(square: TileCandidates, turn_deg: float, closes: bool) -> None:
    """Four joins may be 2.4 degrees from closed; piece 3 is turned about its middle. Open, it is left to best-first."""
    rows, borders, _ = square
    middle = SE2(0.0, *borders.center[3].tolist())
    error = middle @ SE2(math.radians(turn_deg), 0.0, 0.0) @ middle.inverse()
    joins = list(rows.alignments())
    joins[3] = Alignment(1, 3, joins[3].i_from_j @ error, 0.75)
    rows = Candidates.of(joins).with_scores(np.array([join.fit for join in joins]))
    plain = compose(rows, borders, "best-first", ComposeConfig(), Context())
    greedy = [compose(rows, borders, "glc", ComposeConfig(), Context(), seed=seed) for seed in range(10)]
    assert any(each.poses != plain.poses for each in greedy) is closes

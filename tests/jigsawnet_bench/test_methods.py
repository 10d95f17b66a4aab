"""The methods of the benchmark: those of the paper end where the paper's do."""

from __future__ import annotations

import pytest

from jigsawnet.pipeline import Corridor
from jigsawnet.types import Assembly, Puzzle
from jigsawnet_bench.methods import METHODS, OURS

PAPERS = [name for name in METHODS["solve"] if name != OURS]


@pytest.mark.parametrize("method", PAPERS)
def test_what_a_method_of_the_paper_composed_is_what_is_measured(tiny_puzzle: tuple[Puzzle, Assembly], method: str) -> None:
    """Nothing after composition moves a piece to another, joins one or takes one away; only the whole picture may turn."""
    walk = Corridor(tiny_puzzle[0], METHODS["solve"][method].config)
    composed, measured = walk.get("composed"), walk.get("assembly")
    assert len(composed.poses) >= 2
    assert measured.components == composed.components
    assert [join.alignment for join in measured.joins] == [join.alignment for join in composed.joins]
    for first, *others in composed.components:
        for other in others:
            was, now = (each.poses[first].inverse() @ each.poses[other] for each in (composed, measured))
            angle, distance = now.distance(was, at=(50.0, 50.0))
            assert angle < 1e-9
            assert distance < 1e-6


def test_ours_is_refined(tiny_puzzle: tuple[Puzzle, Assembly]) -> None:
    """So that the test above can tell."""
    walk = Corridor(tiny_puzzle[0], METHODS["solve"][OURS].config)
    composed, measured = walk.get("composed"), walk.get("assembly")
    first, other = composed.components[0][:2]
    was, now = (each.poses[first].inverse() @ each.poses[other] for each in (composed, measured))
    assert now.distance(was, at=(50.0, 50.0))[1] > 1e-3

"""The methods are what they are called: the paper's rows use its composers and nothing of ours."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jigsawnet.config import SolveConfig
from jigsawnet.pipeline import Corridor
from jigsawnet.types import Assembly, Puzzle
from jigsawnet_bench.methods import METHODS, OURS

ROWS = {
    "CNN+BF": ("zhang", "jigsawnet", "best-first"),
    "CNN+GLC": ("zhang", "jigsawnet", "paper-glc"),
    "CNN+HLM": ("zhang", "jigsawnet", "paper-hlm"),
    "only GLC": ("zhang", "fit", "paper-glc"),
    "only HLM": ("zhang", "fit", "paper-hlm"),
    "Zhang": ("zhang", "fit", "zhang"),
    "Tsamoura": ("tsamoura", "fit", "tsamoura"),
}
AS_COMPOSED = [name for name in METHODS["solve"] if name not in (OURS, "Zhang")]
"""Zhang's own method ends with the graph that it optimises."""


@pytest.mark.parametrize("name", ROWS)
def test_a_row_of_the_paper_is_made_as_the_paper_says(name: str) -> None:
    config = METHODS["solve"][name].config
    assert (config.matcher, config.chosen_scorer, config.chosen_composer) == ROWS[name]
    assert (config.compose.max_overlap, config.compose.overlap_px) == (0.1, 0.0), "the authors' tenth of the area"
    assert config.compose.max_merges == 500, "theta_M of the paper"
    assert not config.second_round.enabled
    assert not config.refine.seams
    assert config.refine.pose_graph == (name == "Zhang"), "only Zhang optimises the graph"
    assert config.min_confidence == 0.0
    assert (config.compose.min_fit > 0) == name.startswith("only"), "what stands for the detector, where there is none"


def test_ours_is_what_a_person_gets() -> None:
    config = METHODS["solve"]["ours"].config
    assert replace(config, scorer=None) == SolveConfig(), "tests of the benchmark take the quicker scorer"


@pytest.mark.parametrize("method", AS_COMPOSED)
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

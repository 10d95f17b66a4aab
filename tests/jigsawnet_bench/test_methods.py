"""The methods are what they are called: the paper's rows use its composers and nothing of ours."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jigsawnet.config import SolveConfig
from jigsawnet_bench.methods import METHODS

ROWS = {
    "CNN+BF": ("zhang", "jigsawnet", "best-first"),
    "CNN+GLC": ("zhang", "jigsawnet", "paper-glc"),
    "CNN+HLM": ("zhang", "jigsawnet", "paper-hlm"),
    "only GLC": ("zhang", "fit", "paper-glc"),
    "only HLM": ("zhang", "fit", "paper-hlm"),
    "Zhang": ("zhang", "fit", "zhang"),
    "Tsamoura": ("tsamoura", "fit", "tsamoura"),
}


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

"""How the two baselines put pieces together, as far as that can be known from what is said of them.

Zhang and Li (2014) keep all pairwise alignments as edges of a multi-graph, weighted by their matching scores, and look for the
simple graph with the greatest set of compatible edges by a greedy search; then they refine the places by graph optimisation.
So here: two components are merged by the edge whose compatible edges, those between the two that say the same and itself, weigh
most together, if no piece comes to lie on another; all edges that agree with the places are selected. The optimisation is
`refine.pose_graph`. How their search breaks ties and whether it looks back is not known; it does not here.

Tsamoura and Pitas (2010) merge greedily, too, by an algorithm which "exploits the alignment angles": the turns of three pieces
that all match must add up. So here: two components are merged by the match on whose turn the matches between them weigh most
together. What it does about matches of equal turn in different places, or about overlap, is not known; here overlap is refused.
"""

from __future__ import annotations

import math

import numpy as np

from jigsawnet.compose.components import Components
from jigsawnet.compose.config import ComposeConfig
from jigsawnet.compose.loops import Tolerance
from jigsawnet.compose.problem import Pace, Problem, agreeing_rows
from jigsawnet.compose.supported import join_supported


def compose_zhang(problem: Problem, config: ComposeConfig, pace: Pace, rng: np.random.Generator) -> Components:
    """Merge by the edges with the heaviest compatible sets, and select all that are compatible in the end."""
    rows, components = problem.rows, problem.components.copy()
    tolerance = Tolerance.of(config, problem.borders, rows, problem.overlap)
    join_supported(components, problem.borders, rows, tolerance, config.min_score, pace)
    for k in agreeing_rows(rows, components, problem.borders).tolist():
        if rows.score[k] >= config.min_score:
            components.choose(int(rows.i[k]), int(rows.j[k]), rows.i_from_j(k))
    return components


def compose_tsamoura(problem: Problem, config: ComposeConfig, pace: Pace, rng: np.random.Generator) -> Components:
    """Merge by the matches on whose turn most agree, wherever they put the pieces."""
    components = problem.components.copy()
    turns_only = Tolerance(math.inf, math.radians(config.loop_deg), problem.overlap)
    join_supported(components, problem.borders, problem.rows, turns_only, config.min_score, pace)
    return components

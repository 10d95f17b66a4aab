"""Best-first composition (BF): take the best join that makes no piece intersect another, until none is left."""

from __future__ import annotations

import numpy as np

from jigsawnet.borders import Borders
from jigsawnet.candidates import Candidates
from jigsawnet.compose.components import Components
from jigsawnet.compose.config import ComposeConfig
from jigsawnet.compose.intersection import HAIR, Overlap, placements_intersect
from jigsawnet.compose.problem import Pace, Problem


def compose_best_first(problem: Problem, config: ComposeConfig, pace: Pace, rng: np.random.Generator) -> Components:
    """Join components in order of score."""
    components = problem.components.copy()
    rows = problem.rows.take(problem.rows.score >= config.min_score)
    join_best_first(components, problem.borders, rows, pace, problem.overlap)
    return components


def join_best_first(components: Components, borders: Borders, rows: Candidates, pace: Pace, overlap: Overlap = HAIR) -> None:
    """Merge components by the candidates in their order, wherever no piece comes to lie on another."""
    for k, (i, j) in enumerate(zip(rows.i.tolist(), rows.j.tolist(), strict=True)):
        if pace.is_over():
            return
        if not components.same(i, j):
            i_from_j = rows.i_from_j(k)
            move = components.move_between(i, j, i_from_j)
            if not placements_intersect(borders, components.placed(i), components.placed(j, move), overlap):
                components.merge(i, j, i_from_j)
                pace.show(components.all_placed)
        pace.tell(k + 1, len(rows))

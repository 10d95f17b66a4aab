"""Best-first composition (BF): take the best join that makes no piece intersect another, until none is left."""

from __future__ import annotations

import numpy as np

from jigsawnet.borders import Borders
from jigsawnet.candidates import Candidates
from jigsawnet.compose.components import Components
from jigsawnet.compose.config import ComposeConfig
from jigsawnet.compose.intersection import placements_intersect
from jigsawnet.compose.problem import Pace, Problem


def compose_best_first(problem: Problem, config: ComposeConfig, pace: Pace, rng: np.random.Generator) -> Components:
    """Join components in order of score."""
    components = problem.components.copy()
    join_best_first(components, problem.borders, problem.rows.take(problem.rows.score >= config.min_score), pace)
    return components


def join_best_first(components: Components, borders: Borders, rows: Candidates, pace: Pace) -> None:
    """Merge components by the candidates in their order, wherever no piece comes to lie on another."""
    for k, (i, j) in enumerate(zip(rows.i.tolist(), rows.j.tolist(), strict=True)):
        if pace.is_over():
            return
        if not components.same(i, j):
            i_from_j = rows.i_from_j(k)
            if not placements_intersect(
                borders, components.placed(i), components.placed(j, components.move_between(i, j, i_from_j))
            ):
                components.merge(i, j, i_from_j)
                pace.show(components.all_placed)
        pace.tell(k + 1, len(rows))

"""Best-first composition (BF): take the best join that makes no piece intersect another, until none is left."""

from __future__ import annotations

from jigsawnet.compose.config import ComposeConfig
from jigsawnet.compose.groups import Groups
from jigsawnet.compose.intersection import groups_intersect
from jigsawnet.compose.problem import Clock, Problem
from jigsawnet.raster import ShapeBank
from jigsawnet.types import Edge


def compose_best_first(problem: Problem, config: ComposeConfig, clock: Clock) -> Groups:
    """Join groups in order of score."""
    groups = problem.groups.copy()
    join_best_first(groups, problem.bank, [e for e in problem.edges if e.score >= config.min_score], clock)
    return groups


def join_best_first(groups: Groups, bank: ShapeBank, edges: list[Edge], clock: Clock) -> None:
    """Merge groups by the edges in their order, wherever no piece comes to lie on another."""
    for done, edge in enumerate(edges):
        if clock.is_over():
            return
        a = edge.alignment
        if not groups.same(a.i, a.j):
            move = groups.move_between(a)
            if not groups_intersect(bank, groups.placed(a.i), groups.placed(a.j, move)):
                groups.merge(a)
                clock.show(groups.all_placed)
        clock.progress("compose", done + 1, len(edges))

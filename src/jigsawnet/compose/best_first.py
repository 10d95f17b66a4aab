"""Best-first composition (BF): take the best join that makes no piece intersect another, until none is left."""

from __future__ import annotations

import math

from jigsawnet.compose.groups import Groups, finish_assembly
from jigsawnet.compose.intersection import groups_intersect
from jigsawnet.raster import ShapeBank
from jigsawnet.types import Alignment, Assembly, Edge, MatchGraph, Progress, no_progress

LOOP_RAD = math.radians(4.0)
LOOP_PX = 6.0


def compose_best_first(graph: MatchGraph, bank: ShapeBank, min_score: float, progress: Progress = no_progress) -> Assembly:
    """Join groups in order of score; a join inside a group is selected when it agrees with the poses (a closed loop)."""
    groups = Groups(graph.n_fragments)
    edges = [edge for edge in graph.edges if edge.score >= min_score]
    for done, edge in enumerate(edges):
        a = edge.alignment
        if not groups.same(a.i, a.j):
            move = groups.move_between(a)
            if not groups_intersect(bank, groups.placed(a.i), groups.placed(a.j, move)):
                groups.merge(a)
        progress("compose", done + 1, len(edges))
    return finish_assembly(graph, groups, _agreeing(graph, groups, bank))


def _agreeing(graph: MatchGraph, groups: Groups, bank: ShapeBank) -> list[Edge]:
    """The best candidate of every pair that agrees with the final poses."""
    selected: dict[tuple[int, int], Edge] = {}
    for edge in graph.edges:
        a = edge.alignment
        if (a.i, a.j) not in selected and groups.same(a.i, a.j) and _agrees(a, groups, bank):
            selected[a.i, a.j] = edge
    return list(selected.values())


def _agrees(alignment: Alignment, groups: Groups, bank: ShapeBank) -> bool:
    """Compare where the alignment and the poses put j, in angle and at j's middle."""
    implied = groups.pose(alignment.i).inverse() @ groups.pose(alignment.j)
    angle, distance = alignment.i_from_j.distance(implied, at=bank.center[alignment.j])
    return angle < LOOP_RAD and distance < LOOP_PX * max(1.0, bank.step_px / 3.0)

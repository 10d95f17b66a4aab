"""Greedy loop closing (GLC, Section V-B of the paper).

A depth-first search starts from a random join and grows at random by adjacent joins, as long as no pieces lie on each other,
until it meets a piece of its own path: a loop. A loop that closes and fits what is fixed is fixed at once, and the other
candidates of its pairs are out. Random means: drawn in proportion to the scores, so that the many poor candidates do not lead
the search astray. What loops do not connect is joined best-first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jigsawnet.compose.best_first import join_best_first
from jigsawnet.compose.config import ComposeConfig
from jigsawnet.compose.edge_table import EdgeTable
from jigsawnet.compose.groups import Groups, pose_rows, row_pose
from jigsawnet.compose.intersection import groups_intersect
from jigsawnet.compose.loops import Tolerance, best_per_piece
from jigsawnet.compose.problem import Clock, Problem
from jigsawnet.geometry import SE2
from jigsawnet.types import Alignment, Edge, FloatArray

MAX_PATH = 6
"""Pieces of a path after which the search turns back: longer loops are rarely met and drift too far to be judged."""
STEPS_PER_START = 200
"""Steps after which the search starts anew from another join."""


def compose_greedy_loops(problem: Problem, config: ComposeConfig, clock: Clock, rng: np.random.Generator) -> Groups:
    """Fix loops as they are found, then join what is left best-first."""
    edges = [e for e in problem.edges if e.score >= config.min_score]
    groups = LoopSearch(problem, edges, Tolerance.of(config, problem.bank), rng).run(config.glc_steps, clock.part(0.5))
    join_best_first(groups, problem.bank, edges, clock)
    return groups


@dataclass(slots=True)
class _Path:
    """Pieces in a row in the frame of the first, and the joins between them."""

    pieces: list[int]
    rows: FloatArray
    edges: list[int]


class LoopSearch:
    """Random depth-first search for loops over the candidates of one graph."""

    def __init__(self, problem: Problem, edges: list[Edge], tolerance: Tolerance, rng: np.random.Generator) -> None:
        self._bank, self._groups, self._tolerance, self._rng = problem.bank, problem.groups.copy(), tolerance, rng
        self._joins = [e.alignment for e in edges]
        self._scores = np.array([e.score for e in edges])
        self._discarded = np.zeros(len(edges), bool)
        self._at_piece: list[list[int]] = [[] for _ in range(problem.n_fragments)]
        self._of_pair: dict[tuple[int, int], list[int]] = {}
        for e in best_per_piece(EdgeTable.of(edges), problem.n_fragments).tolist():
            a = self._joins[e]
            self._at_piece[a.i].append(e)
            self._at_piece[a.j].append(e)
        for e, a in enumerate(self._joins):
            self._of_pair.setdefault((a.i, a.j), []).append(e)

    def run(self, steps: int, clock: Clock) -> Groups:
        """Search until all pieces are connected, every join has been a start, or ``steps`` or the time are used up."""
        for start in self._shuffled(list(range(len(self._joins)))):
            if steps <= 0 or len(self._groups) == 1 or clock.is_over():
                break
            a = self._joins[start]
            if not self._discarded[start] and not self._groups.same(a.i, a.j):
                steps -= self._search_from(start, min(steps, STEPS_PER_START))
                clock.show(self._groups.all_placed)
        return self._groups

    def _shuffled(self, edges: list[int]) -> list[int]:
        """A random order in which better joins tend to come first: each next one is drawn in proportion to its score."""
        waits = self._rng.exponential(size=len(edges)) / np.maximum(self._scores[edges], 1e-9)
        return [edges[k] for k in np.argsort(waits, kind="stable").tolist()]

    def _search_from(self, start: int, steps: int) -> int:
        """Grow one path until a loop can be fixed or the steps are used up; returns the steps taken."""
        a = self._joins[start]
        path = _Path([a.i, a.j], pose_rows([(a.i, SE2.identity()), (a.j, a.i_from_j)]), [start])
        branches = [iter(self._shuffled(self._at_piece[a.j]))]
        taken = 0
        while branches and taken < steps:
            edge = next(branches[-1], None)
            if edge is None:
                branches.pop()
                path = _Path(path.pieces[:-1], path.rows[:-1], path.edges[:-1])
                continue
            taken += 1
            if self._discarded[edge] or edge in path.edges:
                continue
            piece, row = self._beyond(path, edge)
            if piece in path.pieces:
                if self._fix_loop(path, edge, piece, row):
                    break
            elif len(path.pieces) < MAX_PATH and not groups_intersect(self._bank, path.rows, row):
                path = _Path([*path.pieces, piece], np.concatenate([path.rows, row]), [*path.edges, edge])
                branches.append(iter(self._shuffled(self._at_piece[piece])))
        return taken

    def _beyond(self, path: _Path, edge: int) -> tuple[int, FloatArray]:
        """The piece that an edge leads to from the end of the path, and its row ``(1, 4)`` in the path's frame."""
        a, here = self._joins[edge], row_pose(path.rows[-1])
        if a.i == path.pieces[-1]:
            return a.j, pose_rows([(a.j, here @ a.i_from_j)])
        return a.i, pose_rows([(a.i, here @ a.i_from_j.inverse())])

    def _fix_loop(self, path: _Path, edge: int, piece: int, row: FloatArray) -> bool:
        """Fix the loop that ``edge`` makes by leading back to ``piece`` if it closes, adds something and fits what is fixed."""
        at = path.pieces.index(piece)
        edges = [*path.edges[at:], edge]
        if len(edges) < 3 or not self._same_place(row_pose(row[0]), row_pose(path.rows[at]), piece, len(edges)):
            return False
        if len(set(self._groups.roots[path.pieces[at:]].tolist())) == 1:
            return False
        groups = self._groups.copy()
        if not all(self._join(groups, self._joins[e], len(edges)) for e in edges):
            return False
        self._groups = groups
        for e in edges:
            a = self._joins[e]
            self._discarded[[other for other in self._of_pair[a.i, a.j] if other != e]] = True
        return True

    def _join(self, groups: Groups, a: Alignment, loop: int) -> bool:
        """Make a join hold in ``groups``; False when it contradicts them or puts a piece on another."""
        move = groups.move_between(a)
        if groups.same(a.i, a.j):
            return self._same_place(move @ groups.pose(a.j), groups.pose(a.j), a.j, loop + groups.size(a.i) ** 0.5)
        if groups_intersect(self._bank, groups.placed(a.i), groups.placed(a.j, move)):
            return False
        groups.merge(a)
        return True

    def _same_place(self, one: SE2, two: SE2, piece: int, joins: float) -> bool:
        px, rad = self._tolerance.after(joins)
        angle, distance = one.distance(two, at=self._bank.center[piece])
        return angle < rad and distance < px

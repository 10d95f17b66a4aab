"""Greedy loop closing (GLC, Section V-B of the paper).

A depth-first search starts from a random join and grows at random by adjacent joins, as long as no pieces lie on each other,
until it meets a piece of its own path: a loop. A loop that closes and fits what is fixed is fixed at once, and the other
candidates of its pairs are out. Random means: drawn in proportion to the scores, so that the many poor candidates do not lead
the search astray. What loops do not connect is joined best-first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from jigsawnet.candidates import Candidates
from jigsawnet.compose.best_first import join_best_first
from jigsawnet.compose.components import Components, pose_rows, row_pose
from jigsawnet.compose.config import ComposeConfig
from jigsawnet.compose.intersection import placements_intersect
from jigsawnet.compose.loops import MAX_JOINS_PER_PIECE, Tolerance, best_per_piece
from jigsawnet.compose.problem import Pace, Problem
from jigsawnet.geometry import SE2
from jigsawnet.types import FloatArray

MAX_PATH = 6
"""Pieces of a path after which the search turns back: longer loops are rarely met and drift too far to be judged."""
STEPS_PER_START = 200
"""Steps after which the search starts anew from another join."""


def compose_greedy_loops(problem: Problem, config: ComposeConfig, pace: Pace, rng: np.random.Generator) -> Components:
    """Fix loops as they are found, then join what is left best-first."""
    rows = problem.rows.take(problem.rows.score >= config.min_score)
    components = LoopSearch(problem, rows, Tolerance.of(config, problem.borders, problem.rows, problem.overlap), rng).run(
        config.glc_steps, pace.part(0.5)
    )
    join_best_first(components, problem.borders, rows, pace, problem.overlap)
    return components


class _Join(NamedTuple):
    i: int
    j: int
    i_from_j: SE2


@dataclass(slots=True)
class Path:
    """Pieces in a row in the frame of the first, and the joins between them."""

    pieces: list[int]
    rows: FloatArray
    joins: list[int]


class LoopSearch:
    """Random depth-first search for loops over the candidates of one puzzle."""

    most_per_piece = MAX_JOINS_PER_PIECE

    def __init__(self, problem: Problem, rows: Candidates, tolerance: Tolerance, rng: np.random.Generator) -> None:
        self._borders, self._components, self._tolerance, self._rng = problem.borders, problem.components.copy(), tolerance, rng
        self._joins = [_Join(int(rows.i[e]), int(rows.j[e]), rows.i_from_j(e)) for e in range(len(rows))]
        self._scores = rows.score
        self._discarded = np.zeros(len(rows), bool)
        self._at_piece: list[list[int]] = [[] for _ in range(problem.n_pieces)]
        self._of_pair: dict[tuple[int, int], list[int]] = {}
        for e in best_per_piece(rows, problem.n_pieces, self.most_per_piece).tolist():
            a = self._joins[e]
            self._at_piece[a.i].append(e)
            self._at_piece[a.j].append(e)
        for e, a in enumerate(self._joins):
            self._of_pair.setdefault((a.i, a.j), []).append(e)

    def run(self, steps: int, pace: Pace) -> Components:
        """Search until all pieces are connected, every join has been a start, or ``steps`` or the time are used up."""
        for start in self._shuffled(list(range(len(self._joins)))):
            if steps <= 0 or len(self._components) == 1 or pace.is_over():
                break
            a = self._joins[start]
            if not self._discarded[start] and not self._components.same(a.i, a.j):
                steps -= self._search_from(start, min(steps, STEPS_PER_START))
                pace.show(self._components.all_placed)
        return self._components

    def _shuffled(self, joins: list[int]) -> list[int]:
        """A random order in which better joins tend to come first: each next one is drawn in proportion to its score."""
        waits = self._rng.exponential(size=len(joins)) / np.maximum(self._scores[joins], 1e-9)
        return [joins[k] for k in np.argsort(waits, kind="stable").tolist()]

    def _search_from(self, start: int, steps: int) -> int:
        """Grow one path until a loop can be fixed or the steps are used up; returns the steps taken."""
        a = self._joins[start]
        path = Path([a.i, a.j], pose_rows([(a.i, SE2.identity()), (a.j, a.i_from_j)]), [start])
        branches = [iter(self._shuffled(self._at_piece[a.j]))]
        taken = 0
        while branches and taken < steps:
            join = next(branches[-1], None)
            if join is None:
                branches.pop()
                path = Path(path.pieces[:-1], path.rows[:-1], path.joins[:-1])
                continue
            taken += 1
            if self._discarded[join] or join in path.joins:
                continue
            piece, row = self._beyond(path, join)
            if piece in path.pieces:
                if self._fix_loop(path, join, piece, row):
                    break
            elif len(path.pieces) < MAX_PATH and not self._intersect(path.rows, row):
                path = Path([*path.pieces, piece], np.concatenate([path.rows, row]), [*path.joins, join])
                branches.append(iter(self._shuffled(self._at_piece[piece])))
        return taken

    def _beyond(self, path: Path, join: int) -> tuple[int, FloatArray]:
        """The piece that a join leads to from the end of the path, and its row ``(1, 4)`` in the path's frame."""
        a, here = self._joins[join], row_pose(path.rows[-1])
        if a.i == path.pieces[-1]:
            return a.j, pose_rows([(a.j, here @ a.i_from_j)])
        return a.i, pose_rows([(a.i, here @ a.i_from_j.inverse())])

    def _fix_loop(self, path: Path, join: int, piece: int, row: FloatArray) -> bool:
        """Fix the loop that ``join`` makes by leading back to ``piece`` if it closes, adds something and fits what is fixed."""
        at = path.pieces.index(piece)
        joins = [*path.joins[at:], join]
        if len(joins) < 3 or not self._same_place(row_pose(row[0]), row_pose(path.rows[at]), piece, len(joins)):
            return False
        if not self._adds(path.pieces[at:], joins):
            return False
        components = self._components.copy()
        if not all(self._join(components, self._joins[e], len(joins)) for e in joins):
            return False
        self._components = components
        for e in joins:
            a = self._joins[e]
            self._discarded[[other for other in self._of_pair[a.i, a.j] if other != e]] = True
        return True

    def _adds(self, pieces: list[int], joins: list[int]) -> bool:
        """True when a loop connects what is not connected yet."""
        return len(set(self._components.roots[pieces].tolist())) > 1

    def _join(self, components: Components, a: _Join, loop: int) -> bool:
        """Make a join hold in ``components``; False when it contradicts them or puts a piece on another."""
        move = components.move_between(*a)
        if components.same(a.i, a.j):
            components.choose(*a)
            return self._same_place(move @ components.pose(a.j), components.pose(a.j), a.j, loop + components.size(a.i) ** 0.5)
        if self._intersect(components.placed(a.i), components.placed(a.j, move)):
            return False
        components.merge(*a)
        return True

    def _intersect(self, fixed: FloatArray, moving: FloatArray) -> bool:
        return placements_intersect(self._borders, fixed, moving, self._tolerance.overlap)

    def _same_place(self, one: SE2, two: SE2, piece: int, joins: float) -> bool:
        px, rad = self._tolerance.after(joins)
        angle, distance = one.distance(two, at=self._borders.center[piece])
        return angle < rad and distance < px

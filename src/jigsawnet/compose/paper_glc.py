"""Greedy loop closing as the paper writes it (Section V-B); `greedy_loops` departs from it, see decision 0004.

A search goes depth-first from a random join and grows by random adjacent joins, each piece once, as long as no pieces lie on
each other; a join that leads back to the path makes a loop. A loop that closes, and fits what is fixed, is fixed: its joins
are selected, all others of the same pairs are out. Any other loop is ignored. Searching ends when selected joins connect all
pieces, when no search finds a loop any more, or after N steps. What is left is joined best-first.

The paper names neither N (`glc_steps`) nor how far from closed a loop may be (`loop_px`, `loop_deg`), and it does not say
whether a loop is fixed that connects nothing new. Here it is not: were it, greedy loop closing would choose more right joins
than hierarchical merging (ACR 98.5 against 95.2 % on eight puzzles of 36 pieces), and in all tables of the paper it is less.
"""

from __future__ import annotations

import sys

import numpy as np

from jigsawnet.candidates import Candidates
from jigsawnet.compose.best_first import join_best_first
from jigsawnet.compose.components import Components, pose_rows
from jigsawnet.compose.config import ComposeConfig
from jigsawnet.compose.greedy_loops import LoopSearch, Path
from jigsawnet.compose.loops import Tolerance
from jigsawnet.compose.problem import Pace, Problem
from jigsawnet.geometry import SE2


def compose_paper_glc(problem: Problem, config: ComposeConfig, pace: Pace, rng: np.random.Generator) -> Components:
    """Fix loops as they are found, then join what is left best-first."""
    rows = problem.rows.take(problem.rows.score >= config.min_score)
    search = RandomLoopSearch(problem, rows, Tolerance.of(config, problem.borders, problem.rows, problem.overlap), rng)
    components = search.run(config.glc_steps, pace.part(0.5))
    join_best_first(components, problem.borders, search.undecided(rows), pace, problem.overlap)
    return components


class RandomLoopSearch(LoopSearch):
    """The same search, all joins alike and no path too long."""

    most_per_piece = sys.maxsize

    def run(self, steps: int, pace: Pace) -> Components:
        """Search from every join in random order, again and again as long as that fixes something."""
        found = True
        while found:
            found = False
            for start in self._shuffled(list(range(len(self._joins)))):
                if steps <= 0 or len(self._components) == 1 or pace.is_over():
                    return self._components
                if not self._discarded[start]:
                    before = len(self._components)
                    steps -= self._search_from(start, steps)
                    found |= len(self._components) < before
                    pace.show(self._components.all_placed)
        return self._components

    def undecided(self, rows: Candidates) -> Candidates:
        """The candidates that no fixed loop has put out."""
        return rows.take(~self._discarded)

    def _shuffled(self, joins: list[int]) -> list[int]:
        return [joins[k] for k in self._rng.permutation(len(joins)).tolist()]

    def _search_from(self, start: int, steps: int) -> int:
        """Grow one path, each piece entered once, until a loop is fixed or no adjacent join is left; returns the steps."""
        a = self._joins[start]
        path = Path([a.i, a.j], pose_rows([(a.i, SE2.identity()), (a.j, a.i_from_j)]), [start])
        entered, branches, taken = {a.i, a.j}, [iter(self._shuffled(self._at_piece[a.j]))], 0
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
            elif piece not in entered and not self._intersect(path.rows, row):
                path = Path([*path.pieces, piece], np.concatenate([path.rows, row]), [*path.joins, join])
                entered.add(piece)
                branches.append(iter(self._shuffled(self._at_piece[piece])))
        return taken

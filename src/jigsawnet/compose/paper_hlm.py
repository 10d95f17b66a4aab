"""Hierarchical loop merging as the paper writes it (Section V-C, Algorithm 2); `hierarchical` is ours, see decision 0004.

Bottom-up: from the induced closed loops of three and four joins, level 0, random pairs that share a join are merged into the
next level where C1 and C2 hold, at most theta_M tries a level, as long as a level has two loops. l* is the best of the last
level. Top-down: l* takes in every valuable loop of the level before, and so on down to level 0. Then single pieces are joined
to l*, the highest score first, until no join is left that makes no pieces intersect. What l* does not reach is not placed.

Where there is no closed loop at all, "our algorithm degenerates to greedy edge growing": l* is the best join.
"""

from __future__ import annotations

import math

import numpy as np

from jigsawnet.borders import Borders
from jigsawnet.candidates import Candidates
from jigsawnet.compose.components import Components
from jigsawnet.compose.config import ComposeConfig
from jigsawnet.compose.hierarchical import take_in_given
from jigsawnet.compose.intersection import Overlap, placements_intersect
from jigsawnet.compose.loops import IntArray, Tolerance, find_induced_loops
from jigsawnet.compose.patches import Patch, bits, merge_patches, patches_of
from jigsawnet.compose.problem import Pace, Problem

_DRAWS_PER_TRY = 50
"""Pairs of loops drawn for each one that may be tried; a pair that shares two joins is drawn twice."""

Levels = list[list[Patch]]


def compose_paper_hlm(problem: Problem, config: ComposeConfig, pace: Pace, rng: np.random.Generator) -> Components:
    """Merge random loops upwards, take in valuable ones downwards, then grow by single joins."""
    components, borders = problem.components.copy(), problem.borders
    rows = problem.rows.take(problem.rows.score >= config.min_score)
    if pace.is_over() or not len(rows):
        return components
    tolerance = Tolerance.of(config, borders, problem.rows, problem.overlap)
    loops = patches_of(find_induced_loops(rows, borders, tolerance, config.chords), borders, tolerance.overlap)
    merger = RandomMerger(rows, borders, tolerance)
    levels = merger.merge_up(take_in_given(loops, problem, rows, tolerance), config.max_merges, rng, pace.part(0.5))
    first = int(rows.i[0])
    if levels[-1]:
        best = merger.merge_down(levels, pace.part(0.5))
        first = int(best.pieces[0])
        components.adopt(best.rows)
        for e in bits(best.joins):
            components.choose(int(rows.i[e]), int(rows.j[e]), rows.i_from_j(e))
    grow_by_joins(components, first, borders, rows, tolerance.overlap, pace)
    return components


class RandomMerger:
    """The two passes of Algorithm 2 over the loops of one puzzle."""

    def __init__(self, rows: Candidates, borders: Borders, tolerance: Tolerance) -> None:
        self._rows, self._borders, self._tolerance = rows, borders, tolerance

    def merge_up(self, loops: list[Patch], most: int, rng: np.random.Generator, pace: Pace) -> Levels:
        """Levels of loops; each of the next from two of the one before that share a join, ``most`` tries, none empty."""
        levels = [loops]
        while len(levels[-1]) >= 2 and not pace.is_over():
            level = levels[-1]
            merged: dict[int, Patch] = {}
            for p, q in draw_mergeable(level, most, rng).tolist():
                if pace.is_over():
                    break
                patch = self._merge(level[p], level[q])
                if patch:
                    merged.setdefault(patch.joins, patch)
            if not merged:
                break
            levels.append(list(merged.values()))
            pace.tell(max(len(patch.pieces) for patch in levels[-1]), len(self._borders))
            pace.show(lambda: [_best(levels[-1]).rows])
        return levels

    def merge_down(self, levels: Levels, pace: Pace) -> Patch:
        """l*, the best of the last level, with every valuable loop of the levels before it."""
        best = _best(levels[-1])
        for level in reversed(levels[:-1]):
            grown = True
            while grown and not pace.is_over():
                grown = False
                for loop in level:
                    union = self._merge(best, loop) if _may_be_valuable(loop, best) else None
                    if union:
                        best, grown = union, True
        return best

    def _merge(self, one: Patch, two: Patch) -> Patch | None:
        """Both in one frame where C1 and C2 hold."""
        large, small = (one, two) if len(one.pieces) >= len(two.pieces) else (two, one)
        return merge_patches(large, small, self._rows, self._borders, self._tolerance)


def draw_mergeable(level: list[Patch], most: int, rng: np.random.Generator) -> IntArray:
    """At most ``most`` pairs ``(K, 2)`` of loops that share a join, in random order, each once."""
    holders: dict[int, list[int]] = {}
    for k, patch in enumerate(level):
        for e in bits(patch.joins):
            holders.setdefault(e, []).append(k)
    lists = list(holders.values())
    starts = np.cumsum([0, *(len(own) * (len(own) - 1) // 2 for own in lists)])
    drawn = rng.choice(int(starts[-1]), min(int(starts[-1]), _DRAWS_PER_TRY * most), replace=False)
    pairs: dict[tuple[int, int], None] = {}
    for number, at in zip(drawn.tolist(), (np.searchsorted(starts, drawn, side="right") - 1).tolist(), strict=True):
        within = number - int(starts[at])  # pairs p < q of a list are numbered q (q - 1) / 2 + p
        q = (1 + math.isqrt(8 * within + 1)) // 2
        pairs[lists[at][within - q * (q - 1) // 2], lists[at][q]] = None
    return np.array(list(pairs)[:most], np.int64).reshape(-1, 2)


def grow_by_joins(components: Components, first: int, borders: Borders, rows: Candidates, overlap: Overlap, pace: Pace) -> None:
    """Join to the component of piece ``first``, the best join first, what does not come to lie on it."""
    refused = np.zeros(len(rows), bool)
    while not pace.is_over():
        inside = components.roots == components.roots[first]
        waiting = np.flatnonzero((inside[rows.i] != inside[rows.j]) & ~refused)
        if not len(waiting):
            return
        k = int(waiting[0])
        i, j, i_from_j = int(rows.i[k]), int(rows.j[k]), rows.i_from_j(k)
        move = components.move_between(i, j, i_from_j)
        refused[k] = placements_intersect(borders, components.placed(i), components.placed(j, move), overlap)
        if not refused[k]:
            components.merge(i, j, i_from_j)
            pace.show(components.all_placed)


def _may_be_valuable(loop: Patch, best: Patch) -> bool:
    """True when a loop shares a join with l* and holds pieces that l* does not; whether the two are compatible is C1 and C2."""
    return bool(loop.joins & best.joins) and not np.isin(loop.pieces, best.pieces).all()


def _best(level: list[Patch]) -> Patch:
    return min(level, key=lambda patch: (-patch.score, patch.joins))

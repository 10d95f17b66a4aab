"""Hierarchical loop merging (HLM, Section V-C and Algorithm 2 of the paper).

Bottom-up: closed loops of three and four joins merge with loops that share a join, level by level, at most theta_M merges a
level; the patch with the highest sum of scores is l* (of all levels: one that is complete early finds none to merge with and is
not in the last). Top-down: l* takes in, from the highest level to the loops, every patch
that adds pieces and agrees with it. What is left grows patches of its own in the same way; at last single joins connect patches
and pieces, those first on which the most other joins agree.

A merge costs O(k) for k pieces besides the intersection test of the pieces that the two patches do not share, so that
n levels cost O(n theta_M k) and the joins at the end O(joins k), as the paper derives with t pixels in place of k pieces.
"""

from __future__ import annotations

import numpy as np
import scipy

from jigsawnet.borders import Borders
from jigsawnet.candidates import Candidates
from jigsawnet.compose.components import Components
from jigsawnet.compose.config import ComposeConfig
from jigsawnet.compose.loops import Tolerance, find_closed_loops
from jigsawnet.compose.patches import Patch, bits, make_patch, merge_patches, patches_of
from jigsawnet.compose.problem import Pace, Problem
from jigsawnet.compose.supported import join_supported

Levels = list[list[Patch]]


def compose_hierarchical(problem: Problem, config: ComposeConfig, pace: Pace, rng: np.random.Generator) -> Components:
    """Merge loops, grow patches from the best one on, then connect them by single joins."""
    borders = problem.borders
    tolerance = Tolerance.of(config, borders, problem.rows, problem.overlap)
    table = problem.rows.take(problem.rows.score >= config.loop_share * config.min_score)
    merger = LoopMerger(table, borders, tolerance, config.max_merges)
    components = problem.components.copy()
    if pace.is_over():
        return components
    levels = merger.merge_bottom_up(_starting_patches(problem, table, tolerance, config, pace), pace.part(0.5))
    for patch in merger.grow_top_down(levels, pace.part(0.5)):
        components.adopt(patch.rows)
        for e in bits(patch.joins):
            components.choose(int(table.i[e]), int(table.j[e]), table.i_from_j(e))
    join_supported(components, borders, table, tolerance, config.min_score, pace)
    return components


def _starting_patches(
    problem: Problem, table: Candidates, tolerance: Tolerance, config: ComposeConfig, pace: Pace
) -> list[Patch]:
    """Closed loops good enough to place a piece."""
    closed = find_closed_loops(table, problem.borders, tolerance, config.chords)
    loops = patches_of(closed, problem.borders, tolerance.overlap, pace.context.stop)
    good = [loop for loop in loops if loop.score >= config.min_score * loop.joins.bit_count()]
    return take_in_given(good, problem, table, tolerance)


def take_in_given(loops: list[Patch], problem: Problem, table: Candidates, tolerance: Tolerance) -> list[Patch]:
    """The same loops; one that touches a component joined from the start takes all of it in, or is left out."""
    borders = problem.borders
    given = {
        int(problem.components.roots[component[0]]): make_patch(problem.components.placed(component[0]), 0, 0.0, borders)
        for component in problem.components.all()
        if len(component) > 1
    }
    if not given:
        return loops
    whole = []
    for loop in loops:
        patch: Patch | None = loop
        for root in sorted(given.keys() & set(problem.components.roots[loop.pieces].tolist())):
            patch = patch and merge_patches(given[root], patch, table, borders, tolerance)
        if patch:
            whole.append(patch)
    return whole


class LoopMerger:
    """The two passes of Algorithm 2 over the patches of one puzzle."""

    def __init__(self, table: Candidates, borders: Borders, tolerance: Tolerance, max_merges: int) -> None:
        self._table, self._borders, self._tolerance, self._max_merges = table, borders, tolerance, max_merges

    def _merge(self, one: Patch, two: Patch) -> Patch | None:
        large, small = (one, two) if len(one.pieces) >= len(two.pieces) else (two, one)
        return merge_patches(large, small, self._table, self._borders, self._tolerance)

    def merge_bottom_up(self, loops: list[Patch], pace: Pace) -> Levels:
        """Levels of patches, the loops first, each of the next from two of the one before that share a join."""
        levels = [sorted(loops, key=_rank)]
        while len(levels[-1]) >= 2:
            merged = self._next_level(levels[-1], pace)
            if not merged:
                break
            levels.append(sorted(merged, key=_rank))
            pace.tell(max(len(patch.pieces) for patch in merged), len(self._borders))
            pace.show(lambda: [levels[-1][0].rows])
        return levels

    def _next_level(self, level: list[Patch], pace: Pace) -> list[Patch]:
        """Try the merges with the highest sums of scores, each set of joins once."""
        merged: list[Patch] = []
        seen = {patch.joins for patch in level}
        tried = 0
        for p, q in _mergeable_pairs(level, self._table):
            union = level[p].joins | level[q].joins
            if union in seen:
                continue
            seen.add(union)
            if tried >= self._max_merges or pace.is_over():
                break
            tried += 1
            patch = self._merge(level[p], level[q])
            if patch:
                merged.append(patch)
        return merged

    def grow_top_down(self, levels: Levels, pace: Pace) -> list[Patch]:
        """Patches without a common piece: l* grown as far as it goes, then the best of what it left, and so on."""
        grown: list[Patch] = []
        while any(levels) and not (grown and pace.is_over()):
            patch = min((level[0] for level in levels if level), key=_rank)
            for by_join in (True, False):
                for level in reversed(levels):
                    patch = self._take_in(patch, level, by_join, pace)
            grown.append(patch)
            pace.show(lambda: [one.rows for one in grown])
            taken = set(patch.pieces.tolist())
            levels = [[p for p in level if taken.isdisjoint(p.pieces.tolist())] for level in levels]
        return grown

    def _take_in(self, patch: Patch, level: list[Patch], by_join: bool, pace: Pace) -> Patch:
        """Merge every patch of a level that shares a join (or else a piece), adds pieces and agrees, the best first."""
        inside = set(patch.pieces.tolist())
        waiting = list(level)
        while waiting and not pace.is_over():
            later, changed = [], False
            for other in waiting:
                if pace.is_over():
                    return patch
                pieces = other.pieces.tolist()
                if inside.issuperset(pieces):
                    continue
                near = other.joins & patch.joins if by_join else not inside.isdisjoint(pieces)
                if not near:
                    later.append(other)
                    continue
                union = merge_patches(patch, other, self._table, self._borders, self._tolerance)
                if union:
                    patch, changed = union, True
                    inside.update(pieces)
            waiting = later if changed else []
        return patch


def _rank(patch: Patch) -> tuple[float, int]:
    return -patch.score, patch.joins


def _mergeable_pairs(level: list[Patch], table: Candidates) -> list[tuple[int, int]]:
    """Index pairs of patches that share a join and of which neither holds the other, highest union score first."""
    members = [bits(patch.joins) for patch in level]
    counts = np.array([len(joins) for joins in members])
    flat = np.concatenate([np.array(joins, dtype=np.int64) for joins in members])
    rows = np.repeat(np.arange(len(level)), counts)
    shape = (len(level), len(table))
    holds = scipy.sparse.csr_array((np.ones(len(flat)), (rows, flat)), shape=shape)
    weighed = scipy.sparse.csr_array((1.0 + 1j * table.score[flat], (rows, flat)), shape=shape)
    shared = scipy.sparse.triu(weighed @ holds.T, k=1).tocoo()  # number of common joins + i * sum of their scores
    p, q = shared.coords
    proper = shared.data.real < np.minimum(counts[p], counts[q])
    p, q, common = p[proper], q[proper], shared.data.imag[proper]
    score = np.array([patch.score for patch in level])
    order = np.lexsort((q, p, -(score[p] + score[q] - common)))
    return list(zip(p[order].tolist(), q[order].tolist(), strict=True))

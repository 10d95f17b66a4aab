"""Hierarchical loop merging (HLM, Section V-C and Algorithm 2 of the paper).

Bottom-up: closed loops of three and four joins merge with loops that share a join, level by level, at most theta_M merges a
level; the patch with the highest sum of scores is l* (of all levels: one that is complete early finds none to merge with and is
not in the last). Top-down: l* takes in, from the highest level to the loops, every patch
that adds pieces and agrees with it. What is left grows patches of its own in the same way; at last single joins connect patches
and pieces, those first on which the most other joins agree.

A merge costs O(k) for k pieces besides the intersection test of the pieces that the two patches do not share, so that
n levels cost O(n theta_M k) and the joins at the end O(edges k), as the paper derives with t pixels in place of k pieces.
"""

from __future__ import annotations

import numpy as np
import scipy

from jigsawnet.compose.config import ComposeConfig
from jigsawnet.compose.edge_table import EdgeTable
from jigsawnet.compose.groups import Groups
from jigsawnet.compose.loops import Tolerance, find_closed_loops
from jigsawnet.compose.patches import Patch, bits, make_patch, merge_patches, patches_of
from jigsawnet.compose.problem import Clock, Problem
from jigsawnet.compose.supported import join_supported
from jigsawnet.raster import ShapeBank

Levels = list[list[Patch]]


def compose_hierarchical(problem: Problem, config: ComposeConfig, clock: Clock) -> Groups:
    """Merge loops, grow patches from the best one on, then connect them by single joins."""
    bank = problem.bank
    tolerance = Tolerance.of(config, bank)
    table = EdgeTable.of([e for e in problem.edges if e.score >= config.loop_share * config.min_score])
    merger = LoopMerger(table, bank, tolerance, config.max_merges)
    groups = problem.groups.copy()
    if clock.is_over():
        return groups
    levels = merger.merge_bottom_up(_starting_patches(problem, table, tolerance, config), clock.part(0.5))
    for patch in merger.grow_top_down(levels, clock.part(0.5)):
        groups.adopt(patch.rows)
    join_supported(groups, bank, table, tolerance, config.min_score, clock)
    return groups


def _starting_patches(problem: Problem, table: EdgeTable, tolerance: Tolerance, config: ComposeConfig) -> list[Patch]:
    """Closed loops good enough to place a piece; a loop that touches a group joined from the start takes all of it in."""
    bank = problem.bank
    loops = patches_of(find_closed_loops(table, bank, tolerance), bank)
    good = [loop for loop in loops if loop.score >= config.min_score * loop.edges.bit_count()]
    given = {
        int(problem.groups.roots[group[0]]): make_patch(problem.groups.placed(group[0]), 0, 0.0, bank)
        for group in problem.groups.all()
        if len(group) > 1
    }
    if not given:
        return good
    whole = []
    for loop in good:
        patch: Patch | None = loop
        for root in sorted(given.keys() & set(problem.groups.roots[loop.pieces].tolist())):
            patch = patch and merge_patches(given[root], patch, table, bank, tolerance)
        if patch:
            whole.append(patch)
    return whole


class LoopMerger:
    """The two passes of Algorithm 2 over patches of one graph."""

    def __init__(self, table: EdgeTable, bank: ShapeBank, tolerance: Tolerance, max_merges: int) -> None:
        self._table, self._bank, self._tolerance, self._max_merges = table, bank, tolerance, max_merges

    def _merge(self, one: Patch, two: Patch) -> Patch | None:
        large, small = (one, two) if len(one.pieces) >= len(two.pieces) else (two, one)
        return merge_patches(large, small, self._table, self._bank, self._tolerance)

    def merge_bottom_up(self, loops: list[Patch], clock: Clock) -> Levels:
        """Levels of patches, the loops first, each of the next from two of the one before that share a join."""
        levels = [sorted(loops, key=_rank)]
        while len(levels[-1]) >= 2:
            merged = self._next_level(levels[-1], clock)
            if not merged:
                break
            levels.append(sorted(merged, key=_rank))
            clock.progress("compose", max(len(patch.pieces) for patch in merged), len(self._bank))
            clock.show(lambda: [levels[-1][0].rows])
        return levels

    def _next_level(self, level: list[Patch], clock: Clock) -> list[Patch]:
        """Try the merges with the highest sums of scores, each set of joins once."""
        merged: list[Patch] = []
        seen = {patch.edges for patch in level}
        tried = 0
        for p, q in _mergeable_pairs(level, self._table):
            union = level[p].edges | level[q].edges
            if union in seen:
                continue
            seen.add(union)
            if tried >= self._max_merges or clock.is_over():
                break
            tried += 1
            patch = self._merge(level[p], level[q])
            if patch:
                merged.append(patch)
        return merged

    def grow_top_down(self, levels: Levels, clock: Clock) -> list[Patch]:
        """Patches without a common piece: l* grown as far as it goes, then the best of what it left, and so on."""
        grown: list[Patch] = []
        while any(levels) and not (grown and clock.is_over()):
            patch = min((level[0] for level in levels if level), key=_rank)
            for by_join in (True, False):
                for level in reversed(levels):
                    patch = self._take_in(patch, level, by_join, clock)
            grown.append(patch)
            clock.show(lambda: [one.rows for one in grown])
            taken = set(patch.pieces.tolist())
            levels = [[p for p in level if taken.isdisjoint(p.pieces.tolist())] for level in levels]
        return grown

    def _take_in(self, patch: Patch, level: list[Patch], by_join: bool, clock: Clock) -> Patch:
        """Merge every patch of a level that shares a join (or else a piece), adds pieces and agrees, the best first."""
        inside = set(patch.pieces.tolist())
        waiting = list(level)
        while waiting and not clock.is_over():
            later, changed = [], False
            for other in waiting:
                pieces = other.pieces.tolist()
                if inside.issuperset(pieces):
                    continue
                near = other.edges & patch.edges if by_join else not inside.isdisjoint(pieces)
                if not near:
                    later.append(other)
                    continue
                union = merge_patches(patch, other, self._table, self._bank, self._tolerance)
                if union:
                    patch, changed = union, True
                    inside.update(pieces)
            waiting = later if changed else []
        return patch


def _rank(patch: Patch) -> tuple[float, int]:
    return -patch.score, patch.edges


def _mergeable_pairs(level: list[Patch], table: EdgeTable) -> list[tuple[int, int]]:
    """Index pairs of patches that share a join and of which neither holds the other, highest union score first."""
    members = [bits(patch.edges) for patch in level]
    counts = np.array([len(edges) for edges in members])
    flat = np.concatenate([np.array(edges, dtype=np.int64) for edges in members])
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

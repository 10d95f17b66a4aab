"""Blocks: rows of chads are joined as wholes, end to end, by all that is printed along both.

A row of chads has the whole width of the page to say which row is below it, where a chad has a few millimetres.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from jigsawnet.borders import Borders
from jigsawnet.candidates import Candidates
from jigsawnet.compose.components import Components
from jigsawnet.compose.constraints import prepare_problem
from jigsawnet.compose.intersection import HAIR, Overlap, placements_intersect
from jigsawnet.compose.problem import finish_assembly
from jigsawnet.compose.second_round import SecondRoundStats, components_of
from jigsawnet.geometry import SE2
from jigsawnet.stopping import Stop
from jigsawnet.types import Alignment, Assembly, Constraints, Join

MatchBlocks = Callable[[Sequence[Mapping[int, SE2]]], Candidates]
"""Joins of components along their ends; ``i`` and ``j`` are numbers of components, ``pose`` i_from_j between their frames."""


_NEAR = 1.4
"""Pieces meet when their middles are no farther apart than this times the nearest two."""
_BENT = 0.15
"""Part of a piece that may lie on another's: strips are not quite straight, and a row of them bows."""


def join_blocks(
    rows: Candidates,
    borders: Borders,
    assembly: Assembly,
    match: MatchBlocks,
    min_score: float,
    constraints: Constraints = Constraints(),  # noqa: B008 - frozen and empty
    stop: Stop | None = None,
    overlap: Overlap = HAIR,
) -> tuple[Assembly, SecondRoundStats]:
    """Merge components as long as ``match`` finds joins of at least ``min_score``; ``rows`` are the joins of single pieces."""
    problem = prepare_problem(rows, borders, constraints, overlap=overlap)
    components, stop = components_of(assembly), stop or Stop()
    loose = problem.overlap._replace(share=max(overlap.share, _BENT))
    before, added = len(components), list[Join]()
    while len(components) > 1 and not stop.is_over():
        members = [component for component in components.all() if component[0] not in constraints.aside]
        found = match([{idx: components.pose(idx) for idx in component} for component in members])
        joined = _merge(components, members, found.take(found.fit >= min_score), borders, loose)
        if not joined:
            break
        added += joined
    if not added:
        return assembly, SecondRoundStats(0, 0)
    result = finish_assembly(problem, components)
    joins = {(e.alignment.i, e.alignment.j): e for e in result.joins}
    for join in assembly.joins:  # chads that all their sides have put together are surer than single joins of theirs
        pair = join.alignment.i, join.alignment.j
        if pair not in joins or join.score > joins[pair].score:
            joins[pair] = join
    new = tuple(e for e in added if (e.alignment.i, e.alignment.j) not in joins)
    stats = SecondRoundStats(before - len(components), len(new))
    chosen = None if assembly.chosen is None else assembly.chosen + new
    return replace(result, joins=tuple(joins.values()) + new, chosen=chosen), stats


def _merge(
    components: Components,
    members: Sequence[Sequence[int]],
    found: Candidates,
    borders: Borders,
    overlap: Overlap,
) -> list[Join]:
    """Merge blocks, the surest join first; it is named by all the pieces that meet, those nearest to each other first."""
    frames = [{idx: components.pose(idx) for idx in component} for component in members]
    joins = []
    for k in np.argsort(-found.fit, kind="stable").tolist():
        score, pose = float(found.fit[k]), found.i_from_j(k)
        first, second = frames[int(found.i[k])], {idx: pose @ own for idx, own in frames[int(found.j[k])].items()}
        pairs = [(i, j, first[i].inverse() @ second[j]) for i, j in _neighbours(first, second, borders)]
        i, j, i_from_j = pairs[0]
        move = components.move_between(i, j, i_from_j)
        if components.same(i, j) or placements_intersect(borders, components.placed(i), components.placed(j, move), overlap):
            continue
        components.merge(i, j, i_from_j)
        joins += [Join(Alignment(i, j, p, score) if i < j else Alignment(j, i, p.inverse(), score), score) for i, j, p in pairs]
    return joins


def _neighbours(first: Mapping[int, SE2], second: Mapping[int, SE2], borders: Borders) -> list[tuple[int, int]]:
    """Which pieces of two blocks meet, by how far their middles lie apart: those that are nearest to each other."""
    a, b = (np.array([pose @ borders.center[idx].astype(np.float64) for idx, pose in own.items()]) for own in (first, second))
    apart = np.linalg.norm(a[:, None] - b, axis=2)
    pairs = {(row, int(apart[row].argmin())) for row in range(len(a))} & {(int(apart[:, k].argmin()), k) for k in range(len(b))}
    near = sorted((float(apart[pair]), pair) for pair in pairs)
    idx_a, idx_b = list(first), list(second)
    return [(idx_a[row], idx_b[column]) for far, (row, column) in near if far <= _NEAR * near[0][0]]

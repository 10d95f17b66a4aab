"""What a person has decided, applied before any composer runs: starting groups and the candidates that are left.

Contradictions are errors that name the pieces, by their index where names are not known.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Sequence

from jigsawnet.compose.groups import Groups, pose_rows
from jigsawnet.compose.intersection import groups_intersect
from jigsawnet.compose.problem import Problem
from jigsawnet.errors import InputError
from jigsawnet.raster import ShapeBank
from jigsawnet.types import Alignment, Constraints, Edge, FloatArray, MatchGraph, best_first

NEAR_DEG = 5.0
NEAR_PX = 10.0
"""Two joins of a pair within these limits, at the middle of j, are the same join to a person."""

Pair = tuple[int, int]
Name = Callable[[int], str]
"""What to call a piece."""


def prepare_problem(
    graph: MatchGraph, bank: ShapeBank, constraints: Constraints, names: Sequence[str] | None = None
) -> Problem:
    """Join what is fixed and drop the candidates that are out; ``names`` of the pieces are for errors.

    Raises:
        InputError: the constraints contradict each other, or name a piece that does not exist.
    """
    name: Name = str if names is None else names.__getitem__
    _check_pieces(graph.n_fragments, constraints, name)
    groups = _pin(Groups(graph.n_fragments), bank, constraints, name)
    _join_fixed(groups, bank, constraints, name)
    fixed = {(a.i, a.j): Edge(a, 1.0) for a in constraints.joins}
    edges = [e for e in map(_with_finite_score, graph.edges) if _is_allowed(e.alignment, constraints, fixed, bank)]
    return Problem(
        n_fragments=graph.n_fragments,
        bank=bank,
        edges=tuple(sorted([*fixed.values(), *edges], key=best_first)),
        fixed=tuple(fixed.values()),
        pinned=dict(constraints.pinned),
        groups=groups,
    )


def _with_finite_score(edge: Edge) -> Edge:
    return edge if math.isfinite(edge.score) else Edge(edge.alignment, 0.0)


def _is_allowed(a: Alignment, constraints: Constraints, fixed: dict[Pair, Edge], bank: ShapeBank) -> bool:
    if a.i in constraints.aside or a.j in constraints.aside or (a.i, a.j) in fixed:
        return False
    return not any(is_near(a, other, bank) for other in constraints.forbidden)


def is_near(a: Alignment, b: Alignment, bank: ShapeBank, chain: int = 1) -> bool:
    """True when two joins are of one pair and nearly the same pose; ``chain`` joins in a row may err more than one."""
    if (a.i, a.j) != (b.i, b.j):
        return False
    angle, distance = a.i_from_j.distance(b.i_from_j, at=bank.center[a.j])
    return math.degrees(angle) < NEAR_DEG * math.sqrt(chain) and distance < NEAR_PX * math.sqrt(chain)


def _check_pieces(n: int, constraints: Constraints, name: Name) -> None:
    """Every piece named exists, and no decision about one contradicts another at sight."""
    pairs = [idx for a in (*constraints.joins, *constraints.forbidden) for idx in (a.i, a.j)]
    for idx in (*pairs, *constraints.pinned, *constraints.aside):
        if not 0 <= idx < n:
            raise InputError(f"a constraint names piece {idx}, but the pieces are numbered from 0 to {n - 1}")
    for a in constraints.joins:
        for idx in (a.i, a.j):
            if idx in constraints.aside:
                raise InputError(
                    f"the join {_pair(a, name)} is fixed, but piece {name(idx)} is set aside; take one of the two back"
                )
    for idx in constraints.aside.intersection(constraints.pinned):
        raise InputError(f"piece {name(idx)} is fixed in place and set aside at once; take one of the two back")


def _pin(groups: Groups, bank: ShapeBank, constraints: Constraints, name: Name) -> Groups:
    """Make one group of the pieces that are fixed in place."""
    rows = pose_rows(sorted(constraints.pinned.items()))
    for k in range(1, len(rows)):
        clash = _first_clash(bank, rows[:k], rows[k : k + 1])
        if clash:
            raise InputError(f"the pieces {_listed(map(name, clash))} are fixed in places where they lie on each other")
    if len(rows):
        groups.adopt(rows)
    return groups


def _join_fixed(groups: Groups, bank: ShapeBank, constraints: Constraints, name: Name) -> None:
    """Join the groups of every fixed join, in order of the pieces."""
    done: list[Alignment] = []
    for a in sorted(constraints.joins, key=lambda a: (a.i, a.j, a.i_from_j.theta, a.i_from_j.x, a.i_from_j.y)):
        if any(is_near(a, other, bank) for other in constraints.forbidden):
            raise InputError(f"the join {_pair(a, name)} is fixed and forbidden at once; take one of the two back")
        if groups.same(a.i, a.j):
            _check_agreement(groups, bank, a, done, set(constraints.pinned), name)
        else:
            clash = _first_clash(bank, groups.placed(a.i), groups.placed(a.j, groups.move_between(a)))
            if clash:
                raise InputError(f"the fixed join {_pair(a, name)} puts piece {name(clash[1])} on piece {name(clash[0])}")
            groups.merge(a)
        done.append(a)


def _check_agreement(
    groups: Groups, bank: ShapeBank, a: Alignment, done: Sequence[Alignment], pinned: set[int], name: Name
) -> None:
    """A fixed join inside a group must hold where the pieces already lie."""
    path = _path_between(a.i, a.j, done, pinned)
    implied = Alignment(a.i, a.j, groups.pose(a.i).inverse() @ groups.pose(a.j), a.fit)
    if is_near(a, implied, bank, chain=len(path) + 1):
        return
    joins = sorted((*path, (a.i, a.j)))
    held = sorted({idx for pair in joins for idx in pair} & pinned)
    pins = "" if len(held) < 2 else f" and the places of the pinned pieces {_listed(map(name, held))}"
    listed = _listed(f"{name(i)}-{name(j)}" for i, j in joins)
    what = f"the joins {listed} that were" if path else f"the join {listed} that was"
    raise InputError(f"{what} fixed{pins} contradict each other; take one of them back")


def _path_between(i: int, j: int, joins: Sequence[Alignment], pinned: set[int]) -> list[Pair]:
    """The fewest joins that lead from i to j; pinned pieces are one place."""
    neighbors: dict[int, list[tuple[int, Pair | None]]] = {}
    for a in joins:
        neighbors.setdefault(a.i, []).append((a.j, (a.i, a.j)))
        neighbors.setdefault(a.j, []).append((a.i, (a.i, a.j)))
    for idx in pinned:
        neighbors.setdefault(idx, []).extend((other, None) for other in sorted(pinned - {idx}))
    came_by: dict[int, list[Pair]] = {i: []}
    queue = deque([i])
    while queue and j not in came_by:
        here = queue.popleft()
        for there, pair in neighbors.get(here, ()):
            if there not in came_by:
                came_by[there] = came_by[here] + ([pair] if pair else [])
                queue.append(there)
    return came_by.get(j, [])


def _first_clash(bank: ShapeBank, fixed: FloatArray, moving: FloatArray) -> Pair | None:
    """The first pair of pieces, one of each group, that lie on each other."""
    if not groups_intersect(bank, fixed, moving):
        return None
    pairs = ((a, b) for a in fixed for b in moving if groups_intersect(bank, a[None], b[None]))
    return next(((int(a[0]), int(b[0])) for a, b in pairs), None)


def _pair(a: Alignment, name: Name) -> str:
    return f"{name(a.i)}-{name(a.j)}"


def _listed(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last

"""What a person has decided, applied before any composer runs: starting components and the candidates that are left.

Contradictions are errors that name the pieces, by their index where names are not known.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from jigsawnet.borders import Borders
from jigsawnet.candidates import Candidates
from jigsawnet.compose.components import Components, pose_rows
from jigsawnet.compose.hints import excluded, rules_of, weigh
from jigsawnet.compose.intersection import HAIR, Overlap, placements_intersect
from jigsawnet.compose.problem import Problem
from jigsawnet.errors import InputError
from jigsawnet.geometry import is_same_join
from jigsawnet.types import Alignment, BoolArray, Constraints, FloatArray, Join

Pair = tuple[int, int]
Name = Callable[[int], str]
"""What to call a piece."""


def prepare_problem(
    rows: Candidates,
    borders: Borders,
    constraints: Constraints,
    names: Sequence[str] | None = None,
    overlap: Overlap = HAIR,
) -> Problem:
    """Join what is fixed and drop the candidates that are out; ``names`` of the pieces are for errors.

    Raises:
        InputError: the constraints contradict each other, or name a piece that does not exist.
    """
    name: Name = str if names is None else names.__getitem__
    _check_pieces(len(borders), constraints, name)
    components = _pin(Components(len(borders)), borders, constraints, overlap, name)
    _join_fixed(components, borders, constraints, overlap, name)
    fixed = {(a.i, a.j): Join(a, 1.0) for a in constraints.joins}
    _check_apart(components, constraints, name)
    rules = rules_of(constraints, borders)
    rows = weigh(rows.take(np.flatnonzero(_allowed(rows, constraints, borders))), constraints.hints, borders)
    if fixed:
        decided = Candidates.of([e.alignment for e in fixed.values()], np.ones(len(fixed)))
        rows = Candidates.concat([decided, rows]).best_first()
    left = overlap._replace(refusals=rules)
    return Problem(len(borders), borders, rows, tuple(fixed.values()), dict(constraints.pinned), components, left)


def _allowed(rows: Candidates, constraints: Constraints, borders: Borders) -> BoolArray:
    """``(C,)``: not of a piece set aside, not of a pair whose join is fixed, not a join that is forbidden."""
    aside = np.zeros(len(borders), bool)
    aside[list(constraints.aside)] = True
    allowed = ~(aside[rows.i] | aside[rows.j])
    for a in constraints.joins:
        allowed &= ~((rows.i == a.i) & (rows.j == a.j))
    for a in constraints.forbidden:
        for k in np.flatnonzero((rows.i == a.i) & (rows.j == a.j)).tolist():
            allowed[k] &= not is_near(rows.alignment(k), a, borders)
    return allowed & ~excluded(rows, constraints.hints, borders)


def is_near(a: Alignment, b: Alignment, borders: Borders, chain: int = 1) -> bool:
    """True when two joins are of one pair and nearly the same pose; ``chain`` joins in a row may err more than one."""
    if (a.i, a.j) != (b.i, b.j):
        return False
    return is_same_join(a.i_from_j, b.i_from_j, borders.center[a.j], chain)


def _check_pieces(n: int, constraints: Constraints, name: Name) -> None:
    """Every piece named exists, and no decision about one contradicts another at sight."""
    pairs = [idx for a in (*constraints.joins, *constraints.forbidden) for idx in (a.i, a.j)]
    hinted = [idx for hint in constraints.hints for idx in hint.pieces]
    for idx in (*pairs, *hinted, *constraints.pinned, *constraints.aside):
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


def _pin(components: Components, borders: Borders, constraints: Constraints, overlap: Overlap, name: Name) -> Components:
    """Make one component of the pieces that are fixed in place."""
    rows = pose_rows(sorted(constraints.pinned.items()))
    for k in range(1, len(rows)):
        clash = _first_clash(borders, rows[:k], rows[k : k + 1], overlap)
        if clash:
            raise InputError(f"the pieces {_listed(map(name, clash))} are fixed in places where they lie on each other")
    if len(rows):
        components.adopt(rows)
    return components


def _join_fixed(components: Components, borders: Borders, constraints: Constraints, overlap: Overlap, name: Name) -> None:
    """Join the components of every fixed join, in order of the pieces."""
    done: list[Alignment] = []
    for a in sorted(constraints.joins, key=lambda a: (a.i, a.j, a.i_from_j.theta, a.i_from_j.x, a.i_from_j.y)):
        if any(is_near(a, other, borders) for other in constraints.forbidden):
            raise InputError(f"the join {_pair(a, name)} is fixed and forbidden at once; take one of the two back")
        if components.same(a.i, a.j):
            _check_agreement(components, borders, a, done, set(constraints.pinned), name)
        else:
            move = components.move_between(a.i, a.j, a.i_from_j)
            clash = _first_clash(borders, components.placed(a.i), components.placed(a.j, move), overlap)
            if clash:
                raise InputError(f"the fixed join {_pair(a, name)} puts piece {name(clash[1])} on piece {name(clash[0])}")
            components.merge(a.i, a.j, a.i_from_j)
        done.append(a)


def _check_agreement(
    components: Components, borders: Borders, a: Alignment, done: Sequence[Alignment], pinned: set[int], name: Name
) -> None:
    """A fixed join inside a component must hold where the pieces already lie."""
    path = _path_between(a.i, a.j, done, pinned)
    implied = Alignment(a.i, a.j, components.pose(a.i).inverse() @ components.pose(a.j), a.fit)
    if is_near(a, implied, borders, chain=len(path) + 1):
        return
    joins = sorted((*path, (a.i, a.j)))
    held = sorted({idx for pair in joins for idx in pair} & pinned)
    pins = "" if len(held) < 2 else f" and the places of the pinned pieces {_listed(map(name, held))}"
    listed = _listed(f"{name(i)}-{name(j)}" for i, j in joins)
    what = f"the joins {listed} that were" if path else f"the join {listed} that was"
    raise InputError(f"{what} fixed{pins} contradict each other; take one of them back")


def _check_apart(components: Components, constraints: Constraints, name: Name) -> None:
    """Pieces that may not be together are not held together by what else was decided."""
    for hint in (hint for hint in constraints.hints if hint.kind == "apart" and hint.firm):
        home: dict[int, int] = {}
        for idx in hint.pieces:
            other = home.setdefault(int(components.roots[idx]), idx)
            if other != idx:
                raise InputError(
                    f"pieces {name(other)} and {name(idx)} are said not to belong together, but joins that were fixed or pins "
                    "hold them together; take one of the two back"
                )


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


def _first_clash(borders: Borders, fixed: FloatArray, moving: FloatArray, overlap: Overlap) -> Pair | None:
    """The first pair of pieces, one of each component, that lie on each other."""
    if not placements_intersect(borders, fixed, moving, overlap):
        return None
    pairs = ((a, b) for a in fixed for b in moving if placements_intersect(borders, a[None], b[None], overlap))
    return next(((int(a[0]), int(b[0])) for a, b in pairs), None)


def _pair(a: Alignment, name: Name) -> str:
    return f"{name(a.i)}-{name(a.j)}"


def _listed(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last

"""Pieces put elsewhere: which joins still hold, which groups form, and how sure the pieces are then."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from jigsawnet.edits.arrangement import Arrangement, Pieces, connected, fall_apart
from jigsawnet.edits.kinds import Move, Pair
from jigsawnet.errors import EditError
from jigsawnet.geometry import SE2
from jigsawnet.types import Alignment, Assembly, Edge

FARTHEST_PX = 1e7
"""A pose farther out than this is a slip."""
_STILL_DEG, _STILL_PX = 0.01, 0.01


def move_pieces(pieces: Pieces, arrangement: Arrangement, edit: Move) -> Arrangement:
    """Put pieces where the edit says; what they were joined to and did not go along is parted from them."""
    moved = check_known(pieces, tuple(edit.poses))
    for idx in sorted(moved & arrangement.aside):
        raise EditError(f"{pieces.names[idx]} is set aside; take it back before you place it.")
    for idx, pose in edit.poses.items():
        if not all(math.isfinite(v) for v in (pose.theta, pose.x, pose.y)) or max(abs(pose.x), abs(pose.y)) > FARTHEST_PX:
            raise EditError(f"The new place of {pieces.names[idx]} is not on the table.")
    poses = dict(arrangement.poses) | dict(edit.poses)
    joins = {pair: edge for pair, edge in arrangement.joins.items() if _holds(pieces, arrangement, poses, edge, moved)}
    groups = _regrouped(arrangement, joins, moved)
    held = arrangement.held | moved
    result = with_joins(replace(arrangement, poses=poses, groups=groups, held=held), joins)
    for idx in (idx for pair in edit.joins for idx in check_known(pieces, pair)):
        if idx not in poses:
            raise EditError(f"{pieces.names[idx]} is not placed, so nothing can be joined to it.")
    wanted = [(min(pair), max(pair)) for pair in edit.joins]
    if any(i == j for i, j in wanted):
        raise EditError("A piece cannot be joined to itself.")
    return accept_joins(pieces, result, wanted) if wanted else result


def _holds(pieces: Pieces, arrangement: Arrangement, poses: Mapping[int, SE2], edge: Edge, moved: Collection[int]) -> bool:
    """True when a join is still there after a move: both pieces went along, or it is still the same to a person."""
    i, j = edge.alignment.i, edge.alignment.j
    if i not in moved and j not in moved:
        return True
    now = poses[i].inverse() @ poses[j]
    angle, distance = now.distance(arrangement.relation(i, j), at=pieces.middle(j))
    went_along = math.degrees(angle) < _STILL_DEG and distance < _STILL_PX
    return went_along or pieces.near(j, now, edge.alignment.i_from_j)


def _regrouped(arrangement: Arrangement, joins: Mapping[Pair, Edge], moved: Collection[int]) -> tuple[tuple[int, ...], ...]:
    """Groups after a move: what moved apart from its group leaves it, unless a join still holds it."""
    before, after = list(arrangement.joins), list(joins)
    parts: list[set[int]] = [{idx} for idx in moved if idx not in arrangement.poses]
    for group in arrangement.groups:
        sides = [[k for k in group if k in moved], [k for k in group if k not in moved]]
        split = [part for side in sides for part in fall_apart(group, side, before, after)]
        parts += _merged(split, [pair for pair in after if (pair[0] in moved) != (pair[1] in moved)])
    return tuple(tuple(sorted(part)) for part in parts)


def _merged(parts: Iterable[Iterable[int]], pairs: Collection[Pair]) -> list[set[int]]:
    """Parts that a pair connects become one."""
    whole = [set(part) for part in parts]
    part_of = {idx: k for k, part in enumerate(whole) for idx in part}
    links = [(part_of[i], part_of[j]) for i, j in pairs if i in part_of and j in part_of]
    return [set().union(*(whole[k] for k in chain)) for chain in connected(range(len(whole)), links)]


def accept_joins(pieces: Pieces, arrangement: Arrangement, pairs: Collection[Pair]) -> Arrangement:
    """Joins as the pieces lie become certain; what was said against them is forgotten."""
    joins = dict(arrangement.joins)
    for i, j in pairs:
        old = joins.get((i, j))
        same = old is not None and pieces.near(j, old.alignment.i_from_j, arrangement.relation(i, j))
        alignment = old.alignment if old is not None and same else Alignment(i, j, arrangement.relation(i, j), 1.0)
        joins[i, j] = Edge(alignment, 1.0)
    rejected = tuple(
        a
        for a in arrangement.rejected
        if (a.i, a.j) not in pairs or not pieces.near(a.j, a.i_from_j, arrangement.relation(a.i, a.j))
    )
    groups = tuple(tuple(sorted(part)) for part in _merged(arrangement.groups, pairs))
    accepted = arrangement.accepted.union(pairs)
    return with_joins(replace(arrangement, groups=groups, rejected=rejected, accepted=accepted), joins)


def with_joins(arrangement: Arrangement, joins: Mapping[Pair, Edge]) -> Arrangement:
    """Other joins; pieces whose joins changed, or that left the table, get a confidence from the joins they have now."""
    changed = {pair for pair in {*joins, *arrangement.joins} if joins.get(pair) != arrangement.joins.get(pair)}
    touched = {idx for pair in changed for idx in pair}
    doubt: dict[int, float] = {}
    for (i, j), edge in joins.items():
        for idx in (i, j):
            if idx in touched:
                doubt[idx] = doubt.get(idx, 1.0) * (1.0 - edge.score)
    kept = {k: v for k, v in arrangement.confidence.items() if k in arrangement.poses and k not in touched}
    confidence = kept | {idx: 1.0 - value for idx, value in doubt.items()}
    return replace(
        arrangement, joins=joins, accepted=frozenset(arrangement.accepted.intersection(joins)), confidence=confidence
    )


def by_pair(assembly: Assembly) -> dict[Pair, Edge]:
    """The joins within components, one for a pair, the first."""
    component = {idx: k for k, members in enumerate(assembly.components) for idx in members}
    joins: dict[Pair, Edge] = {}
    for edge in assembly.edges:
        if component.get(edge.alignment.i, -1) != component.get(edge.alignment.j, -2):
            continue
        joins.setdefault((edge.alignment.i, edge.alignment.j), edge)
    return joins


def check_known(pieces: Pieces, chosen: Collection[int]) -> frozenset[int]:
    """The pieces named, when there are any and all of them exist."""
    if not chosen:
        raise EditError("An edit must name at least one piece.")
    for idx in chosen:
        if not 0 <= idx < len(pieces):
            raise EditError(f"There is no piece number {idx}: the pieces are numbered from 0 to {len(pieces) - 1}.")
    return frozenset(chosen)

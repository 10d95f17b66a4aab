"""Edits applied one after the other: the same list gives the same arrangement, always."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from jigsawnet.edits.arrangement import Arrangement, Pieces, fall_apart
from jigsawnet.edits.decisions import fixed_joins
from jigsawnet.edits.history import Edits
from jigsawnet.edits.kinds import Accept, Cut, Edit, Move, Pair, Pin, Reject, SetAside, Solved, TakeBack, TakeOff, Unpin
from jigsawnet.edits.moving import accept_joins, by_pair, check_known, move_pieces, with_joins
from jigsawnet.edits.parting import beside, weakest_cut
from jigsawnet.errors import EditError
from jigsawnet.types import Assembly


def arrange(start: Assembly) -> Arrangement:
    """How the pieces lie before any edit; ``start`` has all its components in one frame."""
    return Arrangement(start.poses, start.components, by_pair(start), start.confidence)


def apply_edits(pieces: Pieces, edits: Edits) -> Arrangement:
    """The arrangement after all edits in force.

    Raises:
        EditError: an edit makes no sense where it comes.
    """
    arrangement = arrange(edits.start)
    for edit in edits.held:
        arrangement = apply_edit(pieces, arrangement, edit)
    return arrangement


def apply_edit(pieces: Pieces, arrangement: Arrangement, edit: Edit) -> Arrangement:  # noqa: PLR0911 - one for each kind
    """The arrangement after one more edit.

    Raises:
        EditError: the edit makes no sense as the pieces lie.
    """
    match edit:
        case Move():
            return move_pieces(pieces, arrangement, edit)
        case Accept(i, j):
            pair = _pair(pieces, arrangement, i, j)
            return accept_joins(pieces, arrangement, [pair])
        case Reject(i, j):
            pair = _pair(pieces, arrangement, i, j)
            wrong = arrangement.joins[pair].alignment
            return replace(_part(pieces, arrangement, pair), rejected=(*arrangement.rejected, wrong))
        case Cut(i, j):
            return _part(pieces, arrangement, _pair(pieces, arrangement, i, j))
        case Solved(assembly):
            return _solved(pieces, arrangement, assembly)
        case TakeOff(chosen):
            return _take_off(arrangement, _placed(pieces, arrangement, chosen))
        case Pin(chosen):
            return replace(arrangement, pinned=arrangement.pinned | _placed(pieces, arrangement, chosen))
        case Unpin(chosen):
            return replace(arrangement, pinned=arrangement.pinned - check_known(pieces, chosen))
        case SetAside(chosen):
            known = check_known(pieces, chosen)
            return replace(_take_off(arrangement, known & set(arrangement.poses)), aside=arrangement.aside | known)
        case TakeBack(chosen):
            return replace(arrangement, aside=arrangement.aside - check_known(pieces, chosen))


def _part(pieces: Pieces, arrangement: Arrangement, pair: Pair) -> Arrangement:
    """Cut a join and what must go with it; the side with fewer pieces, or the one that is not pinned, is laid beside."""
    gone = weakest_cut(arrangement, *pair)
    joins = {other: edge for other, edge in arrangement.joins.items() if other not in gone}
    group = arrangement.group_of(pair[0])
    parts = fall_apart(group, group, list(arrangement.joins), list(joins))
    rest = [other for other in arrangement.groups if other != group]
    result = with_joins(replace(arrangement, groups=(*rest, *(tuple(sorted(part)) for part in parts))), joins)
    sides = [result.group_of(idx) for idx in pair]
    free = [side for side in sides if arrangement.pinned.isdisjoint(side)]
    if sides[0] == sides[1] or not free:
        return result
    loose = min(free, key=lambda side: (len(side), -side[0]))
    return replace(result, poses=dict(result.poses) | beside(pieces, result.poses, set(loose)))


def _take_off(arrangement: Arrangement, gone: frozenset[int]) -> Arrangement:
    joins = {pair: edge for pair, edge in arrangement.joins.items() if gone.isdisjoint(pair)}
    before, after = list(arrangement.joins), list(joins)
    groups: list[tuple[int, ...]] = []
    for group in arrangement.groups:
        left = [idx for idx in group if idx not in gone]
        parts = [group] if len(left) == len(group) else fall_apart(group, left, before, after)
        groups += [tuple(sorted(part)) for part in parts]
    poses = {idx: pose for idx, pose in arrangement.poses.items() if idx not in gone}
    rest = replace(
        arrangement, poses=poses, groups=tuple(groups), pinned=arrangement.pinned - gone, held=arrangement.held - gone
    )
    return with_joins(rest, joins)


def _solved(pieces: Pieces, arrangement: Arrangement, assembly: Assembly) -> Arrangement:
    """What the solver gave; what it had to keep stays decided, and a piece laid down by hand that it did not place lies on."""
    if assembly.n_fragments != len(pieces):
        raise EditError(f"A solve of {assembly.n_fragments} pieces cannot be taken over: there are {len(pieces)} pieces.")
    if taken := sorted(arrangement.aside & set(assembly.poses)):
        raise EditError(f"{pieces.names[taken[0]]} is set aside, but the solve placed it.")
    fixed = set(fixed_joins(arrangement))
    left = {idx: arrangement.poses[idx] for idx in sorted(arrangement.held) if idx not in assembly.poses}
    joins = by_pair(assembly)
    return Arrangement(
        poses=dict(assembly.poses) | left,
        groups=(*assembly.components, *((idx,) for idx in left)),
        joins=joins,
        confidence=assembly.confidence,
        accepted=frozenset(fixed.intersection(joins)),
        rejected=arrangement.rejected,
        pinned=arrangement.pinned & (set(assembly.poses) | set(left)),
        aside=arrangement.aside,
        held=frozenset(left),
    )


def _placed(pieces: Pieces, arrangement: Arrangement, chosen: Collection[int]) -> frozenset[int]:
    for idx in sorted(check_known(pieces, chosen)):
        if idx not in arrangement.poses:
            raise EditError(f"{pieces.names[idx]} is not placed; put it in its place first.")
    return frozenset(chosen)


def _pair(pieces: Pieces, arrangement: Arrangement, i: int, j: int) -> Pair:
    check_known(pieces, (i, j))
    pair = (min(i, j), max(i, j))
    if pair not in arrangement.joins:
        raise EditError(f"There is no join of {pieces.names[i]} and {pieces.names[j]} now.")
    return pair

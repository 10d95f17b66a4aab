"""The kinds of edits. Each class holds its name on disk, its fields, its sentence for people, and what it does.

To add a kind, write its class here, list it in `KINDS` and in the package, and describe it in ``docs/formats.md``.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import ClassVar

from jigsawnet.edits.arrangement import Arrangement, Pair, PieceSizes, merged, split
from jigsawnet.edits.base import Edit
from jigsawnet.edits.hint_kinds import Apart, BackOf, DropHint, EdgeSide, SamePage, Together, UpSide
from jigsawnet.edits.note_kinds import NoteCase, NoteJoin, NotePage, NotePiece
from jigsawnet.edits.page_kinds import LayOutPages, NamePage, OrderPage, TurnPage
from jigsawnet.edits.parting import make_room, part_at
from jigsawnet.errors import EditError
from jigsawnet.geometry import SE2
from jigsawnet.types import Assembly, Join, sort_components

FARTHEST_PX = 1e7
"""A pose farther out than this is a slip."""
_STILL_RAD, _STILL_PX = math.radians(0.01), 0.01
"""Two pieces that changed their relation by less than this moved together."""


@dataclass(frozen=True, slots=True)
class Move(Edit):
    """Pieces are put here; ``joins`` are those that the move snapped to or that its borders meet, and are accepted.

    With ``room``, other pages that the page they come to would lie on are put beside it.
    """

    kind = "move"
    poses: Mapping[int, SE2]
    joins: tuple[Pair, ...] = ()
    room: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "poses", MappingProxyType(dict(self.poses)))

    def describe(self, names: Sequence[str]) -> str:
        """One line for a person."""
        what = f"Moved {_listed(sorted(self.poses), names)}"
        return f"{what} and joined {'it' if len(self.poses) == 1 else 'them'}" if self.joins else what

    def apply(self, pieces: PieceSizes, now: Arrangement) -> Arrangement:
        """What the pieces were joined to and did not go along is parted from them."""
        moved = pieces.known(tuple(self.poses))
        for idx in sorted(moved & now.aside):
            raise EditError(f"{pieces.names[idx]} is set aside; take it back before you place it.")
        for idx in sorted(moved & now.backs):
            raise EditError(f"{pieces.names[idx]} is the back of another; take that back before you place it.")
        for idx, pose in self.poses.items():
            if not math.isfinite(pose.theta) or not all(abs(v) <= FARTHEST_PX for v in (pose.x, pose.y)):
                raise EditError(f"The new place of {pieces.names[idx]} is not on the table.")
        poses = dict(now.poses) | dict(self.poses)
        for idx in (idx for pair in self.joins for idx in pieces.known(pair)):
            if idx not in poses:
                raise EditError(f"{pieces.names[idx]} is not placed, so nothing can be joined to it.")
        if any(i == j for i, j in self.joins):
            raise EditError("A piece cannot be joined to itself.")
        joins = {pair: join for pair, join in now.joins.items() if _still_holds(pieces, now, poses, join, moved)}
        parts: list[Collection[int]] = [{idx} for idx in moved if idx not in now.poses]
        across = [pair for pair in joins if (pair[0] in moved) != (pair[1] in moved)]
        for component in now.components:
            sides = moved.intersection(component), set(component) - moved
            if sides[0]:
                parts += merged([part for side in sides for part in split(component, side, now.joins, joins)], across)
            else:
                parts.append(component)
        placed = replace(now, poses=poses, components=sort_components(parts), by_hand=now.by_hand | moved).with_joins(joins)
        if self.joins:
            placed = placed.with_accepted(pieces, [(min(pair), max(pair)) for pair in self.joins])
        return make_room(pieces, placed, moved) if self.room else placed


def _still_holds(pieces: PieceSizes, before: Arrangement, poses: Mapping[int, SE2], join: Join, moved: Collection[int]) -> bool:
    """True when a join is still there after a move: both pieces went along, or it is still the same to a person."""
    i, j = join.alignment.i, join.alignment.j
    if i not in moved and j not in moved:
        return True
    now = poses[i].inverse() @ poses[j]
    angle, distance = now.distance(before.relation(i, j), at=pieces.middle(j))
    return (angle < _STILL_RAD and distance < _STILL_PX) or pieces.is_same_join(j, now, join.alignment.i_from_j)


@dataclass(frozen=True, slots=True)
class _OfJoin(Edit):
    i: int
    j: int
    verb: ClassVar[str]

    def describe(self, names: Sequence[str]) -> str:
        """One line for a person."""
        return f"{self.verb} the join of {names[self.i]} and {names[self.j]}"

    def pair(self, pieces: PieceSizes, now: Arrangement) -> Pair:
        """The two pieces, when they are joined now."""
        pieces.known((self.i, self.j))
        pair = (min(self.i, self.j), max(self.i, self.j))
        if pair not in now.joins:
            raise EditError(f"There is no join of {pieces.names[self.i]} and {pieces.names[self.j]} now.")
        return pair


class Accept(_OfJoin):
    """This join is right."""

    __slots__ = ()
    kind, verb = "accept", "Accepted"

    def apply(self, pieces: PieceSizes, now: Arrangement) -> Arrangement:
        """It becomes certain as the pieces lie."""
        return now.with_accepted(pieces, [self.pair(pieces, now)])


class Reject(_OfJoin):
    """This join is wrong: it is cut and never made again."""

    __slots__ = ()
    kind, verb = "reject", "Rejected"

    def apply(self, pieces: PieceSizes, now: Arrangement) -> Arrangement:
        """Cut and remembered."""
        pair = self.pair(pieces, now)
        return replace(part_at(pieces, now, pair), rejected=(*now.rejected, now.joins[pair].alignment))


class Cut(_OfJoin):
    """Part the component here; the solver may join it again."""

    __slots__ = ()
    kind, verb = "cut", "Cut"

    def apply(self, pieces: PieceSizes, now: Arrangement) -> Arrangement:
        """Cut, with the weakest joins that still hold the two sides together."""
        return part_at(pieces, now, self.pair(pieces, now))


@dataclass(frozen=True, slots=True)
class _OfPieces(Edit):
    pieces: tuple[int, ...]
    sentence: ClassVar[str]

    def describe(self, names: Sequence[str]) -> str:
        """One line for a person."""
        return self.sentence.format(_listed(self.pieces, names))

    def placed(self, pieces: PieceSizes, now: Arrangement) -> frozenset[int]:
        """The pieces, when all of them are placed."""
        for idx in sorted(pieces.known(self.pieces)):
            if idx not in now.poses:
                raise EditError(f"{pieces.names[idx]} is not placed; put it in its place first.")
        return frozenset(self.pieces)


class TakeOff(_OfPieces):
    """Pieces go back to the tray; the solver may place them again."""

    __slots__ = ()
    kind, sentence = "take_off", "Took {} off"

    def apply(self, pieces: PieceSizes, now: Arrangement) -> Arrangement:
        """They leave the table."""
        return now.without(self.placed(pieces, now))


class Pin(_OfPieces):
    """Pieces stay where they lie."""

    __slots__ = ()
    kind, sentence = "pin", "Pinned {}"

    def apply(self, pieces: PieceSizes, now: Arrangement) -> Arrangement:
        """Nothing moves."""
        return replace(now, pinned=now.pinned | self.placed(pieces, now))


class Unpin(_OfPieces):
    """Pieces may move again."""

    __slots__ = ()
    kind, sentence = "unpin", "Unpinned {}"

    def apply(self, pieces: PieceSizes, now: Arrangement) -> Arrangement:
        """Nothing moves."""
        return replace(now, pinned=now.pinned - pieces.known(self.pieces))


class SetAside(_OfPieces):
    """Pieces are not of this picture: never place them."""

    __slots__ = ()
    kind, sentence = "set_aside", "Set {} aside"

    def apply(self, pieces: PieceSizes, now: Arrangement) -> Arrangement:
        """They leave the table where they are on it."""
        known = pieces.known(self.pieces)
        return replace(now.without(known), aside=now.aside | known)


class TakeBack(_OfPieces):
    """Pieces set aside may be placed again."""

    __slots__ = ()
    kind, sentence = "take_back", "Took {} back"

    def apply(self, pieces: PieceSizes, now: Arrangement) -> Arrangement:
        """They lie in the tray."""
        return replace(now, aside=now.aside - pieces.known(self.pieces))


@dataclass(frozen=True, slots=True)
class Solved(Edit):
    """The solver went on; where everything lies after it, on the table. In the file it is the number of a result."""

    kind = "solved"
    assembly: Assembly = field(hash=False)

    def describe(self, names: Sequence[str]) -> str:
        """One line for a person."""
        return f"Solved on: {len(self.assembly.poses)} of {self.assembly.n_pieces} pieces placed"

    def apply(self, pieces: PieceSizes, now: Arrangement) -> Arrangement:
        """What the solver had to keep stays decided; a piece put down by hand that it did not place stays where it lies."""
        assembly = self.assembly
        if assembly.n_pieces != len(pieces):
            raise EditError(f"A solve of {assembly.n_pieces} pieces cannot be taken over: there are {len(pieces)} pieces.")
        if taken := sorted((now.aside | now.backs) & set(assembly.poses)):
            raise EditError(f"{pieces.names[taken[0]]} is set aside, but the solve placed it.")
        solved = Arrangement.of(assembly)
        left = {idx: now.poses[idx] for idx in sorted(now.by_hand) if idx not in assembly.poses}
        poses = dict(assembly.poses) | left
        return replace(
            solved,
            poses=poses,
            components=(*assembly.components, *((idx,) for idx in left)),
            accepted=frozenset(now.fixed_joins()).intersection(solved.joins),
            rejected=now.rejected,
            pinned=now.pinned.intersection(poses),
            aside=now.aside,
            by_hand=frozenset(left),
            notes=now.notes,
            remarks=now.remarks,
            hints=now.hints,
        )


KINDS: dict[str, type[Edit]] = {
    cls.kind: cls
    for cls in (
        Move, TakeOff, Accept, Reject, Cut, Pin, Unpin, SetAside, TakeBack, NamePage, OrderPage, TurnPage, LayOutPages,
        NoteCase, NotePage, NotePiece, NoteJoin, Together, SamePage, Apart, EdgeSide, UpSide, BackOf, DropHint, Solved,
    )
}  # fmt: skip
"""All kinds by their name on disk."""


def _listed(pieces: Sequence[int], names: Sequence[str]) -> str:
    if len(pieces) > 3:
        return f"{len(pieces)} pieces"
    *most, last = (names[idx] for idx in pieces)
    return f"{', '.join(most)} and {last}" if most else last

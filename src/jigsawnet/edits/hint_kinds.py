"""Edits that say what a person knows of pieces without knowing a join; the solver uses them when it goes on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from jigsawnet.edits.arrangement import Arrangement, PieceSizes
from jigsawnet.edits.base import Edit
from jigsawnet.edits.page_kinds import TurnPage, page_of
from jigsawnet.errors import EditError
from jigsawnet.types import Hint

MOST_HINTS = 2000
_UP = -math.pi / 2
"""Up on the screen."""
_SIDES = ("right", "lower right", "lower", "lower left", "left", "upper left", "upper", "upper right")


def hint_sentence(hint: Hint, names: Sequence[str]) -> str:
    """What a hint says, for a person."""
    listed = [names[idx] for idx in hint.pieces]
    who = f"{', '.join(listed[:-1])} and {listed[-1]}" if len(listed) <= 4 else f"{listed[0]} and {len(listed) - 1} others"
    soft = "" if hint.firm else ", perhaps"
    side = _SIDES[round(math.remainder(hint.angle, 2 * math.pi) / (math.pi / 4)) % 8]
    match hint.kind:
        case "together":
            return f"{who} belong together{soft}"
        case "same_page":
            return f"{who} are of one page{soft}"
        case "apart":
            return f"{who} do not belong together{soft}"
        case "edge":
            return f"The {side} side of {listed[0]} is an edge{soft}"
        case "up":
            return f"The {side} side of {listed[0]} is up{soft}"
    return f"{listed[0]} is the back of {listed[1]}"


def _with_hint(now: Arrangement, hint: Hint) -> Arrangement:
    """One more hint, in the place of one that says the same of the same pieces."""
    rest = [other for other in now.hints if not _is_replaced(other, hint)]
    if len(rest) >= MOST_HINTS:
        raise EditError(f"There are {MOST_HINTS:,} hints already; take some of them back first.")
    return replace(now, hints=(*rest, hint))


def _is_replaced(old: Hint, new: Hint) -> bool:
    if old.kind != new.kind or set(old.pieces) != set(new.pieces):
        return False
    return old.kind != "edge" or abs(math.remainder(old.angle - new.angle, 2 * math.pi)) < math.radians(30)


@dataclass(frozen=True, slots=True)
class _OfSeveral(Edit):
    pieces: tuple[int, ...]
    firm: bool = True
    hint: ClassVar[Literal["together", "same_page", "apart"]]

    def describe(self, names: Sequence[str]) -> str:
        """One line for a person."""
        return hint_sentence(Hint(self.hint, self.pieces, firm=self.firm), names)

    def apply(self, pieces: PieceSizes, now: Arrangement) -> Arrangement:
        """Nothing moves until the solver goes on."""
        chosen = tuple(sorted(pieces.known(self.pieces)))
        if len(chosen) < 2:
            raise EditError("This can be said of two pieces and more; mark several first.")
        against = ("together", "same_page") if self.hint == "apart" else ("apart",)
        for other in now.hints if self.firm else ():
            if other.firm and other.kind in against and len(set(chosen).intersection(other.pieces)) > 1:
                raise EditError(f"You said: {hint_sentence(other, pieces.names)}. Take that back first.")
        return _with_hint(now, Hint(self.hint, chosen, firm=self.firm))


class Together(_OfSeveral):
    """These pieces belong together: candidates between them win over others."""

    __slots__ = ()
    kind, hint = "together", "together"


class SamePage(_OfSeveral):
    """These pieces are of one page, wherever on it."""

    __slots__ = ()
    kind, hint = "same_page", "same_page"


class Apart(_OfSeveral):
    """No two of these pieces are of one page."""

    __slots__ = ()
    kind, hint = "apart", "apart"


@dataclass(frozen=True, slots=True)
class EdgeSide(Edit):
    """The side of a piece that faces ``angle`` in its own frame is an outer border: nothing lies beyond it."""

    kind = "edge_side"
    piece: int
    angle: float
    firm: bool = True

    def describe(self, names: Sequence[str]) -> str:
        """One line for a person."""
        return hint_sentence(Hint("edge", (self.piece,), self.angle, self.firm), names)

    def apply(self, pieces: PieceSizes, now: Arrangement) -> Arrangement:
        """Nothing moves until the solver goes on."""
        return _with_hint(now, Hint("edge", (_one(pieces, self.piece),), _direction(self.angle), self.firm))


@dataclass(frozen=True, slots=True)
class UpSide(Edit):
    """The side of a piece that faces ``angle`` in its own frame is up: its page is turned so, and later ones will be."""

    kind = "up_side"
    piece: int
    angle: float
    firm: bool = True

    def describe(self, names: Sequence[str]) -> str:
        """One line for a person."""
        return hint_sentence(Hint("up", (self.piece,), self.angle, self.firm), names)

    def apply(self, pieces: PieceSizes, now: Arrangement) -> Arrangement:
        """Its page is turned, unless pieces of it are pinned."""
        idx, angle = _one(pieces, self.piece), _direction(self.angle)
        hinted = _with_hint(now, Hint("up", (idx,), angle, self.firm))
        if idx not in now.poses or not now.pinned.isdisjoint(page_of(pieces, now, idx).pieces):
            return hinted
        turn = math.remainder(_UP - (now.poses[idx].theta + angle), 2 * math.pi)
        return TurnPage(idx, turn).apply(pieces, hinted) if abs(turn) > 1e-6 else hinted


@dataclass(frozen=True, slots=True)
class BackOf(Edit):
    """A piece is no piece of its own but shows the back of another: it is not placed."""

    kind = "back_of"
    piece: int
    front: int

    def describe(self, names: Sequence[str]) -> str:
        """One line for a person."""
        return hint_sentence(Hint("back", (self.piece, self.front)), names)

    def apply(self, pieces: PieceSizes, now: Arrangement) -> Arrangement:
        """It leaves the table."""
        back, front = _one(pieces, self.piece), _one(pieces, self.front)
        if back == front:
            raise EditError("A piece is not the back of itself.")
        for other in now.hints:
            if other.kind == "back" and (back == other.pieces[1] or front == other.pieces[0]):
                raise EditError(f"You said: {hint_sentence(other, pieces.names)}. Take that back first.")
        rest = tuple(h for h in now.hints if h.kind != "back" or not {back, front}.intersection(h.pieces))
        return _with_hint(replace(now.without({back}), hints=rest), Hint("back", (back, front)))


@dataclass(frozen=True, slots=True)
class DropHint(Edit):
    """A hint is taken back, by its number in the list of hints, counted from 1."""

    kind = "drop_hint"
    number: int

    def describe(self, names: Sequence[str]) -> str:
        """One line for a person."""
        return f"Took hint {self.number} back"

    def apply(self, pieces: PieceSizes, now: Arrangement) -> Arrangement:
        """Nothing moves."""
        if not 1 <= self.number <= len(now.hints):
            raise EditError(f"There is no hint number {self.number}: there are {len(now.hints)}.")
        return replace(now, hints=tuple(hint for k, hint in enumerate(now.hints, 1) if k != self.number))


def _one(pieces: PieceSizes, piece: int) -> int:
    (idx,) = pieces.known((piece,))
    return idx


def _direction(angle: float) -> float:
    if not math.isfinite(angle):
        raise EditError("The direction of a side must be a number.")
    return math.remainder(angle, 2 * math.pi)

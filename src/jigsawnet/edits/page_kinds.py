"""Edits of whole pages; a page is named by any piece of it. None of them joins anything."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

from jigsawnet.edits.arrangement import Arrangement, PieceSizes
from jigsawnet.edits.base import Edit
from jigsawnet.edits.pages import LONGEST_NAME, Page, PageNote
from jigsawnet.edits.parting import beside, box_around, in_rows
from jigsawnet.errors import EditError
from jigsawnet.geometry import SE2


@dataclass(frozen=True, slots=True)
class NamePage(Edit):
    """A page gets a name; an empty one takes it away."""

    kind = "name_page"
    piece: int
    name: str

    def describe(self, names: Sequence[str]) -> str:
        """One line for a person."""
        return (
            f"Named the page of {names[self.piece]} {self.name!r}" if self.name else f"Unnamed the page of {names[self.piece]}"
        )

    def apply(self, pieces: PieceSizes, now: Arrangement) -> Arrangement:
        """Nothing moves."""
        if len(self.name) > LONGEST_NAME or any(unicodedata.category(c) in ("Cc", "Cs") for c in self.name):
            raise EditError(f"The name of a page must be one line of at most {LONGEST_NAME} characters.")
        own = page_of(pieces, now, self.piece)
        return noted(now, [replace(page, name=self.name.strip()) if page == own else page for page in now.pages])


@dataclass(frozen=True, slots=True)
class OrderPage(Edit):
    """A page gets another place in the order, counted from 1."""

    kind = "order_page"
    piece: int
    place: int

    def describe(self, names: Sequence[str]) -> str:
        """One line for a person."""
        return f"Made the page of {names[self.piece]} number {self.place}"

    def apply(self, pieces: PieceSizes, now: Arrangement) -> Arrangement:
        """Nothing moves."""
        own = page_of(pieces, now, self.piece)
        if not 1 <= self.place <= len(now.pages):
            raise EditError(f"There is no page number {self.place}: there are {len(now.pages)} pages.")
        others = [page for page in now.pages if page != own]
        return noted(now, [*others[: self.place - 1], own, *others[self.place - 1 :]])


@dataclass(frozen=True, slots=True)
class TurnPage(Edit):
    """A page is turned as a whole by ``angle`` (radians, clockwise on the screen); it makes room for itself."""

    kind = "turn_page"
    piece: int
    angle: float

    def describe(self, names: Sequence[str]) -> str:
        """One line for a person."""
        return f"Turned the page of {names[self.piece]} by {math.degrees(self.angle):.3g}°"

    def apply(self, pieces: PieceSizes, now: Arrangement) -> Arrangement:
        """About the middle of the page, then beside the others where it would meet them."""
        if not math.isfinite(self.angle):
            raise EditError("The angle of a turn must be a number.")
        members = page_of(pieces, now, self.piece).pieces
        for idx in members:
            if idx in now.pinned:
                raise EditError(f"{pieces.names[idx]} is pinned; unpin it before you turn its page.")
        low, high = box_around(pieces, now.poses, members)
        x, y = (float(v) for v in (low + high) / 2)
        turn = SE2(0.0, x, y) @ SE2(math.remainder(self.angle, 2 * math.pi), 0.0, 0.0) @ SE2(0.0, -x, -y)
        poses = dict(now.poses) | {idx: turn @ now.poses[idx] for idx in members}
        return replace(now, poses=poses | beside(pieces, poses, members))


@dataclass(frozen=True, slots=True)
class LayOutPages(Edit):
    """All pages are laid in rows, in their order, with room between them; those with pinned pieces stay."""

    kind = "lay_out_pages"

    def describe(self, names: Sequence[str]) -> str:
        """One line for a person."""
        return "Laid the pages out in rows"

    def apply(self, pieces: PieceSizes, now: Arrangement) -> Arrangement:
        """Pages move as they are."""
        if not now.pages:
            raise EditError("There is no page to lay out: no piece is placed.")
        free = [page.pieces for page in now.pages if now.pinned.isdisjoint(page.pieces)]
        return replace(now, poses=dict(now.poses) | in_rows(pieces, now.poses, free))


def page_of(pieces: PieceSizes, now: Arrangement, piece: int) -> Page:
    """The page of a piece.

    Raises:
        EditError: it is on none.
    """
    (idx,) = pieces.known((piece,))
    if idx not in now.poses:
        raise EditError(f"{pieces.names[idx]} is not placed, so it is on no page.")
    return next(page for page in now.pages if idx in page.pieces)


def noted(now: Arrangement, pages: Sequence[Page]) -> Arrangement:
    """The same with pages as they are said to be, in this order."""
    return replace(now, notes=tuple(PageNote(frozenset(page.pieces), page.name, page.text) for page in pages))

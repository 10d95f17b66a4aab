"""Edits that write a note; an empty text takes it away. None of them moves anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from jigsawnet.edits.arrangement import Arrangement, PieceSizes
from jigsawnet.edits.base import Edit
from jigsawnet.edits.page_kinds import noted, page_of
from jigsawnet.edits.remarks import checked_note, with_note
from jigsawnet.errors import EditError

_SHOWN = 60
"""Characters of a note in the sentence about it."""


def _sentence(what: str, text: str) -> str:
    words = " ".join(text.split())
    short = words if len(words) <= _SHOWN else f"{words[:_SHOWN]}…"
    return f"Noted of {what}: {short}" if words else f"Took the note of {what} away"


@dataclass(frozen=True, slots=True)
class NoteCase(Edit):
    """A note of the whole case."""

    kind = "note_case"
    text: str

    def describe(self, names: Sequence[str]) -> str:
        """One line for a person."""
        return _sentence("the case", self.text)

    def apply(self, pieces: PieceSizes, now: Arrangement) -> Arrangement:
        """Kept."""
        return replace(now, remarks=replace(now.remarks, case=checked_note(self.text)))


@dataclass(frozen=True, slots=True)
class NotePage(Edit):
    """A note of the page of a piece; it stays with most of its pieces, as its name does."""

    kind = "note_page"
    piece: int
    text: str

    def describe(self, names: Sequence[str]) -> str:
        """One line for a person."""
        return _sentence(f"the page of {names[self.piece]}", self.text)

    def apply(self, pieces: PieceSizes, now: Arrangement) -> Arrangement:
        """Kept."""
        text, own = checked_note(self.text), page_of(pieces, now, self.piece)
        return noted(now, [replace(page, text=text) if page == own else page for page in now.pages])


@dataclass(frozen=True, slots=True)
class NotePiece(Edit):
    """A note of a piece, wherever it lies."""

    kind = "note_piece"
    piece: int
    text: str

    def describe(self, names: Sequence[str]) -> str:
        """One line for a person."""
        return _sentence(names[self.piece], self.text)

    def apply(self, pieces: PieceSizes, now: Arrangement) -> Arrangement:
        """Kept."""
        (idx,) = pieces.known((self.piece,))
        return replace(now, remarks=replace(now.remarks, pieces=with_note(now.remarks.pieces, idx, checked_note(self.text))))


@dataclass(frozen=True, slots=True)
class NoteJoin(Edit):
    """A note of what two pieces have to do with each other; it stays when their join is gone."""

    kind = "note_join"
    i: int
    j: int
    text: str

    def describe(self, names: Sequence[str]) -> str:
        """One line for a person."""
        return _sentence(f"the join of {names[self.i]} and {names[self.j]}", self.text)

    def apply(self, pieces: PieceSizes, now: Arrangement) -> Arrangement:
        """Kept."""
        pieces.known((self.i, self.j))
        if self.i == self.j:
            raise EditError("A join is of two pieces.")
        pair = (min(self.i, self.j), max(self.i, self.j))
        return replace(now, remarks=replace(now.remarks, joins=with_note(now.remarks.joins, pair, checked_note(self.text))))

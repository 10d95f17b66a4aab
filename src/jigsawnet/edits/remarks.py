"""Notes: what a person has to say of a case, its pages, pieces and joins; they move nothing and decide nothing."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeVar

from jigsawnet.errors import EditError

LONGEST_NOTE = 2000
K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class Notes:
    """``pages`` by the number of the component, filled in where results are written; ``joins`` by their pieces, i < j."""

    case: str = ""
    pages: Mapping[int, str] = field(default_factory=dict)
    pieces: Mapping[int, str] = field(default_factory=dict)
    joins: Mapping[tuple[int, int], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("pages", "pieces", "joins"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __bool__(self) -> bool:
        return bool(self.case or self.pages or self.pieces or self.joins)

    def key(self) -> list[object]:
        """Plain values that name them."""
        return [self.case, *(sorted(part.items()) for part in (self.pages, self.pieces, self.joins))]


def checked_note(text: str) -> str:
    """A note without blanks around it.

    Raises:
        EditError: it is too long, or holds what is no text.
    """
    if len(text) > LONGEST_NOTE or any(unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t" for c in text):
        raise EditError(f"A note must be text of at most {LONGEST_NOTE:,} characters.")
    return text.strip()


def with_note(notes: Mapping[K, str], key: K, text: str) -> dict[K, str]:
    """The same notes with another of ``key``; an empty one takes it away."""
    rest = {other: note for other, note in notes.items() if other != key}
    return rest | ({key: text} if text else {})

"""Pages: every component is one, with a name and a place in the order; which way is up is how it lies on the table.

What a person said of a page is kept as a note on the pieces it had at that time. Components come and go; a page is found
again as the component that has most of those pieces, so a name outlives cuts, joins and solves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class PageNote:
    """What was said of a page when it had these pieces: its name and a note, empty where there is none."""

    members: frozenset[int]
    name: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """A component as a person sees it: ``number`` counts from 1 in the order of the pages."""

    number: int
    name: str
    pieces: tuple[int, ...]
    text: str = ""

    @property
    def title(self) -> str:
        """Its name, or its number where it has none."""
        return self.name or f"Page {self.number}"


def pages_of(components: Sequence[tuple[int, ...]], notes: Sequence[PageNote]) -> tuple[Page, ...]:
    """The components in order: those with a note in the order of the notes, then the others.

    Component and note that share most pieces belong together; of a tie the first note and component do.
    """
    component_of = {idx: k for k, members in enumerate(components) for idx in members}
    shared: dict[tuple[int, int], int] = {}
    for n, note in enumerate(notes):
        for idx in note.members:
            if idx in component_of:
                key = (n, component_of[idx])
                shared[key] = shared.get(key, 0) + 1
    found: dict[int, int] = {}
    for n, k in sorted(shared, key=lambda key: (-shared[key], key)):
        if n not in found and k not in found.values():
            found[n] = k
    order = [(found[n], notes[n].name, notes[n].text) for n in sorted(found)]
    known = {k for k, _, _ in order}
    order += [(k, "", "") for k in range(len(components)) if k not in known]
    return tuple(Page(number, name, components[k], text) for number, (k, name, text) in enumerate(order, 1))

"""What all kinds of edits have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from jigsawnet.edits.arrangement import Arrangement, PieceSizes


class Edit(ABC):
    """One thing that a person did; pieces by number, poses on the table. Its fields are those of the file."""

    __slots__ = ()
    kind: ClassVar[str]
    """The name in ``edits.json``."""

    @abstractmethod
    def describe(self, names: Sequence[str]) -> str:
        """One line for a person."""

    @abstractmethod
    def apply(self, pieces: PieceSizes, now: Arrangement) -> Arrangement:
        """The arrangement after this edit.

        Raises:
            EditError: the edit makes no sense as the pieces lie.
        """

"""The list of edits and how many of them are in force."""

from __future__ import annotations

from dataclasses import dataclass, replace

from jigsawnet.edits.kinds import Edit
from jigsawnet.types import Assembly


@dataclass(frozen=True, slots=True)
class Edits:
    """``start`` is how the solver left the pieces, on the table; the first ``in_force`` entries hold, the rest are undone."""

    start: Assembly
    entries: tuple[Edit, ...] = ()
    in_force: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.in_force <= len(self.entries):
            raise ValueError("in_force counts entries")

    @property
    def held(self) -> tuple[Edit, ...]:
        """The edits that hold, in order."""
        return self.entries[: self.in_force]

    @property
    def undone(self) -> tuple[Edit, ...]:
        """What redo brings back, next first."""
        return self.entries[self.in_force :]

    def added(self, edit: Edit) -> Edits:
        """One more edit; what was undone is dropped."""
        return replace(self, entries=(*self.held, edit), in_force=self.in_force + 1)

    def back(self) -> Edits:
        """The last edit undone; the same when there is none."""
        return replace(self, in_force=max(0, self.in_force - 1))

    def forward(self) -> Edits:
        """The next edit redone; the same when there is none."""
        return replace(self, in_force=min(len(self.entries), self.in_force + 1))

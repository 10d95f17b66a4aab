"""The kinds of edits, one frozen dataclass each; pieces by number, poses on the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from jigsawnet.geometry import SE2
from jigsawnet.types import Assembly

Pair = tuple[int, int]
"""Two pieces, the smaller number first."""


@dataclass(frozen=True, slots=True)
class Move:
    """Pieces are put here; ``joins`` are those that the move snapped to or that its borders meet, and are accepted."""

    poses: Mapping[int, SE2]
    joins: tuple[Pair, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "poses", MappingProxyType(dict(self.poses)))


@dataclass(frozen=True, slots=True)
class TakeOff:
    """Pieces go back to the tray; the solver may place them again."""

    pieces: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Accept:
    """This join is right."""

    i: int
    j: int


@dataclass(frozen=True, slots=True)
class Reject:
    """This join is wrong: it is cut and never made again."""

    i: int
    j: int


@dataclass(frozen=True, slots=True)
class Cut:
    """Part the group here; the solver may join it again."""

    i: int
    j: int


@dataclass(frozen=True, slots=True)
class Pin:
    """Pieces stay where they lie."""

    pieces: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Unpin:
    """Pieces may move again."""

    pieces: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SetAside:
    """Pieces are not of this picture: never place them."""

    pieces: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TakeBack:
    """Pieces set aside may be placed again."""

    pieces: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Solved:
    """The solver went on; where everything lies after it, on the table."""

    assembly: Assembly = field(hash=False)


Edit = Move | TakeOff | Accept | Reject | Cut | Pin | Unpin | SetAside | TakeBack | Solved


def describe(edit: Edit, names: Sequence[str]) -> str:  # noqa: PLR0911 - one for each kind
    """One line for a person."""
    match edit:
        case Move(poses, joins):
            what = f"Moved {_listed(sorted(poses), names)}"
            return f"{what} and joined {'it' if len(poses) == 1 else 'them'}" if joins else what
        case TakeOff(pieces):
            return f"Took {_listed(pieces, names)} off"
        case Accept(i, j):
            return f"Accepted the join of {names[i]} and {names[j]}"
        case Reject(i, j):
            return f"Rejected the join of {names[i]} and {names[j]}"
        case Cut(i, j):
            return f"Cut the join of {names[i]} and {names[j]}"
        case Pin(pieces):
            return f"Pinned {_listed(pieces, names)}"
        case Unpin(pieces):
            return f"Unpinned {_listed(pieces, names)}"
        case SetAside(pieces):
            return f"Set {_listed(pieces, names)} aside"
        case TakeBack(pieces):
            return f"Took {_listed(pieces, names)} back"
        case Solved(assembly):
            return f"Solved on: {len(assembly.poses)} of {assembly.n_fragments} pieces placed"


def _listed(pieces: Sequence[int], names: Sequence[str]) -> str:
    if len(pieces) > 3:
        return f"{len(pieces)} pieces"
    *most, last = (names[idx] for idx in pieces)
    return f"{', '.join(most)} and {last}" if most else last

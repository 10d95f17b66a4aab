"""How the pieces lie on the table after some edits, and what a person has decided about them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from jigsawnet.edits.kinds import Pair
from jigsawnet.geometry import SE2
from jigsawnet.types import Alignment, Assembly, Edge, sort_components

NEAR_DEG = 5.0
NEAR_PX = 10.0
"""Two poses of a pair within these limits, at the middle of j, are the same join to a person."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """What the edits need to know of a puzzle: ``names`` and ``sizes`` (width, height) in px, in order of idx."""

    names: tuple[str, ...]
    sizes: tuple[tuple[int, int], ...]

    def __len__(self) -> int:
        return len(self.names)

    def middle(self, idx: int) -> tuple[float, float]:
        """The middle of the piece's picture, in its own frame."""
        width, height = self.sizes[idx]
        return (width - 1) / 2, (height - 1) / 2

    def near(self, j: int, one: SE2, other: SE2) -> bool:
        """True when two ``i_from_j`` are the same join to a person."""
        angle, distance = one.distance(other, at=self.middle(j))
        return math.degrees(angle) < NEAR_DEG and distance < NEAR_PX


@dataclass(frozen=True, slots=True)
class Arrangement:
    """``poses`` of the pieces on the table; ``groups`` and ``joins`` as in `Assembly`, one join for a pair, sorted by pair.

    ``held`` are pieces that a person has put where they lie.
    """

    poses: Mapping[int, SE2]
    groups: tuple[tuple[int, ...], ...]
    joins: Mapping[Pair, Edge]
    confidence: Mapping[int, float]
    accepted: frozenset[Pair] = frozenset()
    rejected: tuple[Alignment, ...] = ()
    pinned: frozenset[int] = frozenset()
    aside: frozenset[int] = frozenset()
    held: frozenset[int] = field(default=frozenset())

    def __post_init__(self) -> None:
        object.__setattr__(self, "poses", MappingProxyType(dict(self.poses)))
        object.__setattr__(self, "joins", MappingProxyType(dict(sorted(self.joins.items()))))
        object.__setattr__(self, "confidence", MappingProxyType(dict(self.confidence)))
        object.__setattr__(self, "groups", sort_components(self.groups))

    def relation(self, i: int, j: int) -> SE2:
        """i_from_j as the two pieces lie."""
        return self.poses[i].inverse() @ self.poses[j]

    def group_of(self, idx: int) -> tuple[int, ...]:
        """The pieces that hang together with a piece that is placed, itself included."""
        return next(group for group in self.groups if idx in group)

    def to_assembly(self, n_fragments: int) -> Assembly:
        """The same as the other rooms know it."""
        return Assembly(n_fragments, self.poses, self.groups, tuple(self.joins.values()), self.confidence)


def connected(members: Iterable[int], pairs: Collection[Pair]) -> list[set[int]]:
    """The parts into which ``pairs`` connect ``members``; pairs that lead elsewhere do not count."""
    near: dict[int, list[int]] = {idx: [] for idx in members}
    for i, j in pairs:
        if i in near and j in near:
            near[i].append(j)
            near[j].append(i)
    parts: list[set[int]] = []
    seen: set[int] = set()
    for idx in sorted(near):
        if idx in seen:
            continue
        part, todo = {idx}, [idx]
        while todo:
            for other in near[todo.pop()]:
                if other not in part:
                    part.add(other)
                    todo.append(other)
        seen |= part
        parts.append(part)
    return parts


def fall_apart(
    group: Collection[int], left: Collection[int], before: Collection[Pair], after: Collection[Pair]
) -> list[set[int]]:
    """What the pieces ``left`` of a group become when only the joins ``after`` remain of those ``before``.

    Pieces that hung together without joins, such as pinned ones, still do; the largest part of each stays with them.
    """
    main: set[int] = set()
    parts: list[set[int]] = []
    for old in connected(group, before):
        now = sorted(connected(old.intersection(left), after), key=lambda part: (-len(part), min(part)))
        main |= now[0] if now else set()
        parts += now[1:]
    return [main, *parts] if main else parts

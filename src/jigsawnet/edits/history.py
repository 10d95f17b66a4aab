"""The list of edits with how many of them are in force, and solves as they enter it: in the one frame of the table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from jigsawnet.edits.arrangement import Arrangement, PieceSizes
from jigsawnet.edits.base import Edit
from jigsawnet.edits.parting import beside
from jigsawnet.geometry import SE2
from jigsawnet.types import Alignment, Assembly, Join


@dataclass(frozen=True, slots=True)
class Edits:
    """``start`` is how the solver left the pieces, on the table; the first ``in_force`` entries count, the rest are undone."""

    start: Assembly
    entries: tuple[Edit, ...] = ()
    in_force: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.in_force <= len(self.entries):
            raise ValueError("in_force counts entries")

    @property
    def done(self) -> tuple[Edit, ...]:
        """The edits in force, in order."""
        return self.entries[: self.in_force]

    @property
    def undone(self) -> tuple[Edit, ...]:
        """What redo brings back, next first."""
        return self.entries[self.in_force :]

    def added(self, edit: Edit) -> Edits:
        """One more edit; what was undone is dropped."""
        return replace(self, entries=(*self.done, edit), in_force=self.in_force + 1)

    def back(self) -> Edits:
        """The last edit undone; the same when there is none."""
        return replace(self, in_force=max(0, self.in_force - 1))

    def forward(self) -> Edits:
        """The next edit redone; the same when there is none."""
        return replace(self, in_force=min(len(self.entries), self.in_force + 1))


def put_back(pieces: PieceSizes, before: Arrangement, assembly: Assembly) -> Assembly:
    """What a solve gave, with every component where most of it lay before, and beside the others where it would meet them.

    Components with pinned pieces are already in the frame of the table and stay.
    """
    poses: dict[int, SE2] = {}
    pinned = [c for c in assembly.components if before.pinned.intersection(c)]
    free = [c for c in assembly.components if not before.pinned.intersection(c)]
    for component in pinned:
        poses |= {idx: assembly.poses[idx] for idx in component}
    for component in free:
        move = _move_back(before, assembly.poses, component)
        poses |= {idx: move @ assembly.poses[idx] for idx in component}
        poses |= beside(pieces, poses, component)
    return as_on_disk(replace(assembly, poses=poses))


def _move_back(before: Arrangement, poses: Mapping[int, SE2], component: Iterable[int]) -> SE2:
    """The motion that puts the pieces of the component from which most came where they lay."""
    members = set(component)
    shared = [sorted(members.intersection(old)) for old in before.components]
    most = max(shared, key=len, default=[])
    if not most:
        return SE2.identity()
    anchor = most[len(most) // 2]
    return before.poses[anchor] @ poses[anchor].inverse()


def as_on_disk(assembly: Assembly) -> Assembly:
    """The same to a millionth of a pixel, without what is measured anew anyway: as it reads back from ``edits.json``."""
    joins = (
        Join(Alignment(a.i, a.j, _rounded(a.i_from_j), score), score)
        for join in assembly.joins
        for a, score in [(join.alignment, _share(join.confidence))]
    )
    return replace(
        assembly,
        poses={idx: _rounded(pose) for idx, pose in assembly.poses.items()},
        joins=tuple(joins),
        confidence={idx: _share(value) for idx, value in assembly.confidence.items()},
    )


def _rounded(pose: SE2) -> SE2:
    return SE2(round(float(pose.theta), 10), round(float(pose.x), 6), round(float(pose.y), 6))


def _share(value: float) -> float:
    return round(min(max(float(value), 0.0), 1.0), 6)

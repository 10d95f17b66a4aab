"""What a person corrects about the pieces that were found on a scan, before they are put together.

Pure: masks in, masks out. A piece is named by a point inside it, so that a correction still finds its piece when the scan is
cut again.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jigsawnet.edits.parts import (
    LEAST_AREA_PX,
    Part,
    Parts,
    Point,
    bridge,
    connected,
    gap_between,
    lift,
    longer,
    on_one_canvas,
    parted,
    stroke_of,
    tight,
    where_others_lie,
)
from jigsawnet.errors import EditError

MOST_POINTS = 5000
MAX_RADIUS_PX = 1000.0
_PIECE_SHARE = 0.2
"""Smaller parts of a piece are no piece of their own when some of it is brushed away."""
_FAR_SHARE = 0.35
"""Pieces whose distance is a larger part of the side of the smaller one are not merged."""


class Correction(ABC):
    """One thing that a person did to the pieces of a scan. Its fields are those of the file."""

    __slots__ = ()
    kind: ClassVar[str]
    scan: str
    """The name of the scan."""

    @abstractmethod
    def describe(self) -> str:
        """One line for a person."""

    @abstractmethod
    def apply(self, now: Parts) -> Parts:
        """The pieces after it.

        Raises:
            EditError: it makes no sense with these pieces.
        """


@dataclass(frozen=True, slots=True)
class Discard(Correction):
    """These are no pieces."""

    kind: ClassVar[str] = "discard"
    scan: str
    at: tuple[Point, ...]

    def describe(self) -> str:
        """One line for a person."""
        return "Not a piece" if len(self.at) == 1 else f"{len(self.at)} are no pieces"

    def apply(self, now: Parts) -> Parts:
        """Without them."""
        return now.changed(now.chosen(self.at), ())


@dataclass(frozen=True, slots=True)
class Merge(Correction):
    """These are one piece; what lies between them, where they are nearest, belongs to it."""

    kind: ClassVar[str] = "merge"
    scan: str
    at: tuple[Point, ...]

    def describe(self) -> str:
        """One line for a person."""
        return f"{len(self.at)} made one piece"

    def apply(self, now: Parts) -> Parts:
        """One in their place, with the number of the first of them."""
        chosen = now.chosen(self.at)
        if len(chosen) < 2:
            raise EditError("Choose at least two pieces to make one of them.")
        corner, masks = on_one_canvas(chosen)
        mask, rest = masks[0], masks[1:]
        while rest:
            gaps = [gap_between(mask, other) for other in rest]
            nearest = int(np.argmin(gaps))
            other, gap = rest.pop(nearest), gaps[nearest]
            side = math.sqrt(min(np.count_nonzero(mask), np.count_nonzero(other)))
            if gap > max(4.0, _FAR_SHARE * side):
                raise EditError("These lie too far apart to be one piece: brush on what lies between them first.")
            mask = mask | other | bridge(mask, other, gap)
        number = min(part.number for part in chosen)
        free = mask & ~where_others_lie(now, chosen, corner, mask.shape)
        return now.changed(chosen, [tight(number, free, corner)])


@dataclass(frozen=True, slots=True)
class Split(Correction):
    """Every piece that this line crosses from side to side is cut in two."""

    kind: ClassVar[str] = "split"
    scan: str
    line: tuple[Point, ...]

    def describe(self) -> str:
        """One line for a person."""
        return "Cut apart"

    def apply(self, now: Parts) -> Parts:
        """The largest part of a piece keeps its number."""
        line = longer(self.line)
        gone: list[Part] = []
        come: list[Part] = []
        for part in now.parts:
            pieces = parted(part, line)
            if len(pieces) > 1:
                gone.append(part)
                come += [tight(part.number if k == 0 else 0, mask, part.corner) for k, mask in enumerate(pieces)]
        if not gone:
            raise EditError("The line cuts no piece in two: draw it right across, from one side of the piece to the other.")
        return now.changed(gone, come)


@dataclass(frozen=True, slots=True)
class BrushOn(Correction):
    """What the brush passed over is paper: of the piece at ``at``, of the piece that it touches most, or of a new one."""

    kind: ClassVar[str] = "brush-on"
    scan: str
    line: tuple[Point, ...]
    radius: float
    at: Point | None = None

    def describe(self) -> str:
        """One line for a person."""
        return "Brushed on"

    def apply(self, now: Parts) -> Parts:
        """The piece with the stroke; other pieces lose nothing."""
        corner, stroke = stroke_of(self.line, self.radius, now.size)
        touched = [np.count_nonzero(stroke & lift(part, corner, stroke.shape)) for part in now.parts]
        own = now.at(self.at) if self.at is not None else None
        if own is None and any(touched):
            own = now.parts[int(np.argmax(touched))]
        stroke &= ~where_others_lie(now, [own] if own else [], corner, stroke.shape)
        new = Part(0, stroke, corner)
        if own is None:
            if np.count_nonzero(stroke) < LEAST_AREA_PX:
                raise EditError("This is too small for a piece.")
            return now.changed((), [tight(0, connected(stroke)[0], corner)])
        where, (old, more) = on_one_canvas([own, new])
        whole = connected(old | more)
        if len(whole) > 1 and np.count_nonzero(whole[1]) >= LEAST_AREA_PX:
            raise EditError("The brush did not touch the chosen piece: begin on it, or choose none.")
        return now.changed([own], [tight(own.number, whole[0], where)])


@dataclass(frozen=True, slots=True)
class BrushOff(Correction):
    """What the brush passed over is no paper: of the piece at ``at``, or of all."""

    kind: ClassVar[str] = "brush-off"
    scan: str
    line: tuple[Point, ...]
    radius: float
    at: Point | None = None

    def describe(self) -> str:
        """One line for a person."""
        return "Brushed away"

    def apply(self, now: Parts) -> Parts:
        """The pieces without the stroke; crumbs go, and a large part that comes off is a piece of its own."""
        corner, stroke = stroke_of(self.line, self.radius, now.size)
        meant = now.parts if self.at is None else (now.at(self.at),)
        touched = [part for part in meant if (stroke & lift(part, corner, stroke.shape)).any()]
        if not touched:
            raise EditError("The brush passed over no piece.")
        come = []
        for part in touched:
            away = lift(Part(0, stroke, corner), part.corner, part.mask.shape)
            left = [m for m in connected(part.mask & ~away) if np.count_nonzero(m) >= LEAST_AREA_PX]
            large = [m for m in left if np.count_nonzero(m) >= _PIECE_SHARE * np.count_nonzero(left[0])]
            come += [tight(part.number if k == 0 else 0, mask, part.corner) for k, mask in enumerate(large)]
        return now.changed(touched, come)


KINDS: dict[str, type[Correction]] = {kind.kind: kind for kind in (Discard, Merge, Split, BrushOn, BrushOff)}

"""What a person corrects about the pieces that were found on a scan, before they are put together.

Pure: masks in, masks out. All points are px ``(x, y)`` of the scan, or of the straightened photograph. A piece is named by a
point inside it, so that a correction still finds its piece when the scan is cut again.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import cv2
import numpy as np

from jigsawnet.errors import EditError
from jigsawnet.nearest import nearest_pixels
from jigsawnet.types import BoolArray, UInt8Array

Point = tuple[float, float]

MOST_POINTS = 5000
MAX_RADIUS_PX = 1000.0
_LEAST_AREA_PX = 64
_CUT_PX = 3
"""Width of the line that cuts a piece, whose pixels then go to the nearest part."""
_BEYOND_PX = 12.0
"""The ends of a cut reach so far beyond what was drawn: nobody meets the border exactly."""
_SCRAP_SHARE, _PIECE_SHARE = 0.02, 0.2
"""Parts of a piece that are smaller are no part when it is cut, and no piece of their own when some of it is brushed away."""
_FAR_SHARE = 0.35
"""Pieces whose distance is a larger part of the side of the smaller one are not merged."""


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A piece on the scan: its number for people, and ``mask (h, w)`` whose top-left pixel is at ``corner`` xy."""

    number: int
    mask: BoolArray
    corner: tuple[int, int]

    def holds(self, point: Point) -> bool:
        """True when the point lies on it."""
        x, y = round(point[0]) - self.corner[0], round(point[1]) - self.corner[1]
        return 0 <= y < self.mask.shape[0] and 0 <= x < self.mask.shape[1] and bool(self.mask[y, x])

    def inner_point(self) -> Point:
        """The point that lies deepest in it."""
        depth = cv2.distanceTransform(np.pad(self.mask, 1).astype(np.uint8), cv2.DIST_L2, 5)
        y, x = np.unravel_index(int(np.argmax(depth)), depth.shape)
        return float(self.corner[0] + x - 1), float(self.corner[1] + y - 1)


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """All pieces of one scan of ``size`` (width, height); ``fresh`` is the number of the next new one."""

    parts: tuple[Part, ...]
    size: tuple[int, int]
    fresh: int = field(default=0)

    def __post_init__(self) -> None:
        if not self.fresh:
            object.__setattr__(self, "fresh", max((part.number for part in self.parts), default=0) + 1)

    def at(self, point: Point) -> Part:
        """The piece at a point.

        Raises:
            EditError: there is none.
        """
        for part in self.parts:
            if part.holds(point):
                return part
        raise EditError(f"No piece lies at ({point[0]:.0f}, {point[1]:.0f}).")

    def chosen(self, points: Sequence[Point]) -> list[Part]:
        """The pieces at points, each once."""
        return list({part.number: part for part in map(self.at, points)}.values())

    def changed(self, gone: Sequence[Part], come: Sequence[Part]) -> Parts:
        """Some pieces in the place of others; those of number 0 are new and get the next numbers."""
        old, fresh, numbered = {part.number for part in gone}, self.fresh, []
        for part in come:
            numbered.append(replace(part, number=fresh) if part.number == 0 else part)
            fresh += part.number == 0
        kept = [part for part in self.parts if part.number not in old]
        return Parts(tuple(sorted([*kept, *numbered], key=lambda part: part.number)), self.size, fresh)


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
        corner, masks = _on_one_canvas(chosen)
        mask, rest = masks[0], masks[1:]
        while rest:
            gaps = [_gap(mask, other) for other in rest]
            nearest = int(np.argmin(gaps))
            other, gap = rest.pop(nearest), gaps[nearest]
            side = math.sqrt(min(np.count_nonzero(mask), np.count_nonzero(other)))
            if gap > max(4.0, _FAR_SHARE * side):
                raise EditError("These lie too far apart to be one piece: brush on what lies between them first.")
            mask = mask | other | _between(mask, other, gap)
        number = min(part.number for part in chosen)
        free = mask & ~_others(now, chosen, corner, mask.shape)
        return now.changed(chosen, [_tight(number, free, corner)])


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
        line = _longer(self.line)
        gone: list[Part] = []
        come: list[Part] = []
        for part in now.parts:
            pieces = _parted(part, line)
            if len(pieces) > 1:
                gone.append(part)
                come += [_tight(part.number if k == 0 else 0, mask, part.corner) for k, mask in enumerate(pieces)]
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
        corner, stroke = _stroke(self.line, self.radius, now.size)
        touched = [np.count_nonzero(stroke & _lift(part, corner, stroke.shape)) for part in now.parts]
        own = now.at(self.at) if self.at is not None else None
        if own is None and any(touched):
            own = now.parts[int(np.argmax(touched))]
        stroke &= ~_others(now, [own] if own else [], corner, stroke.shape)
        new = Part(0, stroke, corner)
        if own is None:
            if np.count_nonzero(stroke) < _LEAST_AREA_PX:
                raise EditError("This is too small for a piece.")
            return now.changed((), [_tight(0, _connected(stroke)[0], corner)])
        where, (old, more) = _on_one_canvas([own, new])
        whole = _connected(old | more)
        if len(whole) > 1 and np.count_nonzero(whole[1]) >= _LEAST_AREA_PX:
            raise EditError("The brush did not touch the chosen piece: begin on it, or choose none.")
        return now.changed([own], [_tight(own.number, whole[0], where)])


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
        corner, stroke = _stroke(self.line, self.radius, now.size)
        meant = now.parts if self.at is None else (now.at(self.at),)
        touched = [part for part in meant if (stroke & _lift(part, corner, stroke.shape)).any()]
        if not touched:
            raise EditError("The brush passed over no piece.")
        come = []
        for part in touched:
            away = _lift(Part(0, stroke, corner), part.corner, part.mask.shape)
            left = [m for m in _connected(part.mask & ~away) if np.count_nonzero(m) >= _LEAST_AREA_PX]
            large = [m for m in left if np.count_nonzero(m) >= _PIECE_SHARE * np.count_nonzero(left[0])]
            come += [_tight(part.number if k == 0 else 0, mask, part.corner) for k, mask in enumerate(large)]
        return now.changed(touched, come)


KINDS: dict[str, type[Correction]] = {kind.kind: kind for kind in (Discard, Merge, Split, BrushOn, BrushOff)}


def _tight(number: int, mask: BoolArray, corner: tuple[int, int]) -> Part:
    """A piece on a canvas that is no larger than it."""
    x, y, width, height = cv2.boundingRect(mask.astype(np.uint8))
    return Part(number, mask[y : y + height, x : x + width].copy(), (corner[0] + x, corner[1] + y))


def _lift(part: Part, corner: tuple[int, int], shape: tuple[int, ...]) -> BoolArray:
    """A piece on a canvas of this shape at ``corner``, as far as it lies there."""
    canvas = np.zeros(shape, bool)
    x, y = part.corner[0] - corner[0], part.corner[1] - corner[1]
    top, left = max(0, y), max(0, x)
    bottom, right = min(shape[0], y + part.mask.shape[0]), min(shape[1], x + part.mask.shape[1])
    if bottom > top and right > left:
        canvas[top:bottom, left:right] = part.mask[top - y : bottom - y, left - x : right - x]
    return canvas


def _on_one_canvas(parts: Sequence[Part]) -> tuple[tuple[int, int], list[BoolArray]]:
    """Corner of a canvas around all of them, and each on it."""
    low = np.min([part.corner for part in parts], axis=0)
    high = np.max([np.add(part.corner, part.mask.shape[::-1]) for part in parts], axis=0)
    corner, shape = (int(low[0]), int(low[1])), (int(high[1] - low[1]), int(high[0] - low[0]))
    return corner, [_lift(part, corner, shape) for part in parts]


def _others(now: Parts, own: Sequence[Part], corner: tuple[int, int], shape: tuple[int, ...]) -> BoolArray:
    """Where the other pieces lie."""
    numbers, taken = {part.number for part in own}, np.zeros(shape, bool)
    for part in now.parts:
        if part.number not in numbers:
            taken |= _lift(part, corner, shape)
    return taken


def _connected(mask: BoolArray) -> list[BoolArray]:
    """Connected parts, the largest first."""
    n, label, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=4)
    order = sorted(range(1, n), key=lambda k: -int(stats[k, cv2.CC_STAT_AREA]))
    return [np.asarray(label == k) for k in order] or [mask]


def _away(mask: BoolArray) -> UInt8Array:
    return cv2.distanceTransform((~mask).astype(np.uint8), cv2.DIST_L2, 5)  # type: ignore[return-value]


def _gap(one: BoolArray, other: BoolArray) -> float:
    """Distance in px between the nearest pixels of two masks on one canvas."""
    return float(_away(one)[other].min())


def _between(one: BoolArray, other: BoolArray, gap: float) -> BoolArray:
    """What lies between two masks where they are nearest: pixels on ways from one to the other that are hardly longer."""
    return np.asarray(_away(one) + _away(other) <= gap + 1.0, np.bool_)


def _parted(part: Part, line: Sequence[Point]) -> list[BoolArray]:
    """The parts of a piece on both sides of a line, the largest first; the piece alone where the line parts nothing."""
    canvas = part.mask.astype(np.uint8)
    cv2.polylines(canvas, [_whole(line, part.corner)], False, 0, _CUT_PX)
    kept = canvas.astype(bool)
    if np.array_equal(kept, part.mask):
        return [part.mask]
    least = max(_LEAST_AREA_PX, _SCRAP_SHARE * np.count_nonzero(part.mask))
    large = [mask for mask in _connected(kept) if np.count_nonzero(mask) >= least]
    if len(large) < 2:
        return [part.mask]
    label = np.zeros(part.mask.shape, np.uint8)
    for k, mask in enumerate(large, 1):
        label[mask] = k
    nearest, _ = nearest_pixels(label > 0)
    label = np.where(part.mask, label.ravel()[nearest], 0).astype(np.uint8)
    return [mask for k in range(1, len(large) + 1) for mask in _connected(label == k)[:1]]


def _stroke(line: Sequence[Point], radius: float, size: tuple[int, int]) -> tuple[tuple[int, int], BoolArray]:
    """What a round brush passes over, cut to the scan: corner and mask."""
    points = np.asarray(line, np.float64)
    low = np.maximum(np.floor(points.min(axis=0) - radius - 1), 0).astype(int)
    high = np.minimum(np.ceil(points.max(axis=0) + radius + 2), size).astype(int)
    if (high <= low).any():
        raise EditError("The brush did not touch the scan.")
    corner = int(low[0]), int(low[1])
    canvas = np.zeros((int(high[1] - low[1]), int(high[0] - low[0])), np.uint8)
    drawn = _whole(line, corner)
    cv2.polylines(canvas, [drawn], False, 1, max(1, round(2 * radius)))
    for x, y in drawn[[0, -1], 0].tolist():
        cv2.circle(canvas, (x, y), round(radius), 1, -1)
    return corner, canvas.astype(bool)


def _whole(line: Sequence[Point], corner: tuple[int, int]) -> np.ndarray:
    """A line in whole px of a canvas ``(N, 1, 2)``."""
    return np.rint(np.asarray(line, np.float64) - corner).astype(np.int32).reshape(-1, 1, 2)


def _longer(line: Sequence[Point]) -> list[Point]:
    """A line whose ends reach a little further."""
    points = [np.asarray(point, np.float64) for point in line]
    if len(points) < 2:
        raise EditError("A cut needs a line, not a point.")
    ends = []
    for end, inner in ((points[0], points[1]), (points[-1], points[-2])):
        length = float(np.linalg.norm(end - inner))
        ends.append(end if length == 0 else end + _BEYOND_PX * (end - inner) / length)
    rows: list[list[float]] = np.array([ends[0], *points, ends[1]]).tolist()
    return [(x, y) for x, y in rows]

"""The pieces of one scan as masks, and what can be done with masks: joined, parted, painted.

All points are px ``(x, y)`` of the scan, or of the straightened photograph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import cv2
import numpy as np

from jigsawnet.errors import EditError
from jigsawnet.nearest import nearest_pixels
from jigsawnet.types import BoolArray, UInt8Array

Point = tuple[float, float]

LEAST_AREA_PX = 64
_CUT_PX = 3
"""Width of the line that cuts a piece, whose pixels then go to the nearest part."""
_BEYOND_PX = 12.0
"""The ends of a cut reach so far beyond what was drawn: nobody meets the border exactly."""
_SCRAP_SHARE = 0.02
"""Parts of a piece that are smaller are no part when it is cut."""


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


def tight(number: int, mask: BoolArray, corner: tuple[int, int]) -> Part:
    """A piece on a canvas that is no larger than it."""
    x, y, width, height = cv2.boundingRect(mask.astype(np.uint8))
    return Part(number, mask[y : y + height, x : x + width].copy(), (corner[0] + x, corner[1] + y))


def lift(part: Part, corner: tuple[int, int], shape: tuple[int, ...]) -> BoolArray:
    """A piece on a canvas of this shape at ``corner``, as far as it lies there."""
    canvas = np.zeros(shape, bool)
    x, y = part.corner[0] - corner[0], part.corner[1] - corner[1]
    top, left = max(0, y), max(0, x)
    bottom, right = min(shape[0], y + part.mask.shape[0]), min(shape[1], x + part.mask.shape[1])
    if bottom > top and right > left:
        canvas[top:bottom, left:right] = part.mask[top - y : bottom - y, left - x : right - x]
    return canvas


def on_one_canvas(parts: Sequence[Part]) -> tuple[tuple[int, int], list[BoolArray]]:
    """Corner of a canvas around all of them, and each on it."""
    low = np.min([part.corner for part in parts], axis=0)
    high = np.max([np.add(part.corner, part.mask.shape[::-1]) for part in parts], axis=0)
    corner, shape = (int(low[0]), int(low[1])), (int(high[1] - low[1]), int(high[0] - low[0]))
    return corner, [lift(part, corner, shape) for part in parts]


def where_others_lie(now: Parts, own: Sequence[Part], corner: tuple[int, int], shape: tuple[int, ...]) -> BoolArray:
    """Where the other pieces lie."""
    numbers, taken = {part.number for part in own}, np.zeros(shape, bool)
    for part in now.parts:
        if part.number not in numbers:
            taken |= lift(part, corner, shape)
    return taken


def connected(mask: BoolArray) -> list[BoolArray]:
    """Connected parts, the largest first."""
    n, label, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=4)
    order = sorted(range(1, n), key=lambda k: -int(stats[k, cv2.CC_STAT_AREA]))
    return [np.asarray(label == k) for k in order] or [mask]


def _away(mask: BoolArray) -> UInt8Array:
    return cv2.distanceTransform((~mask).astype(np.uint8), cv2.DIST_L2, 5)  # type: ignore[return-value]


def gap_between(one: BoolArray, other: BoolArray) -> float:
    """Distance in px between the nearest pixels of two masks on one canvas."""
    return float(_away(one)[other].min())


def bridge(one: BoolArray, other: BoolArray, gap: float) -> BoolArray:
    """What lies between two masks where they are nearest: pixels on ways from one to the other that are hardly longer."""
    return np.asarray(_away(one) + _away(other) <= gap + 1.0, np.bool_)


def parted(part: Part, line: Sequence[Point]) -> list[BoolArray]:
    """The parts of a piece on both sides of a line, the largest first; the piece alone where the line parts nothing."""
    canvas = part.mask.astype(np.uint8)
    cv2.polylines(canvas, [_whole(line, part.corner)], False, 0, _CUT_PX)
    kept = canvas.astype(bool)
    if np.array_equal(kept, part.mask):
        return [part.mask]
    least = max(LEAST_AREA_PX, _SCRAP_SHARE * np.count_nonzero(part.mask))
    large = [mask for mask in connected(kept) if np.count_nonzero(mask) >= least]
    if len(large) < 2:
        return [part.mask]
    label = np.zeros(part.mask.shape, np.uint8)
    for k, mask in enumerate(large, 1):
        label[mask] = k
    nearest, _ = nearest_pixels(label > 0)
    label = np.where(part.mask, label.ravel()[nearest], 0).astype(np.uint8)
    return [mask for k in range(1, len(large) + 1) for mask in connected(label == k)[:1]]


def stroke_of(line: Sequence[Point], radius: float, size: tuple[int, int]) -> tuple[tuple[int, int], BoolArray]:
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


def longer(line: Sequence[Point]) -> list[Point]:
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

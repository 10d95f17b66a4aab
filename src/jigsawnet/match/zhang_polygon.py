"""Zhang matcher, step 1: contour → polygon whose segments are straight and of one colour.

The "revised RDP algorithm" of Zhang & Li 2014, as used in JigsawNet Section III: Ramer-Douglas-Peucker splits a segment
where the contour leaves the chord; the revision splits it also where its colour changes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jigsawnet.borders import Borders, Int64Array
from jigsawnet.types import Float32Array, FloatArray


class Segments(NamedTuple):
    """Polygon segments of n pieces end to end; piece p owns ``first[p]:first[p + 1]``. A tuple, for compiled loops.

    ``center (S, 2)`` and ``heading (S,)`` place the chord in the piece's frame, walked with the contour; ``length (S,)`` px;
    ``color (S, 3)`` mean Lab of the contour along it.
    """

    first: Int64Array
    center: Float32Array
    heading: Float32Array
    length: Float32Array
    color: Float32Array


def split_contours(borders: Borders, tolerance_px: float, color_lab: float, shortest_px: float) -> Segments:
    """Approximate the contours of all pieces by polygons; a piece without a contour owns no segments."""
    shortest = max(2, round(shortest_px / borders.step_px))
    parts = [_piece_segments(borders, p, tolerance_px, color_lab, shortest) for p in range(len(borders))]
    table = np.concatenate([np.zeros((0, 7)), *parts]).astype(np.float32)
    first = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
    center, heading, length, color = (np.ascontiguousarray(part) for part in np.split(table, [2, 3, 4], axis=1))
    return Segments(first, center, heading[:, 0].copy(), length[:, 0].copy(), color)


def approximate_polygon(
    points: FloatArray, colors: FloatArray, tolerance_px: float, color_lab: float, shortest: int
) -> Int64Array:
    """Vertices of the polygon, as rising indices into the closed contour.

    Args:
        points: ``(N, 2)`` contour in order.
        colors: ``(N, 3)`` Lab along it.
        tolerance_px: no contour point lies farther than this from its segment.
        color_lab: a segment is split where the mean colours before and after differ by more than this.
        shortest: samples that a colour split leaves on each side at least; without it, texture would be split without end.
    """
    n = len(points)
    start = int(_squared(points - points.mean(0)).argmax()) if n >= 3 else 0
    opposite = int(_squared(points - points[start]).argmax()) if n >= 3 else 0
    if start == opposite:
        return np.zeros(0, np.int64)
    low, high = sorted((start, opposite))
    vertices, todo = [low, high], [(low, high), (high, low + n)]
    while todo:
        a, b = todo.pop()
        at = np.arange(a, b + 1) % n
        cut = _shape_split(points[at], tolerance_px) or _color_split(colors[at], color_lab, shortest)
        if cut:
            vertices.append((a + cut) % n)
            todo += [(a, a + cut), (a + cut, b)]
    return np.array(sorted(vertices), dtype=np.int64)


def _piece_segments(borders: Borders, piece: int, tolerance_px: float, color_lab: float, shortest: int) -> FloatArray:
    """Rows ``center x, y, heading, length, color L, a, b`` of one piece."""
    own = borders.samples(piece)
    points, colors = borders.points[own].astype(np.float64), borders.colors[own].astype(np.float64)
    vertices = approximate_polygon(points, colors, tolerance_px, color_lab, shortest)
    if not len(vertices):
        return np.zeros((0, 7))
    ends = np.roll(vertices, -1)
    chord = points[ends] - points[vertices]
    counts = (ends - vertices) % len(points)
    sums = np.concatenate([np.zeros((1, 3)), np.cumsum(np.concatenate([colors, colors]), axis=0)])
    mean_color = (sums[vertices + counts + 1] - sums[vertices]) / (counts + 1)[:, None]
    heading, length = np.arctan2(chord[:, 1], chord[:, 0]), np.hypot(chord[:, 0], chord[:, 1])
    return np.column_stack([(points[ends] + points[vertices]) / 2, heading, length, mean_color])


def _shape_split(points: FloatArray, tolerance_px: float) -> int:
    """Index of the point farthest from the chord, when that is beyond the tolerance; else 0."""
    chord = points[-1] - points[0]
    offset = points - points[0]
    along = np.clip(offset @ chord / max(float(chord @ chord), 1e-12), 0.0, 1.0)
    distance = _squared(offset - along[:, None] * chord)
    farthest = int(distance.argmax())
    return farthest if distance[farthest] > tolerance_px**2 else 0


def _color_split(colors: FloatArray, color_lab: float, shortest: int) -> int:
    """Index that parts the colours best in two groups, when their means differ by more than ``color_lab``; else 0."""
    cuts = np.arange(shortest, len(colors) - shortest)
    if not len(cuts):
        return 0
    sums = np.cumsum(colors, axis=0)
    before, after = cuts[:, None], len(colors) - cuts[:, None]
    difference = _squared(sums[cuts - 1] / before - (sums[-1] - sums[cuts - 1]) / after)
    explained = difference * (before * after)[:, 0]
    best = int(explained.argmax())
    return int(cuts[best]) if difference[best] > color_lab**2 else 0


def _squared(vectors: NDArray[np.float64]) -> FloatArray:
    return np.asarray((vectors**2).sum(1))

"""Ground floor: all pieces as flat arrays, with look-up grids for distance, depth and overlap.

The grid of a piece covers its box and a margin. Each cell knows the contour sample nearest to its centre and how deep it lies
inside the piece, so that "how far is this point from that border" and "is it inside" cost one look-up. Compiled loops read
`ShapeBank` as plain arrays; this is the only room besides ``io`` that knows rows and columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numba
import numpy as np
from numpy.typing import NDArray

from jigsawnet.types import Contour, Float32Array

Int32Array = NDArray[np.int32]
Int64Array = NDArray[np.int64]

OPPOSITE = -0.6
"""Cosine between inward normals below which two borders face each other."""
MARGIN_CELLS = 16
"""Cells around a piece in which the nearest contour sample is known."""

njit = numba.njit(cache=True, fastmath={"nnan", "ninf", "nsz"}, error_model="numpy", nogil=True)
"""Compiled once and cached on disk; runs without the interpreter lock, so that threads work side by side.

Sums are not reordered: code compiled now and code loaded from the disk round alike, to the last bit.
"""


@dataclass(frozen=True, slots=True, eq=False)
class ShapeBank:
    """Contours and grids of n pieces end to end; piece p owns ``first[p]:first[p + 1]`` of the sample arrays.

    ``points, normals (M, 2)``, ``colors (M, 3)`` as in `Contour`. Piece p's grid has ``grid_size[p] = (rows, cols)`` cells of
    ``cell_px``, its first cell centred on ``grid_origin[p]`` xy, its cells at ``grid_first[p]`` of ``nearest`` (sample index
    within the piece) and ``depth`` (px inside the border, 0 outside), of which
    ``deepest[p]`` is the largest. ``core (K, 2)`` are points inside the pieces, for
    overlap tests: piece p owns ``core_first[p]:core_first[p + 1]``.
    """

    step_px: float
    cell_px: float
    first: Int64Array
    points: Float32Array
    normals: Float32Array
    colors: Float32Array
    grid_first: Int64Array
    grid_size: Int32Array
    grid_origin: Float32Array
    nearest: Int32Array
    depth: Float32Array
    deepest: Float32Array
    core_first: Int64Array
    core: Float32Array
    center: Float32Array
    radius: Float32Array

    def __len__(self) -> int:
        return len(self.first) - 1

    @property
    def unit_px(self) -> float:
        """The length that limits in px are meant for, when pieces are sampled finely: a third of a step, at least a pixel."""
        return max(1.0, self.step_px / 3.0)

    def samples(self, piece: int) -> slice:
        """Where a piece's contour samples lie in the flat arrays."""
        return slice(int(self.first[piece]), int(self.first[piece + 1]))

    def arrays(self) -> tuple[Any, ...]:
        """The arrays the compiled loops take, in their order."""
        return (
            self.first, self.points, self.normals, self.colors, self.grid_first, self.grid_size, self.grid_origin,
            self.nearest, self.depth, np.float32(self.cell_px), self.core_first, self.core, self.center, self.radius,
            self.deepest,
        )  # fmt: skip


def build_bank(contours: Sequence[Contour | None], core_points: int = 150, step_px: float | None = None) -> ShapeBank:
    """Lay out all contours; a piece without one owns no samples and touches nothing.

    ``step_px`` takes the place of the median step, so that pieces get the grids they had in an earlier bank.
    """
    rings = [np.zeros((0, 2)) if c is None else c.points for c in contours]
    step = step_px or float(np.median([c.step_px for c in contours if c is not None] or [1.0]))
    cell = max(1.0, step / 3.0)
    grids = [_grid(ring, cell) for ring in rings]
    areas = [float((g[1] > 0).sum()) * cell * cell for g in grids if g[1].size] or [0.0]
    spacing = max(cell, float(np.sqrt(np.median(areas) / core_points)))
    cores = [_core(depth, origin, cell, spacing) for _, depth, origin in grids]

    def gather(name: str, width: int) -> Float32Array:
        parts = [np.zeros((0, width)) if c is None else getattr(c, name) for c in contours]
        return np.concatenate([np.zeros((0, width)), *parts]).astype(np.float32)

    middles = np.array([ring.mean(0) if len(ring) else (0.0, 0.0) for ring in rings]).reshape(-1, 2)
    radii = [float(np.linalg.norm(r - m, axis=1).max(initial=0.0)) for r, m in zip(rings, middles, strict=True)]
    return ShapeBank(
        step_px=step,
        cell_px=cell,
        first=_starts([len(r) for r in rings]),
        points=gather("points", 2),
        normals=gather("normals", 2),
        colors=gather("colors", 3),
        grid_first=_starts([g[0].size for g in grids]),
        grid_size=np.array([g[0].shape for g in grids], dtype=np.int32).reshape(-1, 2),
        grid_origin=np.array([g[2] for g in grids], dtype=np.float32).reshape(-1, 2),
        nearest=np.concatenate([np.zeros(0, np.int32), *(g[0].ravel() for g in grids)]),
        depth=np.concatenate([np.zeros(0, np.float32), *(g[1].ravel() for g in grids)]),
        deepest=np.array([g[1].max(initial=0.0) for g in grids], dtype=np.float32),
        core_first=_starts([len(c) for c in cores]),
        core=np.concatenate([np.zeros((0, 2)), *cores]).astype(np.float32),
        center=middles.astype(np.float32),
        radius=np.array(radii, dtype=np.float32),
    )


def _starts(sizes: Sequence[int]) -> Int64Array:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _grid(ring: NDArray[np.float64], cell: float) -> tuple[Int32Array, Float32Array, NDArray[np.float64]]:
    """Nearest sample and depth for every cell around a ring, and the position of the first cell."""
    if not len(ring):
        return np.zeros((0, 0), np.int32), np.zeros((0, 0), np.float32), np.zeros(2)
    origin = np.floor(ring.min(0) / cell) * cell - MARGIN_CELLS * cell
    in_cells = (ring - origin) / cell
    cols, rows = np.ceil(in_cells.max(0)).astype(int) + MARGIN_CELLS + 1
    at = np.rint(in_cells).astype(int)
    free = np.ones((rows, cols), np.uint8)
    free[at[:, 1], at[:, 0]] = 0
    _, labels = cv2.distanceTransformWithLabels(free, cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL)
    sample_of_label = np.zeros(int(labels.max()) + 1, np.int32)
    sample_of_label[labels[at[:, 1], at[:, 0]]] = np.arange(len(ring))
    inside = np.zeros((rows, cols), np.uint8)
    shift = 6  # sub-pixel bits of fillPoly
    cv2.fillPoly(inside, [np.rint(in_cells * (1 << shift)).astype(np.int32)], 1, shift=shift)
    depth = cv2.distanceTransform(inside, cv2.DIST_L2, 5) * cell
    return sample_of_label[labels], depth.astype(np.float32), origin


def _core(depth: Float32Array, origin: NDArray[np.float64], cell: float, spacing: float) -> NDArray[np.float64]:
    """Points on a square lattice inside the piece; at least the deepest one."""
    if not depth.size:
        return np.zeros((0, 2))
    stride = max(1, round(spacing / cell))
    start = stride // 2
    rows, cols = np.nonzero(depth[start::stride, start::stride] > 0)
    rows, cols = rows * stride + start, cols * stride + start
    if not len(rows):
        rows, cols = (np.array([k]) for k in np.unravel_index(int(depth.argmax()), depth.shape))
    return np.column_stack([cols, rows]) * cell + origin


@njit
def look_up(piece, x, y, grid_first, grid_size, grid_origin, cell_px):  # type: ignore[no-untyped-def]
    """Flat index of the grid cell that holds a point of the piece's frame; -1 outside the grid."""
    col = int(np.rint((x - grid_origin[piece, 0]) / cell_px))
    row = int(np.rint((y - grid_origin[piece, 1]) / cell_px))
    if row < 0 or col < 0 or row >= grid_size[piece, 0] or col >= grid_size[piece, 1]:
        return np.int64(-1)
    return grid_first[piece] + np.int64(row) * grid_size[piece, 1] + col


@njit
def longest_run(met):  # type: ignore[no-untyped-def]
    """The cyclic run with the most samples that meet minus half of those that do not; it may pass the end once."""
    n = len(met)
    best = score = 0.0
    best_start = best_stop = start = 0
    for r in range(2 * n):
        if score <= 0.0:
            score, start = 0.0, r
        score += 1.0 if met[r % n] else -0.5
        if r + 1 - start > n:
            break
        if score > best:
            best, best_start, best_stop = score, start, r + 1
    return best_start, best_stop

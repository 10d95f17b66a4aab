"""Ground floor: all pieces as flat arrays, with look-up grids for distance, depth and overlap.

The grid of a piece covers its box and a margin. Each cell knows the contour sample nearest to its centre and how deep it lies
inside the piece, so that "how far is this point from that border" and "is it inside" cost one look-up. Compiled loops take
`Borders` whole, as the tuple `BorderArrays`, and pair samples of two borders by one kernel, `facing`.

Compiled code is kept cheap to compile, as every user waits for it once: few array allocations, no slices that are assigned to,
no matrix algebra, no powers, arrays of a tuple as local names, conditional expressions where ``min`` and ``max`` would mix
types, and one signature for each kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import cv2
import numba
import numba.extending
import numpy as np
from numpy.typing import NDArray

from jigsawnet.stopping import Stop
from jigsawnet.types import Contour, Float32Array
from jigsawnet.version import __version__

Int32Array = NDArray[np.int32]
Int64Array = NDArray[np.int64]
Numbers = NDArray[np.uint16] | Int32Array

OPPOSITE = -0.6
"""Cosine between inward normals below which two borders face each other."""
_NOTHING = np.float32(0.0)
_MOST_IN_TWO_BYTES = 1 << 16
MARGIN_CELLS = 16
"""Cells around a piece in which the nearest contour sample is known."""

_HOW: dict[str, Any] = {"fastmath": {"nnan", "ninf", "nsz"}, "error_model": "numpy", "no_cfunc_wrapper": True}
njit: Any = numba.njit(cache=True, nogil=True, **_HOW)
"""Compiled once and cached on disk; runs without the interpreter lock, so that threads work side by side.

Sums are not reordered: code compiled now and code loaded from the disk round alike, to the last bit.
"""
njit_part: Any = numba.extending.register_jitable(**_HOW)
"""For functions that compiled loops call: compiled with these, without an entry for Python of their own, which would take as
long to compile as they do. Called from Python they run as they stand."""


class BorderArrays(NamedTuple):
    """The arrays of a `Borders` as compiled loops take them, and ``longest``, the samples of its longest contour."""

    first: Int64Array
    points: Float32Array
    normals: Float32Array
    colors: Float32Array
    grid_first: Int64Array
    grid_size: Int32Array
    grid_origin: Float32Array
    nearest: Numbers
    depth: Float32Array
    deepest: Float32Array
    core_first: Int64Array
    core: Float32Array
    center: Float32Array
    radius: Float32Array
    cell_px: np.float32
    step_px: np.float32
    longest: int


class Insides(NamedTuple):
    """The arrays that tell whether pieces lie on each other: tested very often, and fewer fields make the call cheaper.

    As in `Borders`; ``circle (n, 4)`` is a piece's centre, radius and greatest depth, ``unit_px`` that of the borders.
    """

    grid_first: Int64Array
    grid_size: Int32Array
    grid_origin: Float32Array
    depth: Float32Array
    core_first: Int64Array
    core: Float32Array
    circle: Float32Array
    cell_px: np.float32
    unit_px: np.float32


@dataclass(frozen=True, slots=True, eq=False)
class Borders:
    """Contours and grids of n pieces end to end; piece p owns ``first[p]:first[p + 1]`` of the sample arrays.

    ``points, normals (M, 2)``, ``colors (M, 3)`` as in `Contour`. Piece p's grid has ``grid_size[p] = (rows, cols)`` cells of
    ``cell_px``, its first cell centred on ``grid_origin[p]`` xy, its cells at ``grid_first[p]`` of ``nearest`` (sample index
    within the piece, in two bytes unless a contour is too long) and ``depth`` (px inside the border, 0 outside), of which
    ``deepest[p]`` is the largest. ``core (K, 2)`` are points inside the pieces, for overlap tests: piece p owns
    ``core_first[p]:core_first[p + 1]``. ``contour_step_px`` is the step the contours were traced with; ``step_px`` the median
    of what fits around each piece a whole number of times.
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
    nearest: Numbers
    depth: Float32Array
    deepest: Float32Array
    core_first: Int64Array
    core: Float32Array
    center: Float32Array
    radius: Float32Array
    contour_step_px: float = 0.0
    kernel: BorderArrays = field(init=False, repr=False)
    insides: Insides = field(init=False, repr=False)

    def __post_init__(self) -> None:
        scalars: dict[str, Any] = {
            "cell_px": np.float32(self.cell_px),
            "step_px": np.float32(self.step_px),
            "longest": int(np.diff(self.first).max(initial=0)),
        }
        kernel = BorderArrays(
            **{name: scalars[name] if name in scalars else getattr(self, name) for name in BorderArrays._fields}
        )
        object.__setattr__(self, "kernel", kernel)
        own: dict[str, Any] = {
            "circle": np.column_stack([self.center, self.radius, self.deepest]),
            "unit_px": np.float32(self.unit_px),
        }
        insides = Insides(**{name: own[name] if name in own else getattr(kernel, name) for name in Insides._fields})
        object.__setattr__(self, "insides", insides)

    def __len__(self) -> int:
        return len(self.first) - 1

    @property
    def unit_px(self) -> float:
        """The length that limits in px are meant for, when pieces are sampled finely: a third of a step, at least a pixel."""
        return max(1.0, self.step_px / 3.0)

    def samples(self, piece: int) -> slice:
        """Where a piece's contour samples lie in the flat arrays."""
        return slice(int(self.first[piece]), int(self.first[piece + 1]))


def build_borders(
    contours: Sequence[Contour | None],
    core_points: int = 150,
    step_px: float | None = None,
    contour_step_px: float | None = None,
    stop: Stop | None = None,
) -> Borders:
    """Lay out all contours; a piece without one owns no samples and touches nothing.

    ``step_px`` takes the place of the median step, so that pieces get the grids they had before. Raises `StoppedError` when it
    is to end.
    """
    rings = [np.zeros((0, 2)) if c is None else c.points for c in contours]
    step = step_px or float(np.median([c.step_px for c in contours if c is not None] or [1.0]))
    cell = max(1.0, step / 3.0)
    grids = _build_grids(rings, cell, stop or Stop())
    depths = [grids.depth[a:b].reshape(size) for a, b, size in zip(grids.first, grids.first[1:], grids.size, strict=False)]
    areas = [float((depth > 0).sum()) * cell * cell for depth in depths if depth.size] or [0.0]
    spacing = max(cell, float(np.sqrt(np.median(areas) / core_points)))
    cores = [_core(depth, origin, cell, spacing) for depth, origin in zip(depths, grids.origin, strict=True)]

    def gather(name: str, width: int) -> Float32Array:
        parts = [np.zeros((0, width)) if c is None else getattr(c, name) for c in contours]
        return np.concatenate([np.zeros((0, width)), *parts]).astype(np.float32)

    middles = np.array([ring.mean(0) if len(ring) else (0.0, 0.0) for ring in rings]).reshape(-1, 2)
    radii = [float(np.linalg.norm(r - m, axis=1).max(initial=0.0)) for r, m in zip(rings, middles, strict=True)]
    return Borders(
        step_px=step,
        cell_px=cell,
        first=_starts([len(r) for r in rings]),
        points=gather("points", 2),
        normals=gather("normals", 2),
        colors=gather("colors", 3),
        grid_first=grids.first,
        grid_size=grids.size,
        grid_origin=grids.origin.astype(np.float32),
        nearest=grids.nearest,
        depth=grids.depth,
        deepest=np.array([depth.max(initial=0.0) for depth in depths], dtype=np.float32),
        core_first=_starts([len(c) for c in cores]),
        core=np.concatenate([np.zeros((0, 2)), *cores]).astype(np.float32),
        center=middles.astype(np.float32),
        radius=np.array(radii, dtype=np.float32),
        contour_step_px=step if contour_step_px is None else contour_step_px,
    )


def _starts(sizes: Sequence[int]) -> Int64Array:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


class _Grids(NamedTuple):
    """The grids of all pieces end to end, as in `Borders`; ``origin (n, 2)`` in double precision."""

    first: Int64Array
    size: Int32Array
    origin: NDArray[np.float64]
    nearest: Numbers
    depth: Float32Array


def _build_grids(rings: Sequence[NDArray[np.float64]], cell: float, stop: Stop) -> _Grids:
    """Nearest samples and depths around every ring, each written where it stays: a second copy would be the largest of all."""
    origin, size = np.zeros((len(rings), 2)), np.zeros((len(rings), 2), np.int32)
    for k, ring in enumerate(rings):
        if len(ring):
            origin[k] = np.floor(ring.min(0) / cell) * cell - MARGIN_CELLS * cell
            size[k] = np.ceil(((ring - origin[k]) / cell).max(0)).astype(int)[::-1] + MARGIN_CELLS + 1
    first = _starts(size.prod(1, dtype=np.int64).tolist())
    kind = np.uint16 if max(map(len, rings), default=0) <= _MOST_IN_TWO_BYTES else np.int32
    grids = _Grids(first, size, origin, np.empty(first[-1], kind), np.empty(first[-1], np.float32))
    for k, ring in enumerate(rings):
        stop.check()
        if len(ring):
            cells, shape = slice(first[k], first[k + 1]), tuple(size[k])
            _fill_grid((ring - origin[k]) / cell, cell, grids.nearest[cells].reshape(shape), grids.depth[cells].reshape(shape))
    return grids


def _fill_grid(in_cells: NDArray[np.float64], cell: float, nearest: Numbers, depth: Float32Array) -> None:
    """Nearest sample and depth for every cell around a ring, which is measured in cells from the first."""
    rows, cols = depth.shape
    at = np.rint(in_cells).astype(int)
    free = np.ones((rows, cols), np.uint8)
    free[at[:, 1], at[:, 0]] = 0
    _, labels = cv2.distanceTransformWithLabels(free, cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL)
    sample_of_label = np.zeros(int(labels.max()) + 1, nearest.dtype)
    sample_of_label[labels[at[:, 1], at[:, 0]]] = np.arange(len(in_cells))
    nearest[...] = sample_of_label[labels]
    inside = np.zeros((rows, cols), np.uint8)
    shift = 6  # sub-pixel bits of fillPoly
    cv2.fillPoly(inside, [np.rint(in_cells * (1 << shift)).astype(np.int32)], 1, shift=shift)
    np.multiply(cv2.distanceTransform(inside, cv2.DIST_L2, 5), cell, out=depth)


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


@njit_part
def look_up(grids, piece, x, y):  # type: ignore[no-untyped-def]
    """Flat index of the grid cell that holds a point of the piece's frame; -1 outside the grid."""
    col = int(np.rint((x - grids.grid_origin[piece, 0]) / grids.cell_px))
    row = int(np.rint((y - grids.grid_origin[piece, 1]) / grids.cell_px))
    if row < 0 or col < 0 or row >= grids.grid_size[piece, 0] or col >= grids.grid_size[piece, 1]:
        return np.int64(-1)
    return grids.grid_first[piece] + np.int64(row) * grids.grid_size[piece, 1] + col


@njit_part
def facing(borders, i, s, move, opposite):  # type: ignore[no-untyped-def]
    """The sample of i's border that sample ``s`` of another piece faces, when ``move`` = (cos, sin, x, y) carries it to i.

    The sample p goes to ``q = R p + (x, y)``, its inward normal m to ``R m``. Its partner k, with point c and normal n, is the
    sample nearest to q's grid cell; the two face each other where ``n . R m <= opposite``. Then ``across = (q - c) . n`` is how
    far q lies inside i, and ``along = (q - c) x n`` how far from c along the border.

    Returns (k, q's x and y, n's x and y, across, along); k is -1 off the grid and where nothing is faced.
    """
    points, normals = borders.points, borders.normals
    cos, sin = move[0], move[1]
    x = cos * points[s, 0] - sin * points[s, 1] + move[2]
    y = sin * points[s, 0] + cos * points[s, 1] + move[3]
    at = look_up(borders, i, x, y)
    if at < 0:
        return np.int64(-1), x, y, _NOTHING, _NOTHING, _NOTHING, _NOTHING
    k = borders.first[i] + borders.nearest[at]
    nx, ny = normals[k, 0], normals[k, 1]
    mx, my = normals[s, 0], normals[s, 1]
    dx, dy = x - points[k, 0], y - points[k, 1]
    if nx * (cos * mx - sin * my) + ny * (sin * mx + cos * my) > opposite:
        k = np.int64(-1)
    return k, x, y, nx, ny, dx * nx + dy * ny, dx * ny - dy * nx


@njit_part
def pair_samples(borders, i, j, move, gap, reach, partner):  # type: ignore[no-untyped-def]
    """For each sample of j, carried to i by ``move``: the sample of i that it meets in ``partner``, -1 for none.

    Two samples meet that face each other with ``|across + gap| < reach`` and ``|along| < 1.5 steps``.
    """
    start, limit = borders.first[j], 1.5 * borders.step_px
    for s in range(start, borders.first[j + 1]):
        k, _, _, _, _, across, along = facing(borders, i, s, move, OPPOSITE)
        partner[s - start] = k if abs(across + gap) < reach and abs(along) < limit else -1


@njit_part
def longest_run(partner, n):  # type: ignore[no-untyped-def]
    """The seam: the cyclic run with the most samples that meet (``partner >= 0``) minus half of those that do not.

    Returns its start and stop among ``n`` samples; it may pass the end once.
    """
    best = score = 0.0
    best_start = best_stop = start = 0
    for r in range(2 * n):
        if score <= 0.0:
            score, start = 0.0, r
        score += 1.0 if partner[r % n] >= 0 else -0.5
        if r + 1 - start > n:
            break
        if score > best:
            best, best_start, best_stop = score, start, r + 1
    return best_start, best_stop


@njit_part
def lies_inside(grids, i, j, move, free, most):  # type: ignore[no-untyped-def]
    """True when more than ``most`` core points of j, carried to i by ``move``, lie deeper than ``free`` inside i."""
    inside = 0
    for q in range(grids.core_first[j], grids.core_first[j + 1]):
        x = move[0] * grids.core[q, 0] - move[1] * grids.core[q, 1] + move[2]
        y = move[1] * grids.core[q, 0] + move[0] * grids.core[q, 1] + move[3]
        at = look_up(grids, i, x, y)
        if at >= 0 and grids.depth[at] > free:
            inside += 1
            if inside > most:
                return True
    return False


@njit_part
def solve_symmetric(h00, h01, h02, h11, h12, h22, g0, g1, g2):  # type: ignore[no-untyped-def]
    """Solve ``H z = g`` for a symmetric 3 x 3 matrix: ``z = adjugate(H) g / det(H)``. Returns (det, z0, z1, z2)."""
    c00, c01, c02 = h11 * h22 - h12 * h12, h02 * h12 - h01 * h22, h01 * h12 - h02 * h11
    c11, c12, c22 = h00 * h22 - h02 * h02, h01 * h02 - h00 * h12, h00 * h11 - h01 * h01
    det = h00 * c00 + h01 * c01 + h02 * c02
    return (
        det,
        (c00 * g0 + c01 * g1 + c02 * g2) / det,
        (c01 * g0 + c11 * g1 + c12 * g2) / det,
        (c02 * g0 + c12 * g1 + c22 * g2) / det,
    )


def is_compiled() -> bool:
    """True when a solve has compiled all it needs since this version of the program was installed; see `mark_compiled`."""
    try:
        return _marker().stat().st_mtime >= Path(__file__).stat().st_mtime
    except OSError:
        return False


def mark_compiled() -> None:
    """Remember, beside the compiled code, that a solve has finished; does nothing where nothing can be written."""
    with suppress(OSError):
        _marker().touch()


def _marker() -> Path:
    return Path(njit(_starts).stats.cache_path) / f"jigsawnet-{__version__}-numba-{numba.__version__}.compiled"

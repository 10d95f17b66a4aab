"""Dense seam alignment: all pieces of a component move at once until their borders run together.

Every pair of neighbours that the poses imply takes part, joined or not, so that the two ends of a long chain feel each other. A
border sample of one piece finds the nearest sample of the other by one look-up; its distance along that sample's normal is a
residual, linear in small motions of the two pieces. One sparse system over all pieces is solved, and the borders are paired
again. Samples near corners are left out: smoothing has rounded them, which would pull the pieces into each other.

Worn pieces have lost a strip all around, and laid edge to edge they shrink the picture. The width of the gap that belongs
between them is one more unknown: two curves parallel to a cut, one on each side, are congruent only where it is straight, so
wherever cuts bend the borders fit best at the right distance. Straight cuts do not show it; then it is taken as zero. Masks
that reach beyond the cut overlap, by a negative gap; its sign shows in the shape, but not its size, which `printed` reads.

Ragged pieces have lost bites along their seams. There borders that lie apart say little, and those that overlap stay an error;
pulled together all along, such pieces would turn and drift into their losses.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import scipy

from jigsawnet.borders import Borders, Int64Array
from jigsawnet.geometry import SE2
from jigsawnet.refine.joins import rotate
from jigsawnet.refine.least_squares import solve_symmetric
from jigsawnet.refine.seam_sums import BLOCK, COUNT, RIGHT, SQUARE, UNKNOWNS, sum_seams
from jigsawnet.stopping import Stop
from jigsawnet.types import BoolArray, FloatArray

_REACH_PX = (6.0, 4.5, 3.5, 3.0, 2.5, 2.5)
"""Largest distance of paired borders in each step, for contours sampled every 3 px; grows with coarser sampling."""
_APART_PX = 1.0
"""Distance at which the borders of ragged pieces count a quarter, for contours sampled every 3 px."""
_GAP_STEPS = 6
_GAP_REACH_PX = 3.0
_GAP_SLIDE = 0.1
"""Part of the slide weight that remains while the gap opens: the full weight would keep the gap shut, as it was."""
_GAP_DOUBT = 0.3
"""Pull of the gap towards zero, in samples that would see it fully."""
_MIN_GAP_PX = 0.5
"""Smaller gaps cannot be told from the smoothing of the borders."""
_GAP_SIGMAS = 4.0
_SAMPLE_CORRELATION = 3.0
"""Neighbouring samples err alike, and each pair is seen from both sides: standard errors are this much larger."""
_CORNER_SPAN_PX = 10.0
_CORNER_COS = 0.82
_MAX_TURN = 0.1
_FEW_PIECES = 500
"""Up to so many pieces all pairs are looked at; loading a tree takes longer."""
_MIN_SAMPLES = 4
"""Borders with fewer paired samples touch at a corner only."""


@dataclass(frozen=True, slots=True)
class SeamStats:
    """How close the borders of neighbours lie; distances are root mean squares over all paired border samples."""

    pairs: int
    """Neighbours whose borders meet."""
    samples: int
    """Border samples paired after the alignment."""
    residual_before_px: float
    """Distance of the borders before."""
    residual_after_px: float
    """Distance of the borders after, from the distance that the gap asks for."""
    gap_px: float
    """Width of the gap left between neighbours."""


def align_seams(
    borders: Borders,
    poses: Mapping[int, SE2],
    *,
    slide_weight: float = 0.01,
    gap_px: float = 0.0,
    find_gap: bool = False,
    fixed: Collection[int] = (),
    ragged: bool = False,
    stop: Stop | None = None,
    smooth: BoolArray | None = None,
) -> tuple[dict[int, SE2], SeamStats]:
    """Move the pieces of one component until their borders run together.

    Args:
        borders: the borders.
        poses: world_from_piece of the pieces of one component.
        slide_weight: pull towards the incoming relative place along a seam, against a pull of 1 across it.
        gap_px: width of the gap between neighbours.
        find_gap: let the gap change too, starting from ``gap_px``.
        fixed: pieces that do not move; if there are none, the first does not.
        ragged: borders that lie apart say little.
        stop: asked between the steps.
        smooth: `away_from_corners`, where it is known already.

    Returns:
        New poses, or the old ones where the borders would not come closer; and how close they are.
    """
    if not poses:
        return {}, SeamStats(0, 0, 0.0, 0.0, gap_px)
    stop = stop or Stop()
    seams = _Seams(borders, poses, slide_weight, fixed, ragged, smooth)
    before = seams.measure(seams.incoming, gap_px)
    current, gap = seams.incoming, gap_px
    for reach in _REACH_PX:
        if stop.is_over():
            break
        current, _, _ = seams.step(current, gap, reach, free_gap=False)
    if find_gap and not stop.is_over():
        current, gap = _open_gap(seams, current, gap_px)
    after = seams.measure(current, gap)
    if after.residual_after_px > before.residual_after_px and gap == gap_px:
        return dict(poses), before
    moved = {idx: SE2(float(t), float(x), float(y)) for idx, (t, x, y) in zip(seams.piece.tolist(), current, strict=True)}
    return moved, SeamStats(after.pairs, after.samples, before.residual_after_px, after.residual_after_px, gap)


def measure_seams(
    borders: Borders, poses: Mapping[int, SE2], gap_px: float = 0.0, ragged: bool = False, smooth: BoolArray | None = None
) -> SeamStats:
    """How far the borders of neighbours are from the gap, without moving anything; before and after are the same."""
    if not poses:
        return SeamStats(0, 0, 0.0, 0.0, 0.0)
    seams = _Seams(borders, poses, 0.0, (), ragged, smooth)
    return seams.measure(seams.incoming, gap_px)


def _open_gap(seams: _Seams, start: FloatArray, start_gap: float) -> tuple[FloatArray, float]:
    """Let the gap change with the poses; back to the start when what comes out is too small or not certain."""
    current, gap, spread = start, start_gap, np.inf
    for _ in range(_GAP_STEPS):
        current, gap, spread = seams.step(current, gap, _GAP_REACH_PX, free_gap=True)
    stats = seams.measure(current, gap)
    doubt = _GAP_SIGMAS * _SAMPLE_CORRELATION * stats.residual_after_px * spread
    return (current, gap) if gap > max(_MIN_GAP_PX * seams.scale, doubt) else (start, start_gap)


class _Seams:
    """The pieces of one component, and the pairs of them that can touch."""

    def __init__(
        self, borders: Borders, poses: Mapping[int, SE2], slide_weight: float, fixed: Collection[int], ragged: bool,
        smooth: BoolArray | None,
    ) -> None:  # fmt: skip
        self.borders = borders
        self.piece: Int64Array = np.array(sorted(poses), dtype=np.int64)
        self.incoming = np.array([(p.theta, p.x, p.y) for p in (poses[idx] for idx in self.piece.tolist())])
        self.scale = borders.unit_px
        self._apart = _APART_PX * self.scale if ragged else np.inf
        self._slide_weight = slide_weight
        self._smooth = away_from_corners(borders) if smooth is None else smooth
        self._center = borders.center[self.piece].astype(np.float64)
        self._pairs = self._touching()
        n = len(self.piece)
        held = np.isin(self.piece, list(fixed)) if fixed else np.zeros(n, dtype=bool)
        held[0] |= not held.any()
        self._free = np.append(np.repeat(~held, 3), True)
        place = 3 * self._pairs[:, :, None] + np.arange(3)
        self._columns = np.column_stack([place.reshape(-1, 6), np.full(len(self._pairs), 3 * n)])

    def measure(self, poses: FloatArray, gap: float) -> SeamStats:
        """Distances of the borders, both before and after set to the same."""
        sums = self._sum(poses, gap, _REACH_PX[0], self._slide_weight)
        count = int(sums[:, COUNT].sum())
        rms = float(np.sqrt(sums[:, SQUARE].sum() / max(1, count)))
        half = len(sums) // 2
        met = int((np.maximum(sums[:half, COUNT], sums[half:, COUNT]) >= _MIN_SAMPLES).sum())
        return SeamStats(met, count, rms, rms, gap)

    def step(self, poses: FloatArray, gap: float, reach_px: float, *, free_gap: bool) -> tuple[FloatArray, float, float]:
        """One solve over all pieces: new poses, new gap, and the standard error of the gap for borders that err by 1 px."""
        sums = self._sum(poses, gap, reach_px, self._slide_weight * (_GAP_SLIDE if free_gap else 1.0))
        size, shape = len(self._free), (len(sums), UNKNOWNS, UNKNOWNS)
        rows, columns = (np.broadcast_to(c, shape).ravel() for c in (self._columns[:, :, None], self._columns[:, None, :]))
        matrix = scipy.sparse.coo_array((sums[:, BLOCK].ravel(), (rows, columns)), shape=(size, size)).tocsc()
        right = np.zeros((size, 2))
        right[:, 0] = -np.bincount(self._columns.ravel(), sums[:, RIGHT].ravel(), size)
        right[-1] += (-_GAP_DOUBT * gap, 1.0)
        pull = np.full(size, 1e-9)
        pull[-1] = _GAP_DOUBT
        free = self._free.copy()
        free[-1] = free_gap
        matrix = (matrix + scipy.sparse.diags_array(pull, format="csc"))[free][:, free]
        answer = np.zeros((size, 2))
        answer[free] = solve_symmetric(matrix, right[free])
        limit = reach_px * self.scale
        change = np.clip(answer[:-1, 0].reshape(-1, 3), (-_MAX_TURN, -np.inf, -np.inf), (_MAX_TURN, np.inf, np.inf))
        new_gap = gap + float(np.clip(answer[-1, 0], -limit, limit))
        return self._moved(poses, change), new_gap, float(np.sqrt(max(0.0, answer[-1, 1])))

    def _sum(self, poses: FloatArray, gap: float, reach_px: float, slide_weight: float) -> FloatArray:
        return sum_seams(
            self.borders, self._smooth, self.piece, self._pairs, poses, self.incoming, reach_px * self.scale, gap, slide_weight,
            self._apart,
        )  # fmt: skip

    def _moved(self, poses: FloatArray, change: FloatArray) -> FloatArray:
        """Turn every piece about its centre, then shift it."""
        theta = poses[:, 0] + change[:, 0]
        shift = self._centers(poses) + change[:, 1:] - rotate(theta, self._center)
        return np.where(self._free[:-1].reshape(-1, 3), np.column_stack([theta, shift]), poses)

    def _centers(self, poses: FloatArray) -> FloatArray:
        return rotate(poses[:, 0], self._center) + poses[:, 1:]

    def _touching(self) -> Int64Array:
        """Rows of pieces whose bounding circles come within reach of each other: first every pair, then each pair swapped."""
        radius = self.borders.radius[self.piece].astype(np.float64)
        pairs = touching_pairs(self._centers(self.incoming), radius, _REACH_PX[0] * self.scale)
        return np.concatenate([pairs, pairs[:, ::-1]])


def touching_pairs(centers: FloatArray, radius: FloatArray, margin: float) -> Int64Array:
    """Rows of circles that come within ``margin`` of each other: ``(P, 2)``, the smaller row first, in order."""
    if len(centers) <= _FEW_PIECES:
        pairs = np.column_stack(np.triu_indices(len(centers), 1))
    else:
        tree = scipy.spatial.KDTree(centers)
        pairs = tree.query_pairs(2.0 * float(radius.max()) + margin, output_type="ndarray").astype(np.int64)
    distance = np.linalg.norm(centers[pairs[:, 0]] - centers[pairs[:, 1]], axis=1)
    pairs = pairs[distance < radius[pairs].sum(1) + margin]
    return np.asarray(pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))], np.int64)


def away_from_corners(borders: Borders) -> BoolArray:
    """Samples about which the border does not turn sharply, ``(M,)``."""
    count = np.diff(borders.first)
    start, size = np.repeat(borders.first[:-1], count), np.repeat(count, count)
    along = np.arange(len(borders.points)) - start
    span = max(1, round(_CORNER_SPAN_PX / borders.step_px))
    before, after = (borders.normals[start + (along + k) % size] for k in (-span, span))
    return np.asarray((before * after).sum(1) > _CORNER_COS)

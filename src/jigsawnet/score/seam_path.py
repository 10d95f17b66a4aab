"""Where two placed pieces meet: the line in the middle between their borders, evenly sampled, for the detectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jigsawnet.borders import Borders, longest_run, njit, njit_part, pair_samples
from jigsawnet.types import Float32Array

PATH_SAMPLES = 128
_SPARE = 8
"""Samples beyond each end of a seam that fills the path, so that the detectors see where it ends."""
_COARSEST = 2.5
"""A path takes at most this many units a sample; of a longer seam it shows the middle."""
REACH_UNITS = 2.5
"""Borders this near belong to the seam."""
RAGGED_REACH_UNITS = 8.0
"""The same where seams touch only in parts: what faces each other across a gap is looked at, too."""
_UNITS_DEEP = 30.0
"""Pieces are at least this many units deep: the border of slender ones is long, but what there is to see is not."""


def unit_of(borders: Borders) -> float:
    """The length, in px, that counts as one pixel of a well-resolved piece."""
    deep = borders.deepest[borders.deepest > 0]
    return max(1.0, min(borders.step_px / 3.0, float(np.median(deep)) / _UNITS_DEEP if len(deep) else np.inf))


def longest_shown(unit_px: float) -> float:
    """Arc length in px of the longest seam that a path shows whole."""
    return (PATH_SAMPLES - 2 * _SPARE) * _COARSEST * unit_px


def trace_seams(
    borders: Borders,
    i: NDArray[np.int32],
    j: NDArray[np.int32],
    pose: Float32Array,
    gap_px: Float32Array,
    reach_units: Float32Array,
    ahead_px: Float32Array | None = None,
) -> tuple[Float32Array, Float32Array]:
    """Follow the seam of each candidate ``pose (C, 3)`` = i_from_j (theta, x, y), placed ``gap_px (C,)`` apart.

    Borders nearer than ``reach_units (C,)`` belong to the seam.

    The path is centred on the middle of the seam, or ``ahead_px (C,)`` further along.

    Returns ``path (C, PATH_SAMPLES, 2)`` in i's frame, with j to the right when walking along it (y down), straight beyond the
    seam's ends, and ``span (C, 2)``: the arc length in px of the seam, 0 for none, and of one step of the path.
    """
    path, span = np.zeros((len(i), PATH_SAMPLES, 2), np.float32), np.zeros((len(i), 2), np.float32)
    apart = np.zeros((len(i), 3), np.float32)
    apart[:, 0], apart[:, 1], apart[:, 2] = gap_px, 0.0 if ahead_px is None else ahead_px, reach_units
    pieces, poses = np.column_stack([i, j]).astype(np.int64), np.array(pose, np.float32, order="C")
    _trace_all(borders.kernel, pieces, poses, apart, np.float32(unit_of(borders)), path, span)
    return path, span


@njit
def _trace_all(borders, pieces, poses, apart, unit, path, span):  # type: ignore[no-untyped-def]
    """The path of each candidate; ``apart (C, 3)`` are its gap, how far ahead of the seam's middle it is centred, its reach.

    Where sample s, carried to q, meets sample k with normal n, the line runs through ``q - 0.5 across n``, half way between.
    """
    partner, points, normals = np.empty(borders.longest, np.int64), borders.points, borders.normals
    line, spare = np.empty((borders.longest, 2), np.float32), np.empty((borders.longest, 2), np.float32)
    for c in range(len(pieces)):
        i, j = pieces[c, 0], pieces[c, 1]
        cos, sin, shift_x, shift_y = np.cos(poses[c, 0]), np.sin(poses[c, 0]), poses[c, 1], poses[c, 2]
        first, n = borders.first[j], borders.first[j + 1] - borders.first[j]
        pair_samples(borders, i, j, (cos, sin, shift_x, shift_y), apart[c, 0], np.float64(apart[c, 2] * unit), partner)
        start, stop = longest_run(partner, n)
        count = np.int64(0)
        for r in range(start, stop):
            k, q = partner[r % n], first + r % n
            if k >= 0:
                x = cos * points[q, 0] - sin * points[q, 1] + shift_x
                y = sin * points[q, 0] + cos * points[q, 1] + shift_y
                nx, ny = normals[k, 0], normals[k, 1]
                across = (x - points[k, 0]) * nx + (y - points[k, 1]) * ny
                line[count, 0], line[count, 1] = x - 0.5 * across * nx, y - 0.5 * across * ny
                count += 1
        if count >= 3:
            _smooth(line, spare, count)
            _smooth(spare, line, count)
            _lay_path(line, count, spare, unit, apart[c, 1], path[c], span[c])


@njit_part
def _smooth(line, out, n):  # type: ignore[no-untyped-def]
    """``out[k] = (line[k - 1] + 2 line[k] + line[k + 1]) / 4``; the ends stay."""
    for d in range(2):
        out[0, d], out[n - 1, d] = line[0, d], line[n - 1, d]
        for k in range(1, n - 1):
            out[k, d] = 0.25 * line[k - 1, d] + 0.5 * line[k, d] + 0.25 * line[k + 1, d]


@njit_part
def _lay_path(line, n, at, unit, ahead, path, span):  # type: ignore[no-untyped-def]
    """Sample a polyline of ``n`` points evenly about the point ``ahead`` of its middle; beyond its ends go straight on.

    Sample s lies at arc length ``length / 2 + ahead + (s - (samples - 1) / 2) step``; ``at[:, 0]`` takes that of the points.
    """
    at[0, 0] = 0.0
    for k in range(1, n):
        at[k, 0] = at[k - 1, 0] + np.hypot(line[k, 0] - line[k - 1, 0], line[k, 1] - line[k - 1, 1])
    length = at[n - 1, 0]
    if length <= 0.0:
        return
    samples = len(path)
    step = length / (samples - 2 * _SPARE)
    if step < unit:
        step = np.float64(unit)
    step = min(step, _COARSEST * unit)
    span[0], span[1] = length, step
    few = 3 if n > 3 else n - 1
    k = 0
    for s in range(samples):
        t = 0.5 * length + ahead + (s - 0.5 * (samples - 1)) * step
        if t <= 0.0:
            a, b, rest = 0, few, t
        elif t >= length:
            a, b, rest = n - 1, n - 1 - few, length - t
        else:
            while at[k + 1, 0] < t:
                k += 1
            a, b, rest = k, k + 1, t - at[k, 0]
        dx, dy = line[b, 0] - line[a, 0], line[b, 1] - line[a, 1]
        norm = max(np.float64(np.hypot(dx, dy)), 1e-6)
        path[s, 0], path[s, 1] = line[a, 0] + rest * dx / norm, line[a, 1] + rest * dy / norm

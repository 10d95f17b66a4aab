"""Where two laid pieces meet: the line in the middle between their borders, evenly sampled, for the detectors to look along."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jigsawnet.raster import OPPOSITE, ShapeBank, longest_run, look_up, njit
from jigsawnet.types import Float32Array

PATH_SAMPLES = 128
_SPARE = 8
"""Samples beyond each end of a seam that fills the path, so that the detectors see where it ends."""
_COARSEST = 2.5
"""A path takes at most this many units a sample; of a longer seam it shows the middle."""
_REACH_UNITS = 2.5
_UNITS_DEEP = 30.0
"""Pieces are at least this many units deep: the border of slender ones is long, but what there is to see is not."""


def unit_of(bank: ShapeBank) -> float:
    """The length, in px, that counts as one pixel of a well-resolved piece."""
    deep = bank.deepest[bank.deepest > 0]
    return max(1.0, min(bank.step_px / 3.0, float(np.median(deep)) / _UNITS_DEEP if len(deep) else np.inf))


def longest_shown(unit_px: float) -> float:
    """Arc length in px of the longest seam that a path shows whole."""
    return (PATH_SAMPLES - 2 * _SPARE) * _COARSEST * unit_px


def trace_seams(
    bank: ShapeBank,
    i: NDArray[np.int32],
    j: NDArray[np.int32],
    pose: Float32Array,
    gap_px: Float32Array,
    ahead_px: Float32Array | None = None,
) -> tuple[Float32Array, Float32Array]:
    """Follow the seam of each candidate ``pose (C, 3)`` = i_from_j (theta, x, y), laid ``gap_px (C,)`` apart.

    The path is centred on the middle of the seam, or ``ahead_px (C,)`` further along.

    Returns ``path (C, PATH_SAMPLES, 2)`` in i's frame, with j to the right when walking along it (y down), straight beyond the
    seam's ends, and ``span (C, 2)``: the arc length in px of the seam, 0 for none, and of one step of the path.
    """
    path, span = np.zeros((len(i), PATH_SAMPLES, 2), np.float32), np.zeros((len(i), 2), np.float32)
    ahead = np.zeros(len(i), np.float32) if ahead_px is None else ahead_px
    _trace_all(i, j, pose.astype(np.float32), gap_px, ahead, path, span, np.float32(unit_of(bank)),
               np.float32(bank.step_px), *bank.arrays()[:10])  # fmt: skip
    return path, span


@njit
def _trace_all(  # type: ignore[no-untyped-def]
    piece_i, piece_j, poses, gaps, ahead, path, span, unit, step, first, points, normals, colors,
    grid_first, grid_size, grid_origin, nearest, depth, cell,
):  # fmt: skip
    for c in range(len(piece_i)):
        i, j = piece_i[c], piece_j[c]
        cos, sin = np.cos(poses[c, 0]), np.sin(poses[c, 0])
        n = first[j + 1] - first[j]
        middle = np.zeros((n, 2), np.float32)
        met = np.zeros(n, np.bool_)
        for s in range(n):
            q = first[j] + s
            x = cos * points[q, 0] - sin * points[q, 1] + poses[c, 1]
            y = sin * points[q, 0] + cos * points[q, 1] + poses[c, 2]
            at = look_up(i, x, y, grid_first, grid_size, grid_origin, cell)
            if at < 0:
                continue
            k = first[i] + nearest[at]
            nx, ny = normals[k, 0], normals[k, 1]
            facing = nx * (cos * normals[q, 0] - sin * normals[q, 1]) + ny * (sin * normals[q, 0] + cos * normals[q, 1])
            dx, dy = x - points[k, 0], y - points[k, 1]
            across, along = dx * nx + dy * ny, dx * ny - dy * nx
            if facing < OPPOSITE and abs(across + gaps[c]) < _REACH_UNITS * unit and abs(along) < 1.5 * step:
                met[s] = True
                middle[s, 0], middle[s, 1] = x - 0.5 * across * nx, y - 0.5 * across * ny
        start, stop = longest_run(met)
        line = np.zeros((stop - start, 2), np.float32)
        count = 0
        for r in range(start, stop):
            if met[r % n]:
                line[count] = middle[r % n]
                count += 1
        if count >= 3:
            _lay_path(_smoothed(_smoothed(line[:count])), unit, ahead[c], path[c], span[c])


@njit
def _smoothed(line):  # type: ignore[no-untyped-def]
    out = line.copy()
    for k in range(1, len(line) - 1):
        for d in range(2):
            out[k, d] = 0.25 * line[k - 1, d] + 0.5 * line[k, d] + 0.25 * line[k + 1, d]
    return out


@njit
def _lay_path(line, unit, ahead, path, span):  # type: ignore[no-untyped-def]
    """Sample a polyline evenly about the point ``ahead`` of its middle; beyond its ends go straight on."""
    n = len(line)
    at = np.zeros(n, np.float32)
    for k in range(1, n):
        at[k] = at[k - 1] + np.hypot(line[k, 0] - line[k - 1, 0], line[k, 1] - line[k - 1, 1])
    length = at[n - 1]
    if length <= 0.0:
        return
    samples = len(path)
    step = min(max(length / (samples - 2 * _SPARE), unit), _COARSEST * unit)
    span[0], span[1] = length, step
    few = min(3, n - 1)
    k = 0
    for s in range(samples):
        t = 0.5 * length + ahead + (s - 0.5 * (samples - 1)) * step
        if t <= 0.0:
            a, b, rest = 0, few, t
        elif t >= length:
            a, b, rest = n - 1, n - 1 - few, length - t
        else:
            while at[k + 1] < t:
                k += 1
            a, b, rest = k, k + 1, t - at[k]
        dx, dy = line[b, 0] - line[a, 0], line[b, 1] - line[a, 1]
        norm = max(np.hypot(dx, dy), 1e-6)
        path[s, 0], path[s, 1] = line[a, 0] + rest * dx / norm, line[a, 1] + rest * dy / norm

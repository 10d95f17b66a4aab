"""Compiled sums of the dense seam alignment: what each pair of neighbours says about the motion of its two pieces."""

from __future__ import annotations

import numpy as np

from jigsawnet.borders import Borders, Int64Array, njit, njit_part, pair_samples
from jigsawnet.types import BoolArray, FloatArray

UNKNOWNS = 7
"""Of a pair: (turn, x, y) of i and of j, each about its own centre in the world, and the gap."""
BLOCK = slice(0, UNKNOWNS * UNKNOWNS)
RIGHT = slice(BLOCK.stop, BLOCK.stop + UNKNOWNS)
COUNT = RIGHT.stop
SQUARE = RIGHT.stop + 1
TERMS = RIGHT.stop + 2
"""Columns of the sums: normal equations, right-hand side, paired samples, sum of their square distances."""

_FOLLOW_WEIGHT = 1e-4


def sum_seams(
    borders: Borders,
    smooth: BoolArray,
    piece: Int64Array,
    pairs: Int64Array,
    poses: FloatArray,
    incoming: FloatArray,
    reach_px: float,
    gap_px: float,
    slide_weight: float,
    apart_px: float,
) -> FloatArray:
    """Pair borders and sum up, ``(P, TERMS)``, for the directed ``pairs (P, 2)`` of rows of ``piece``, ``poses``, ``incoming``.

    Samples of the second piece look for the border of the first. Three kinds of residuals: the distance along the normal, less
    the gap; sliding along the seam since ``incoming``, which only matters where the cut is straight; and, weaker still, any
    relative motion, so that a piece without a seam follows its neighbours. Samples that lie ``apart_px`` too far apart count
    a quarter; infinity: like those that overlap.
    """
    sums = np.zeros((len(pairs), TERMS))
    limits = (float(reach_px), float(gap_px), float(slide_weight), float(apart_px))
    _sum_pairs(borders.kernel, smooth, pairs, piece[pairs], poses, incoming, limits, sums)
    return sums


@njit
def _sum_pairs(borders, smooth, pairs, pieces, poses, incoming, limits, sums):  # type: ignore[no-untyped-def]
    """Add up ``sum w r r'`` and ``sum w r e`` for each pair, r the derivatives of an error e by the `UNKNOWNS`.

    A sample q of j that meets sample c of i with normal n and tangent t gives ``e = (q - c) . n + gap``, weighted
    ``w = (1 - (e / reach)^2)^2 trust`` with ``trust = (1 + (e / apart)^2)^-2`` where e < 0, else 1; and ``e = (q - q at the
    start) . t``, weighted ``w slide_weight``. A pair gives the motion of the centre of j relative to i, and its turn times its
    radius, weighted ``_FOLLOW_WEIGHT``. Samples are counted, and their squares summed, by their trust.
    """
    reach, gap, slide_weight, apart = limits
    row = np.empty(UNKNOWNS, np.float64)
    partner, points, center = np.empty(borders.longest, np.int64), borders.points, borders.center
    normals, radius = borders.normals, borders.radius
    for c in range(len(pairs)):
        i, j, at_i, at_j, out = pieces[c, 0], pieces[c, 1], pairs[c, 0], pairs[c, 1], sums[c]
        turn, shift_x, shift_y = _relative(poses, at_i, at_j)
        turn_0, shift_0_x, shift_0_y = _relative(incoming, at_i, at_j)
        cos, sin, cos_0, sin_0 = np.cos(turn), np.sin(turn), np.cos(turn_0), np.sin(turn_0)
        mid_x = cos * center[j, 0] - sin * center[j, 1] + shift_x
        mid_y = sin * center[j, 0] + cos * center[j, 1] + shift_y
        frame = (
            np.cos(poses[at_i, 0]),
            np.sin(poses[at_i, 0]),
            np.float64(center[i, 0]),
            np.float64(center[i, 1]),
            mid_x,
            mid_y,
        )
        pair_samples(borders, i, j, (cos, sin, shift_x, shift_y), gap, reach, partner)
        first, n = borders.first[j], borders.first[j + 1] - borders.first[j]
        mean_x = mean_y = 0.0
        for s in range(n):
            k = partner[s]
            if k >= 0:
                if smooth[first + s] and smooth[k]:
                    mean_x += normals[k, 0]
                    mean_y += normals[k, 1]
                else:
                    partner[s] = -1
        length = np.sqrt(mean_x * mean_x + mean_y * mean_y) + 1e-9
        mean_x, mean_y = mean_x / length, mean_y / length
        for s in range(n):
            k, q = partner[s], first + s
            if k < 0:
                continue
            x = cos * points[q, 0] - sin * points[q, 1] + shift_x
            y = sin * points[q, 0] + cos * points[q, 1] + shift_y
            nx, ny = np.float64(normals[k, 0]), np.float64(normals[k, 1])
            error = (x - points[k, 0]) * nx + (y - points[k, 1]) * ny + gap
            weight = 1.0 - (error / reach) * (error / reach)
            trust = 1.0 / (1.0 + (error / apart) * (error / apart)) if error < 0.0 else 1.0
            trust *= trust
            weight *= weight * trust
            _fill(row, x, y, nx, ny, frame, 1.0)
            _add(out, row, error, weight)
            out[COUNT] += trust
            out[SQUARE] += trust * error * error
            # a gap moves j away from i, against the mean normal: that is no sliding
            slid_x = x - (cos_0 * points[q, 0] - sin_0 * points[q, 1] + shift_0_x) + gap * mean_x
            slid_y = y - (sin_0 * points[q, 0] + cos_0 * points[q, 1] + shift_0_y) + gap * mean_y
            _fill(row, x, y, ny, -nx, frame, mean_x * ny - mean_y * nx)
            _add(out, row, slid_x * ny - slid_y * nx, weight * slide_weight)
        moved_x = mid_x - (cos_0 * center[j, 0] - sin_0 * center[j, 1] + shift_0_x) + gap * mean_x
        moved_y = mid_y - (sin_0 * center[j, 0] + cos_0 * center[j, 1] + shift_0_y) + gap * mean_y
        _fill(row, mid_x, mid_y, 1.0, 0.0, frame, mean_x)
        _add(out, row, moved_x, _FOLLOW_WEIGHT)
        _fill(row, mid_x, mid_y, 0.0, 1.0, frame, mean_y)
        _add(out, row, moved_y, _FOLLOW_WEIGHT)
        for a in range(UNKNOWNS):
            row[a] = 0.0
        row[0], row[3] = -radius[j], radius[j]
        turned = turn - turn_0
        _add(out, row, radius[j] * np.arctan2(np.sin(turned), np.cos(turned)), _FOLLOW_WEIGHT)


@njit_part
def _relative(poses, i, j):  # type: ignore[no-untyped-def]
    """i_from_j = inverse(world_from_i) world_from_j, for rows i and j of poses (theta, x, y)."""
    cos, sin = np.cos(poses[i, 0]), np.sin(poses[i, 0])
    dx, dy = poses[j, 1] - poses[i, 1], poses[j, 2] - poses[i, 2]
    return poses[j, 0] - poses[i, 0], cos * dx + sin * dy, cos * dy - sin * dx


@njit_part
def _fill(row, x, y, ux, uy, frame, by_gap):  # type: ignore[no-untyped-def]
    """Derivatives of ``u . (point of j - i)`` at (x, y) in i's frame.

    ``frame`` = (cos and sin of i's pose, centre of i, centre of j), the centres in i's frame.
    """
    cos, sin, center_x, center_y, mid_x, mid_y = frame
    world_x, world_y = cos * ux - sin * uy, sin * ux + cos * uy
    row[0] = ux * (y - center_y) - uy * (x - center_x)
    row[1], row[2] = -world_x, -world_y
    row[3] = uy * (x - mid_x) - ux * (y - mid_y)
    row[4], row[5], row[6] = world_x, world_y, by_gap


@njit_part
def _add(out, row, error, weight):  # type: ignore[no-untyped-def]
    """Add ``weight row row'`` to the block of normal equations and ``weight row error`` to their right-hand side."""
    for a in range(UNKNOWNS):
        for b in range(UNKNOWNS):
            out[UNKNOWNS * a + b] += weight * row[a] * row[b]
        out[UNKNOWNS * UNKNOWNS + a] += weight * row[a] * error

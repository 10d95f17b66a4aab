"""Compiled sums of the dense seam alignment: what each pair of neighbours says about the motion of its two pieces."""

from __future__ import annotations

import numpy as np

from jigsawnet.raster import Int64Array, ShapeBank, look_up, njit
from jigsawnet.types import BoolArray, FloatArray

UNKNOWNS = 7
"""Of a pair: (turn, x, y) of i and of j, each about its own centre in the world, and the gap."""
BLOCK = slice(0, UNKNOWNS * UNKNOWNS)
RIGHT = slice(BLOCK.stop, BLOCK.stop + UNKNOWNS)
COUNT = RIGHT.stop
SQUARE = RIGHT.stop + 1
TERMS = RIGHT.stop + 2
"""Columns of the sums: normal equations, right-hand side, paired samples, sum of their square distances."""

_OPPOSITE = -0.6
_FOLLOW_WEIGHT = 1e-4


def sum_seams(
    bank: ShapeBank,
    smooth: BoolArray,
    piece: Int64Array,
    pairs: Int64Array,
    poses: FloatArray,
    incoming: FloatArray,
    reach_px: float,
    gap_px: float,
    slide_weight: float,
) -> FloatArray:
    """Pair borders and sum up, ``(P, TERMS)``, for the directed ``pairs (P, 2)`` of rows of ``piece``, ``poses``, ``incoming``.

    Samples of the second piece look for the border of the first. Three kinds of residuals: the distance along the normal, less
    the gap; sliding along the seam since ``incoming``, which only matters where the cut is straight; and, weaker still, any
    relative motion, so that a piece without a seam follows its neighbours.
    """
    sums = np.zeros((len(pairs), TERMS))
    _sum_pairs(
        pairs, piece, poses, incoming, smooth, reach_px, gap_px, slide_weight, bank.step_px, sums,
        bank.first, bank.points, bank.normals, bank.grid_first, bank.grid_size, bank.grid_origin, bank.nearest,
        np.float32(bank.cell_px), bank.center,
        bank.radius,
    )  # fmt: skip
    return sums


@njit
def _sum_pairs(  # type: ignore[no-untyped-def]
    pairs, piece, poses, incoming, smooth, reach, gap, slide_weight, step, sums,
    first, points, normals, grid_first, grid_size, grid_origin, nearest, cell, center, radius,
):  # fmt: skip
    row = np.zeros(7)
    for c in range(len(pairs)):
        i, j = piece[pairs[c, 0]], piece[pairs[c, 1]]
        here, there = poses[pairs[c, 0]], poses[pairs[c, 1]]
        turn, shift_x, shift_y = _relative(here, there)
        turn_0, shift_0_x, shift_0_y = _relative(incoming[pairs[c, 0]], incoming[pairs[c, 1]])
        cos, sin, cos_0, sin_0 = np.cos(turn), np.sin(turn), np.cos(turn_0), np.sin(turn_0)
        cos_i, sin_i = np.cos(here[0]), np.sin(here[0])
        mid_x = cos * center[j, 0] - sin * center[j, 1] + shift_x
        mid_y = sin * center[j, 0] + cos * center[j, 1] + shift_y
        out = sums[c]
        partner = np.full(first[j + 1] - first[j], -1, np.int64)
        mean_x = mean_y = 0.0
        for s in range(first[j], first[j + 1]):
            x = cos * points[s, 0] - sin * points[s, 1] + shift_x
            y = sin * points[s, 0] + cos * points[s, 1] + shift_y
            at = look_up(i, x, y, grid_first, grid_size, grid_origin, cell)
            if at < 0 or not smooth[s]:
                continue
            k = first[i] + nearest[at]
            nx, ny = normals[k, 0], normals[k, 1]
            facing = nx * (cos * normals[s, 0] - sin * normals[s, 1]) + ny * (sin * normals[s, 0] + cos * normals[s, 1])
            dx, dy = x - points[k, 0], y - points[k, 1]
            if not smooth[k] or facing > _OPPOSITE or abs(dx * ny - dy * nx) > 1.5 * step:
                continue
            if abs(dx * nx + dy * ny + gap) < reach:
                partner[s - first[j]] = k
                mean_x += nx
                mean_y += ny
        length = np.sqrt(mean_x * mean_x + mean_y * mean_y) + 1e-9
        mean_x, mean_y = mean_x / length, mean_y / length
        for s in range(first[j], first[j + 1]):
            k = partner[s - first[j]]
            if k < 0:
                continue
            x = cos * points[s, 0] - sin * points[s, 1] + shift_x
            y = sin * points[s, 0] + cos * points[s, 1] + shift_y
            nx, ny = normals[k, 0], normals[k, 1]
            error = (x - points[k, 0]) * nx + (y - points[k, 1]) * ny + gap
            weight = (1.0 - (error / reach) ** 2) ** 2
            _fill(row, x, y, nx, ny, cos_i, sin_i, center[i, 0], center[i, 1], mid_x, mid_y, 1.0)
            _add(out, row, error, weight)
            out[56] += 1.0
            out[57] += error * error
            # a gap moves j away from i, against the mean normal: that is no sliding
            slid_x = x - (cos_0 * points[s, 0] - sin_0 * points[s, 1] + shift_0_x) + gap * mean_x
            slid_y = y - (sin_0 * points[s, 0] + cos_0 * points[s, 1] + shift_0_y) + gap * mean_y
            along_gap = mean_x * ny - mean_y * nx
            _fill(row, x, y, ny, -nx, cos_i, sin_i, center[i, 0], center[i, 1], mid_x, mid_y, along_gap)
            _add(out, row, slid_x * ny - slid_y * nx, weight * slide_weight)
        moved_x = mid_x - (cos_0 * center[j, 0] - sin_0 * center[j, 1] + shift_0_x) + gap * mean_x
        moved_y = mid_y - (sin_0 * center[j, 0] + cos_0 * center[j, 1] + shift_0_y) + gap * mean_y
        _fill(row, mid_x, mid_y, 1.0, 0.0, cos_i, sin_i, center[i, 0], center[i, 1], mid_x, mid_y, mean_x)
        _add(out, row, moved_x, _FOLLOW_WEIGHT)
        _fill(row, mid_x, mid_y, 0.0, 1.0, cos_i, sin_i, center[i, 0], center[i, 1], mid_x, mid_y, mean_y)
        _add(out, row, moved_y, _FOLLOW_WEIGHT)
        row[:] = 0.0
        row[0], row[3] = -radius[j], radius[j]
        turned = turn - turn_0
        _add(out, row, radius[j] * np.arctan2(np.sin(turned), np.cos(turned)), _FOLLOW_WEIGHT)


@njit
def _relative(here, there):  # type: ignore[no-untyped-def]
    """i_from_j of two poses (theta, x, y)."""
    cos, sin = np.cos(here[0]), np.sin(here[0])
    dx, dy = there[1] - here[1], there[2] - here[2]
    return there[0] - here[0], cos * dx + sin * dy, cos * dy - sin * dx


@njit
def _fill(row, x, y, ux, uy, cos_i, sin_i, center_x, center_y, mid_x, mid_y, by_gap):  # type: ignore[no-untyped-def]
    """Derivatives of ``u . (point of j - i)`` at (x, y) in i's frame, where (center) and (mid) are the centres of i and j."""
    world_x, world_y = cos_i * ux - sin_i * uy, sin_i * ux + cos_i * uy
    row[0] = ux * (y - center_y) - uy * (x - center_x)
    row[1], row[2] = -world_x, -world_y
    row[3] = uy * (x - mid_x) - ux * (y - mid_y)
    row[4], row[5], row[6] = world_x, world_y, by_gap


@njit
def _add(out, row, error, weight):  # type: ignore[no-untyped-def]
    for a in range(7):
        for b in range(7):
            out[7 * a + b] += weight * row[a] * row[b]
        out[49 + a] += weight * row[a] * error

"""How much paper is lost along the cuts of a puzzle, found from its own seams.

Worn, eroded or generously masked pieces do not meet edge to edge: in their true places their borders run at a distance, or
overlap. Along a straight seam that distance cannot be told from a shift, but along a wiggly one it can: two parallel curves
at distance g fit each other best when they are laid at distance g. Each seam of a confident candidate votes by what its
residuals say about g once everything a rigid motion can explain is taken out.
"""

from __future__ import annotations

import numpy as np

from jigsawnet.match.verify import VerifyConfig, verify
from jigsawnet.raster import OPPOSITE, Int32Array, ShapeBank, look_up, njit
from jigsawnet.types import Float32Array, FloatArray

_MIN_SAMPLES = 12
_SEAMS, _MIN_SEAMS, _CONFIDENT = 400, 6, 0.9
_STEPS, _LARGEST_STEP_PX = 8, 4.0
_SMALLEST_PX, _LARGEST_PX = 1.0, 16.0
_SETTLED = 0.1
"""The last step of the search is at most this part of the gap; otherwise the seams do not agree on any."""
_MIN_TELLING = 4e-4
"""How much a sample of a seam must tell about the gap, in the mean. Measured at 36 and 100 pieces: straight cuts 1e-4 to 2e-4,
and gaps of up to 16 px read out of nothing; perturbation 0.02 2e-4 to 3e-4, wrong by 3 px; 0.03 6e-4, wrong by half a pixel."""
_LARGEST_DOUBT = 0.25
"""Standard error of a gap, as a part of it, up to which it is believed. Measured on 36 pieces with 1 or 3 px of erosion:
0.03 to 0.11; of gaps read out of nothing along 12 strips: 0.5 to 0.8, where the search came to an end at all."""


def estimate_gap(
    bank: ShapeBank, i: Int32Array, j: Int32Array, pose: Float32Array, fit: FloatArray, config: VerifyConfig
) -> float:
    """The distance in px at which the puzzle's borders run in their true places; 0 unless it is plainly more than a pixel.

    Below a pixel the estimate is as uncertain as it is large (measured on clean cuts: up to 0.5 px).
    """
    order = np.lexsort((np.arange(len(fit)), -fit))
    order = order[fit[order] > _CONFIDENT]
    _, first = np.unique(np.stack([i[order], j[order]]), axis=1, return_index=True)
    best = order[np.sort(first)[:_SEAMS]]  # near-copies of a join are no further witnesses
    if len(best) < _MIN_SEAMS:
        return 0.0
    i, j, pose = i[best], j[best], pose[best]
    reach = config.loose_px * bank.unit_px
    gap = 0.0
    for _ in range(_STEPS):
        pose, _ = verify(bank, i, j, pose, config, gap)
        step = gap_step(bank, i, j, pose, gap, reach, _MIN_TELLING)
        gap = min(max(gap + max(-_LARGEST_STEP_PX, min(_LARGEST_STEP_PX, step)), 0.0), _LARGEST_PX)
        if abs(step) < 0.05:
            break
    found = _SMALLEST_PX <= gap < _LARGEST_PX and abs(step) < _SETTLED * gap
    return gap if found and gap_error(bank, i, j, pose, gap, reach) < _LARGEST_DOUBT * gap else 0.0


def lay_apart(
    bank: ShapeBank, i: Int32Array, j: Int32Array, pose: Float32Array, config: VerifyConfig, gap_px: float
) -> tuple[Float32Array, Float32Array]:
    """Move pieces that lie edge to edge apart until their borders are ``gap_px`` from each other: poses and features."""
    steps = max(1, int(np.ceil(gap_px / _LARGEST_STEP_PX)))
    for k in range(steps):
        pose, features = verify(bank, i, j, pose, config, gap_px * (k + 1) / steps)
    return pose, features


def gap_step(
    bank: ShapeBank, i: Int32Array, j: Int32Array, pose: Float32Array, gap_px: float, reach_px: float, min_telling: float = 0.0
) -> float:
    """What to add to the gap: least squares over all seams of ``pose (C, 3)`` = i_from_j, refined with ``gap_px`` before.

    0 where the seams are so straight that a sample tells less than ``min_telling``.
    """
    told, weight, samples = (votes.sum() for votes in _votes_of(bank, i, j, pose, gap_px, reach_px))
    return float(told / weight) if weight > min_telling * samples else 0.0


def gap_error(bank: ShapeBank, i: Int32Array, j: Int32Array, pose: Float32Array, gap_px: float, reach_px: float) -> float:
    """The standard error of the gap in px, from how much the seams differ among themselves; infinite when none tells."""
    told, weight, _ = _votes_of(bank, i, j, pose, gap_px, reach_px)
    total = weight.sum()
    if total <= 0:
        return float("inf")
    mean = told.sum() / total
    return float(np.sqrt(((told - mean * weight) ** 2).sum()) / total)


def _votes_of(
    bank: ShapeBank, i: Int32Array, j: Int32Array, pose: Float32Array, gap_px: float, reach_px: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """For each seam: what it says, how much that counts, and its samples; each ``(C,)``."""
    votes: FloatArray = _votes(i, j, pose, np.float32(gap_px), np.float32(reach_px), np.float32(bank.step_px), *bank.arrays())
    return votes[0], votes[1], votes[2]


@njit
def _votes(  # type: ignore[no-untyped-def]
    piece_i, piece_j, poses, gap, reach, step, first, points, normals, colors,
    grid_first, grid_size, grid_origin, nearest, depth, cell, core_first, core, center, radius, deepest,
):  # fmt: skip
    votes = np.zeros((3, len(piece_i)))
    for c in range(len(piece_i)):
        i, j = piece_i[c], piece_j[c]
        cos, sin = np.cos(poses[c, 0]), np.sin(poses[c, 0])
        n = first[j + 1] - first[j]
        design = np.zeros((n, 3))
        error = np.zeros(n)
        size = 0
        for s in range(first[j], first[j + 1]):
            x = cos * points[s, 0] - sin * points[s, 1] + poses[c, 1]
            y = sin * points[s, 0] + cos * points[s, 1] + poses[c, 2]
            at = look_up(i, x, y, grid_first, grid_size, grid_origin, cell)
            if at < 0:
                continue
            k = first[i] + nearest[at]
            nx, ny = normals[k, 0], normals[k, 1]
            facing = nx * (cos * normals[s, 0] - sin * normals[s, 1]) + ny * (sin * normals[s, 0] + cos * normals[s, 1])
            dx, dy = x - points[k, 0], y - points[k, 1]
            across, along = dx * nx + dy * ny + gap, dx * ny - dy * nx
            if facing > OPPOSITE or abs(across) > reach or abs(along) > 1.5 * step:
                continue
            px, py = x - points[first[i], 0], y - points[first[i], 1]
            design[size, 0], design[size, 1], design[size, 2] = (nx * (-py) + ny * px) * 0.01, nx, ny
            error[size] = across
            size += 1
        if size < _MIN_SAMPLES:
            continue
        a, r = design[:size], error[:size]
        normal = a.T @ a
        for k in range(3):
            normal[k, k] += 1e-6 * size
        free = np.ones(size) - a @ np.linalg.solve(normal, a.T @ np.ones(size))
        votes[0, c] = -(free * r).sum()
        votes[1, c] = (free * free).sum()
        votes[2, c] = size
    return votes

"""How much paper is lost along the cuts of a puzzle, found from its own seams.

Worn, eroded or generously masked pieces do not meet edge to edge: in their true places their borders run at a distance, or
overlap. Along a straight seam that distance cannot be told from a shift, but along a wiggly one it can: two parallel curves
at distance g fit each other best when they are laid at distance g. Each seam of a confident candidate votes by what its
residuals say about g once everything a rigid motion can explain is taken out.
"""

from __future__ import annotations

import numpy as np

from jigsawnet.borders import Borders, Int32Array, njit, pair_samples, solve_symmetric
from jigsawnet.match.config import VerifyConfig
from jigsawnet.match.verify import verify
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
    borders: Borders, i: Int32Array, j: Int32Array, pose: Float32Array, fit: FloatArray, config: VerifyConfig
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
    reach = config.loose_px * borders.unit_px
    gap = 0.0
    for _ in range(_STEPS):
        pose, _ = verify(borders, i, j, pose, config, gap)
        step = gap_step(borders, i, j, pose, gap, reach, _MIN_TELLING)
        gap = min(max(gap + max(-_LARGEST_STEP_PX, min(_LARGEST_STEP_PX, step)), 0.0), _LARGEST_PX)
        if abs(step) < 0.05:
            break
    found = _SMALLEST_PX <= gap < _LARGEST_PX and abs(step) < _SETTLED * gap
    return gap if found and gap_error(borders, i, j, pose, gap, reach) < _LARGEST_DOUBT * gap else 0.0


def lay_apart(
    borders: Borders, i: Int32Array, j: Int32Array, pose: Float32Array, config: VerifyConfig, gap_px: float
) -> tuple[Float32Array, Float32Array]:
    """Move pieces that lie edge to edge apart until their borders are ``gap_px`` from each other: poses and features."""
    steps = max(1, int(np.ceil(gap_px / _LARGEST_STEP_PX)))
    for k in range(steps):
        pose, features = verify(borders, i, j, pose, config, gap_px * (k + 1) / steps)
    return pose, features


def gap_step(
    borders: Borders, i: Int32Array, j: Int32Array, pose: Float32Array, gap_px: float, reach_px: float, min_telling: float = 0.0
) -> float:
    """What to add to the gap: least squares over all seams of ``pose (C, 3)`` = i_from_j, refined with ``gap_px`` before.

    0 where the seams are so straight that a sample tells less than ``min_telling``.
    """
    told, weight, samples = (votes.sum() for votes in _votes_of(borders, i, j, pose, gap_px, reach_px))
    return float(told / weight) if weight > min_telling * samples else 0.0


def gap_error(borders: Borders, i: Int32Array, j: Int32Array, pose: Float32Array, gap_px: float, reach_px: float) -> float:
    """The standard error of the gap in px, from how much the seams differ among themselves; infinite when none tells."""
    told, weight, _ = _votes_of(borders, i, j, pose, gap_px, reach_px)
    total = weight.sum()
    if total <= 0:
        return float("inf")
    mean = told.sum() / total
    return float(np.sqrt(((told - mean * weight) ** 2).sum()) / total)


def _votes_of(
    borders: Borders, i: Int32Array, j: Int32Array, pose: Float32Array, gap_px: float, reach_px: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """For each seam: what it says, how much that counts, and its samples; each ``(C,)``."""
    votes = np.zeros((3, len(i)))
    pieces, poses = np.column_stack([i, j]).astype(np.int64), np.array(pose, np.float32, order="C")
    _votes(borders.kernel, pieces, poses, np.float32(gap_px), float(np.float32(reach_px)), votes)
    return votes[0], votes[1], votes[2]


@njit
def _votes(borders, pieces, poses, gap, reach, votes):  # type: ignore[no-untyped-def]
    """Fill ``votes (3, C)``: what each seam says about the gap, how much that counts, and its samples.

    Sample s, carried to q, lies ``r = across + gap`` off and would move by ``a = (0.01 (q x n), n.x, n.y)`` for a motion. Of
    ``1`` at each sample, a motion explains ``A (A' A)^-1 A' 1``; with ``f`` the rest, the seam votes ``-f . r`` and ``f . f``.
    """
    partner, first = np.empty(borders.longest, np.int64), borders.first
    points, normals = borders.points, borders.normals
    for c in range(len(pieces)):
        i, j = pieces[c, 0], pieces[c, 1]
        cos, sin = np.cos(poses[c, 0]), np.sin(poses[c, 0])
        first_i, first_j, n = first[i], first[j], first[j + 1] - first[j]
        pair_samples(borders, i, j, (cos, sin, poses[c, 1], poses[c, 2]), gap, reach, partner)
        h00 = h01 = h02 = h11 = h12 = h22 = b0 = b1 = b2 = 0.0
        z0 = z1 = z2 = told = weight = size = 0.0
        for turn in range(2):  # once for the normal equations, once for what they leave
            for s in range(n):
                k = partner[s]
                if k < 0:
                    continue
                x = cos * points[first_j + s, 0] - sin * points[first_j + s, 1] + poses[c, 1]
                y = sin * points[first_j + s, 0] + cos * points[first_j + s, 1] + poses[c, 2]
                nx, ny = normals[k, 0], normals[k, 1]
                a0 = (nx * (points[first_i, 1] - y) + ny * (x - points[first_i, 0])) * 0.01
                a1, a2 = np.float64(nx), np.float64(ny)
                if turn == 0:
                    h00, h01, h02 = h00 + a0 * a0, h01 + a0 * a1, h02 + a0 * a2
                    h11, h12, h22 = h11 + a1 * a1, h12 + a1 * a2, h22 + a2 * a2
                    b0, b1, b2, size = b0 + a0, b1 + a1, b2 + a2, size + 1.0
                else:
                    free = 1.0 - (a0 * z0 + a1 * z1 + a2 * z2)
                    told -= free * ((x - points[k, 0]) * nx + (y - points[k, 1]) * ny + gap)
                    weight += free * free
            if size < _MIN_SAMPLES:
                break
            if turn == 0:
                h00, h11, h22 = h00 + 1e-6 * size, h11 + 1e-6 * size, h22 + 1e-6 * size
                _, z0, z1, z2 = solve_symmetric(h00, h01, h02, h11, h12, h22, b0, b1, b2)
        if size >= _MIN_SAMPLES:
            votes[0, c], votes[1, c], votes[2, c] = told, weight, size

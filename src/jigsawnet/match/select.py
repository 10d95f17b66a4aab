"""From measured candidates to the few that are kept; shared by all matchers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jigsawnet.geometry import SE2, wrap_angle
from jigsawnet.match.verify import FEATURES, MIDDLE
from jigsawnet.raster import njit
from jigsawnet.types import Alignment, Float32Array, FloatArray, Seam

SAME_PX = 6.0
SAME_RAD = 0.07
"""Two poses of a pair that differ by less than this at the seam are one candidate."""


def select_candidates(
    i: NDArray[np.int32], j: NDArray[np.int32], pose: Float32Array, features: Float32Array, fit: FloatArray,
    per_piece: int, n_pieces: int, per_pair: int = 1 << 30,
) -> NDArray[np.int64]:  # fmt: skip
    """Indices of the candidates to keep, best ``fit`` first.

    Candidates without a positive fit, near-copies of a better pose of the same pair, and whatever goes beyond ``per_pair`` of a
    pair or ``per_piece`` of a piece are dropped (non-maximum suppression in SE(2)). Ties are broken by position.
    """
    order = np.lexsort((np.arange(len(fit)), -fit))
    order = order[fit[order] > 0]
    return np.asarray(_thin_out(order, i, j, pose, features[:, MIDDLE], per_piece, per_pair, n_pieces))


def to_alignment(i: int, j: int, pose: Float32Array, fit: float, features: Float32Array, distance_px: float = 0.0) -> Alignment:
    """One row of the tables as an `Alignment` with its `Seam`."""
    value = dict(zip(FEATURES, features.tolist(), strict=True))
    seam = Seam(
        length_px=value["length"],
        residual_px=value["residual"],
        gap_px=value["gap"],
        overlap_px=value["overlap_depth"],
        color_step=value["color_step"],
        flatness_px=value["flatness"],
        distance_px=distance_px,
    )
    return Alignment(i, j, SE2(wrap_angle(float(pose[0])), float(pose[1]), float(pose[2])), fit, seam)


@njit
def _thin_out(order, i, j, pose, middle, per_piece, per_pair, n):  # type: ignore[no-untyped-def]
    kept = np.empty(len(order), np.int64)
    count = np.zeros(n, np.int64)
    newest = np.full(n, -1, np.int64)  # last kept candidate of piece i, the start of its chain
    previous = np.full(len(order), -1, np.int64)
    size = 0
    for k in order:
        if count[i[k]] >= per_piece or count[j[k]] >= per_piece:
            continue
        back, copies, of_pair = newest[i[k]], False, 0
        while back >= 0 and not copies:
            other = kept[back]
            if j[other] == j[k]:
                of_pair += 1
                turn = pose[other, 0] - pose[k, 0]
                if abs(turn - 2 * np.pi * np.rint(turn / (2 * np.pi))) < SAME_RAD:
                    ax, ay = _in_frame_of_j(pose[k], middle[k])
                    bx, by = _in_frame_of_j(pose[other], middle[k])
                    copies = np.hypot(ax - bx, ay - by) < SAME_PX
            back = previous[back]
        if copies or of_pair >= per_pair:
            continue
        kept[size] = k
        previous[size] = newest[i[k]]
        newest[i[k]] = size
        size += 1
        count[i[k]] += 1
        count[j[k]] += 1
    return kept[:size]


@njit
def _in_frame_of_j(pose, point):  # type: ignore[no-untyped-def]
    cos, sin = np.cos(pose[0]), np.sin(pose[0])
    dx, dy = point[0] - pose[1], point[1] - pose[2]
    return cos * dx + sin * dy, cos * dy - sin * dx

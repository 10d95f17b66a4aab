"""Dense matcher, step 3: refine seeds by ICP against the border grids and measure the seam that results.

All candidates at once, in compiled code. A sample of j's border, carried into i's frame, finds its nearest sample on i's border
by one look-up; it counts only where the two inward normals oppose each other, as they do across a cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jigsawnet.raster import OPPOSITE, ShapeBank, longest_run, look_up, njit
from jigsawnet.types import Alignment, Float32Array

FEATURES = (
    "length", "tight_length", "residual", "gap", "overlap_depth", "overlap_length",
    "color_step", "color_correlation", "color_spread", "flatness", "middle_x", "middle_y", "share",
)  # fmt: skip
"""Columns of the feature table. Lengths are px of border; ``middle`` is the middle of the seam in i's frame,
``share`` the part of the shorter perimeter that the seam takes."""

MIDDLE = slice(10, 12)
"""The columns of the middle."""

_SLIDE_WEIGHT = 0.03
_SLIDE_SAMPLES, _SLIDE_MIN_COUNT = 4, 6


@dataclass(frozen=True, slots=True)
class VerifyConfig:
    """How seeds are refined and seams are measured."""

    radii_px: tuple[float, ...] = (8.0, 6.0, 4.0, 3.0, 2.5, 2.5)
    """Reach of the nearest-border search in each ICP step."""
    tight_px: float = 1.0
    """Borders this close run together tightly."""
    loose_px: float = 2.5
    """Borders this close still belong to the seam."""
    free_overlap_px: float = 2.5
    """Penetration up to this depth is normal along a seam."""


def verify(
    bank: ShapeBank, i: NDArray[np.int32], j: NDArray[np.int32], pose: Float32Array, config: VerifyConfig, gap_px: float = 0.0
) -> tuple[Float32Array, Float32Array]:
    """Refine ``pose (C, 3)`` = i_from_j (theta, x, y) and measure each seam: refined poses and ``(C, len(FEATURES))``.

    Borders are laid ``gap_px`` apart: 0 is edge to edge, less lets them overlap.
    """
    radii = np.array(config.radii_px, dtype=np.float32) * np.float32(bank.unit_px)
    limits = np.array([config.tight_px, config.loose_px, config.free_overlap_px], np.float32)
    limits *= np.float32(bank.unit_px)
    poses, features = pose.astype(np.float32), np.zeros((len(i), len(FEATURES)), np.float32)
    _verify_all(i, j, poses, features, np.float32(bank.step_px), np.float32(gap_px), radii, limits, *bank.arrays())
    return poses, features


def measure_alignments(bank: ShapeBank, alignments: Sequence[Alignment]) -> Float32Array:
    """The seams of candidates as they lie, each at its own distance: ``(C, len(FEATURES))``."""
    features = np.zeros((len(alignments), len(FEATURES)), np.float32)
    gap = np.array([a.seam.distance_px if a.seam else 0.0 for a in alignments])
    for value in np.unique(gap):
        rows = np.flatnonzero(gap == value).tolist()
        i, j = (np.array([getattr(alignments[k], name) for k in rows], dtype=np.int32) for name in ("i", "j"))
        pose = np.array([(p.theta, p.x, p.y) for p in (alignments[k].i_from_j for k in rows)], dtype=np.float32)
        features[rows] = verify(bank, i, j, pose, VerifyConfig(radii_px=()), float(value))[1]
    return features


@njit
def _verify_all(  # type: ignore[no-untyped-def]
    piece_i, piece_j, poses, features, step, gap, radii, limits, first, points, normals, colors,
    grid_first, grid_size, grid_origin, nearest, depth, cell, core_first, core, center, radius, deepest,
):  # fmt: skip
    for c in range(len(piece_i)):
        i, j = piece_i[c], piece_j[c]
        for r in range(len(radii)):
            _icp_step(
                i, j, poses[c], radii[r], step, gap, first, points, normals, grid_first, grid_size, grid_origin, nearest, cell
            )
        if len(radii) and _slide_by_color(
            i, j, poses[c], step, gap, limits, first, points, normals, colors, grid_first, grid_size, grid_origin, nearest, cell
        ):
            _icp_step(
                i, j, poses[c], radii[-1], step, gap, first, points, normals,
                grid_first, grid_size, grid_origin, nearest, cell,
            )  # fmt: skip
        _measure(
            i, j, poses[c], features[c], step, gap, limits, first, points, normals, colors,
            grid_first, grid_size, grid_origin, nearest, depth, cell,
        )  # fmt: skip


@njit
def _icp_step(  # type: ignore[no-untyped-def]
    i, j, pose, reach, step, gap, first, points, normals, grid_first, grid_size, grid_origin, nearest, cell
):
    """Move the pose by one weighted point-to-line step; leave it when too few samples are in reach."""
    cos, sin = np.cos(pose[0]), np.sin(pose[0])
    base = first[i]
    total = 0.0
    h00 = h01 = h02 = h11 = h12 = h22 = g0 = g1 = g2 = 0.0
    # coordinates are taken relative to j's border start, to keep the normal equations well scaled
    ref_x = cos * points[first[j], 0] - sin * points[first[j], 1] + pose[1]
    ref_y = sin * points[first[j], 0] + cos * points[first[j], 1] + pose[2]
    for s in range(first[j], first[j + 1]):
        x = cos * points[s, 0] - sin * points[s, 1] + pose[1]
        y = sin * points[s, 0] + cos * points[s, 1] + pose[2]
        at = look_up(i, x, y, grid_first, grid_size, grid_origin, cell)
        if at < 0:
            continue
        k = base + nearest[at]
        nx, ny = normals[k, 0], normals[k, 1]
        if nx * (cos * normals[s, 0] - sin * normals[s, 1]) + ny * (sin * normals[s, 0] + cos * normals[s, 1]) > OPPOSITE:
            continue
        dx, dy = x - points[k, 0], y - points[k, 1]
        across, along = dx * nx + dy * ny + gap, dx * ny - dy * nx
        if abs(across) > reach or abs(along) > reach:
            continue
        px, py = x - ref_x, y - ref_y
        for part in range(2):
            ux, uy, error, w = (nx, ny, across, 1.0) if part == 0 else (ny, -nx, along, _SLIDE_WEIGHT)
            turn = ux * (-py) + uy * px
            h00 += w * turn * turn
            h01 += w * turn * ux
            h02 += w * turn * uy
            h11 += w * ux * ux
            h12 += w * ux * uy
            h22 += w * uy * uy
            g0 += w * turn * error
            g1 += w * ux * error
            g2 += w * uy * error
        total += 1.0
    if total < 4:
        return
    h00 += 1e-3 * total
    h11 += 1e-3
    h22 += 1e-3
    c00, c01, c02 = h11 * h22 - h12 * h12, h02 * h12 - h01 * h22, h01 * h12 - h02 * h11
    det = h00 * c00 + h01 * c01 + h02 * c02
    if abs(det) < 1e-9:
        return
    turn = -(c00 * g0 + c01 * g1 + c02 * g2) / det
    shift_x = -(c01 * g0 + (h00 * h22 - h02 * h02) * g1 + (h01 * h02 - h00 * h12) * g2) / det
    shift_y = -(c02 * g0 + (h01 * h02 - h00 * h12) * g1 + (h00 * h11 - h01 * h01) * g2) / det
    if not abs(turn) < 0.3:
        return
    # rotate about the reference point, then shift
    ct, st = np.cos(turn), np.sin(turn)
    ox, oy = pose[1] - ref_x, pose[2] - ref_y
    pose[0] += turn
    pose[1] = ct * ox - st * oy + ref_x + shift_x
    pose[2] = st * ox + ct * oy + ref_y + shift_y


@njit
def _slide_by_color(  # type: ignore[no-untyped-def]
    i, j, pose, step, gap, limits, first, points, normals, colors, grid_first, grid_size, grid_origin, nearest, cell
):
    """Along a straight seam the borders say nothing about sliding: let the colours on both sides decide.

    Tries shifts of up to ``_SLIDE_SAMPLES`` either way and moves the pose to the best, refined by a parabola; true if it moved.
    """
    n_i, n_j = first[i + 1] - first[i], first[j + 1] - first[j]
    cos, sin = np.cos(pose[0]), np.sin(pose[0])
    partner = np.full(n_j, -1, np.int64)
    count = sum_x = sum_y = sum_xx = sum_xy = sum_yy = along_x = along_y = 0.0
    for s in range(n_j):
        q = first[j] + s
        x = cos * points[q, 0] - sin * points[q, 1] + pose[1]
        y = sin * points[q, 0] + cos * points[q, 1] + pose[2]
        at = look_up(i, x, y, grid_first, grid_size, grid_origin, cell)
        if at < 0:
            continue
        k = nearest[at]
        nx, ny = normals[first[i] + k, 0], normals[first[i] + k, 1]
        facing = nx * (cos * normals[q, 0] - sin * normals[q, 1]) + ny * (sin * normals[q, 0] + cos * normals[q, 1])
        dx, dy = x - points[first[i] + k, 0], y - points[first[i] + k, 1]
        if facing < OPPOSITE and abs(dx * nx + dy * ny + gap) < limits[1] and abs(dx * ny - dy * nx) < 1.5 * step:
            partner[s] = k
            count += 1.0
            sum_x += x
            sum_y += y
            sum_xx += x * x
            sum_xy += x * y
            sum_yy += y * y
            along_x += ny
            along_y -= nx
    if count < _SLIDE_MIN_COUNT:
        return False
    mx, my = sum_x / count, sum_y / count
    vxx, vxy, vyy = sum_xx / count - mx * mx, sum_xy / count - mx * my, sum_yy / count - my * my
    narrow = 0.5 * (vxx + vyy) - np.sqrt(0.25 * (vxx - vyy) ** 2 + vxy * vxy)
    if narrow > limits[0] * limits[0]:
        return False
    cost = np.zeros(2 * _SLIDE_SAMPLES + 1)
    for s in range(n_j):
        if partner[s] < 0:
            continue
        for d in range(-_SLIDE_SAMPLES, _SLIDE_SAMPLES + 1):
            k = first[i] + (partner[s] + d) % n_i
            for ch in range(3):
                cost[d + _SLIDE_SAMPLES] += (colors[k, ch] - colors[first[j] + s, ch]) ** 2
    best = int(np.argmin(cost))
    if best == 0 or best == 2 * _SLIDE_SAMPLES or cost[best] + count > 0.8 * (cost[_SLIDE_SAMPLES] + count):
        return False
    bend = cost[best - 1] - 2 * cost[best] + cost[best + 1]
    shift = (best - _SLIDE_SAMPLES + 0.5 * (cost[best - 1] - cost[best + 1]) / max(bend, 1e-9)) * step
    length = max(np.hypot(along_x, along_y), 1e-9)
    pose[1] += shift * along_x / length
    pose[2] += shift * along_y / length
    return True


@njit
def _measure(  # type: ignore[no-untyped-def]
    i, j, pose, out, step, gap, limits, first, points, normals, colors,
    grid_first, grid_size, grid_origin, nearest, depth, cell,
):  # fmt: skip
    """Fill one row of `FEATURES`."""
    tight, loose, free = limits[0], limits[1], limits[2]
    cos, sin = np.cos(pose[0]), np.sin(pose[0])
    n = first[j + 1] - first[j]
    partner = np.full(n, -1, np.int64)
    across_of = np.zeros(n, np.float32)
    deepest = over = 0.0
    for s in range(n):
        q = first[j] + s
        x = cos * points[q, 0] - sin * points[q, 1] + pose[1]
        y = sin * points[q, 0] + cos * points[q, 1] + pose[2]
        at = look_up(i, x, y, grid_first, grid_size, grid_origin, cell)
        if at < 0:
            continue
        if depth[at] > free:
            over += 1.0
            deepest = max(deepest, depth[at])
        k = first[i] + nearest[at]
        nx, ny = normals[k, 0], normals[k, 1]
        facing = nx * (cos * normals[q, 0] - sin * normals[q, 1]) + ny * (sin * normals[q, 0] + cos * normals[q, 1])
        dx, dy = x - points[k, 0], y - points[k, 1]
        across, along = dx * nx + dy * ny + gap, dx * ny - dy * nx
        if facing < OPPOSITE and abs(across) < loose and abs(along) < 1.5 * step:
            partner[s] = k
            across_of[s] = across
    # i's border inside j
    for q in range(first[i], first[i + 1]):
        dx, dy = points[q, 0] - pose[1], points[q, 1] - pose[2]
        at = look_up(j, cos * dx + sin * dy, cos * dy - sin * dx, grid_first, grid_size, grid_origin, cell)
        if at >= 0 and depth[at] > free:
            over += 1.0
            deepest = max(deepest, depth[at])
    out[4], out[5] = deepest, over * step
    start, stop = longest_run(partner >= 0)
    count = close = square = 0.0
    sum_x = sum_y = sum_xx = sum_xy = sum_yy = 0.0
    color = spread_i = spread_j = together = 0.0
    mean_i, mean_j = np.zeros(3), np.zeros(3)
    for r in range(start, stop):
        s = r % n
        if partner[s] < 0:
            continue
        k, q = partner[s], first[j] + s
        count += 1.0
        square += across_of[s] * across_of[s]
        if abs(across_of[s]) < tight:
            close += 1.0
        x, y = points[k, 0], points[k, 1]
        sum_x += x
        sum_y += y
        sum_xx += x * x
        sum_xy += x * y
        sum_yy += y * y
        step_color = 0.0
        for ch in range(3):
            mean_i[ch] += colors[k, ch]
            mean_j[ch] += colors[q, ch]
            step_color += (colors[k, ch] - colors[q, ch]) ** 2
        color += np.sqrt(step_color)
    if count < 3:
        return
    for r in range(start, stop):
        s = r % n
        if partner[s] < 0:
            continue
        k, q = partner[s], first[j] + s
        for ch in range(3):
            a, b = colors[k, ch] - mean_i[ch] / count, colors[q, ch] - mean_j[ch] / count
            spread_i += a * a
            spread_j += b * b
            together += a * b
    mx, my = sum_x / count, sum_y / count
    vxx, vxy, vyy = sum_xx / count - mx * mx, sum_xy / count - mx * my, sum_yy / count - my * my
    narrow = 0.5 * (vxx + vyy) - np.sqrt(0.25 * (vxx - vyy) ** 2 + vxy * vxy)
    out[0] = count * step
    out[1] = close * step
    out[2] = np.sqrt(square / count)
    out[3] = (stop - start - count) * step
    out[6] = color / count
    out[7] = together / np.sqrt((spread_i + 1.0 * count) * (spread_j + 1.0 * count))
    out[8] = np.sqrt((spread_i + spread_j) / (2 * count))
    out[9] = np.sqrt(max(narrow, 0.0))
    out[10], out[11] = mx, my
    out[12] = count / min(n, first[i + 1] - first[i])

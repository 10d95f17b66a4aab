"""Dense matcher, step 3: refine seeds by ICP against the border grids and measure the seam that results.

All candidates at once, in compiled code. A sample of j's border, carried into i's frame, finds its nearest sample on i's border
by one look-up; it counts only where the two inward normals oppose each other, as they do across a cut.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from jigsawnet.borders import OPPOSITE, Borders, facing, longest_run, look_up, njit, njit_part, pair_samples, solve_symmetric
from jigsawnet.candidates import FEATURES, Candidates
from jigsawnet.match.config import VerifyConfig
from jigsawnet.types import Float32Array, FloatArray

(
    _LENGTH, _TIGHT_LENGTH, _RESIDUAL, _GAP, _OVERLAP_DEPTH, _OVERLAP_LENGTH,
    _COLOR_STEP, _COLOR_CORRELATION, _COLOR_SPREAD, _FLATNESS, _MIDDLE_X, _MIDDLE_Y, _SHARE,
) = range(len(FEATURES))  # fmt: skip

_SLIDE_WEIGHT = 0.03
_SLIDE_SAMPLES, _SLIDE_MIN_COUNT = 4, 6


def verify(
    borders: Borders,
    i: NDArray[np.int32],
    j: NDArray[np.int32],
    pose: Float32Array | FloatArray,
    config: VerifyConfig,
    gap_px: float = 0.0,
) -> tuple[Float32Array, Float32Array]:
    """Refine ``pose (C, 3)`` = i_from_j (theta, x, y) and measure each seam: refined poses and ``(C, len(FEATURES))``.

    Borders are laid ``gap_px`` apart: 0 is edge to edge, less lets them overlap.
    """
    radii = np.array(config.radii_px, dtype=np.float32) * np.float32(borders.unit_px)
    limits = np.array([config.tight_px, config.loose_px, config.free_overlap_px], np.float32)
    limits *= np.float32(borders.unit_px)
    poses, features = np.array(pose, np.float32, order="C"), np.zeros((len(i), len(FEATURES)), np.float32)
    piece_i, piece_j = np.array(i, np.int64), np.array(j, np.int64)
    _verify_all(borders.kernel, piece_i, piece_j, poses, np.float32(gap_px), radii, limits, features)
    return poses, features


def measure(borders: Borders, rows: Candidates, config: VerifyConfig) -> Candidates:
    """The same candidates with the seams measured as they lie, each at its own gap."""
    return settle(borders, rows, replace(config, radii_px=()))


def settle(borders: Borders, rows: Candidates, config: VerifyConfig) -> Candidates:
    """The same candidates moved to where their borders meet best nearby, each at its own gap, and measured there."""
    pose, features = np.empty((len(rows), 3)), np.zeros((len(rows), len(FEATURES)), np.float32)
    for gap in np.unique(rows.gap_px):
        at = np.flatnonzero(rows.gap_px == gap)
        pose[at], features[at] = verify(borders, rows.i[at], rows.j[at], rows.pose[at], config, float(gap))
    return replace(rows, pose=pose if config.radii_px else rows.pose, features=features)


@njit
def _verify_all(borders, piece_i, piece_j, poses, gap, radii, limits, features):  # type: ignore[no-untyped-def]
    """ICP with shrinking radii, a slide along straight seams, and one row of `FEATURES`, for each candidate."""
    partner, sums = np.empty(borders.longest, np.int64), np.empty(2 * _SLIDE_SAMPLES + 1, np.float64)
    reach = np.float64(limits[1])
    for c in range(len(piece_i)):
        i, j, pose = piece_i[c], piece_j[c], poses[c]
        for r in range(len(radii)):
            _icp_step(borders, i, j, pose, gap, radii[r])
        pair_samples(borders, i, j, _move(pose), gap, reach, partner)
        if len(radii) and _slide_by_color(borders, i, j, pose, limits[0], partner, sums):
            _icp_step(borders, i, j, pose, gap, radii[-1])
            pair_samples(borders, i, j, _move(pose), gap, reach, partner)
        _measure(borders, i, j, _move(pose), gap, limits, partner, sums, features[c])


@njit_part
def _move(pose):  # type: ignore[no-untyped-def]
    """A pose (theta, x, y) as (cos, sin, x, y)."""
    return np.cos(pose[0]), np.sin(pose[0]), pose[1], pose[2]


@njit_part
def _icp_step(borders, i, j, pose, gap, reach):  # type: ignore[no-untyped-def]
    """Move the pose by one weighted point-to-line step; leave it when too few samples are in reach.

    With q the carried sample, c its partner, n its normal and t the tangent, minimise over a turn about ``ref`` and a shift
    ``sum ((q - c) . n + gap)^2 + _SLIDE_WEIGHT ((q - c) . t)^2``, linearised: a turn moves q by (-p.y, p.x), ``p = q - ref``.
    """
    move = _move(pose)
    total = 0.0
    h00 = h01 = h02 = h11 = h12 = h22 = g0 = g1 = g2 = 0.0
    # coordinates are taken relative to j's border start, to keep the normal equations well scaled
    first, points = borders.first[j], borders.points
    ref_x = move[0] * points[first, 0] - move[1] * points[first, 1] + pose[1]
    ref_y = move[1] * points[first, 0] + move[0] * points[first, 1] + pose[2]
    for s in range(first, borders.first[j + 1]):
        k, x, y, nx, ny, off, along = facing(borders, i, s, move, OPPOSITE)
        across = off + gap
        if k < 0 or abs(across) > reach or abs(along) > reach:
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
    det, turn, shift_x, shift_y = solve_symmetric(h00 + 1e-3 * total, h01, h02, h11 + 1e-3, h12, h22 + 1e-3, g0, g1, g2)
    if abs(det) < 1e-9 or not abs(turn) < 0.3:
        return
    # rotate about the reference point by -turn, then shift
    ct, st = np.cos(-turn), np.sin(-turn)
    ox, oy = pose[1] - ref_x, pose[2] - ref_y
    pose[0] -= turn
    pose[1] = ct * ox - st * oy + ref_x - shift_x
    pose[2] = st * ox + ct * oy + ref_y - shift_y


@njit_part
def _slide_by_color(borders, i, j, pose, straight, partner, cost):  # type: ignore[no-untyped-def]
    """Along a straight seam the borders say nothing about sliding: let the colours on both sides decide.

    Straight is a seam whose samples spread by less than ``straight`` across their main axis. Tries shifts d of up to
    ``_SLIDE_SAMPLES`` samples either way, with ``cost[d] = sum |color of i at k + d - color of j at s|^2`` over pairs (s, k),
    and moves the pose to the best, refined by a parabola; true if it moved.
    """
    first, points, colors = borders.first, borders.points, borders.colors
    first_i, first_j = first[i], first[j]
    n_i, n_j = first[i + 1] - first_i, first[j + 1] - first_j
    cos, sin, shift_x, shift_y = _move(pose)
    count = sum_x = sum_y = sum_xx = sum_xy = sum_yy = along_x = along_y = 0.0
    for s in range(n_j):
        k, q = partner[s], first_j + s
        if k >= 0:
            x = cos * points[q, 0] - sin * points[q, 1] + shift_x
            y = sin * points[q, 0] + cos * points[q, 1] + shift_y
            count += 1.0
            sum_x += x
            sum_y += y
            sum_xx += x * x
            sum_xy += x * y
            sum_yy += y * y
            along_x += borders.normals[k, 1]
            along_y -= borders.normals[k, 0]
    if count < _SLIDE_MIN_COUNT or _narrow(count, sum_x, sum_y, sum_xx, sum_xy, sum_yy) > straight * straight:
        return False
    for d in range(len(cost)):
        cost[d] = 0.0
    for s in range(n_j):
        if partner[s] >= 0:
            for d in range(len(cost)):
                k = first_i + (partner[s] - first_i + d - _SLIDE_SAMPLES) % n_i
                for ch in range(3):
                    change = colors[k, ch] - colors[first_j + s, ch]
                    cost[d] += change * change
    best = 0
    for d in range(len(cost)):
        if cost[d] < cost[best]:
            best = d
    if best == 0 or best == 2 * _SLIDE_SAMPLES or cost[best] + count > 0.8 * (cost[_SLIDE_SAMPLES] + count):
        return False
    bend = max(cost[best - 1] - 2 * cost[best] + cost[best + 1], 1e-9)
    shift = (best - _SLIDE_SAMPLES + 0.5 * (cost[best - 1] - cost[best + 1]) / bend) * borders.step_px
    length = max(np.hypot(along_x, along_y), 1e-9)
    pose[1] += shift * along_x / length
    pose[2] += shift * along_y / length
    return True


@njit_part
def _narrow(count, sum_x, sum_y, sum_xx, sum_xy, sum_yy):  # type: ignore[no-untyped-def]
    """Variance of points across their main axis, from their sums: the smaller eigenvalue of the covariance matrix."""
    mx, my = sum_x / count, sum_y / count
    vxx, vxy, vyy = sum_xx / count - mx * mx, sum_xy / count - mx * my, sum_yy / count - my * my
    return 0.5 * (vxx + vyy) - np.sqrt(0.25 * ((vxx - vyy) * (vxx - vyy)) + vxy * vxy)


@njit_part
def _measure(borders, i, j, move, gap, limits, partner, mean, out):  # type: ignore[no-untyped-def]
    """Fill one row of `FEATURES`, from the samples of j that meet one of i (``partner``) along the longest run of them.

    residual² = mean of across²; color_correlation = ``sum a b / sqrt((sum a² + N) (sum b² + N))`` over the N pairs' colours,
    a and b less their means; color_spread² = mean of a² and b²; flatness² = variance of the points across their main axis.
    """
    first, points, colors = borders.first, borders.points, borders.colors
    tight, free, step = limits[0], limits[2], borders.step_px
    cos, sin = move[0], move[1]
    first_j, n = first[j], first[j + 1] - first[j]
    here, there = (np.float32(0.0), np.float32(0.0)), (move[2], move[3])
    over_j, deepest_j = _depth_of_border(borders, i, j, (cos, sin), here, there, free)
    over_i, deepest_i = _depth_of_border(borders, j, i, (cos, -sin), there, here, free)
    out[_OVERLAP_DEPTH] = max(deepest_i, deepest_j)
    out[_OVERLAP_LENGTH] = (over_i + over_j) * step
    start, stop = longest_run(partner, n)
    count = close = square = 0.0
    sum_x = sum_y = sum_xx = sum_xy = sum_yy = 0.0
    color = spread_i = spread_j = together = 0.0
    for ch in range(6):
        mean[ch] = 0.0
    for r in range(start, stop):
        k, q = partner[r % n], first_j + r % n
        if k < 0:
            continue
        x, y = points[k, 0], points[k, 1]
        dx = cos * points[q, 0] - sin * points[q, 1] + move[2] - x
        dy = sin * points[q, 0] + cos * points[q, 1] + move[3] - y
        across = dx * borders.normals[k, 0] + dy * borders.normals[k, 1] + gap
        count += 1.0
        square += across * across
        close += 1.0 if abs(across) < tight else 0.0
        sum_x += x
        sum_y += y
        sum_xx += x * x
        sum_xy += x * y
        sum_yy += y * y
        step_color = 0.0
        for ch in range(3):
            mean[ch] += colors[k, ch]
            mean[3 + ch] += colors[q, ch]
            change = colors[k, ch] - colors[q, ch]
            step_color += change * change
        color += np.sqrt(step_color)
    if count < 3:
        return
    for r in range(start, stop):
        k, q = partner[r % n], first_j + r % n
        if k < 0:
            continue
        for ch in range(3):
            a, b = colors[k, ch] - mean[ch] / count, colors[q, ch] - mean[3 + ch] / count
            spread_i += a * a
            spread_j += b * b
            together += a * b
    out[_LENGTH] = count * step
    out[_TIGHT_LENGTH] = close * step
    out[_RESIDUAL] = np.sqrt(square / count)
    out[_GAP] = (stop - start - count) * step
    out[_COLOR_STEP] = color / count
    out[_COLOR_CORRELATION] = together / np.sqrt((spread_i + count) * (spread_j + count))
    out[_COLOR_SPREAD] = np.sqrt((spread_i + spread_j) / (2 * count))
    out[_FLATNESS] = np.sqrt(max(_narrow(count, sum_x, sum_y, sum_xx, sum_xy, sum_yy), 0.0))
    out[_MIDDLE_X], out[_MIDDLE_Y] = sum_x / count, sum_y / count
    out[_SHARE] = count / min(n, first[i + 1] - first[i])


@njit_part
def _depth_of_border(borders, i, j, turn, before, after, free):  # type: ignore[no-untyped-def]
    """How many samples p of j lie deeper than ``free`` inside i, and how deep the deepest.

    They are carried to i by ``R (p - before) + after``, where ``turn`` = (cos, sin) gives R.
    """
    points, depth = borders.points, borders.depth
    count, deepest = 0.0, np.float32(0.0)
    for s in range(borders.first[j], borders.first[j + 1]):
        dx, dy = points[s, 0] - before[0], points[s, 1] - before[1]
        at = look_up(borders, i, turn[0] * dx - turn[1] * dy + after[0], turn[1] * dx + turn[0] * dy + after[1])
        if at >= 0 and depth[at] > free:
            count += 1.0
            deepest = max(deepest, depth[at])
    return count, deepest

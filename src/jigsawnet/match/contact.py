"""Where two borders touch: seams made of tight stretches with losses between them, refined and measured.

Ragged pieces agree only in part. Overlap is an error, a gap only a lack of evidence: the refinement weighs samples that lie
apart down, more and more, and what is measured comes from the stretches that touch and, by itself, from those that face
each other across a gap.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jigsawnet.borders import Borders, facing, njit, njit_part, solve_symmetric
from jigsawnet.candidates import CONTACT
from jigsawnet.types import Float32Array, FloatArray

_FACING = -0.3
_SLIDE_WEIGHT = 0.02
_SCALES_PX = (6.0, 4.5, 3.5, 2.5, 2.0, 1.5, 1.2, 1.0)
"""Distance in units at which a gap counts a quarter, in each step of the refinement."""
_REACH = 14.0
_FREE = 3.0
BEND_PX = (6.0, 15.0)
"""Half the chord over which a border's bending is measured."""


def bends(borders: Borders) -> Float32Array:
    """How far each sample stands out from the chord between its neighbours, along its inward normal, at two scales: ``(M, 2)``.

    ``((p[k - w] + p[k + w]) / 2 - p[k]) . n``: positive where the border bulges outward.
    """
    out = np.zeros((len(borders.points), len(BEND_PX)), np.float32)
    for piece in range(len(borders)):
        own = borders.samples(piece)
        points, normals = borders.points[own], borders.normals[own]
        for c, half in enumerate(BEND_PX):
            w = max(1, round(half * borders.unit_px / borders.step_px))
            chord = (np.roll(points, w, 0) + np.roll(points, -w, 0)) / 2 - points
            out[own, c] = (chord * normals).sum(1)
    return out


def settle(
    borders: Borders, i: NDArray[np.int32], j: NDArray[np.int32], pose: Float32Array | FloatArray, bend: Float32Array,
    refine: bool = True,
) -> tuple[Float32Array, Float32Array]:  # fmt: skip
    """Refine ``pose (C, 3)`` = i_from_j where borders touch, and measure: refined poses and ``(C, len(CONTACT))``."""
    poses, out = np.array(pose, np.float32, order="C"), np.zeros((len(i), len(CONTACT)), np.float32)
    scales = np.array(_SCALES_PX if refine else (), np.float32) * np.float32(borders.unit_px)
    unit = np.float32(borders.unit_px)
    _settle_all(borders.kernel, bend, np.array(i, np.int64), np.array(j, np.int64), poses, scales, unit, out)
    return poses, out


@njit
def _settle_all(borders, bend, piece_i, piece_j, poses, scales, unit, out):  # type: ignore[no-untyped-def]
    sums = np.empty(24, np.float64)
    for c in range(len(piece_i)):
        for r in range(len(scales)):
            _step(borders, piece_i[c], piece_j[c], poses[c], scales[r], unit)
        _measure(borders, bend, piece_i[c], piece_j[c], poses[c], unit, sums, out[c])


@njit_part
def _step(borders, i, j, pose, scale, unit):  # type: ignore[no-untyped-def]
    """One weighted point-to-line step.

    With s the scale, a sample that lies e inside i counts ``1 / (1 + (e / max(s, 2 units))²)``, one that lies e apart
    ``1 / (1 + (e / s)²)²``.
    """
    move = (np.cos(pose[0]), np.sin(pose[0]), pose[1], pose[2])
    first, points = borders.first[j], borders.points
    ref_x = move[0] * points[first, 0] - move[1] * points[first, 1] + pose[1]
    ref_y = move[1] * points[first, 0] + move[0] * points[first, 1] + pose[2]
    total = 0.0
    h00 = h01 = h02 = h11 = h12 = h22 = g0 = g1 = g2 = 0.0
    reach, firm = 3.0 * scale, max(scale, 2.0 * unit)
    for s in range(first, borders.first[j + 1]):
        k, x, y, nx, ny, across, along = facing(borders, i, s, move, _FACING)
        if k < 0 or across < -reach or across > 8.0 * unit or abs(along) > reach:
            continue
        if across > 0:
            trust = 1.0 / (1.0 + (across / firm) * (across / firm))
        else:
            trust = 1.0 / (1.0 + (across / scale) * (across / scale))
            trust *= trust
        px, py = x - ref_x, y - ref_y
        for part in range(2):
            ux, uy, error, w = (nx, ny, across, trust) if part == 0 else (ny, -nx, along, _SLIDE_WEIGHT * trust)
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
        total += trust
    if total < 2:
        return
    det, turn, shift_x, shift_y = solve_symmetric(h00 + 1e-3 * total, h01, h02, h11 + 1e-3, h12, h22 + 1e-3, g0, g1, g2)
    if abs(det) < 1e-9 or not abs(turn) < 0.2:
        return
    ct, st = np.cos(-turn), np.sin(-turn)
    ox, oy = pose[1] - ref_x, pose[2] - ref_y
    pose[0] -= turn
    pose[1] = ct * ox - st * oy + ref_x - shift_x
    pose[2] = st * ox + ct * oy + ref_y - shift_y


@njit_part
def _measure(borders, bend, i, j, pose, unit, sums, out):  # type: ignore[no-untyped-def]
    """Fill one row of `CONTACT`.

    A sample counts as touching by ``c = 1 / (1 + (e / unit)²)²``, as gaping by ``1 - c``. Correlations are weighted; bends of
    two sides that fit have opposite signs.
    """
    move = (np.cos(pose[0]), np.sin(pose[0]), pose[1], pose[2])
    first, colors, step = borders.first[j], borders.colors, borders.step_px
    n = borders.first[j + 1] - first
    sums[:] = 0.0
    run = miss = stretches = longest = 0
    touching = near = far = gaps = area = square = 0.0
    low_x = low_y = np.float32(1e9)
    high_x = high_y = np.float32(-1e9)
    fii = fjj = fij = cii = cjj = cij = 0.0
    near_step = far_step = 0.0
    for s in range(first, first + n):
        k, x, y, _, _, across, along = facing(borders, i, s, move, _FACING)
        close = False
        if k >= 0 and across > -_REACH * unit and across < 8.0 * unit and abs(along) < 3.0 * step:
            ratio = across / unit
            c = 1.0 / (1.0 + ratio * ratio)
            c *= c
            if across > _FREE * unit:
                area += (across - _FREE * unit) * step
                c = 0.0
            close = abs(across) < 1.25 * unit
            change = 0.0
            for ch in range(3):
                a, b = colors[k, ch], colors[s, ch]
                change += (a - b) * (a - b)
                sums[ch] += c * a
                sums[3 + ch] += c * b
            change = np.sqrt(change)
            near += c
            near_step += c * change
            square += c * across * across
            if across < _FREE * unit:
                f = 1.0 - c
                far += f
                far_step += f * change
                gaps += max(-across, 0.0)
                for ch in range(3):
                    sums[6 + ch] += f * colors[k, ch]
                    sums[9 + ch] += f * colors[s, ch]
            fii += c * bend[k, 0] * bend[k, 0]
            fjj += c * bend[s, 0] * bend[s, 0]
            fij -= c * bend[k, 0] * bend[s, 0]
            cii += c * bend[k, 1] * bend[k, 1]
            cjj += c * bend[s, 1] * bend[s, 1]
            cij -= c * bend[k, 1] * bend[s, 1]
        if close:
            touching += 1.0
            run += 1
            miss = 0
            longest = max(longest, run)
            if run == 3:
                stretches += 1
            low_x, high_x = min(low_x, x), max(high_x, x)
            low_y, high_y = min(low_y, y), max(high_y, y)
        else:
            miss += 1
            if miss > 1:
                run = 0
    if near + far < 2.0:
        return
    nii = njj = nij = wii = wjj = wij = 0.0
    for s in range(first, first + n):
        k, _, _, _, _, across, along = facing(borders, i, s, move, _FACING)
        if k >= 0 and across > -_REACH * unit and across < _FREE * unit and abs(along) < 3.0 * step:
            ratio = across / unit
            c = 1.0 / (1.0 + ratio * ratio)
            c *= c
            for ch in range(3):
                if near > 0.5:
                    a, b = colors[k, ch] - sums[ch] / near, colors[s, ch] - sums[3 + ch] / near
                    nii += c * a * a
                    njj += c * b * b
                    nij += c * a * b
                if far > 0.5:
                    a, b = colors[k, ch] - sums[6 + ch] / far, colors[s, ch] - sums[9 + ch] / far
                    wii += (1.0 - c) * a * a
                    wjj += (1.0 - c) * b * b
                    wij += (1.0 - c) * a * b
    out[0] = touching * step
    out[1] = stretches
    out[2] = longest * step
    out[3] = np.hypot(high_x - low_x, high_y - low_y) if touching > 1 else 0.0
    out[4] = np.sqrt(square / max(near, 1e-3))
    fine, coarse = 0.04 * unit * unit * near, 0.25 * unit * unit * near
    out[5] = fij / np.sqrt((fii + fine) * (fjj + fine) + 1e-9)
    out[6] = cij / np.sqrt((cii + coarse) * (cjj + coarse) + 1e-9)
    out[7] = np.sqrt((fii + fjj) / max(2 * near, 1e-3))
    out[8] = (near + far) * step
    out[9] = gaps / (near + far)
    out[10] = area
    out[11] = near_step / max(near, 0.5)
    out[12] = nij / np.sqrt((nii + near + 1e-3) * (njj + near + 1e-3))
    out[13] = far_step / max(far, 0.5)
    out[14] = wij / np.sqrt((wii + far + 1e-3) * (wjj + far + 1e-3))
    out[15] = np.sqrt((wii + wjj) / max(2 * far, 0.5))

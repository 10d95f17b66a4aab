"""Front and back of the same pieces, paired by their places or by their shapes.

Where the page was turned over from left to right, places are mirrored; pieces turned over one by one lie anywhere. A back is
laid exactly over its front by the rigid motion that brings the two masks together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import cv2
import numpy as np
import scipy

from jigsawnet.fragments.scan import ScanResult
from jigsawnet.geometry import SE2
from jigsawnet.nearest import nearest_pixels
from jigsawnet.types import BoolArray, Float32Array, FloatArray, Piece, UInt8Array

_NEAR = 0.35
"""Two centres agree when they are nearer than this part of a piece's size."""
_AREA_TIMES = 1.4
"""Front and back of a piece differ in area by less than this factor."""
_N_ANGLES, _N_TRIED, _COARSE_PX = 72, 6, 96
"""Angles compared in masks of the coarse size, and how many of them are refined."""
_ROUNDS = 25
_FAR_PX = 6.0
"""Borders further apart than this are damage, not a shift, and count less."""
_MAX_POINTS = 2000
_N_RADII, _N_BORDER = 256, 8000
"""Angles at which the radius of a piece is measured, and points of its border that are looked at."""
_ALIKE, _CLEARLY, _NOISE = 0.02, 0.6, 0.003
"""Shapes are the same when their borders are nearer than this part of a piece's size, and than this part of any other's;
those of one piece in two scans differ by about the last."""


def pair_backs(front: ScanResult, back: ScanResult) -> dict[int, int]:
    """Which piece of the back scan shows the back of which piece of the front scan: ``{front: back}``.

    The page may lie elsewhere in the second scan, but not turned. A piece whose mirrored place is empty has no pair.
    """
    if not front.pieces or not back.pieces:
        return {}
    mirrored = np.array([_center(piece.mask) + piece.corner for piece in front.pieces])
    mirrored[:, 0] = front.background.page_size[0] - 1 - mirrored[:, 0]
    centers = np.array([_center(piece.mask) + piece.corner for piece in back.pieces])
    areas, back_areas = (np.array([p.area_px for p in side.pieces], np.float64) for side in (front, back))
    near_px = _NEAR * np.sqrt(areas)
    offsets = centers[None] - mirrored[:, None]
    distance = np.linalg.norm(offsets - _common_shift(offsets, float(np.median(near_px))), axis=2)
    unlike = np.abs(np.log(areas[:, None] / back_areas[None])) > np.log(_AREA_TIMES)
    cost = np.where(unlike | (distance > near_px[:, None]), 1e6, distance)
    rows, cols = scipy.optimize.linear_sum_assignment(cost)
    return {int(i): int(j) for i, j in zip(rows, cols, strict=True) if cost[i, j] < 1e6}


def pair_sides(front: ScanResult, back: ScanResult) -> tuple[dict[int, int], dict[int, int]]:
    """Pairs ``{front: back}`` by place, and by shape of what is left; by shape alone when shapes refute places."""
    placed = pair_backs(front, back)
    if not are_placed(front, back, placed):
        shaped = pair_by_shape(front, back, {})
        if len(shaped) >= len(placed):
            return {}, shaped
    return placed, pair_by_shape(front, back, placed)


def pair_by_shape(front: ScanResult, back: ScanResult, placed: dict[int, int]) -> dict[int, int]:
    """Which backs show the pieces that are not ``placed`` yet, by shape, at any angle and place.

    Pairs are made where two shapes are alike and each is much less like all others; pieces that are all alike have none.
    """
    left = [i for i in range(len(front.pieces)) if i not in placed]
    taken = set(placed.values())
    free = [j for j in range(len(back.pieces)) if j not in taken]
    if not left or not free:
        return {}
    unlike = _unlike([front.pieces[i].mask[:, ::-1] for i in left], [back.pieces[j].mask for j in free])
    rows, cols = scipy.optimize.linear_sum_assignment(unlike)
    pairs = {}
    for i, j in zip(rows, cols, strict=True):
        others = np.concatenate([np.delete(unlike[i], j), np.delete(unlike[:, j], i), [1.0]])
        if unlike[i, j] < min(_ALIKE, _CLEARLY * float(others.min())):
            pairs[left[int(i)]] = free[int(j)]
    return pairs


def are_placed(front: ScanResult, back: ScanResult, placed: dict[int, int]) -> bool:
    """Whether pairs by place are about as alike in shape as any back is; if not, the page was not turned over as a whole."""
    if not placed:
        return False
    unlike = _unlike([front.pieces[i].mask[:, ::-1] for i in placed], [piece.mask for piece in back.pieces])
    paired = unlike[np.arange(len(placed)), list(placed.values())]
    return float(np.median(paired)) < 2 * float(np.median(unlike.min(axis=1))) + _NOISE


def _unlike(masks: Sequence[BoolArray], others: Sequence[BoolArray]) -> FloatArray:
    """How unlike shapes are at the best angle ``(n, m)``: distance of their borders, as a part of a piece's size.

    With radii ``a, b`` by angle, of mean square 1: ``min over turns of mean (a - b)^2 = |a|^2 + |b|^2 - 2 max correlation``.
    """
    first, second = (np.array([_radii(mask) for mask in some]) for some in (masks, others))
    spectrum = np.fft.rfft(first, axis=1)[:, None] * np.conj(np.fft.rfft(second, axis=1))[None]
    best = np.fft.irfft(spectrum, n=_N_RADII, axis=2).max(axis=2) / _N_RADII
    square = (first**2).mean(axis=1)[:, None] + (second**2).mean(axis=1)[None] - 2 * best
    return np.asarray(np.sqrt(np.maximum(square, 0.0)), np.float64)


def _radii(mask: BoolArray) -> FloatArray:
    """Farthest border point by angle about the centre ``(N,)``, over the root of the piece's area."""
    away = _border(mask, _N_BORDER) - _center(mask)
    bins = np.floor((np.arctan2(away[:, 1], away[:, 0]) / (2 * np.pi) + 0.5) * _N_RADII).astype(int) % _N_RADII
    radii = np.zeros(_N_RADII)
    np.maximum.at(radii, bins, np.linalg.norm(away, axis=1))
    seen = np.flatnonzero(radii)
    filled = np.interp(np.arange(_N_RADII), seen, radii[seen], period=_N_RADII)
    smooth = scipy.ndimage.gaussian_filter1d(filled, 1.0, mode="wrap")
    return np.asarray(smooth / np.sqrt(np.count_nonzero(mask)), np.float64)


def _common_shift(offsets: FloatArray, near_px: float) -> FloatArray:
    """The shift ``(2,)`` on which most pieces agree; ``offsets (n, m, 2)`` are all differences of places."""
    votes = offsets.reshape(-1, 2)
    tree = scipy.spatial.cKDTree(votes)
    counts = tree.query_ball_point(votes, near_px, return_length=True)
    best = votes[np.lexsort((np.linalg.norm(votes, axis=1), -counts))[0]]
    return np.asarray(np.median(votes[tree.query_ball_point(best, near_px)], axis=0), np.float64)


def lay_back(front: Piece, back: Piece, *, any_angle: bool = False) -> Piece:
    """The back on a canvas as large as the front's, as seen from behind: flipped from left to right it lies on the front.

    ``back`` was photographed at about the same angle as the front, but for being turned over; or at any angle.
    """
    mask = np.ascontiguousarray(front.mask[:, ::-1])
    image = _lay_over(back.image, back.mask, mask, _turn_onto(back.mask, mask, any_angle=any_angle))
    return Piece(front.idx, front.name, np.where(mask[..., None], image, np.uint8(0)), mask)


def _turn_onto(mask: BoolArray, target: BoolArray, *, any_angle: bool = False) -> SE2:
    """``target_from_mask``: lays one mask ``(H, W)``, not empty, on another; from about the same angle, or from any."""
    if mask.shape == target.shape and np.array_equal(mask, target):
        return SE2.identity()
    border, depth = _border(mask), _signed_depth(target)
    angles = _likely_angles(mask, target) if any_angle else [0.0]
    middle, target_middle = _center(mask), _center(target)
    tried = [_refine(SE2(angle, *(target_middle - SE2(angle, 0.0, 0.0) @ middle)), border, depth) for angle in angles]
    return min(tried, key=lambda one: one[1])[0]


def _lay_over(image: UInt8Array, mask: BoolArray, target: BoolArray, target_from_mask: SE2) -> UInt8Array:
    """Colours ``(H, W, 3)`` of a piece moved onto ``target (H, W)``; beyond its mask they are continued from its border."""
    if mask.shape == target.shape and target_from_mask == SE2.identity():
        return image
    filled = image.reshape(-1, 3)[nearest_pixels(mask)[0]]
    size = target.shape[1], target.shape[0]
    matrix = target_from_mask.matrix()[:2]
    return np.asarray(cv2.warpAffine(filled, matrix, size, flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE), np.uint8)


def _center(mask: BoolArray) -> FloatArray:
    y, x = np.nonzero(mask)
    return np.array([x.mean(), y.mean()])


def _border(mask: BoolArray, most: int = _MAX_POINTS) -> FloatArray:
    curves, _ = cv2.findContours(mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    points = np.concatenate([curve.reshape(-1, 2) for curve in curves]).astype(np.float64)
    return points[:: 1 + len(points) // most]


def _signed_depth(mask: BoolArray) -> Float32Array:
    """Px to the outermost pixels of a mask, positive inside; 0 at these pixels."""
    inside = mask.astype(np.uint8)
    inward = cv2.distanceTransform(np.pad(inside, 1), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)[1:-1, 1:-1]
    outward = cv2.distanceTransform(1 - inside, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    return np.where(mask, inward - 1.0, -outward).astype(np.float32)


def _likely_angles(mask: BoolArray, target: BoolArray) -> list[float]:
    """The angles at which the two masks, turned about their centres, have most in common."""
    scale = _COARSE_PX / max(*mask.shape, *target.shape)
    side = 2 * _COARSE_PX
    to_middle = SE2(0.0, side / 2, side / 2)
    fixed = _warp(target, to_middle, _center(target), scale, side)
    common = []
    for k in range(_N_ANGLES):
        turned = _warp(mask, to_middle @ SE2(2 * math.pi * k / _N_ANGLES, 0.0, 0.0), _center(mask), scale, side)
        common.append(float(np.minimum(fixed, turned).sum()))
    return [2 * math.pi * int(k) / _N_ANGLES for k in np.argsort(common)[::-1][:_N_TRIED]]


def _warp(mask: BoolArray, canvas_from_center: SE2, center: FloatArray, scale: float, side: int) -> Float32Array:
    matrix = canvas_from_center.matrix() @ np.diag([scale, scale, 1.0]) @ SE2(0.0, *(-center)).matrix()
    return np.asarray(cv2.warpAffine(mask.astype(np.float32), matrix[:2], (side, side)), np.float32)


def _refine(start: SE2, border: FloatArray, depth: Float32Array) -> tuple[SE2, float]:
    """Gauss-Newton on the distance of the border ``(N, 2)`` from the target's; the pose, and the mean distance left in px."""
    slope_x = np.asarray(cv2.Sobel(depth, cv2.CV_32F, 1, 0, ksize=3, scale=1 / 8), np.float32)
    slope_y = np.asarray(cv2.Sobel(depth, cv2.CV_32F, 0, 1, ksize=3, scale=1 / 8), np.float32)
    pose = start
    center = border.mean(axis=0)
    for _ in range(_ROUNDS):
        points = pose @ border
        away, across, down = (_sample(field, points) for field in (depth, slope_x, slope_y))
        weight = 1.0 / (1.0 + (away / _FAR_PX) ** 2)
        arm = points - pose @ center
        jacobian = np.column_stack([down * arm[:, 0] - across * arm[:, 1], across, down])
        normal = jacobian.T @ (jacobian * weight[:, None]) + 1e-6 * len(border) * np.eye(3)
        turn, x, y = -np.linalg.solve(normal, jacobian.T @ (weight * away))
        middle = pose @ center
        about = SE2(0.0, *middle) @ SE2(float(np.clip(turn, -0.2, 0.2)), float(x), float(y)) @ SE2(0.0, *(-middle))
        pose = about @ pose
    return pose, float(np.abs(_sample(depth, pose @ border)).mean())


def _sample(field: Float32Array, points: FloatArray) -> FloatArray:
    """Values at points ``(N, 2)``, between pixels; beyond the field those at its edge."""
    x, y = points.astype(np.float32).T
    return cv2.remap(field, x[:, None], y[:, None], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)[:, 0].astype(np.float64)

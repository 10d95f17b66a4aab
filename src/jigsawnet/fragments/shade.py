"""The shadows beside pieces, as one law for the whole page: the same light falls on all of them.

The part of the light that is taken beside paper is a sum of copies of the paper's mask, each shifted and blurred. How much of
each is found from the page itself, where shadow lies openly on the background.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

from jigsawnet.fragments.background import Background, Tile, tiles
from jigsawnet.types import BoolArray, Float32Array, FloatArray, UInt8Array

RIM_PX = 48
"""How far around a window the mask must be known."""
_BLURS_PX, _SHIFTS_PX, _N_DIRECTIONS = (1.5, 3.0, 6.0), (2, 5, 9, 14), 8
"""Copies of the mask: each blur, shifted by each distance in each direction, and not shifted."""
_NEAREST_PX, _FARTHEST_PX = 2.5, 24.0
"""Distances from paper between which shadow is looked at."""
_MAX_SAMPLES, _ROUNDS = 8_000, 3
"""Pixels that the law is fitted to, and rounds of robust least squares."""
_SWEEPS = 25
_RIDGE = 1e-6
"""Only keeps the equations solvable. More of it makes the law too weak beside paper, where it is needed: measured."""
_LEAST_SAMPLES = 500
_DEEPEST_LIGHT, _TINT = 0.3, 0.08
"""What keeps less of the light, or is further off the background's tint, is no shadow."""


@dataclass(frozen=True, slots=True)
class Shade:
    """A law of shadows: ``(blur_px, dx, dy, weight)`` of each copy of the mask, and how far off it is on the page."""

    terms: tuple[tuple[float, int, int, float], ...] = ()
    error: float = 0.0
    """Typical difference, as a part of the light, between what the law says and what the page shows."""

    def window(self, paper: BoolArray) -> Float32Array:
        """Part of the light that is taken in a window ``(H, W)`` of the page, of which ``paper`` is the mask."""
        taken = np.zeros(paper.shape, np.float32)
        for blur_px in _BLURS_PX:
            terms = [term for term in self.terms if term[0] == blur_px]
            if terms:
                blurred = _blur(paper, blur_px)
                for _, dx, dy, weight in terms:
                    taken += np.float32(weight) * _shift(blurred, dx, dy)
        return np.minimum(taken, np.float32(1.0 - _DEEPEST_LIGHT))


def fit_shade(picture: UInt8Array, paper: BoolArray, background: Background) -> Shade:
    """Find the law of shadows on a page ``(H, W, 3)`` from what lies around its ``paper (H, W)``; an empty one without any."""
    shifts = _shifts()
    parts: list[FloatArray] = []
    seen: list[FloatArray] = []
    height, width = paper.shape
    step = max(1, int(np.count_nonzero(paper)) // _MAX_SAMPLES)
    for tile in tiles(height, width, RIM_PX):
        chosen, taken = _samples(picture, paper, background, tile, step)
        if len(taken):
            parts.append(_features(paper[tile.outer], chosen, shifts))
            seen.append(taken)
    if sum(map(len, seen)) < _LEAST_SAMPLES:
        return Shade()
    features, taken = np.concatenate(parts), np.concatenate(seen)
    every = 1 + len(taken) // _MAX_SAMPLES
    return _solve(features[::every], taken[::every], shifts)


def _shifts() -> list[tuple[int, int]]:
    angles = [2 * math.pi * k / _N_DIRECTIONS for k in range(_N_DIRECTIONS)]
    around = [(round(far * math.cos(angle)), round(far * math.sin(angle))) for far in _SHIFTS_PX for angle in angles]
    return [(0, 0), *around]


def _samples(
    picture: UInt8Array, paper: BoolArray, background: Background, tile: Tile, step: int
) -> tuple[tuple[np.ndarray, np.ndarray], FloatArray]:
    """Pixels of a tile beside paper, and the part of the light that is taken there."""
    own = paper[tile.outer]
    away = cv2.distanceTransform((~own).astype(np.uint8), cv2.DIST_L2, 5)
    beside = np.zeros_like(own)
    beside[tile.core] = ((away > _NEAREST_PX) & (away < _FARTHEST_PX))[tile.core]
    y, x = (index[::step] for index in np.nonzero(beside))
    behind = background.window(*tile.corner, own.shape[1], own.shape[0])[y, x].astype(np.float64)
    colors = cv2.GaussianBlur(picture[tile.outer], (0, 0), 1.0)[y, x].astype(np.float64)
    power = np.maximum((behind * behind).sum(axis=1), 1.0)
    light = (colors * behind).sum(axis=1) / power
    tint = np.linalg.norm(colors - light[:, None] * behind, axis=1) / np.sqrt(power)
    usable = (light > _DEEPEST_LIGHT) & (light < 1.1) & (tint < _TINT)
    return (y[usable], x[usable]), 1.0 - light[usable]


def _features(paper: BoolArray, at: tuple[np.ndarray, np.ndarray], shifts: list[tuple[int, int]]) -> FloatArray:
    """Every shifted and blurred copy of the mask at some pixels, ``(N, copies)``."""
    y, x = at
    columns = []
    for blur_px in _BLURS_PX:
        blurred = _blur(paper, blur_px)
        rows, cols = blurred.shape
        columns += [blurred[np.clip(y - dy, 0, rows - 1), np.clip(x - dx, 0, cols - 1)] for dx, dy in shifts]
    return np.column_stack(columns).astype(np.float64)


def _solve(features: FloatArray, taken: FloatArray, shifts: list[tuple[int, int]]) -> Shade:
    """Weights, none negative, by least squares in which what is far off counts little."""
    weight = np.ones(len(taken))
    solution = np.zeros(features.shape[1])
    spread = 0.0
    for _ in range(_ROUNDS):
        gram = (features * weight[:, None]).T @ features + _RIDGE * len(taken) * np.eye(features.shape[1])
        solution = _no_less_than_zero(gram, features.T @ (weight * taken), solution)
        off = taken - features @ solution
        spread = float(np.percentile(np.abs(off), 80))
        weight = 1.0 / (1.0 + (off / max(3.0 * spread, 0.01)) ** 2) ** 2
    copies = [(blur_px, dx, dy) for blur_px in _BLURS_PX for dx, dy in shifts]
    terms = tuple((*copy, float(w)) for copy, w in zip(copies, solution, strict=True) if w > 0.003)
    return Shade(terms, spread)


def _no_less_than_zero(gram: FloatArray, target: FloatArray, start: FloatArray) -> FloatArray:
    """Least ``x gram x / 2 - target x`` with no x below 0, one x after the other (loading scipy's solver takes longer)."""
    x = start.copy()
    for _ in range(_SWEEPS):
        for k in range(len(x)):
            x[k] = max(0.0, x[k] + (target[k] - gram[k] @ x) / gram[k, k])
    return x


def _blur(paper: BoolArray, blur_px: float) -> Float32Array:
    return np.asarray(cv2.GaussianBlur(paper.astype(np.float32), (0, 0), blur_px), np.float32)


def _shift(values: Float32Array, dx: int, dy: int) -> Float32Array:
    matrix = np.array([[1.0, 0.0, dx], [0.0, 1.0, dy]])
    size = values.shape[1], values.shape[0]
    return np.asarray(
        cv2.warpAffine(values, matrix, size, flags=cv2.INTER_NEAREST, borderMode=cv2.BORDER_REPLICATE), np.float32
    )

"""What pieces lie on: card, a white lid, wood, a dark lid, fabric, a cutting mat with its grid → pictures of empty pages."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import cv2
import numpy as np

from jigsawnet.types import Float32Array

Color = tuple[float, float, float]

_MM_PX = 5.9
"""Pixels per mm of a page at 150 dpi, for which textures are made."""


def smooth_noise(shape: tuple[int, int], cell_px: tuple[float, float], rng: np.random.Generator) -> Float32Array:
    """Noise ``(H, W)`` of deviation 1 that changes over ``cell_px`` down and across."""
    cells = [max(2, math.ceil(side / cell) + 3) for side, cell in zip(shape, cell_px, strict=True)]
    coarse = rng.standard_normal(cells, np.float32)
    fine = cv2.resize(coarse, (shape[1], shape[0]), interpolation=cv2.INTER_CUBIC)
    return np.asarray(fine / max(1e-6, float(fine.std())), np.float32)


def card(shape: tuple[int, int], color: Color, unit: float, rng: np.random.Generator) -> Float32Array:
    """Coloured card: even, with a faint grain."""
    return _tinted(color, 1.0 + 0.012 * smooth_noise(shape, (2 * unit, 2 * unit), rng))


def white(shape: tuple[int, int], color: Color, unit: float, rng: np.random.Generator) -> Float32Array:
    """A white lid or sheet."""
    return _tinted(color, 1.0 + 0.003 * smooth_noise(shape, (3 * unit, 3 * unit), rng))


def wood(shape: tuple[int, int], color: Color, unit: float, rng: np.random.Generator) -> Float32Array:
    """Planks: streaks and rings along the grain, dark pores, a seam between planks."""
    height = shape[0]
    streaks = 0.6 * smooth_noise(shape, (3 * unit, 220 * unit), rng) + 0.4 * smooth_noise(shape, (12 * unit, 500 * unit), rng)
    bend = smooth_noise(shape, (240 * unit, 700 * unit), rng)
    y = np.arange(height, dtype=np.float32)[:, None]
    rings = np.sin(y / (rng.uniform(5, 11) * unit) + 2.5 * bend)
    pores = np.clip(smooth_noise(shape, (1.6 * unit, 40 * unit), rng) - 2.0, 0, 1)
    light = 1.0 + rng.uniform(0.03, 0.07) * streaks + rng.uniform(0.02, 0.06) * rings - 0.25 * pores
    top = int(rng.uniform(0, 300 * unit))
    for seam in range(top, height, max(60, int(rng.uniform(350, 700) * unit))):
        light[seam:] *= rng.uniform(0.93, 1.07)
        light[seam : seam + max(1, round(1.5 * unit))] *= 0.55
    tint = 0.02 * smooth_noise(shape, (60 * unit, 600 * unit), rng)
    page = _tinted(color, np.clip(light, 0.2, 1.6))
    page[..., 2] *= 1.0 - tint
    return page if rng.random() < 0.5 else np.ascontiguousarray(_turned(page))


def _turned(page: Float32Array) -> Float32Array:
    """The same planks, lying the other way."""
    height, width = page.shape[:2]
    side = max(height, width)
    square = cv2.copyMakeBorder(page, 0, side - height, 0, side - width, cv2.BORDER_REFLECT)
    return np.asarray(square.transpose(1, 0, 2)[:height, :width], np.float32)


def lid(shape: tuple[int, int], color: Color, unit: float, rng: np.random.Generator) -> Float32Array:
    """A dark lid of embossed card: fine lines, paler patches, dust and hairs."""
    height, width = shape
    lines = smooth_noise(shape, (1.5 * unit, 30 * unit), rng) + 0.6 * smooth_noise(shape, (30 * unit, 2 * unit), rng)
    page = _tinted(color, np.ones(shape, np.float32))
    page += (rng.uniform(1.0, 3.0) * lines + 1.5 * smooth_noise(shape, (60 * unit, 60 * unit), rng))[..., None]
    for _ in range(int(rng.uniform(20, 150))):
        at = int(rng.integers(width)), int(rng.integers(height))
        cv2.circle(page, at, int(rng.integers(0, 2)), [float(rng.uniform(70, 220))] * 3, -1, cv2.LINE_AA)
    for _ in range(int(rng.integers(0, 8))):
        at_xy = np.array([rng.integers(width), rng.integers(height)])
        path = at_xy + np.cumsum(rng.normal(0, 4 * unit, (12, 2)) + rng.normal(0, 5 * unit, 2), axis=0)
        cv2.polylines(page, [path.astype(np.int32)], False, [float(rng.uniform(60, 130))] * 3, 1, cv2.LINE_AA)
    return page


def fabric(shape: tuple[int, int], color: Color, unit: float, rng: np.random.Generator) -> Float32Array:
    """Cloth: a weave of threads, and soft folds."""
    height, width = shape
    period = rng.uniform(4, 8) * unit
    y, x = np.arange(height, dtype=np.float32)[:, None], np.arange(width, dtype=np.float32)
    drift = 1.5 * smooth_noise(shape, (90 * unit, 90 * unit), rng)
    weave = np.sin(2 * np.pi * x / period + drift) * np.sin(2 * np.pi * y / period - drift)
    threads = smooth_noise(shape, (period, 40 * unit), rng) + smooth_noise(shape, (40 * unit, period), rng)
    folds = smooth_noise(shape, (260 * unit, 260 * unit), rng)
    light = 1.0 + rng.uniform(0.04, 0.12) * weave + rng.uniform(0.01, 0.04) * threads + 0.03 * folds
    return _tinted(color, np.clip(light, 0.3, 1.6))


def mat(shape: tuple[int, int], color: Color, unit: float, rng: np.random.Generator) -> Float32Array:
    """A cutting mat: a grid of paler lines each cm, stronger ones each five, scratches."""
    height, width = shape
    page = _tinted(color, 1.0 + 0.02 * smooth_noise(shape, (1.5 * unit, 1.5 * unit), rng))
    pale = np.array(color) + rng.uniform(30, 90)
    cm = 10 * _MM_PX * unit
    start_x, start_y = rng.uniform(0, cm, 2)
    for across, start, length in ((True, start_x, width), (False, start_y, height)):
        for k, at in enumerate(np.arange(start, length, cm)):
            strong = k % 5 == 0
            line = pale.tolist() if strong else (0.5 * (pale + color)).tolist()
            p = round(float(at))
            ends = ((p, 0), (p, height)) if across else ((0, p), (width, p))
            cv2.line(page, *ends, line, max(1, round((2 if strong else 1) * unit)), cv2.LINE_AA)
    for _ in range(int(rng.integers(0, 12))):
        a, b = rng.uniform(0, 1, (2, 2)) * (width, height)
        b = a + 0.3 * (b - a)
        scratch = (np.array(color) * rng.uniform(0.7, 1.25)).tolist()
        cv2.line(page, tuple(a.astype(int).tolist()), tuple(b.astype(int).tolist()), scratch, 1, cv2.LINE_AA)
    return page


PAINTERS: Mapping[str, Callable[[tuple[int, int], Color, float, np.random.Generator], Float32Array]] = {
    "card": card,
    "white": white,
    "wood": wood,
    "lid": lid,
    "fabric": fabric,
    "mat": mat,
}
COLORS: Mapping[str, tuple[Color, ...]] = {
    "card": ((252, 200, 70), (60, 130, 80), (40, 70, 140), (200, 60, 60), (120, 120, 125), (20, 20, 22)),
    "white": ((250, 250, 249), (244, 244, 242), (238, 240, 243)),
    "wood": ((165, 120, 75), (120, 80, 50), (205, 170, 125), (150, 100, 70)),
    "lid": ((28, 28, 30), (35, 33, 32), (40, 42, 50)),
    "fabric": ((60, 75, 110), (130, 45, 50), (190, 180, 160), (70, 90, 70), (45, 45, 50)),
    "mat": ((40, 95, 75), (45, 65, 110), (75, 78, 80)),
}
"""Colours in which each ground is usual."""


def _tinted(color: Color, light: Float32Array) -> Float32Array:
    return np.asarray(light[..., None] * np.array(color, np.float32), np.float32)

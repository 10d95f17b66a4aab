"""Random fields that damage is drawn from."""

from __future__ import annotations

import math

import cv2
import numpy as np

from jigsawnet.types import Float32Array

_CUBIC_LOSS = 1.25
"""Cubic interpolation of white noise leaves this much less of its standard deviation."""


def smooth_noise(shape: tuple[int, ...], wave_px: float, rng: np.random.Generator) -> Float32Array:
    """Random smooth field ``(H, W)`` of standard deviation near 1, with bumps about ``wave_px`` wide."""
    height, width = shape
    if wave_px <= 1.0:
        return rng.standard_normal((height, width), np.float32)
    size = math.ceil(height / wave_px) + 3, math.ceil(width / wave_px) + 3
    coarse = rng.standard_normal(size, np.float32) * np.float32(_CUBIC_LOSS)
    shift = rng.uniform(0.5, 1.5, 2)
    matrix = np.array([[1.0 / wave_px, 0.0, shift[0]], [0.0, 1.0 / wave_px, shift[1]]])
    flags = cv2.INTER_CUBIC | cv2.WARP_INVERSE_MAP
    return np.asarray(cv2.warpAffine(coarse, matrix, (width, height), flags=flags, borderMode=cv2.BORDER_REFLECT), np.float32)


def rough_noise(shape: tuple[int, ...], wave_px: float, rng: np.random.Generator) -> Float32Array:
    """As `smooth_noise`, with finer bumps on the coarse ones down to the pixel."""
    parts = [0.5**k * smooth_noise(shape, wave_px / 2.5**k, rng) for k in range(4)]
    return np.asarray(sum(parts) / np.float32(math.sqrt(sum(0.25**k for k in range(4)))), np.float32)

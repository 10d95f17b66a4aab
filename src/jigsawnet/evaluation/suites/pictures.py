"""Made-up pictures to cut, for whoever has no photographs at hand."""

from __future__ import annotations

import cv2
import numpy as np

from jigsawnet.types import Float32Array, UInt8Array

_WAVES = ((90.0, 40.0), (22.0, 22.0), (4.0, 9.0), (1.2, 5.0))
"""Width in px and strength in grey levels of the colour fields."""


def make_picture(rng: np.random.Generator, width: int = 1200, height: int = 800) -> UInt8Array:
    """One picture ``(height, width, 3)`` RGB: colour fields from coarse to fine, with discs and bars, a landscape of a kind."""
    picture = np.full((height, width, 3), 135.0, np.float32)
    for wave_px, strength in _WAVES:
        picture += strength * _color_field(rng, height, width, wave_px)
    for _ in range(40):
        color = tuple(rng.uniform(30, 250, 3).tolist())
        x, y, end_x, end_y = (int(value) for value in rng.integers(0, (width, height, width, height)))
        cv2.circle(picture, (x, y), int(rng.integers(10, 60)), color, thickness=-1, lineType=cv2.LINE_AA)
        cv2.line(picture, (x, y), (end_x, end_y), color, thickness=int(rng.integers(2, 12)), lineType=cv2.LINE_AA)
    grain = rng.normal(0.0, 4.0, picture.shape).astype(np.float32)
    return np.asarray(np.clip(picture + grain, 0, 255), np.uint8)


def _color_field(rng: np.random.Generator, height: int, width: int, wave_px: float) -> Float32Array:
    """Smooth random colours ``(height, width, 3)`` with standard deviation near 1 and bumps about ``wave_px`` wide."""
    size = max(2, round(height / wave_px)) + 3, max(2, round(width / wave_px)) + 3
    coarse = rng.standard_normal((*size, 3), np.float32)
    return np.asarray(cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC), np.float32)

"""Age and light: a picture that has turned yellow, was stained and folded, and pieces that are not lit alike."""

from __future__ import annotations

import math

import numpy as np

from jigsawnet.shred.damage import Damage
from jigsawnet.shred.noise import rough_noise, smooth_noise
from jigsawnet.types import Float32Array, UInt8Array

_OLD_PAPER = np.array([226.0, 204.0, 158.0], np.float32)
_OLD_LIGHT = np.array([1.0, 0.94, 0.76], np.float32)
_STAIN = np.array([0.62, 0.5, 0.34], np.float32)
"""What is left of the light in the darkest stain."""


def age_picture(picture: UInt8Array, damage: Damage, rng: np.random.Generator) -> UInt8Array:
    """Make a whole picture ``(H, W, 3)`` yellow and pale, stain it and fold it, before it falls to pieces."""
    height, width = picture.shape[:2]
    colors = picture.astype(np.float32)
    if damage.yellow > 0:
        uneven = np.clip(0.8 + 0.15 * smooth_noise((height, width), max(height, width) / 4.0, rng), 0.0, 1.0)
        much = (damage.yellow * uneven)[..., None]
        old = colors * (0.75 * _OLD_LIGHT) + 0.25 * _OLD_PAPER
        colors = colors + much * (old - colors)
    if damage.stains > 0:
        field = rough_noise((height, width), max(height, width) / 7.0, rng)
        start = 1.9 - 1.4 * damage.stains
        wet = np.clip((field - start) / 0.25, 0.0, 1.0)
        seam = wet * np.exp(-((field - start - 0.2) ** 2) / 0.02)  # the brown edge where a stain dried
        much = np.clip(0.45 * wet + 0.4 * seam, 0.0, 1.0)[..., None] * (0.4 + 0.6 * damage.stains)
        colors = colors * (1.0 + much * (_STAIN - 1.0))
    for _ in range(damage.folds):
        colors = _fold(colors, rng)
    return np.clip(np.rint(colors), 0, 255).astype(np.uint8)


def _fold(colors: Float32Array, rng: np.random.Generator) -> Float32Array:
    """One fold across the picture: a worn, pale line of 1 to 3 px, broken in places, darker beside it."""
    height, width = colors.shape[:2]
    upright = rng.random() < 0.5
    angle = rng.normal(0.0, 0.06) + (math.pi / 2.0 if upright else 0.0)
    middle = rng.uniform(0.2, 0.8, 2) * (width, height)
    y, x = np.mgrid[:height, :width].astype(np.float32)
    beside = (y - middle[1]) * math.cos(angle) - (x - middle[0]) * math.sin(angle)
    beside = beside + 0.7 * smooth_noise((height, width), 6.0, rng)
    worn = np.clip(0.6 + 0.5 * smooth_noise((height, width), 14.0, rng), 0.0, 1.0)
    line = worn * np.exp(-((beside / rng.uniform(0.8, 1.6)) ** 2))
    dark = 0.12 * np.exp(-np.abs(beside) / 5.0) * (beside > 0)
    shaded = colors * (1.0 - dark[..., None])
    return np.asarray(shaded + 0.7 * line[..., None] * (235.0 - shaded), np.float32)


def light_piece(image: UInt8Array, damage: Damage, color_shift: float, rng: np.random.Generator) -> Float32Array:
    """Brightness and tint ``(H, W, 3)`` of one piece, even (``light``, ``color_shift``) and as a gradient (``shade``)."""
    colors = image.astype(np.float32)
    spread = math.hypot(damage.light, color_shift)
    if spread > 0:
        gain = max(0.1, 1.0 + spread / 128.0 * rng.standard_normal())
        colors = colors * np.float32(gain) + rng.normal(0.0, 0.5 * spread, 3).astype(np.float32)
    if damage.shade > 0:
        angle, strength = rng.uniform(0.0, 2.0 * math.pi), damage.shade * rng.uniform(0.3, 1.0)
        height, width = image.shape[:2]
        y, x = np.mgrid[-1.0 : 1.0 : height * 1j, -1.0 : 1.0 : width * 1j].astype(np.float32)
        slope = np.clip(math.cos(angle) * x + math.sin(angle) * y, -1.0, 1.0)
        colors = colors * (1.0 + np.float32(strength / 128.0) * slope[..., None])
    return np.clip(colors, 0.0, 255.0)

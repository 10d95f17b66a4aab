"""Stage 2: mask → ordered, closed, sub-pixel contour with inward normals and the colours just inside the edge.

The contour is the half level of the Gaussian-smoothed mask. Smoothing a mask and smoothing its complement give the same
half level, so the two sides of one cut get the same curve whatever the staircase of their pixels.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import cv2
import numpy as np

from jigsawnet.errors import ConfigError
from jigsawnet.stopping import Stop
from jigsawnet.types import BoolArray, Contour, Float32Array, FloatArray, Piece, Puzzle

_NEWTON_STEPS = 3
_NEAR = 0.1
"""A step is kept when it is wrong by at most this part of it."""


@dataclass(frozen=True, slots=True)
class ContourConfig:
    """How borders are traced."""

    samples: int = 240
    """Samples wanted around a piece of median size; sets the step for all pieces. Slender pieces get more."""
    min_step_px: float = 2.0
    """Never sample more finely than this."""
    smooth_px: float = 1.5
    """Gaussian smoothing of the mask; hair-thin spikes below about this width vanish."""
    color_depth_px: float = 3.0
    """How far inside the edge colours are read."""

    def __post_init__(self) -> None:
        if self.samples < 16 or self.min_step_px <= 0 or self.smooth_px <= 0 or self.color_depth_px < 0:
            raise ConfigError("The contours options must be positive, and samples at least 16.")


def trace_contours(puzzle: Puzzle, config: ContourConfig) -> tuple[Contour | None, ...]:
    """Contours of all pieces with one common step; None for a piece too small to have one."""
    return trace_again(puzzle, config, None)[0]


def trace_again(
    puzzle: Puzzle, config: ContourConfig, kept_step_px: float | None, stop: Stop | None = None
) -> tuple[tuple[Contour | None, ...], float]:
    """As `trace_contours`, but with the step of an earlier tracing if that is within a tenth of what these pieces ask for.

    So the pieces that were there then get the contours they had. Returns the contours and the step, 0 without any contour.
    Raises `StoppedError` when it is to end.
    """
    stop = stop or Stop()

    def ring_of(piece: Piece) -> FloatArray | None:
        stop.check()
        return level_ring(piece.mask, config.smooth_px)

    with ThreadPoolExecutor() as pool:
        rings = list(pool.map(ring_of, puzzle.pieces))
    sizes = [_size(ring) for ring in rings if ring is not None]
    if not sizes:
        return tuple(None for _ in rings), 0.0
    asked = max(config.min_step_px, float(np.median(sizes)) / config.samples)
    step = kept_step_px if kept_step_px is not None and abs(asked - kept_step_px) <= _NEAR * kept_step_px else asked

    def contour_of(piece: Piece, ring: FloatArray | None) -> Contour | None:
        stop.check()
        return None if ring is None else _contour(piece, ring, step, config)

    with ThreadPoolExecutor() as pool:
        return tuple(pool.map(contour_of, puzzle.pieces, rings)), step


def level_ring(mask: BoolArray, smooth_px: float) -> FloatArray | None:
    """Trace the outer half level of the smoothed mask: ``(N, 2)`` xy, interior to the right, about a point per pixel."""
    pad = int(np.ceil(3 * smooth_px)) + 2
    soft = np.asarray(cv2.GaussianBlur(np.pad(mask, pad).astype(np.float32), (0, 0), smooth_px), np.float32)
    rings, _ = cv2.findContours((soft >= 0.5).astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    if not rings:
        return None
    ring = max(rings, key=cv2.contourArea)[:, 0].astype(np.float64)
    if len(ring) < 8:
        return None
    if _signed_area(ring) < 0:
        ring = ring[::-1]
    return _snap_to_level(ring, soft) - pad


def _snap_to_level(points: FloatArray, soft: Float32Array) -> FloatArray:
    """Move points along the gradient until the smoothed mask is one half there (Newton, at most a pixel a step)."""
    gradient = [cv2.Sobel(soft, cv2.CV_32F, dx, 1 - dx, ksize=3, scale=0.125) for dx in (1, 0)]
    slopes = np.stack(gradient, axis=-1).astype(np.float32)
    for _ in range(_NEWTON_STEPS):
        value = sample(soft, points)[:, 0]
        slope = sample(slopes, points)
        move = (0.5 - value)[:, None] * slope / np.maximum((slope**2).sum(1), 1e-4)[:, None]
        length = np.linalg.norm(move, axis=1, keepdims=True)
        points = points + move * np.minimum(1.0, 1.0 / np.maximum(length, 1e-9))
    return points


def sample(image: Float32Array, points: FloatArray) -> FloatArray:
    """Bilinear values of ``image (H, W[, C])`` at ``points (N, 2)`` xy, borders repeated: ``(N, C)``."""
    grid = points.astype(np.float32)
    out: FloatArray = np.empty((len(points), 1 if image.ndim == 2 else image.shape[2]))
    for start in range(0, len(points), 30_000):  # remap takes no more than 32767 columns
        part = grid[None, start : start + 30_000]
        values = cv2.remap(image, part[..., 0], part[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        out[start : start + 30_000] = np.asarray(values, dtype=np.float64).reshape(part.shape[1], -1)
    return out


def _contour(piece: Piece, ring: FloatArray, step_px: float, config: ContourConfig) -> Contour:
    points, step = _resample(ring, step_px)
    tangents = np.roll(points, -1, 0) - np.roll(points, 1, 0)
    tangents /= np.maximum(np.linalg.norm(tangents, axis=1, keepdims=True), 1e-9)
    normals = np.column_stack([-tangents[:, 1], tangents[:, 0]])
    colors = _edge_lab(piece, points + config.color_depth_px * normals)
    return Contour(piece.idx, points, normals, colors, step)


def _resample(ring: FloatArray, step_px: float) -> tuple[FloatArray, float]:
    """Evenly spaced points on the closed ring; the step is adjusted so that it fits a whole number of times."""
    lengths = _lengths(ring)
    along = np.concatenate([[0.0], np.cumsum(lengths)])
    count = max(8, round(along[-1] / step_px))
    closed = np.vstack([ring, ring[:1]])
    at = np.arange(count) * (along[-1] / count)
    points = np.column_stack([np.interp(at, along, closed[:, 0]), np.interp(at, along, closed[:, 1])])
    return points, float(along[-1] / count)


def _edge_lab(piece: Piece, points: FloatArray) -> FloatArray:
    """CIE Lab ``(N, 3)`` of the picture at ``points (N, 2)``, slightly smoothed, nothing from outside the mask mixed in."""
    weight = piece.mask.astype(np.float32)
    color = piece.image * (weight[..., None] / np.float32(255.0))
    total = np.maximum(sample(np.asarray(cv2.GaussianBlur(weight, (0, 0), 1.0), np.float32), points), 1e-6)
    smooth = sample(np.asarray(cv2.GaussianBlur(color, (0, 0), 1.0), np.float32), points) / total
    return _lab(np.clip(smooth, 0.0, 1.0))


_XYZ_OF_RGB = ((0.412453, 0.357580, 0.180423), (0.212671, 0.715160, 0.072169), (0.019334, 0.119193, 0.950227))
_WHITE = (0.950456, 1.0, 1.088754)


def _lab(rgb: FloatArray) -> FloatArray:
    """CIE Lab (D65) of sRGB ``(N, 3)`` in [0, 1]; element by element, so that every run rounds alike."""
    linear = np.where(rgb > 0.04045, ((rgb + 0.055) / 1.055) ** 2.4, rgb / 12.92)
    r, g, b = linear.T
    xyz = ((x * r + y * g + z * b) / white for (x, y, z), white in zip(_XYZ_OF_RGB, _WHITE, strict=True))
    fx, fy, fz = (np.where(t > 0.008856, np.cbrt(t), 7.787 * t + 16.0 / 116.0) for t in xyz)
    return np.column_stack([116.0 * fy - 16.0, 500.0 * (fx - fy), 200.0 * (fy - fz)])


_COMPACT = 6.0
"""Perimeter of a compact piece, at most, as a multiple of the square root of its area; cut pieces have 4.1 to 4.4, strips 7 to
14."""


def _size(ring: FloatArray) -> float:
    """Perimeter of a ring in px; of a slender one that of a compact piece with its area, for what it shows is as small."""
    return min(float(_lengths(ring).sum()), _COMPACT * math.sqrt(abs(_signed_area(ring))))


def _lengths(ring: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.norm(np.roll(ring, -1, 0) - ring, axis=1))


def _signed_area(ring: FloatArray) -> float:
    """Positive when the interior lies to the right (clockwise on a screen, y down)."""
    x, y = ring.T
    return float((x * np.roll(y, -1) - np.roll(x, -1) * y).sum() / 2)

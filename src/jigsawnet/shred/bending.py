"""Pieces that do not lie flat, and photographs of many pieces: smooth warps, and the rigid pose that comes nearest."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from jigsawnet.geometry import SE2
from jigsawnet.shred.damage import Damage
from jigsawnet.shred.noise import smooth_noise
from jigsawnet.types import FloatArray

_BUMPS = 2.5
"""Bumps of the warp across a piece."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A photograph of all pieces: ``place (N, 2)`` of their middles, px from its own, half its side in px, and its errors.

    ``zoom`` makes the mean scale of the pieces 1: a photograph has no scale of its own.
    """

    place: FloatArray
    half_px: float
    slope: float
    lens: float
    zoom: float = 1.0

    @staticmethod
    def draw(sizes_px: FloatArray, damage: Damage, rng: np.random.Generator) -> Sheet:
        """Lay pieces of the given sizes ``(N,)`` on a square grid, mixed; ``(1 + slope) / (1 - slope) = 1 + keystone``."""
        n = len(sizes_px)
        side = math.ceil(math.sqrt(n))
        cell_px = 1.3 * float(sizes_px.max())
        cells = rng.permutation(side * side)[:n]
        place = np.asarray((np.stack([cells % side, cells // side], axis=1) - (side - 1) / 2.0) * cell_px, np.float64)
        raw = Sheet(place, side * cell_px / 2.0, damage.keystone / (2.0 + damage.keystone), damage.lens)
        along_x, along_y = (raw.straighten(place + step) - raw.straighten(place - step) for step in np.eye(2) / 2.0)
        areas = along_x[:, 0] * along_y[:, 1] - along_x[:, 1] * along_y[:, 0]
        return replace(raw, zoom=1.0 / float(np.sqrt(areas).mean()))

    def straighten(self, points: FloatArray) -> FloatArray:
        """Where points ``(..., 2)`` of the photograph lie in truth.

        ``u -> zoom u (1 + lens |u|^2) / (1 + slope v)``, in half sides of the sheet; v is the y of u.
        """
        unit = points / self.half_px
        curved = unit * (1.0 + self.lens * (unit**2).sum(axis=-1, keepdims=True))
        return np.asarray(curved / (1.0 + self.slope * unit[..., 1:]) * (self.half_px * self.zoom))


def unbend(points: FloatArray, size_px: float, sheet: Sheet, idx: int, damage: Damage, rng: np.random.Generator) -> FloatArray:
    """Where points ``(H, W, 2)`` of the scan, px from the middle of piece ``idx``, lay on the flat piece.

    First the scale, then the photograph, then a bow of the longer axis, then a smooth shift of at most ``bend * size_px``.
    """
    flat = points * (1.0 + damage.scale * rng.uniform(-1.0, 1.0))
    if damage.curl > 0:
        along = int(points.shape[0] >= points.shape[1])  # 1: the piece is longer along y, and bows along x
        u = points[..., along] / max(1.0, size_px / 2.0)
        flat[..., 1 - along] += damage.curl * size_px * (rng.uniform(-1.0, 1.0) * u**2 + rng.uniform(-0.4, 0.4) * u**3)
    if max(damage.keystone, damage.lens) > 0:
        flat = sheet.straighten(flat + sheet.place[idx]) - sheet.straighten(sheet.place[idx])
    if damage.bend > 0:
        wave_px = max(points.shape[:2]) / _BUMPS
        shift = np.stack([smooth_noise(points.shape[:2], wave_px, rng) for _ in range(2)], axis=-1).astype(np.float64)
        largest = float(np.sqrt((shift**2).sum(axis=-1)).max())
        flat = flat + shift * (damage.bend * size_px * rng.uniform(0.4, 1.0) / largest)
    return flat


def best_pose(target: FloatArray, source: FloatArray) -> SE2:
    """The rigid ``target_from_source`` with the least squared distances between points ``(N, 2)`` (Kabsch)."""
    target_mean, source_mean = target.mean(axis=0), source.mean(axis=0)
    t, s = target - target_mean, source - source_mean
    theta = math.atan2(float((s[:, 0] * t[:, 1] - s[:, 1] * t[:, 0]).sum()), float((s * t).sum()))
    turned = SE2(theta, 0.0, 0.0) @ source_mean
    return SE2(theta, float(target_mean[0] - turned[0]), float(target_mean[1] - turned[1]))

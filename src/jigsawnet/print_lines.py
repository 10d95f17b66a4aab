"""Ground floor: which way the lines of print run on a piece.

Lines of print are dark bands a few pixels apart. Summed up along them, the ink of a piece is all peaks and gaps; in every
other direction it blurs. So the direction is the one whose profile has most of its energy in what is finer than a few lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import cv2
import numpy as np

from jigsawnet.types import BoolArray, Float32Array, FloatArray, Piece, UInt8Array

_SIDE_PX = 400
"""Pieces with longer sides are looked at smaller."""
_PAPER_PX, _RIM_PX = 8.0, 6
"""Paper is the mean over so many px around; so many px of the rim are left out, where tears and shadows are dark as well."""
_DARKER = 8.0
"""Grey levels below the paper that count as ink."""
_FEWEST_PX = 250
"""Pixels of ink that are needed."""
_FINE_PX, _COARSE_PX = 1.5, 14.0
"""What a profile has between these scales are lines."""
_COARSE_DEG, _FINE_DEG = 3.0, 0.5
_CLEAR_SHARE = 0.5
"""Part of all pieces of a page whose lines are clear."""
_CLEAR, _LEAD, _APART_DEG = 0.3, 0.75, 15.0
"""Lines are clear when they have this part of the profile's energy, and directions farther off less than that part of it."""


def find_lines(pieces: Sequence[Piece]) -> FloatArray:
    """Direction of the lines of print ``(P,)``, in radians from 0 to pi; NaN where there are none that are clear."""
    with ThreadPoolExecutor() as pool:
        return np.array(list(pool.map(_direction, pieces)), np.float64)


def shows_lines(angle: FloatArray) -> bool:
    """Whether directions as of `find_lines` are clear on so many pieces that they belong to a page."""
    return bool(np.isfinite(angle).sum() >= max(2.0, _CLEAR_SHARE * len(angle)))


def reduced_ink(piece: Piece) -> tuple[Float32Array, float, tuple[int, int]]:
    """`ink_of` the box around a piece, made smaller where it is large; by how much, and where its corner lies, (x, y)."""
    left, top, width, height = cv2.boundingRect(piece.mask.astype(np.uint8))
    box = np.s_[top : top + height, left : left + width]
    image, mask, scale = piece.image[box], piece.mask[box], min(1.0, _SIDE_PX / max(width, height, 1))
    if scale < 1.0:
        size = (max(1, round(width * scale)), max(1, round(height * scale)))
        image = np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), np.uint8)
        mask = cv2.resize(mask.astype(np.float32), size, interpolation=cv2.INTER_AREA) > 0.5
    return ink_of(image, mask), scale, (left, top)


def ink_of(image: UInt8Array, mask: BoolArray) -> Float32Array:
    """Grey levels ``(H, W)`` by which a piece is darker than the paper around; 0 in its rim and beyond."""
    grey, inside = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY).astype(np.float32), mask.astype(np.float32)
    weight = cv2.GaussianBlur(inside, (0, 0), _PAPER_PX)
    paper = cv2.GaussianBlur(grey * inside, (0, 0), _PAPER_PX) / np.maximum(weight, 1e-3)
    size = 2 * _RIM_PX + 1
    core = cv2.erode(np.pad(mask, 1).astype(np.uint8), np.ones((size, size), np.uint8))[1:-1, 1:-1]
    return np.asarray(np.maximum(paper - grey, 0.0) * core, np.float32)


def _direction(piece: Piece) -> float:
    if not piece.mask.any():
        return np.nan
    ink, _, _ = reduced_ink(piece)
    y, x = np.nonzero(ink > _DARKER)
    if len(x) < _FEWEST_PX:
        return np.nan
    points, dark = np.column_stack([x - x.mean(), y - y.mean()]), ink[y, x].astype(np.float64)
    coarse = np.arange(0.0, 180.0, _COARSE_DEG)
    energy = _energies(points, dark, coarse)
    best = float(coarse[energy.argmax()])
    off = np.abs((coarse - best + 90.0) % 180.0 - 90.0)
    if energy.max() < _CLEAR or energy[off > _APART_DEG].max() > _LEAD * energy.max():
        return np.nan
    fine = best + np.arange(-_COARSE_DEG, _COARSE_DEG + _FINE_DEG, _FINE_DEG)
    return float(np.radians(fine[_energies(points, dark, fine).argmax()] % 180.0))


def _energies(points: FloatArray, dark: FloatArray, degrees: FloatArray) -> FloatArray:
    """For each direction the part of the energy of its profile that lines have: ``sum (fine - coarse)^2 / sum fine^2``."""
    reach = int(np.hypot(*points.T).max()) + 2
    profiles = np.empty((2 * reach + 2, len(degrees)), np.float32)
    for k, angle in enumerate(np.radians(degrees)):
        at = reach + points @ (-np.sin(angle), np.cos(angle))
        low = np.floor(at).astype(np.intp)
        part = at - low
        profiles[:, k] = np.bincount(low, dark * (1 - part), len(profiles)) + np.bincount(low + 1, dark * part, len(profiles))
    fine = cv2.GaussianBlur(profiles, (1, 0), sigmaX=1e-6, sigmaY=_FINE_PX)
    lines = fine - cv2.GaussianBlur(fine, (1, 0), sigmaX=1e-6, sigmaY=_COARSE_PX)
    return np.asarray((lines**2).sum(0) / np.maximum((fine**2).sum(0), 1e-9), np.float64)

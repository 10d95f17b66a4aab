"""The seam, straightened: a band of colour and masks along the line where two pieces meet."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jigsawnet.pixels import PixelBank, pixel_at
from jigsawnet.raster import njit
from jigsawnet.score.seam_path import PATH_SAMPLES
from jigsawnet.types import Float32Array, UInt8Array

BAND_ROWS = 32
BAND_CHANNELS = 5
_AHEAD = 3
"""Samples either way over which the direction of the path is taken."""


def render_bands(
    pixels: PixelBank, i: NDArray[np.int32], j: NDArray[np.int32], pose: Float32Array, path: Float32Array, unit_px: float
) -> UInt8Array:
    """Bands ``(C, BAND_ROWS, PATH_SAMPLES, BAND_CHANNELS)``: RGB, mask of i, mask of j; i in the upper half.

    Rows are ``unit_px`` apart across the path, columns are its samples.
    """
    bands = np.zeros((len(i), BAND_ROWS, PATH_SAMPLES, BAND_CHANNELS), np.uint8)
    _render_all(i, j, pose.astype(np.float32), path, np.float32(unit_px), bands, *pixels.arrays())
    return bands


@njit
def _render_all(piece_i, piece_j, poses, paths, unit, bands, scale, first, size, pixels):  # type: ignore[no-untyped-def]
    rows, samples = bands.shape[1], bands.shape[2]
    for c in range(len(piece_i)):
        cos, sin = np.cos(poses[c, 0]), np.sin(poses[c, 0])
        for s in range(samples):
            a, b = max(0, s - _AHEAD), min(samples - 1, s + _AHEAD)
            tx, ty = paths[c, b, 0] - paths[c, a, 0], paths[c, b, 1] - paths[c, a, 1]
            norm = np.hypot(tx, ty)
            if norm < 1e-6:
                continue
            for r in range(rows):
                away = (r - 0.5 * (rows - 1)) * unit / norm  # to j's side
                x, y = paths[c, s, 0] - ty * away, paths[c, s, 1] + tx * away
                red, green, blue, paper_i = pixel_at(piece_i[c], x, y, scale, first, size, pixels)
                dx, dy = x - poses[c, 1], y - poses[c, 2]
                there_x, there_y = cos * dx + sin * dy, cos * dy - sin * dx
                red_j, green_j, blue_j, paper_j = pixel_at(piece_j[c], there_x, there_y, scale, first, size, pixels)
                paper = paper_i + paper_j
                if paper < 1.0:
                    continue
                bands[c, r, s, 0] = np.uint8((red + red_j) * 255.0 / paper + 0.5)
                bands[c, r, s, 1] = np.uint8((green + green_j) * 255.0 / paper + 0.5)
                bands[c, r, s, 2] = np.uint8((blue + blue_j) * 255.0 / paper + 0.5)
                bands[c, r, s, 3] = np.uint8(paper_i + 0.5)
                bands[c, r, s, 4] = np.uint8(paper_j + 0.5)

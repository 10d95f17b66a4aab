"""The seam, straightened: a band of colour and masks along the line where two pieces meet."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jigsawnet.borders import njit
from jigsawnet.pixels import Pixels, pixel_at
from jigsawnet.score.seam_path import PATH_SAMPLES
from jigsawnet.types import Float32Array, UInt8Array

BAND_ROWS = 32
BAND_CHANNELS = 5
_AHEAD = 3
"""Samples either way over which the direction of the path is taken."""


def render_bands(
    pixels: Pixels, i: NDArray[np.int32], j: NDArray[np.int32], pose: Float32Array, path: Float32Array, unit_px: float
) -> UInt8Array:
    """Bands ``(C, BAND_ROWS, PATH_SAMPLES, BAND_CHANNELS)``: RGB, mask of i, mask of j; i in the upper half.

    Rows are ``unit_px`` apart across the path, columns are its samples.
    """
    bands = np.zeros((len(i), BAND_ROWS, PATH_SAMPLES, BAND_CHANNELS), np.uint8)
    pieces, poses = np.column_stack([i, j]).astype(np.int64), np.array(pose, np.float32, order="C")
    _render_all(pixels.kernel, pieces, poses, path, np.float32(unit_px), bands)
    return bands


@njit
def _render_all(arrays, pieces, poses, paths, unit, bands):  # type: ignore[no-untyped-def]
    """Row r of column s shows the point ``path[s] + (r - (rows - 1) / 2) unit m``, m the path's normal on j's side.

    Pixels hold colour times mask: the colour shown is ``255 (c_i + c_j) / (mask_i + mask_j)``.
    """
    rows, samples = bands.shape[1], bands.shape[2]
    for c in range(len(pieces)):
        cos, sin = np.cos(poses[c, 0]), np.sin(poses[c, 0])
        for s in range(samples):
            a = s - _AHEAD if s > _AHEAD else 0
            b = s + _AHEAD if s + _AHEAD < samples else samples - 1
            tx, ty = paths[c, b, 0] - paths[c, a, 0], paths[c, b, 1] - paths[c, a, 1]
            norm = np.hypot(tx, ty)
            if norm < 1e-6:
                continue
            for r in range(rows):
                away = (r - 0.5 * (rows - 1)) * unit / norm  # to j's side
                x, y = paths[c, s, 0] - ty * away, paths[c, s, 1] + tx * away
                red, green, blue, paper_i = pixel_at(arrays, pieces[c, 0], x, y)
                dx, dy = x - poses[c, 1], y - poses[c, 2]
                red_j, green_j, blue_j, paper_j = pixel_at(arrays, pieces[c, 1], cos * dx + sin * dy, cos * dy - sin * dx)
                paper = paper_i + paper_j
                if paper < 1.0:
                    continue
                bands[c, r, s, 0] = np.uint8((red + red_j) * 255.0 / paper + 0.5)
                bands[c, r, s, 1] = np.uint8((green + green_j) * 255.0 / paper + 0.5)
                bands[c, r, s, 2] = np.uint8((blue + blue_j) * 255.0 / paper + 0.5)
                bands[c, r, s, 3] = np.uint8(paper_i + 0.5)
                bands[c, r, s, 4] = np.uint8(paper_j + 0.5)

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
_FAR, _LOOKS = 4.0, 2
"""Rows of the far view lie so many units apart, and are the mean of so many looks."""
_AHEAD = 3
"""Samples either way over which the direction of the path is taken."""


def render_bands(
    pixels: Pixels,
    i: NDArray[np.int32],
    j: NDArray[np.int32],
    pose: Float32Array,
    path: Float32Array,
    unit_px: float,
    channels: int = BAND_CHANNELS,
) -> UInt8Array:
    """Bands ``(C, BAND_ROWS, PATH_SAMPLES, channels)``: RGB, mask of i, mask of j; i in the upper half.

    Rows are ``unit_px`` apart across the path, columns are its samples. With twice the channels a far view follows, whose rows
    reach four times as deep into both pieces: lines of print, and what a loss at the seam has left.
    """
    bands = np.zeros((len(i), BAND_ROWS, PATH_SAMPLES, channels), np.uint8)
    pieces, poses = np.column_stack([i, j]).astype(np.int64), np.array(pose, np.float32, order="C")
    for first, apart, looks in ((0, 1.0, 1), (BAND_CHANNELS, _FAR, _LOOKS)):
        if first < channels:
            view = bands[..., first : first + BAND_CHANNELS]
            _render_all(pixels.kernel, pieces, poses, path, (np.float32(unit_px * apart), looks), view)
    return bands


@njit
def _render_all(arrays, pieces, poses, paths, rows_apart, bands):  # type: ignore[no-untyped-def]
    """Row r of column s shows the point ``path[s] + (r - (rows - 1) / 2) unit m``, m the path's normal on j's side.

    ``rows_apart`` = (unit, n): a row is the mean of n looks, ``unit / n`` apart. Pixels hold colour times mask: the colour is
    ``255 (c_i + c_j) / (mask_i + mask_j)``.
    """
    unit, looks = rows_apart
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
                red = green = blue = paper_i = paper_j = np.float32(0.0)
                for look in range(looks):
                    away = (r - 0.5 * (rows - 1) + (look + 0.5) / looks - 0.5) * unit / norm  # to j's side
                    x, y = paths[c, s, 0] - ty * away, paths[c, s, 1] + tx * away
                    red_i, green_i, blue_i, own = pixel_at(arrays, pieces[c, 0], x, y)
                    dx, dy = x - poses[c, 1], y - poses[c, 2]
                    red_j, green_j, blue_j, other = pixel_at(arrays, pieces[c, 1], cos * dx + sin * dy, cos * dy - sin * dx)
                    red += red_i + red_j
                    green += green_i + green_j
                    blue += blue_i + blue_j
                    paper_i += own
                    paper_j += other
                paper = paper_i + paper_j
                if paper < 1.0:
                    continue
                bands[c, r, s, 0] = np.uint8(red * 255.0 / paper + 0.5)
                bands[c, r, s, 1] = np.uint8(green * 255.0 / paper + 0.5)
                bands[c, r, s, 2] = np.uint8(blue * 255.0 / paper + 0.5)
                bands[c, r, s, 3] = np.uint8(paper_i / looks + 0.5)
                bands[c, r, s, 4] = np.uint8(paper_j / looks + 0.5)

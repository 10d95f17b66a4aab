"""Cut curves across a picture: orientation, spacing and perturbation along the curve (the paper's three controls).

A cut is a straight line plus a random wiggle whose long waves are higher than its short ones, as in the puzzles of the paper.
The cuts split the picture into cells, and these become connected regions, one per piece.
"""

from __future__ import annotations

import math

import cv2
import numpy as np
import scipy
from numpy.typing import NDArray

from jigsawnet.errors import InputError
from jigsawnet.shred.config import ShredConfig
from jigsawnet.types import BoolArray, FloatArray

Int32Array = NDArray[np.int32]

MIN_SIDE_PX = 16
"""A piece's shorter side is at least this long before it is cut out."""
MAX_CELL_ASPECT = 2.5
SPACING_JITTER = 0.07
"""Standard deviation of a grid cut's position, as a part of the spacing."""
MIN_SPACING = 0.35
"""Neighbouring grid cuts stay apart by this part of the spacing."""
MAX_TILT_SHIFT = 0.4
"""From end to end, a tilt carries a grid cut at most by this part of the spacing."""
SLIP = 0.015
"""Standard deviation of how far a sheet of a stack has slipped, as a part of a piece's shorter side."""
CRUMB_AREA = 0.05
"""A region smaller than this part of the mean cell is no piece of its own."""
WAVES = (0.12, 2.5)
"""Shortest and longest wave of the wiggle, as parts of a piece's shorter side."""
WAVE_EXPONENT = 1.2
"""A wave of length L has an amplitude in proportion to L ** WAVE_EXPONENT."""


def cut_cells(height: int, width: int, config: ShredConfig, rng: np.random.Generator) -> Int32Array:
    """Cut a picture of the given size; returns the cell number of each pixel, ``(height, width)``."""
    if config.cuts is not None:
        return _free_cells(height, width, config.cuts, config.perturbation, rng)
    rows, cols = config_shape(height, width, config)
    side_px = min(height / rows, width / cols)
    _check_side(side_px, height, width, f"{rows * cols} pieces")
    down = _grid_cuts(cols - 1, height, width, side_px, config, rng)
    across = _grid_cuts(rows - 1, width, height, side_px, config, rng)
    x, y = np.arange(width), np.arange(height)[:, None]
    col, row = np.zeros((2, height, width), np.int32)
    for cut in across:
        row += y > cut
    if config.stacked:
        top = np.concatenate([[0.0], across.mean(axis=1)])
        at = np.clip(np.rint(y - top[row]), 0, height - 1).astype(np.intp)
        slip = rng.normal(0.0, SLIP * side_px, rows)[row]
    for cut in down:
        col += x > (cut[at] + slip if config.stacked else cut[:, None])
    return row * cols + col


def config_shape(height: int, width: int, config: ShredConfig) -> tuple[int, int]:
    """``(rows, cols)`` of strips, of chads, or of cells of a fair shape."""
    if config.strips:
        return (config.pieces, 1) if width >= height else (1, config.pieces)
    if config.chads is not None:  # cells w by a w of a page: rows^2 = pieces * height / (width * a)
        rows = max(1, round(math.sqrt(config.pieces * height / (width * config.chads))))
        return rows, max(1 if rows > 1 else 2, round(config.pieces / rows))
    return grid_shape(height, width, config.pieces)


def grid_shape(height: int, width: int, pieces: int) -> tuple[int, int]:
    """Choose ``(rows, cols)``: a product as near to ``pieces`` as cells of a fair shape allow, then the squarest cells."""

    def stretch(shape: tuple[int, int]) -> float:
        return abs(math.log(width / shape[1] * shape[0] / height))

    def cost(shape: tuple[int, int]) -> tuple[bool, int, float]:
        return stretch(shape) > math.log(MAX_CELL_ASPECT), abs(shape[0] * shape[1] - pieces), stretch(shape)

    shapes = [(rows, pieces // rows + extra) for rows in range(1, pieces + 1) for extra in (0, 1)]
    return min((shape for shape in shapes if shape[0] * shape[1] >= 2), key=cost)


def wiggle(n: int, side_px: float, rng: np.random.Generator) -> FloatArray:
    """Random smooth curve ``(n,)``, one value per px, of expected standard deviation 1."""
    n_waves = 2 * n + int(2 * WAVES[1] * side_px)
    frequency = np.fft.rfftfreq(n_waves)[1:] * side_px
    amplitude = frequency**-WAVE_EXPONENT * np.exp(-((frequency * WAVES[0]) ** 2))
    amplitude[frequency < 1.0 / WAVES[1]] = 0.0
    amplitude /= np.linalg.norm(amplitude)
    phases = rng.standard_normal(len(amplitude)) + 1j * rng.standard_normal(len(amplitude))
    spectrum = np.concatenate([[0.0], amplitude * phases])
    curve: FloatArray = np.fft.irfft(spectrum, n_waves) * (n_waves / 2.0)
    return curve[:n]


def _check_side(side_px: float, height: int, width: int, wanted: str) -> None:
    if side_px < MIN_SIDE_PX:
        raise InputError(
            f"The picture of {width} x {height} px is too small for {wanted}: a piece would be {side_px:.0f} px wide, "
            f"and at least {MIN_SIDE_PX} are needed; use a larger picture or fewer pieces."
        )


def _grid_cuts(n: int, length: int, extent: int, side_px: float, config: ShredConfig, rng: np.random.Generator) -> FloatArray:
    """Cut ``n`` curves that run along ``length`` and divide ``extent``; returns their positions ``(n, length)``."""
    spacing = extent / (n + 1)
    largest_slope = min(math.tan(math.radians(config.tilt_deg)), MAX_TILT_SHIFT * spacing / length)
    k = np.arange(1.0, n + 1.0)[:, None]
    along = np.arange(length) - (length - 1) / 2.0
    cuts = k * spacing - 0.5 + spacing * SPACING_JITTER * rng.standard_normal((n, 1))
    cuts = cuts + rng.uniform(-largest_slope, largest_slope, (n, 1)) * along
    wiggles = np.array([wiggle(length, side_px, rng) for _ in range(n)]).reshape(n, length)
    return _keep_apart(cuts + config.perturbation * side_px * wiggles, k * (MIN_SPACING * spacing), extent)


def _keep_apart(cuts: FloatArray, reach: FloatArray, extent: int) -> FloatArray:
    """Push cuts apart until cut k is at least ``reach[k] - reach[k - 1]`` from the one before, and inside the picture."""
    if len(cuts) == 0:
        return cuts
    apart = np.maximum.accumulate(cuts - reach, axis=0)
    return np.clip(apart, -0.5, extent - 0.5 - reach[-1] - reach[0]) + reach


def _free_cells(height: int, width: int, n_cuts: int, perturbation: float, rng: np.random.Generator) -> Int32Array:
    """Cells of ``n_cuts`` curves in any direction, each through a random point of the picture's middle."""
    expected_pieces = 1.0 + n_cuts + 0.15 * n_cuts * (n_cuts - 1)
    side_px = min(math.sqrt(height * width / expected_pieces), height, width)
    _check_side(side_px, height, width, f"{n_cuts} cuts")
    reach = math.ceil(math.hypot(height, width))
    x, y = np.arange(width, dtype=np.float64), np.arange(height, dtype=np.float64)[:, None]
    cells = np.zeros((height, width), np.int32)
    for _ in range(n_cuts):
        angle = rng.uniform(0.0, math.pi)
        center_x, center_y = rng.uniform(0.2, 0.8, 2) * (width, height)
        cos, sin = math.cos(angle), math.sin(angle)
        along = (x - center_x) * cos + (y - center_y) * sin
        beside = (y - center_y) * cos - (x - center_x) * sin
        cut = perturbation * side_px * wiggle(2 * reach + 1, side_px, rng)
        cells = _number_densely(2 * cells + (beside > np.interp(along, np.arange(-reach, reach + 1), cut)))
    return cells


def _number_densely(cells: Int32Array) -> Int32Array:
    """Renumber an array of numbers ``>= 0`` without gaps, in the same order."""
    used = np.bincount(cells.ravel()) > 0
    number: Int32Array = np.cumsum(used, dtype=np.int32) - np.int32(1)
    return number[cells]


def find_regions(cells: Int32Array) -> Int32Array:
    """Number the pieces ``0 .. n-1`` in an array ``(H, W)``; each is connected, and every pixel belongs to one.

    Curves that cross more than once split a cell: its largest part is the piece, the others are crumbs and go to the
    neighbour with which they share the longest border.
    """
    parts, is_crumb = _split_cells(cells)
    while is_crumb.any():
        merged_into = _longest_border(parts, is_crumb)
        parts = merged_into[parts]
        is_crumb &= merged_into == np.arange(len(merged_into))
    return _number_densely(parts)


def _split_cells(cells: Int32Array) -> tuple[Int32Array, BoolArray]:
    """Connected parts of the cells ``(H, W)``, and for each part whether it is a crumb."""
    parts = np.zeros(cells.shape, np.int32)
    boxes = [(cell, box) for cell, box in enumerate(scipy.ndimage.find_objects(cells + 1)) if box]
    smallest = CRUMB_AREA * cells.size / len(boxes)
    is_crumb: list[bool] = []
    for cell, box in boxes:
        inside = cells[box] == cell
        _, local, stats, _ = cv2.connectedComponentsWithStats(inside.astype(np.uint8), connectivity=4)
        areas = stats[1:, cv2.CC_STAT_AREA]
        parts[box][inside] = local[inside] - 1 + len(is_crumb)
        is_crumb.extend((areas < max(float(areas.max()), smallest)).tolist())
    return parts, np.array(is_crumb)


def _longest_border(parts: Int32Array, is_crumb: BoolArray) -> Int32Array:
    """For each part the part it merges into: itself, or for a crumb beside a piece the piece with most common border."""
    pairs = np.concatenate(
        [np.stack([a[a != b], b[a != b]], axis=1) for a, b in ((parts[:, :-1], parts[:, 1:]), (parts[:-1], parts[1:]))]
    )
    pairs = np.concatenate([pairs, pairs[:, ::-1]])
    pairs = pairs[is_crumb[pairs[:, 0]] & ~is_crumb[pairs[:, 1]]]
    borders, lengths = np.unique(pairs, axis=0, return_counts=True)
    by_length = borders[np.argsort(lengths, kind="stable")]
    merged_into = np.arange(len(is_crumb), dtype=np.int32)
    merged_into[by_length[:, 0]] = by_length[:, 1]
    return merged_into

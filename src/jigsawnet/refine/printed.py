"""How far apart the borders of neighbours belong, from what is printed on the pieces.

Shape shows a gap only where cuts bend, and not at all where two masks share the pixels of the cut: then one border is a shifted
copy of the other. The picture shows it everywhere. Two of its points differ the more the farther apart they are, and how much,
it tells itself just inside every piece. Points on either side of a seam, both at one depth, differ as much as points at some
distance inside the pieces do. That distance, less the two depths, is the gap; where masks overlap it is negative.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import cv2
import numpy as np

from jigsawnet.borders import Borders, Int64Array
from jigsawnet.geometry import SE2
from jigsawnet.refine.seams import touching_pairs
from jigsawnet.types import BoolArray, Float32Array, FloatArray, Puzzle, UInt8Array

_DEPTH_PX = np.arange(1.5, 8.01, 0.5)
"""Where the print is read below the border; above the first, the background may be mixed in."""
_DEEP = 6
"""The place in `_DEPTH_PX` from which on no edge is felt any more."""
_PER_PX = 2
_POWER = 0.25
"""Differences count as this power of their square; otherwise the few strong edges of a picture would drown all else."""
_REACH_PX = 1.5
_OPPOSITE = -0.9
_MIN_SAMPLES, _MIN_SEAMS, _MOST_PAIRS = 12, 12, 2000
_SIGMAS = 4.0
_LEAST_PX, _MOST_PX = 0.3, 3.0
_RIM = (0.8, 1.25)
"""Measured: clean cuts 0.93 to 1.06, JPEG of quality 70 1.36 to 1.92, torn rims of up to 4 px 3.4 to 5.8."""
_MOST_UNBALANCED_PX = 0.3


@dataclass(frozen=True, slots=True)
class PrintedGap:
    """What the print says, and what may speak against it."""

    gap_px: float
    error_px: float
    """Standard error, from how much the seams differ among themselves."""
    rim: float
    """How much colours change at the edge, against deep inside; far from 1 for torn rims, shadows, JPEG."""
    unbalanced_px: float
    """What the gap would be more if the colours of the pieces were compared as they are, not less the mean of each seam."""

    @property
    def is_sure(self) -> bool:
        """True for a gap that is certain, neither too small to matter nor too large to be read, with nothing against it.

        Colours that differ from piece to piece look like a wide gap, never like an overlap.
        """
        size = abs(self.gap_px)
        balanced = self.gap_px < 0 or self.unbalanced_px < _MOST_UNBALANCED_PX
        return max(_LEAST_PX, _SIGMAS * self.error_px) < size < _MOST_PX and _RIM[0] < self.rim < _RIM[1] and balanced


class _Seams(NamedTuple):
    """S samples of all seams: which seam, and the colours ``(2, S, D, 3)`` below it in either piece, ``read`` where inside."""

    seam: Int64Array
    colors: Float32Array
    read: BoolArray


def find_printed_gap(puzzle: Puzzle, borders: Borders, poses: Mapping[int, SE2], gap_px: float = 0.0) -> PrintedGap | None:
    """What the print of the pieces of one component says about their gap; None when there are too few seams.

    Args:
        puzzle: the pictures.
        borders: the borders.
        poses: world_from_piece of the pieces of one component, their seams aligned.
        gap_px: the gap at which they lie now; the answer does not start from it.
    """
    seams = _read_seams(puzzle, borders, poses, gap_px)
    if seams is None:
        return None
    across, within = _differences(seams, balance=True)
    every = np.ones(across.shape[1])
    gap = _gap(across, within, every)
    n = len(every)
    without = np.array([_gap(across, within, every - (np.arange(n) == k)) for k in range(n)])
    error = float(np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum()))
    unbalanced = _gap(*_differences(seams, balance=False), every)
    return PrintedGap(gap, error, _rim(seams), unbalanced - gap)


def _gap(across: FloatArray, within: FloatArray, weight: FloatArray) -> float:
    """The distance at which points inside differ as much as points across the seams do, less their two depths.

    ``across (2, n)`` and ``within (D - 1, 2, n)``: sum of the differences and their number in each seam.
    """
    total, number = across @ weight
    inside = within @ weight
    rising = np.maximum.accumulate(np.append(0.0, inside[:, 0] / np.maximum(inside[:, 1], 1.0)))
    rising += 1e-9 * np.arange(len(rising))
    distance = np.append(0.0, _DEPTH_PX[1:] - _DEPTH_PX[0])
    return float(np.interp(total / max(1.0, number), rising, distance) - 2.0 * _DEPTH_PX[0])


def _differences(seams: _Seams, *, balance: bool) -> tuple[FloatArray, FloatArray]:
    """Colour differences across the seams ``(2, n)``, and inside the pieces by distance ``(D - 1, 2, n)``: sums and numbers.

    With ``balance`` the mean difference along each seam is taken out first, of both.
    """
    n = int(seams.seam.max()) + 1

    def sums(difference: Float32Array, read: BoolArray) -> FloatArray:
        number = np.bincount(seams.seam, read, n)
        if balance:
            means = [np.bincount(seams.seam, c * read, n) / np.maximum(number, 1.0) for c in difference.T]
            difference = difference - np.stack(means, axis=1)[seams.seam].astype(np.float32)
        size = ((difference**2).sum(1) + 1e-9) ** _POWER
        return np.stack([np.bincount(seams.seam, size * read, n), number])

    colors, read = seams.colors, seams.read
    across = sums(colors[0, :, 0] - colors[1, :, 0], read[0, :, 0] & read[1, :, 0])
    within = [
        sum(sums(colors[side, :, 0] - colors[side, :, k], read[side, :, 0] & read[side, :, k]) for side in (0, 1))
        for k in range(1, len(_DEPTH_PX))
    ]
    return across, np.array(within)


def _rim(seams: _Seams) -> float:
    """Mean colour difference over a pixel at the edge, against the same deep inside."""
    whole = seams.read.all(2)
    edge, deep = (
        np.linalg.norm(seams.colors[whole][:, k] - seams.colors[whole][:, k + _PER_PX], axis=1).sum() for k in (0, _DEEP)
    )
    return float(edge / max(deep, 1e-9))


def _read_seams(puzzle: Puzzle, borders: Borders, poses: Mapping[int, SE2], gap_px: float) -> _Seams | None:
    """Colours on both sides of every seam; None when there are too few."""
    idx = np.array(sorted(poses))
    centers = np.array([poses[k] @ borders.center[k].astype(np.float64) for k in idx.tolist()]).reshape(-1, 2)
    pairs = idx[touching_pairs(centers, borders.radius[idx].astype(np.float64), _REACH_PX + max(0.0, gap_px))]
    pairs = pairs[:: 1 + len(pairs) // _MOST_PAIRS]
    found = []
    for i, j in pairs.tolist():
        into_i, into_j = _facing(borders, i, j, poses[i].inverse() @ poses[j], gap_px)
        if len(into_i) >= _MIN_SAMPLES:
            found.append(((i, j), (into_i, into_j)))
    if len(found) < _MIN_SEAMS:
        return None
    size = [len(lines[0]) for _, lines in found]
    seam = np.repeat(np.arange(len(found)), size)
    colors = np.zeros((2, len(seam), len(_DEPTH_PX), 3), np.float32)
    read = np.zeros(colors.shape[:3], bool)
    for side in (0, 1):
        owner = np.repeat([pair[side] for pair, _ in found], size)
        points = np.concatenate([lines[side] for _, lines in found])
        for k in np.unique(owner).tolist():
            rows = np.flatnonzero(owner == k)
            colors[side, rows], read[side, rows] = _read(puzzle.pieces[k].image, puzzle.pieces[k].mask, points[rows])
    return _Seams(seam, colors, read)


def _facing(borders: Borders, i: int, j: int, i_from_j: SE2, gap_px: float) -> tuple[FloatArray, FloatArray]:
    """Lines into the pieces from samples of j that meet the border of i: ``(S, D, 2)`` in i's frame and in j's.

    The two lines of a sample run along the mean of the two normals, each from its own border.
    """
    turn = SE2(i_from_j.theta, 0.0, 0.0)
    own, inward = (rows[borders.samples(j)].astype(np.float64) for rows in (borders.points, borders.normals))
    points, normals = i_from_j @ own, turn @ inward
    rows, cols = borders.grid_size[i].tolist()
    col, row = np.rint((points - borders.grid_origin[i]) / borders.cell_px).astype(np.int64).T
    on_grid = (row >= 0) & (col >= 0) & (row < rows) & (col < cols)
    at = borders.grid_first[i] + np.where(on_grid, row * cols + col, 0)
    k = borders.first[i] + borders.nearest[at]
    n = borders.normals[k].astype(np.float64)
    away = points - borders.points[k]
    across, along = (away * n).sum(1), away[:, 0] * n[:, 1] - away[:, 1] * n[:, 0]
    meets = on_grid & (np.abs(across + gap_px) < _REACH_PX * borders.unit_px) & (np.abs(along) < borders.step_px)
    meets &= (n * normals).sum(1) < _OPPOSITE
    mean = (n - normals)[meets]
    mean /= np.linalg.norm(mean, axis=1, keepdims=True)
    feet = (points - across[:, None] * n)[meets]
    below = _DEPTH_PX[:, None]
    return feet[:, None] + below * mean[:, None], own[meets][:, None] - below * (turn.inverse() @ mean)[:, None]


def _read(image: UInt8Array, mask: BoolArray, points: FloatArray) -> tuple[Float32Array, BoolArray]:
    """Bilinear colours ``(S, D, 3)`` at ``points (S, D, 2)``, and where nothing but the piece went into them."""
    x, y = points[..., 0].astype(np.float32), points[..., 1].astype(np.float32)
    colors = cv2.remap(image.astype(np.float32), x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    cover = cv2.remap(mask.astype(np.float32), x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT)
    return np.asarray(colors, np.float32), np.asarray(cover) > 0.999

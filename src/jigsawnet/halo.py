"""The halo: what scanning, blur and JPEG mix into the outermost pixels of every piece, found over all pieces and taken out.

Inside a picture, colours a few pixels apart are alike on average. So when the outermost rings of pixels are lighter, darker or
more coloured than the rings behind them, and on most pieces in the same way, the difference is the background's. The outline
stays as it is: cutting the halo off would take the shape's detail with it. Its colours are continued from inside instead.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import cv2
import numpy as np
from scipy.special import stdtrit

from jigsawnet.nearest import nearest_pixels
from jigsawnet.stopping import Stop
from jigsawnet.types import Float32Array, FloatArray, Piece, Puzzle

_DEEPEST_PX = 5
"""No halo is taken to be deeper."""
_BEHIND_PX = 3
"""Rings behind the deepest halo that it is compared with."""
_LEVELS = 4.0
"""Grey levels of difference, in the mean over all pieces, that make a halo."""
_STEADY = 0.99865
"""How sure it must be that the mean over all pieces differs from nothing: three standard errors, more where pieces are few."""
_FEWEST_PX = 40
"""Pixels that a ring of a piece must have to be heard."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A puzzle as it is looked at, how many px deep the halo was that was taken out of it, and whether its light was evened."""

    puzzle: Puzzle
    halo_px: int
    evened: bool = False


def find_halo(puzzle: Puzzle, stop: Stop | None = None) -> int:
    """How many px deep the halo of all pieces is; 0 without one. Raises `StoppedError` when it is to end.

    A ring r holds the pixels r px inside the outline. Its difference from the rings behind is averaged over pieces.
    """
    stop = stop or Stop()

    def look(piece: Piece) -> FloatArray | None:
        stop.check()
        return _ring_colors(piece)

    with ThreadPoolExecutor() as pool:
        found = [rings for rings in pool.map(look, puzzle.pieces) if rings is not None]
    if len(found) < 2:
        return 0
    rings = np.stack(found)
    change = rings[:, :_DEEPEST_PX] - rings[:, _DEEPEST_PX:].mean(1, keepdims=True)
    mean = change.mean(0)
    error = change.std(0, ddof=1) / np.sqrt(len(change)) + 1e-9
    size = np.linalg.norm(mean, axis=1)
    steady = (np.abs(mean) > stdtrit(len(change) - 1, _STEADY) * error).any(1)
    depth = 0
    while depth < _DEEPEST_PX and size[depth] > _LEVELS and steady[depth]:
        depth += 1
    return depth if depth < _DEEPEST_PX else 0


def without_halo(puzzle: Puzzle, depth_px: int, stop: Stop | None = None) -> Puzzle:
    """The same pieces, the colours of their outermost ``depth_px`` continued from inside; those too thin stay as they are.

    Raises `StoppedError` when it is to end.
    """
    if depth_px <= 0:
        return puzzle
    stop = stop or Stop()

    def mend(piece: Piece) -> Piece:
        stop.check()
        return _continued(piece, depth_px)

    with ThreadPoolExecutor() as pool:
        pieces = tuple(pool.map(mend, puzzle.pieces))
    return replace(puzzle, pieces=pieces)


def _ring_colors(piece: Piece) -> FloatArray | None:
    """Mean colours ``(rings, 3)`` of the outermost rings; None when a ring has too few pixels."""
    depth, most = _depth(piece).ravel(), _DEEPEST_PX + _BEHIND_PX
    near = np.flatnonzero((depth > 0) & (depth <= most + 0.5))
    ring, colors = np.rint(depth[near]).astype(np.intp), piece.image.reshape(-1, 3)[near]
    count = np.bincount(ring, minlength=most + 1)[1:]
    if count.min() < _FEWEST_PX:
        return None
    sums = [np.bincount(ring, colors[:, ch], most + 1)[1:] for ch in range(3)]
    return np.asarray(np.stack(sums, axis=1) / count[:, None])


def _continued(piece: Piece, depth_px: int) -> Piece:
    core = _depth(piece) > depth_px + 0.5
    if not core.any():
        return piece
    nearest, _ = nearest_pixels(core)
    filled = piece.image.reshape(-1, 3)[nearest.reshape(-1)].reshape(piece.image.shape)
    return replace(piece, image=np.where((piece.mask & ~core)[..., None], filled, piece.image))


def _depth(piece: Piece) -> Float32Array:
    """Distance of each pixel from the nearest one outside the mask, 1 for the outermost."""
    mask = np.pad(piece.mask, 1).astype(np.uint8)
    return np.asarray(cv2.distanceTransform(mask, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)[1:-1, 1:-1], np.float32)

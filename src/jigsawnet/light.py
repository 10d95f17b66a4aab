"""Light: paper is alike all over a page, so where it is darker there was less light. On pages this is taken out of every piece.

Without it, neighbours that were photographed or scanned in different places differ in brightness along the whole seam, which
looks like a wrong join.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import cv2
import numpy as np

from jigsawnet.strips import are_printed
from jigsawnet.types import Float32Array, Piece, Puzzle

_PAPER = 235.0
"""Grey level that paper gets."""
_SIDE_PX = 160
"""The light of a piece is looked at in a picture of at most this size."""
_INK_PX, _SMOOTH_PX = 15, 20.0
"""In that picture: strokes are narrower than the first, the light does not change within the second."""
_UNEVEN = 8.0
"""Grey levels between the darker and the lighter parts of all paper, below which nothing is changed."""
_DARKEST = 40.0


def even_light(puzzle: Puzzle) -> Puzzle:
    """The same pieces with their paper alike, if they are those of a page and its paper is not; else the puzzle itself."""
    if not are_printed(puzzle.pieces):
        return puzzle
    with ThreadPoolExecutor() as pool:
        papers = list(pool.map(_paper, puzzle.pieces))
        if not _is_uneven(papers):
            return puzzle
        pieces = tuple(pool.map(_lit, puzzle.pieces, papers))
    return replace(puzzle, pieces=pieces)


def _is_uneven(papers: Sequence[Float32Array | None]) -> bool:
    levels = np.concatenate([paper.mean(2).ravel() for paper in papers if paper is not None] or [np.zeros(1, np.float32)])
    low, high = np.percentile(levels[levels > 0], (5, 95)) if (levels > 0).any() else (0.0, 0.0)
    return bool(high - low > _UNEVEN)


def _paper(piece: Piece) -> Float32Array | None:
    """Colour of the paper all over a small picture of the piece, 0 off the mask: strokes closed, then smoothed."""
    if not piece.mask.any():
        return None
    high, wide = piece.mask.shape
    scale = min(1.0, _SIDE_PX / max(high, wide))
    size = (max(1, round(wide * scale)), max(1, round(high * scale)))
    mask = cv2.resize(piece.mask.astype(np.float32), size, interpolation=cv2.INTER_AREA)
    inside = mask > 0.99
    small = cv2.resize(piece.image * piece.mask[..., None], size, interpolation=cv2.INTER_AREA)
    closed = cv2.morphologyEx(small * inside[..., None], cv2.MORPH_CLOSE, np.ones((_INK_PX, _INK_PX), np.uint8))
    weight = inside.astype(np.float32)
    total = cv2.GaussianBlur(closed.astype(np.float32) * weight[..., None], (0, 0), _SMOOTH_PX)
    around = cv2.GaussianBlur(weight, (0, 0), _SMOOTH_PX)[..., None]
    return np.asarray(np.where((mask > 0)[..., None], total / np.maximum(around, 1e-3), 0.0), np.float32)


def _lit(piece: Piece, paper: Float32Array | None) -> Piece:
    """``image * _PAPER / paper``."""
    if paper is None:
        return piece
    high, wide = piece.mask.shape
    light = cv2.resize(np.where(paper > 0, paper, np.float32(_PAPER)), (wide, high), interpolation=cv2.INTER_LINEAR)
    even = np.clip(piece.image * (_PAPER / np.maximum(light, _DARKEST)) + 0.5, 0, 255).astype(np.uint8)
    return replace(piece, image=np.where(piece.mask[..., None], even, piece.image))

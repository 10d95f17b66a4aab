"""Squares of one size that belong to nothing: what must not be put together, for fits, benchmarks and tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from jigsawnet.errors import InputError
from jigsawnet.geometry import SE2
from jigsawnet.types import Assembly, Piece, Puzzle, UInt8Array

SquareName = Literal["noise", "white", "same", "foreign"]
"""Random pixels; plain white; one square of a picture again and again; one square of a different picture each."""
_MARGIN_PX = 4


def make_squares(
    kind: SquareName, count: int, pictures: Sequence[UInt8Array], rng: np.random.Generator, side_px: int = 96
) -> tuple[Puzzle, Assembly]:
    """So many squares, and the truth: each is a picture of its own. Only ``same`` and ``foreign`` are cut from ``pictures``.

    Raises:
        InputError: a picture is smaller than a square, or there is none.
    """
    if kind in ("same", "foreign") and not pictures:
        raise InputError("There is no picture to cut squares from; give at least one.")
    mask = np.pad(np.ones((side_px, side_px), bool), _MARGIN_PX)
    same = _crop(pictures[0], side_px, rng) if kind == "same" else None
    pieces = []
    for idx in range(count):
        if kind == "noise":
            image = rng.integers(0, 256, (side_px, side_px, 3), dtype=np.uint8)
        elif kind == "white":
            image = np.full((side_px, side_px, 3), 255, np.uint8)
        else:
            image = _crop(pictures[idx % len(pictures)], side_px, rng) if same is None else same
        padded = np.pad(image, ((_MARGIN_PX, _MARGIN_PX), (_MARGIN_PX, _MARGIN_PX), (0, 0)))
        pieces.append(Piece(idx, f"square_{idx + 1:04d}.png", padded, mask.copy()))
    poses = {idx: SE2.identity() for idx in range(count)}
    truth = Assembly(count, poses, tuple((idx,) for idx in range(count)), confidence=dict.fromkeys(poses, 1.0))
    return Puzzle(f"{kind} squares", tuple(pieces)), truth


def _crop(picture: UInt8Array, side_px: int, rng: np.random.Generator) -> UInt8Array:
    height, width = picture.shape[:2]
    if min(height, width) < side_px:
        raise InputError(f"A picture of {width} x {height} px is too small for a square of {side_px} px.")
    y, x = int(rng.integers(0, height - side_px + 1)), int(rng.integers(0, width - side_px + 1))
    return picture[y : y + side_px, x : x + side_px].copy()

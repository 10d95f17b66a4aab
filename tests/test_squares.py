"""Squares of nothing: so many, alike or not as they should be, each a picture of its own."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from jigsawnet.errors import InputError
from jigsawnet.shred.squares import SquareName, make_squares
from jigsawnet.types import UInt8Array


def blurred_picture(seed: int, width: int = 320, height: int = 240) -> UInt8Array:
    """Smooth random colours; (H, W, 3)."""
    noise = np.random.default_rng(seed).normal(size=(height, width, 3)).astype(np.float32)
    smooth = sum(cv2.GaussianBlur(noise, (0, 0), sigma) * sigma for sigma in (2.0, 9.0, 30.0))
    return np.clip(140 + 60 * smooth, 50, 255).astype(np.uint8)


@pytest.mark.parametrize(("kind", "different"), [("noise", 5), ("white", 1), ("same", 1), ("foreign", 5)])
def test_squares_are_as_different_as_their_kind_says(kind: SquareName, different: int) -> None:
    pictures = [blurred_picture(seed) for seed in range(5)]
    puzzle, truth = make_squares(kind, 5, pictures, np.random.default_rng(0), side_px=40)
    again, _ = make_squares(kind, 5, pictures, np.random.default_rng(0), side_px=40)
    assert len({piece.image.tobytes() for piece in puzzle.pieces}) == different
    assert all(piece.mask.sum() == 40 * 40 for piece in puzzle.pieces)
    assert [piece.image.tobytes() for piece in again.pieces] == [piece.image.tobytes() for piece in puzzle.pieces]
    assert truth.components == ((0,), (1,), (2,), (3,), (4,))


def test_pictures_that_are_missing_or_too_small_are_refused() -> None:
    with pytest.raises(InputError, match="no picture"):
        make_squares("foreign", 4, [], np.random.default_rng(0))
    with pytest.raises(InputError, match="too small"):
        make_squares("same", 4, [blurred_picture(0, 60, 200)], np.random.default_rng(0))

"""The flat picture borders: what it returns at a point is what the piece shows there."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from jigsawnet.pixels import build_pixels, pixel_at
from jigsawnet.types import Piece, Puzzle


def _puzzle(seed: int = 0, sides: tuple[tuple[int, int], ...] = ((20, 30), (7, 5))) -> Puzzle:
    rng = np.random.default_rng(seed)
    pieces = []
    for idx, (rows, cols) in enumerate(sides):
        image = cv2.GaussianBlur(rng.integers(0, 256, (rows, cols, 3)).astype(np.uint8), (0, 0), 2.0)
        pieces.append(Piece(idx, str(idx), image, np.ones((rows, cols), bool)))
    return Puzzle("p", tuple(pieces))


def _at(borders, piece: int, x: float, y: float) -> np.ndarray:
    return np.array(pixel_at(borders.kernel, piece, np.float32(x), np.float32(y)))


@pytest.mark.parametrize(("piece", "x", "y"), [(0, 0, 0), (0, 29, 19), (1, 4, 6), (1, 2, 3)])
def test_at_a_pixel_it_is_that_pixel(piece: int, x: int, y: int) -> None:
    puzzle = _puzzle()
    value = _at(build_pixels(puzzle, 1.0), piece, x, y)
    assert value == pytest.approx([*puzzle.pieces[piece].image[y, x], 255])


def test_between_pixels_it_is_their_mean() -> None:
    puzzle = _puzzle()
    image = puzzle.pieces[0].image.astype(float)
    assert _at(build_pixels(puzzle, 1.0), 0, 3.5, 8)[:3] == pytest.approx((image[8, 3] + image[8, 4]) / 2)


def test_outside_there_is_nothing_and_half_a_pixel_out_it_fades() -> None:
    borders = build_pixels(_puzzle(), 1.0)
    assert not _at(borders, 0, -5, 4).any()
    assert not _at(borders, 1, 2, 7.5).any()
    assert _at(borders, 0, -0.5, 4)[3] == pytest.approx(127.5)


def test_what_the_mask_hides_does_not_shine_through() -> None:
    image = np.full((6, 6, 3), 200, np.uint8)
    mask = np.zeros((6, 6), bool)
    mask[:, :3] = True
    borders = build_pixels(Puzzle("p", (Piece(0, "a", image, mask),)), 1.0)
    assert not _at(borders, 0, 4, 2).any()
    assert _at(borders, 0, 2, 2) == pytest.approx([200, 200, 200, 255])


def test_fine_pieces_are_shrunk_and_points_still_fall_where_they_should() -> None:
    ramp = np.repeat(np.linspace(0, 200, 80, dtype=np.uint8)[None, :, None], 60, 0).repeat(3, 2)
    borders = build_pixels(Puzzle("p", (Piece(0, "a", ramp, np.ones((60, 80), bool)),)), 4.0)
    assert borders.size[0].tolist() == [15 + 2, 20 + 2]
    for x in (10.0, 33.3, 61.0):
        assert _at(borders, 0, x, 30.0)[0] == pytest.approx(np.interp(x, np.arange(80), ramp[0, :, 0]), abs=2.0)


def test_a_puzzle_without_pieces_has_no_pixels() -> None:
    assert len(build_pixels(Puzzle("none", ()), 1.0).pixels) == 0

"""Lines of print: their direction is found on pieces at any angle, and none is claimed where none is clear."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from jigsawnet.print_lines import find_lines, ink_of, reduced_ink, shows_lines
from jigsawnet.shred.pages import make_page
from jigsawnet.types import Piece, UInt8Array


def piece_of(page: UInt8Array, degrees: float, side: int = 300) -> Piece:
    """A round piece out of the middle of a page, turned: lines then run at ``degrees`` from x to y."""
    middle = (side - 1) / 2
    move = cv2.getRotationMatrix2D((page.shape[1] / 2, page.shape[0] / 4), -degrees, 1.0)
    move[:, 2] += (middle - page.shape[1] / 2, middle - page.shape[0] / 4)
    image = np.asarray(cv2.warpAffine(page, move, (side, side), borderValue=(250, 250, 250)), np.uint8)
    mask = cv2.circle(np.zeros((side, side), np.uint8), (side // 2, side // 2), side // 2 - 4, 1, -1).astype(bool)
    return Piece(0, "piece", image, mask)


@pytest.fixture(scope="module")
def page() -> UInt8Array:
    return make_page(np.random.default_rng(3))


@pytest.mark.parametrize("degrees", [0.0, 17.0, 61.5, 90.0, 133.0])
def test_the_direction_is_found_at_any_angle(page: UInt8Array, degrees: float) -> None:
    found = float(np.degrees(find_lines([piece_of(page, degrees)])[0]))
    assert abs((found - degrees + 90) % 180 - 90) < 1.0


def test_large_pieces_are_looked_at_smaller_with_the_same_result(page: UInt8Array) -> None:
    piece = piece_of(page, 30.0)
    large = Piece(0, "large", np.repeat(np.repeat(piece.image, 3, 0), 3, 1), np.repeat(np.repeat(piece.mask, 3, 0), 3, 1))
    assert find_lines([large])[0] == pytest.approx(find_lines([piece])[0], abs=0.02)


def test_blank_noisy_and_empty_pieces_have_none() -> None:
    blank = piece_of(np.full((600, 600, 3), 240, np.uint8), 0.0)
    noise = piece_of(np.random.default_rng(0).integers(0, 256, (600, 600, 3), dtype=np.uint8), 0.0)
    grid = np.full((600, 600, 3), 240, np.uint8)
    grid[::24], grid[:, ::24] = 20, 20
    empty = Piece(0, "empty", blank.image, np.zeros_like(blank.mask))
    assert np.isnan(find_lines([blank, noise, piece_of(grid, 20.0), empty])).all(), "a grid has two directions"


@pytest.mark.parametrize(("darker", "clear"), [(20.0, False), (60.0, True)])
def test_lines_that_are_faint_among_speckles_are_not_clear(darker: float, clear: bool) -> None:
    page = 240.0 - np.random.default_rng(0).integers(0, 120, (600, 600))
    page[np.arange(600) % 24 < 8] -= darker
    page = np.repeat(page.clip(0, 255).astype(np.uint8)[..., None], 3, axis=2)
    assert np.isfinite(find_lines([piece_of(page, 20.0)])[0]) == clear


def test_a_piece_is_reduced_to_its_box_and_where_that_lies_is_known() -> None:
    for high, wide, shape, reduced in ((100, 200, (100, 200), 1.0), (400, 800, (200, 400), 0.5)):
        mask = np.zeros((900, 1000), bool)
        mask[40 : 40 + high, 70 : 70 + wide] = True
        ink, scale, corner = reduced_ink(Piece(0, "piece", np.full((900, 1000, 3), 240, np.uint8), mask))
        assert (ink.shape, scale, corner) == (shape, reduced, (70, 40))


def test_the_rim_is_not_ink(page: UInt8Array) -> None:
    piece = piece_of(page, 0.0)
    dark = piece.image.copy()
    rim = piece.mask & ~cv2.erode(piece.mask.astype(np.uint8), np.ones((7, 7), np.uint8)).astype(bool)
    dark[rim] = 0
    assert not ink_of(dark, piece.mask)[rim].any()


def test_a_page_shows_lines_on_half_of_its_pieces() -> None:
    assert shows_lines(np.array([0.1, np.nan, 0.2, np.nan]))
    assert not shows_lines(np.array([0.1, np.nan, 0.2, np.nan, np.nan]))
    assert not shows_lines(np.array([0.1]))
    assert not shows_lines(np.zeros(0))

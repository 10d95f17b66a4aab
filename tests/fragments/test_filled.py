"""Pictures that one piece fills to its sides are told from pieces on a background."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from jigsawnet.fragments.filled import are_filled, outline_of, whole_piece
from jigsawnet.io.images import write_png
from jigsawnet.loading import ScanInput, load_input
from jigsawnet.types import UInt8Array


def strip(seed: int, width: int = 40, height: int = 400) -> UInt8Array:
    """White paper with dark words that are cut off at both sides."""
    rng = np.random.default_rng(seed)
    picture = np.full((height, width, 3), 250, np.uint8)
    for y in range(20, height - 20, 24):
        start, end = rng.integers(-30, 30), rng.integers(width - 30, width + 30)
        cv2.rectangle(picture, (int(start), y), (int(end), y + 6), (20, 20, 20), -1)
        picture[y : y + 7, rng.integers(0, width, 6)] = 250
    return picture


def tile(seed: int) -> UInt8Array:
    """A square of coloured clouds."""
    noise = np.random.default_rng(seed).integers(0, 256, (90, 90, 3), np.uint8)
    return np.asarray(cv2.normalize(cv2.GaussianBlur(noise, (0, 0), 3), None, 0, 255, cv2.NORM_MINMAX), np.uint8)


def on_white(seed: int) -> UInt8Array:
    """The same square on a white ground."""
    picture = np.full((150, 150, 3), 255, np.uint8)
    picture[30:120, 30:120] = tile(seed)
    return picture


def test_strips_and_tiles_are_filled() -> None:
    assert are_filled([outline_of(strip(k)) for k in range(5)])
    assert are_filled([outline_of(np.ascontiguousarray(strip(k).transpose(1, 0, 2))) for k in range(5)]), "lying, too"
    assert are_filled([outline_of(tile(k)) for k in range(8)])


def test_a_few_pictures_or_large_ones_may_be_photographs_of_a_table() -> None:
    assert not are_filled([outline_of(tile(k)) for k in range(5)])
    large = [np.tile(tile(k), (12, 12, 1)) for k in range(8)]
    assert not are_filled([outline_of(picture) for picture in large])


def test_pieces_on_a_ground_are_not() -> None:
    assert not are_filled([outline_of(on_white(k)) for k in range(5)])


def test_pictures_of_different_sizes_are_not() -> None:
    mixed = [outline_of(strip(k, height=400 + 60 * k)) for k in range(5)]
    assert not are_filled(mixed)
    assert not are_filled([outline_of(strip(0)), outline_of(strip(1)), outline_of(tile(2))])


def test_two_pictures_tell_nothing() -> None:
    assert not are_filled([outline_of(strip(k)) for k in range(2)])


def test_a_whole_piece_is_the_whole_picture() -> None:
    piece = whole_piece(3, "a.png", strip(0))
    assert piece.mask.all()
    assert piece.idx == 3


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for k in range(5):
        write_png(tmp_path / f"{k}.png", strip(k))
    return tmp_path


def test_a_folder_of_strips_is_read_as_whole_pieces_and_says_so(folder: Path) -> None:
    puzzle = load_input([folder]).puzzle
    assert len(puzzle) == 5
    assert all(piece.mask.all() for piece in puzzle.pieces)
    assert puzzle.warnings[0].startswith("The 5 pictures are alike in size and filled to their sides")


def test_the_option_decides(folder: Path) -> None:
    said = load_input([folder], ScanInput(filled="yes")).puzzle
    assert all(piece.mask.all() for piece in said.pieces)
    assert not said.warnings, "what a person has said need not be said back"
    letters = load_input([folder], ScanInput(filled="no")).puzzle
    assert len(letters) != 5 or not all(piece.mask.all() for piece in letters.pieces)

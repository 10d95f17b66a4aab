"""What a notebook shows: real pictures, small, and words that cannot break the page."""

from __future__ import annotations

import base64
import re
from dataclasses import replace

import cv2
import numpy as np

from jigsawnet.geometry import SE2
from jigsawnet.render.notebook import MOST_PIXELS, result_html, result_png
from jigsawnet.types import Assembly, Piece, Puzzle, UInt8Array


def decoded(png: bytes) -> UInt8Array:
    picture = cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_UNCHANGED)
    assert picture is not None
    return picture.astype(np.uint8)


def square(idx: int, side: int, color: tuple[int, int, int], name: str = "") -> Piece:
    return Piece(idx, name or f"{idx}.png", np.full((side, side, 3), color, np.uint8), np.ones((side, side), bool))


def two(side: int, name: str = "p") -> tuple[Puzzle, Assembly]:
    pieces = (square(0, side, (200, 10, 20)), square(1, side, (10, 20, 200)))
    return Puzzle(name, pieces), Assembly(2, {0: SE2(0, 0, 0), 1: SE2(0, side, 0)}, ((0, 1),))


def test_the_picture_shows_both_pieces_in_their_colours() -> None:
    picture = decoded(result_png(*two(40)) or b"")
    row = picture[picture.shape[0] // 2]
    middle = np.flatnonzero(row[:, 3] == 255)
    assert (row[middle[5], :3] == (20, 10, 200)).all()
    assert (row[middle[-5], :3] == (200, 20, 10)).all()


def test_a_large_picture_is_made_small() -> None:
    height, width = decoded(result_png(*two(1500)) or b"").shape[:2]
    assert height * width <= MOST_PIXELS
    assert 1.7 < width / height < 2.3


def test_where_nothing_is_placed_there_is_no_picture_and_still_words() -> None:
    puzzle, _ = two(20)
    nothing = Assembly(2, {}, ())
    assert result_png(puzzle, nothing) is None
    page = result_html(puzzle, nothing, ())
    assert "<img" not in page
    assert "0 of 2 pieces placed in 0 parts" in page


def test_words_of_files_cannot_break_the_page_and_many_notes_are_counted() -> None:
    puzzle, assembly = two(20, '"><script>')
    page = result_html(puzzle, assembly, ["<b>", *map(str, range(6))])
    assert "<script>" not in page
    assert "<b>" not in page
    assert "<li>and 2 more</li>" in page
    (data,) = re.findall(r"base64,([\w+/=]+)", page)
    assert base64.b64decode(data) == result_png(puzzle, assembly)


def test_a_piece_shows_its_mask_and_a_large_one_is_smaller() -> None:
    mask = np.zeros((30, 20), bool)
    mask[:10] = True
    shown = decoded(replace(square(0, 1, (0, 0, 0)), image=np.full((30, 20, 3), (9, 8, 7), np.uint8), mask=mask)._repr_png_())
    assert shown.shape == (30, 20, 4)
    assert ((shown[..., 3] == 255) == mask).all()
    assert (shown[0, 0, :3] == (7, 8, 9)).all()
    assert max(decoded(square(0, 2001, (1, 2, 3))._repr_png_()).shape[:2]) <= 480

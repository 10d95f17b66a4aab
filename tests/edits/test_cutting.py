"""Corrections of the cut-out: each does to the masks what it says, and finds its piece again when the scan is cut anew."""

from __future__ import annotations

import numpy as np
import pytest

from jigsawnet.edits.cutting import BrushOff, BrushOn, Correction, Discard, Merge, Split
from jigsawnet.edits.parts import Part, Parts
from jigsawnet.errors import EditError

SIZE = (300, 200)
NAME = "scan.png"


def square(number: int, x: int, y: int, width: int = 40, height: int = 40) -> Part:
    """A rectangle with an empty border of 5 px."""
    return Part(number, np.pad(np.ones((height, width), bool), 5), (x - 5, y - 5))


@pytest.fixture
def three() -> Parts:
    """Two squares with 4 px between them, and one far away."""
    return Parts((square(1, 20, 20), square(2, 64, 20), square(3, 200, 100)), SIZE)


def areas(parts: Parts) -> dict[int, int]:
    return {part.number: int(np.count_nonzero(part.mask)) for part in parts.parts}


def page(parts: Parts) -> np.ndarray:
    """The number of the piece at every pixel of the scan; pieces never overlap."""
    drawn = np.zeros(SIZE[::-1], int)
    for part in parts.parts:
        x, y, (height, width) = *part.corner, part.mask.shape
        for row, column in np.argwhere(part.mask):
            if 0 <= y + row < SIZE[1] and 0 <= x + column < SIZE[0]:
                assert drawn[y + row, x + column] == 0
                drawn[y + row, x + column] = part.number
        assert (height, width) == part.mask.shape
    return drawn


def test_what_is_no_piece_goes_and_the_others_keep_their_numbers(three: Parts) -> None:
    assert areas(Discard(NAME, ((30, 30), (210, 110))).apply(three)) == {2: 1600}


def test_a_piece_is_found_by_a_point_inside_it_however_it_is_numbered() -> None:
    again = Parts((square(7, 21, 19, 39, 42), square(8, 200, 100)), SIZE)
    assert areas(Discard(NAME, ((40.0, 40.0),)).apply(again)) == {8: 1600}


def test_the_inner_point_of_a_piece_lies_in_it() -> None:
    ring = np.ones((60, 60), bool)
    ring[10:50, 10:50] = False
    part = Part(1, ring, (-3, 7))
    assert part.holds(part.inner_point())
    assert not part.holds((27, 37))


def test_two_become_one_with_what_lies_between(three: Parts) -> None:
    after = Merge(NAME, ((30, 30), (70, 30))).apply(three)
    found = areas(after)
    assert set(found) == {1, 3}
    assert 3200 + 4 * 36 <= found[1] <= 3200 + 4 * 44
    assert page(after)[40, 62] == 1


def test_pieces_far_apart_are_not_made_one(three: Parts) -> None:
    with pytest.raises(EditError, match="too far apart"):
        Merge(NAME, ((30, 30), (210, 110))).apply(three)
    with pytest.raises(EditError, match="at least two"):
        Merge(NAME, ((30, 30), (31, 31))).apply(three)


def test_a_line_right_across_cuts_every_piece_in_its_way_and_loses_no_pixel(three: Parts) -> None:
    after = Split(NAME, ((15, 32), (110, 32))).apply(three)
    found = areas(after)
    assert set(found) == {1, 2, 3, 4, 5}
    assert found[1] + found[4] == found[2] + found[5] == 1600
    assert found[1] > found[4] > 400, "the larger part keeps the number"


def test_a_line_need_not_meet_the_border_but_must_go_across(three: Parts) -> None:
    assert len(Split(NAME, ((24, 40), (56, 40))).apply(three).parts) == 4
    with pytest.raises(EditError, match="cuts no piece in two"):
        Split(NAME, ((20, 40), (40, 40))).apply(three)
    with pytest.raises(EditError, match="not a point"):
        Split(NAME, ((20, 40),)).apply(three)


def test_the_brush_adds_to_the_piece_that_it_touches_and_takes_nothing_from_others(three: Parts) -> None:
    after = BrushOn(NAME, ((40, 58), (84, 58)), 6).apply(three)
    drawn = page(after)
    assert set(areas(after)) == {1, 2, 3}
    grown = {number for number, area in areas(after).items() if area > 1600}
    assert len(grown) == 1
    assert drawn[63, 50] in grown
    after = BrushOn(NAME, ((40, 58), (84, 58)), 6, (70, 30)).apply(three)
    assert page(after)[63, 80] == 2
    assert areas(after)[1] == 1600


def test_the_brush_makes_a_new_piece_where_there_is_none(three: Parts) -> None:
    after = BrushOn(NAME, ((120, 150), (150, 150)), 8).apply(three)
    assert page(after)[150, 135] == 4
    with pytest.raises(EditError, match="did not touch the chosen piece"):
        BrushOn(NAME, ((120, 150), (150, 150)), 8, (30, 30)).apply(three)
    with pytest.raises(EditError, match="did not touch the scan"):
        BrushOn(NAME, ((-500, -500),), 8).apply(three)


def test_the_brush_takes_away_and_what_comes_off_is_a_piece_only_if_it_is_large(three: Parts) -> None:
    cut = BrushOff(NAME, ((40, 10), (40, 70)), 3).apply(three)
    assert set(areas(cut)) == {1, 2, 3, 4}
    crumb = BrushOff(NAME, ((55, 10), (55, 70)), 3).apply(three)
    assert set(areas(crumb)) == {1, 2, 3}
    assert page(crumb)[40, 59] == 0, "the crumb beyond the stroke went too"
    gone = BrushOff(NAME, ((10, 40), (70, 40)), 30, (30, 30)).apply(three)
    assert set(areas(gone)) == {2, 3}
    assert areas(gone)[2] == 1600, "only the chosen piece"
    with pytest.raises(EditError, match="passed over no piece"):
        BrushOff(NAME, ((150, 150),), 3).apply(three)


def test_a_number_is_never_given_twice(three: Parts) -> None:
    without = Discard(NAME, ((210, 110),)).apply(three)
    assert set(areas(Split(NAME, ((40, 10), (40, 70))).apply(without))) == {1, 2, 4}


@pytest.mark.parametrize(
    "correction",
    [Discard(NAME, ((150, 150),)), Merge(NAME, ((30, 30), (150, 150))), BrushOn(NAME, ((150, 150),), 5, (150, 10))],
)
def test_where_no_piece_lies_it_is_said(three: Parts, correction: Correction) -> None:
    with pytest.raises(EditError, match="No piece lies at"):
        correction.apply(three)

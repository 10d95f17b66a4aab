"""Strips: known by their shape, stood upright, and seen along their two long sides."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from shredded import clouds, page, strips_of

from jigsawnet.strips import (
    INSIDE_PX,
    OUTSIDE_PX,
    WIDTH_PX,
    _plain_share,
    are_printed,
    are_strips,
    bands,
    is_blank,
    is_slender,
    laid_down,
    lean,
    stand_up,
    straighten,
)  # fmt: skip
from jigsawnet.types import Piece


def bar(width: int, height: int, degrees: float = 0.0) -> Piece:
    """A plain bar on a canvas of its own, dark in its upper half, turned about its middle."""
    side = max(width, height) + 60
    mask, image = np.zeros((side, side), np.uint8), np.full((side, side, 3), 240, np.uint8)
    x, y = (side - width) // 2, (side - height) // 2
    mask[y : y + height, x : x + width] = 255
    image[y : y + height // 2, x : x + width] = 60
    turn = cv2.getRotationMatrix2D(((side - 1) / 2, (side - 1) / 2), degrees, 1.0)
    turned = [cv2.warpAffine(values, turn, (side, side), flags=cv2.INTER_LINEAR) for values in (image, mask)]
    return Piece(0, "bar.png", turned[0], turned[1] > 127)


@pytest.mark.parametrize(("size", "slender"), [((30, 300), True), ((300, 30), True), ((80, 200), False), ((100, 100), False)])
def test_a_strip_is_much_longer_than_wide(size: tuple[int, int], slender: bool) -> None:
    assert is_slender(bar(*size)) is slender


def test_a_cross_is_no_strip_though_its_box_may_be() -> None:
    piece = bar(20, 400)
    mask = piece.mask.copy()
    mask[225:235, 130:330] = True
    assert not is_slender(Piece(0, "cross.png", piece.image, mask))


def test_nearly_all_pieces_must_be_strips() -> None:
    strip, tile = bar(30, 300), bar(100, 100)
    assert are_strips([strip] * 8 + [tile] * 2)
    assert not are_strips([strip] * 7 + [tile] * 3)
    assert not are_strips([strip] * 2), "two pieces tell nothing"


@pytest.mark.parametrize("degrees", [0.0, 3.0, -20.0, 45.0, 80.0])
def test_a_turned_bar_is_stood_upright(degrees: float) -> None:
    (strip,) = straighten([bar(40, 400, degrees)])
    assert strip.scale == 1.0
    left, right = strip.edges[:, 30:-30]
    assert np.ptp(left) < 1.5, "the left edge is vertical"
    assert np.median(right - left) == pytest.approx(39, abs=1.5)
    assert len(strip.mask) == pytest.approx(400, abs=12)


def test_upright_rows_lead_back_to_the_piece() -> None:
    piece = bar(40, 400, 30.0)
    (strip,) = straighten([piece])
    ends = np.array([[strip.mask.shape[1] / 2, 8.0], [strip.mask.shape[1] / 2, len(strip.mask) - 8.0]]) / strip.scale
    for x, y in np.rint(strip.upright_from_piece.inverse() @ ends).astype(int):
        assert piece.mask[y, x]


def test_wide_strips_are_scaled_down_together() -> None:
    strips = straighten([bar(128, 1000), bar(128, 1000), bar(100, 1000)])
    assert {strip.scale for strip in strips} == {strips[0].scale}
    assert strips[0].scale == pytest.approx(WIDTH_PX / 128, rel=0.03)


def test_a_band_shows_both_sides_of_the_edge() -> None:
    (strip,) = straighten([bar(60, 400)])
    left, right = bands(strip)[:, :, 100]
    assert left.shape == (2, OUTSIDE_PX + INSIDE_PX)
    assert left[1, : OUTSIDE_PX - 1].max() == 0, "the left band starts outside"
    assert left[1, OUTSIDE_PX + 1 :].min() == 1
    assert right[1, INSIDE_PX + 1 :].max() == 0, "the right band ends outside"
    assert right[1, : INSIDE_PX - 1].min() == 1


def test_ink_is_measured_from_the_paper() -> None:
    (strip,) = straighten([bar(60, 400)])
    left = bands(strip)[0, 0]
    assert left[100, -5:].min() > 1.5, "the dark half is ink"
    assert np.abs(left[300]).max() < 0.1, "the other is paper, and nothing is seen outside"


def test_what_is_shown_goes_on_from_the_right_band_to_the_next_left_one() -> None:
    clouds = cv2.GaussianBlur(np.random.default_rng(0).integers(0, 256, (900, 400, 3), np.uint8), (0, 0), 6) * 3
    a, b, c = (bands(strip) for strip in straighten(strips_of(clouds, 8).pieces[2:5]))
    edge = slice(INSIDE_PX - 3, INSIDE_PX), slice(OUTSIDE_PX, OUTSIDE_PX + 3)

    def alike(left: np.ndarray, right: np.ndarray) -> float:
        rows = min(left.shape[2], right.shape[2])
        return float(np.corrcoef(left[1, 0, :rows, edge[0]].mean(1), right[0, 0, :rows, edge[1]].mean(1))[0, 1])

    assert alike(a, b) > alike(a, c) + 0.5
    assert alike(b, c) > alike(c, a) + 0.5


def test_laid_down_the_ends_are_the_sides() -> None:
    """The dark upper half comes to lie on the left, and points of the piece are found where they are."""
    (strip,) = straighten([bar(40, 400, 10.0)])
    lying = laid_down(strip)
    assert lying.mask.shape == strip.mask.shape[::-1]
    left, right = lying.edges[:, 30:-30].mean(axis=1)
    assert right - left == pytest.approx(399, abs=2)
    columns = np.arange(lying.mask.shape[1])
    halves = [np.median(lying.grey[lying.mask & side]) for side in (columns < 150, columns > 300)]
    assert halves == [60, 240]
    point = strip.upright_from_piece.inverse() @ np.array([30.0, 100.0])
    assert lying.upright_from_piece @ point == pytest.approx([100.0, strip.mask.shape[1] - 1 - 30.0])


def test_pieces_that_lie_together_stand_as_they_are_told() -> None:
    """A block is wider than high: by itself it would lie down."""
    block = bar(300, 100, 25.0)
    upright = stand_up(block, lean(block) + np.pi / 2, 1.0)
    left, right = upright.edges[:, 30:-30]
    assert (right - left).mean() == pytest.approx(299, abs=2)
    assert np.ptp(left) < 1.5


def test_blank_paper_has_no_print_though_its_rim_is_dark() -> None:
    piece = bar(40, 400)
    image = np.where(piece.mask[..., None], np.uint8(235), np.uint8(20)).repeat(3, axis=2)
    blank = cv2.GaussianBlur(image, (0, 0), 1.0)
    assert is_blank(Piece(0, "blank.png", blank, piece.mask))
    printed = blank.copy()
    cv2.putText(printed, "a", (220, 230), cv2.FONT_HERSHEY_SIMPLEX, 0.6, (40, 40, 40), 2)
    assert not is_blank(Piece(0, "printed.png", printed, piece.mask))


def test_pages_are_told_from_pictures() -> None:
    assert are_printed(strips_of(page(), 6).pieces)
    assert not are_printed(strips_of(clouds(), 6).pieces)


@pytest.mark.parametrize("paper", [40, 128, 250])
def test_the_plain_part_of_a_piece_is_what_lies_near_the_85th_percentile(paper: int) -> None:
    rng = np.random.default_rng(paper)
    piece = bar(37, 211, 12.0)
    grey = np.clip(rng.normal(paper, 30, piece.mask.shape), 0, 255).astype(np.uint8)
    seen = grey[piece.mask].astype(float)
    expected = np.mean(np.abs(seen - np.percentile(seen, 85)) < 16)
    assert _plain_share(Piece(0, "noise.png", np.repeat(grey[..., None], 3, axis=2), piece.mask)) == pytest.approx(expected)

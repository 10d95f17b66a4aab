"""What is said about a scan, on what scale its pieces come, and how front and back find each other."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from jigsawnet.fragments.backs import lay_back, pair_backs
from jigsawnet.fragments.check import check_scan, draw_findings, edge_blur_px
from jigsawnet.fragments.scan import find_pieces, rescale
from jigsawnet.loading.scans import common_scale
from jigsawnet.types import Piece, UInt8Array


def page_with_squares(*corners: tuple[int, int], side: int = 80, width: int = 420, height: int = 260) -> UInt8Array:
    page = np.full((height, width, 3), (235, 232, 228), np.uint8)
    for k, (x, y) in enumerate(corners):
        page[y : y + side, x : x + side] = (150, 50 + 10 * k, 60)
        page[y + 10 : y + 10 + 6 * (k + 1), x + 10 : x + 30] = (40, 60, 120)
    return np.asarray(cv2.GaussianBlur(page, (0, 0), 0.6), np.uint8)


def kinds(page: UInt8Array) -> dict[str, tuple[int, ...]]:
    return {finding.kind: finding.pieces for finding in check_scan(find_pieces(page))}


def test_a_good_scan_has_no_findings() -> None:
    assert kinds(page_with_squares((30, 30), (160, 60), (300, 120))) == {}


def test_cut_off_and_small_pieces_are_named() -> None:
    page = page_with_squares((0, 30), (160, 60), (300, 120))
    page[220:245, 60:85] = (150, 40, 40)
    found = check_scan(find_pieces(page))
    assert {finding.kind: finding.pieces for finding in found} == {"cut off": (0,), "small": (3,)}
    assert found[0].sentence == "Piece 1 is cut off at the border of the scan: move it inwards and scan again."
    assert found[0].box is not None
    assert found[0].box[0] == 0


def test_a_blurred_piece_is_told_from_sharp_ones() -> None:
    page = page_with_squares((30, 30), (160, 60), (300, 120))
    page[100:220, 270:410] = cv2.GaussianBlur(page, (0, 0), 3.0)[100:220, 270:410]
    blurs = [edge_blur_px(piece) for piece in find_pieces(page).pieces]
    assert blurs[0] == pytest.approx(0.7, abs=0.4)
    assert blurs[2] == pytest.approx(3.0, abs=0.8)
    assert kinds(page) == {"blurred": (2,)}


def test_shadow_and_shade_are_seen() -> None:
    page = np.full((260, 420, 3), (235, 232, 228), np.float32)
    shade = np.zeros(page.shape[:2], np.float32)
    shade[42:122, 42:122] = 0.5
    page *= 1.0 - cv2.GaussianBlur(shade, (0, 0), 6.0)[..., None]
    for x, y in ((30, 30), (180, 60), (310, 140)):
        page[y : y + 80, x : x + 80] = (160, 50, 60)
    assert kinds(np.asarray(cv2.GaussianBlur(page, (0, 0), 0.6), np.uint8)) == {"shadow": (0,)}
    dimmed = page_with_squares((30, 30), (310, 120)) * np.linspace(1.0, 0.55, 420)[:, None]
    assert kinds(dimmed.astype(np.uint8)).get("shade") == (1,)


def test_findings_are_drawn_on_a_picture_of_bounded_size() -> None:
    page = page_with_squares((0, 30), (160, 60))
    result = find_pieces(page)
    drawn = draw_findings(page, result, check_scan(result))
    assert drawn.shape == page.shape
    changed = (drawn != page).any(axis=2)
    assert changed[55:145, 155:245].any()
    assert not changed[200:, 300:].any()
    wide = cv2.copyMakeBorder(page, 0, 0, 0, 2000, cv2.BORDER_REPLICATE)
    assert draw_findings(wide, result, []).shape == (215, 2000, 3)


def test_scans_are_brought_to_the_coarsest_resolution() -> None:
    assert common_scale(["a"], [None]) == ([1.0], [])
    assert common_scale(["a", "b"], [300.0, 300.0]) == ([1.0, 1.0], [])
    factors, findings = common_scale(["a", "b", "c"], [300.0, 600.0, None])
    assert factors == [1.0, 0.5, 1.0]
    assert [finding.kind for finding in findings] == ["scale", "scale"]
    assert findings[0].sentence.startswith("c does not say")
    assert "large difference" in common_scale(["a", "b"], [72.0, 600.0])[1][0].sentence
    assert "None of the scans" in common_scale(["a", "b"], [None, None])[1][0].sentence


def test_rescaling_lets_no_background_in() -> None:
    image = np.full((40, 60, 3), 255, np.uint8)
    mask = np.zeros((40, 60), bool)
    mask[10:30, 11:50] = True
    image[mask] = (10, 20, 30)
    small, small_mask = rescale(image, mask, 0.5)
    assert small_mask.shape == (20, 30)
    assert small_mask.sum() == pytest.approx(mask.sum() / 4, rel=0.15)
    assert (small[small_mask] == (10, 20, 30)).all()
    assert rescale(image, mask, 1.0) == (image, mask)


def test_backs_are_paired_by_their_mirrored_place() -> None:
    front_page = page_with_squares((30, 30), (160, 60), (300, 120))
    back_page = np.roll(front_page[:, ::-1], (4, -6), axis=(0, 1))
    back_page[:, 190:300] = (235, 232, 228)
    front, back = find_pieces(front_page), find_pieces(np.ascontiguousarray(back_page))
    pairs = pair_backs(front, back)
    assert set(pairs) == {0, 2}
    for i, j in pairs.items():
        one, other = front.pieces[i], back.pieces[j]
        laid = lay_back(Piece(i, "a", one.image, one.mask), Piece(j, "b", other.image, other.mask))
        assert np.array_equal(laid.mask[:, ::-1], one.mask)
        assert np.abs(laid.image[:, ::-1].astype(int) - one.image)[one.mask].mean() < 3
    assert pair_backs(front, find_pieces(np.full_like(front_page, 200))) == {}

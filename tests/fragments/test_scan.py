"""Pieces on scans: found, with borders to the pixel, whatever they lie on; neighbours, specks, holes and rulers told apart."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jigsawnet.errors import ConfigError, InputError
from jigsawnet.fragments import background as tiling
from jigsawnet.fragments.background import fit_background
from jigsawnet.fragments.objects import split_touching
from jigsawnet.fragments.scan import ScanConfig, find_pieces
from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.types import Assembly, Puzzle, UInt8Array
from jigsawnet_bench.scans.lay import Ground, SheetConfig, make_scans
from jigsawnet_bench.scans.score import score_scan


def plain_page(width: int = 300, height: int = 240, color: tuple[int, int, int] = (240, 238, 235)) -> UInt8Array:
    return np.full((height, width, 3), color, np.uint8)


def with_piece(page: UInt8Array, x: int, y: int, width: int = 70, height: int = 50) -> UInt8Array:
    """A many-coloured rectangle with corners cut off, which no ruler has."""
    rng = np.random.default_rng(x + 7 * y)
    colors = cv2.resize(rng.integers(20, 200, (4, 4, 3), dtype=np.uint8), (width, height), interpolation=cv2.INTER_CUBIC)
    shape = np.array([[12, 0], [width - 1, 0], [width - 1, height - 14], [width - 16, height - 1], [0, height - 1], [0, 12]])
    inside = cv2.fillPoly(np.zeros((height, width), np.uint8), [shape.astype(np.int32)], 1).astype(bool)
    page[y : y + height, x : x + width][inside] = np.minimum(colors, 200)[inside]
    return page


def discs(apart: int) -> UInt8Array:
    """Two discs of radius 50 whose centres are ``apart`` px, with edges as a scanner sees them."""
    page = plain_page(430, 240)
    cv2.circle(page, (90, 120), 50, (170, 60, 50), -1)
    cv2.circle(page, (90 + apart, 120), 50, (50, 90, 160), -1)
    return np.asarray(cv2.GaussianBlur(page, (0, 0), 0.6), np.uint8)


@pytest.mark.parametrize(
    ("ground", "color", "jpeg_quality"),
    [
        ("plain", (250, 250, 250), None),
        ("shaded", (60, 140, 70), None),
        ("textured", (120, 90, 60), 90),
        ("noisy", (25, 25, 30), None),
    ],
)
def test_pieces_are_found_on_any_background(
    nine_pieces: tuple[Puzzle, Assembly], ground: Ground, color: tuple[int, int, int], jpeg_quality: int | None
) -> None:
    config = SheetConfig(width=560, height=560, ground=ground, color=color, jpeg_quality=jpeg_quality)
    pages, laid = make_scans(nine_pieces[0].pieces, config, np.random.default_rng(5))
    scores = [score_scan(find_pieces(page), [piece for piece in laid if piece.page == p]) for p, page in enumerate(pages)]
    assert sum(score.found for score in scores) == len(laid)
    assert sum(score.extra for score in scores) == 0
    assert np.concatenate([score.border_px for score in scores]).mean() < 1.0


GROUNDS: tuple[tuple[Ground, tuple[int, int, int], int | None], ...] = (
    ("plain", (245, 245, 240), None),
    ("shaded", (60, 140, 70), None),
    ("textured", (70, 60, 110), 90),
    ("noisy", (25, 25, 30), 90),
)


@pytest.mark.slow
def test_of_two_hundred_pieces_over_several_pages_99_percent_are_found() -> None:
    fields = np.random.default_rng(8).integers(40, 215, (30, 40, 3), dtype=np.uint8)
    picture = np.asarray(cv2.resize(fields, (1200, 900), interpolation=cv2.INTER_CUBIC), np.uint8)
    puzzle, _ = shred_images([picture], ShredConfig(pieces=204), np.random.default_rng(8))
    n_found = n_pages = n_extra = 0
    for k, (ground, color, jpeg_quality) in enumerate(GROUNDS):
        config = SheetConfig(width=760, height=760, ground=ground, color=color, jpeg_quality=jpeg_quality)
        pages, laid = make_scans(puzzle.pieces[k::4], config, np.random.default_rng(k))
        scores = [score_scan(find_pieces(page), [piece for piece in laid if piece.page == p]) for p, page in enumerate(pages)]
        n_pages += len(pages)
        n_found += sum(score.found for score in scores)
        n_extra += sum(score.extra for score in scores)
        limit_px = 0.6 if jpeg_quality is None else 1.0
        assert np.concatenate([score.border_px for score in scores]).mean() < limit_px, ground
    assert len(puzzle) >= 200
    assert n_pages > len(GROUNDS)
    assert n_found >= 0.99 * len(puzzle)
    assert n_extra <= 0.01 * len(puzzle)


def test_white_paper_on_white_is_found_with_its_own_border() -> None:
    page = plain_page(color=(252, 252, 252)).astype(np.float32)
    true = np.zeros(page.shape[:2], np.float32)
    cv2.circle(true, (140, 120), 60, 1.0, -1)
    page -= 7.0 * true[..., None]
    noise = np.random.default_rng(0).normal(0, 0.7, page.shape)
    result = find_pieces(np.clip(np.rint(cv2.GaussianBlur(page, (0, 0), 0.7) + noise), 0, 255).astype(np.uint8))
    assert len(result.pieces) == 1
    assert result.pieces[0].area_px == pytest.approx(true.sum(), rel=0.02)


def test_a_shadow_does_not_belong_to_the_piece() -> None:
    page = plain_page().astype(np.float32)
    shade = np.zeros(page.shape[:2], np.float32)
    shade[88:158, 108:188] = 0.4
    page *= 1.0 - cv2.GaussianBlur(shade, (0, 0), 4.0)[..., None]
    page[80:150, 100:180] = (180, 60, 50)
    (piece,) = find_pieces(cv2.GaussianBlur(page, (0, 0), 0.6).astype(np.uint8)).pieces
    x, y, width, height = piece.box
    assert abs(x - 100) <= 1
    assert abs(y - 80) <= 1
    assert abs(width - 80) <= 2
    assert abs(height - 70) <= 2


def test_a_hole_shows_background_and_stays_but_print_of_another_colour_is_paper() -> None:
    page = plain_page()
    page[60:180, 60:240] = (170, 60, 50)
    cv2.circle(page, (110, 120), 20, (240, 238, 235), -1)
    cv2.circle(page, (190, 120), 20, (225, 225, 240), -1)
    (piece,) = find_pieces(page).pieces
    at = np.array([110, 120]) - piece.corner
    print_at = np.array([190, 120]) - piece.corner
    assert not piece.mask[at[1], at[0]]
    assert piece.mask[print_at[1], print_at[0]]


def test_pieces_come_in_reading_order_with_margin_and_place() -> None:
    page = with_piece(with_piece(with_piece(plain_page(), 180, 24), 40, 30), 100, 140)
    result = find_pieces(page, ScanConfig(margin_px=7))
    assert [piece.box[0] for piece in result.pieces] == [pytest.approx(x, abs=1) for x in (40, 180, 100)]
    for piece in result.pieces:
        x, y = piece.corner
        height, width = piece.mask.shape
        assert np.array_equal(piece.image, page[y : y + height, x : x + width])
        assert piece.mask[7:-7, 7:-7].any(axis=0).all()
        assert not piece.mask[:7].any()


def test_specks_are_ignored_and_counted() -> None:
    page = with_piece(with_piece(plain_page(), 30, 30), 180, 140)
    page[200:209, 40:49] = 20
    result = find_pieces(page, ScanConfig(speck_share=0.05))
    assert len(result.pieces) == 2
    assert result.n_specks == 1
    assert len(find_pieces(page, ScanConfig(speck_share=0.0)).pieces) == 3


def test_a_ruler_goes_only_when_asked_for() -> None:
    page = plain_page(500, 300)
    for x in (30, 180, 330):
        with_piece(page, x, 40, 90, 80)
    page[220:240, 20:460] = (60, 60, 160)
    assert len(find_pieces(page).pieces) == 4
    without = find_pieces(page, ScanConfig(drop_rectangles=True))
    assert len(without.pieces) == 3
    assert without.n_rectangles == 1
    assert len(find_pieces(page, exclude=[(0, 200, 500, 100)]).pieces) == 3


def test_touching_pieces_are_split_at_a_narrow_neck() -> None:
    page = discs(apart=100)
    result = find_pieces(page)
    assert len(result.pieces) == 2
    assert result.split == ((0, 1),)
    assert result.pieces[0].area_px == pytest.approx(np.pi * 50**2, rel=0.03)
    assert len(find_pieces(page, ScanConfig(split=False)).pieces) == 1


def test_a_wide_neck_is_only_suspected() -> None:
    page = with_piece(with_piece(discs(apart=91), 320, 20, 90, 90), 320, 130, 90, 90)
    result = find_pieces(page)
    assert len(result.pieces) == 3
    assert len(result.suspects) == 1


@settings(max_examples=15, deadline=None)
@given(st.integers(20, 60), st.integers(20, 60), st.integers(0, 2**32 - 1))
def test_parts_of_a_split_are_the_object_again(radius: int, other: int, seed: int) -> None:
    mask = np.zeros((140, 280), np.uint8)
    gap = int(np.random.default_rng(seed).integers(-3, 6))
    cv2.circle(mask, (70, 70), radius, 1, -1)
    cv2.circle(mask, (min(70 + radius + other - gap, 279), 70), other, 1, -1)
    parts = split_touching(mask.astype(bool), 3.14 * min(radius, other) ** 2)
    assert np.array_equal(np.sum(parts, axis=0), mask)


def test_the_background_follows_shading_under_the_pieces() -> None:
    x = np.broadcast_to(np.arange(300), (240, 300))
    shaded = (np.array([200.0, 190.0, 170.0]) * (1.0 - 0.2 * (x / 300)[..., None] ** 2)).astype(np.uint8)
    page = with_piece(with_piece(shaded.copy(), 40, 40), 180, 120)
    behind = fit_background(page).window(0, 0, 300, 240)
    assert np.abs(behind - shaded).max() < 3.0


def test_tiles_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    page = with_piece(with_piece(plain_page(), 30, 30), 180, 140)
    whole = find_pieces(page)
    monkeypatch.setattr(tiling.tiles, "__defaults__", (64,))
    parts = find_pieces(page)
    assert [piece.corner for piece in parts.pieces] == [piece.corner for piece in whole.pieces]
    assert all(np.array_equal(a.mask, b.mask) for a, b in zip(whole.pieces, parts.pieces, strict=True))


def test_a_piece_at_the_border_is_cut_off_and_an_empty_page_is_empty() -> None:
    (piece,) = find_pieces(with_piece(plain_page(), 0, 100)).pieces
    assert piece.cut_off
    assert piece.image.shape[:2] == piece.mask.shape
    assert find_pieces(plain_page()).pieces == ()


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match="RGB"):
        find_pieces(np.zeros((50, 50, 4), np.uint8))
    with pytest.raises(ConfigError, match="min_contrast"):
        ScanConfig(min_contrast=0)
    with pytest.raises(ConfigError, match="speck_share"):
        ScanConfig(speck_share=1)
    with pytest.raises(ConfigError, match="margin_px"):
        ScanConfig(margin_px=0)

"""A plain sheet on a table: straightened by its edges when they are clear; everything else is left as it is."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jigsawnet.fragments.sheet_edges import find_sheet, may_be_sheet
from jigsawnet.fragments.straighten import UNCHANGED, draw_straightening, find_straightening
from jigsawnet.types import UInt8Array
from jigsawnet_bench.scans.photographs import Camera, Table, distortion_left, photograph

SIZE = 420, 594
COLORS = ((180, 60, 40), (40, 90, 170), (60, 140, 60), (200, 150, 30), (90, 60, 120), (20, 20, 20))


def sheet_of_pieces(size: tuple[int, int] = SIZE, color: tuple[int, int, int] = (245, 245, 242)) -> UInt8Array:
    page = np.full((size[1], size[0], 3), color, np.uint8)
    for k, paint in enumerate(COLORS):
        x, y = 40 + (k % 2) * size[0] // 2, 40 + (k // 2) * size[1] // 3
        shape = np.array([[x, y + 10], [x + 110, y], [x + 130, y + 90], [x + 20, y + 120]], np.int32)
        cv2.fillPoly(page, [shape], paint, cv2.LINE_AA)
    return page


@settings(max_examples=5, deadline=None, derandomize=True)
@given(
    keystone=st.floats(0.0, 0.08),
    toward=st.floats(0.0, 360.0),
    turn=st.floats(-8.0, 8.0),
    k1=st.floats(-0.06, 0.06),
    table=st.sampled_from(["dark", "wood", "noisy"]),
)
def test_any_view_is_found_to_half_a_pixel(keystone: float, toward: float, turn: float, k1: float, table: Table) -> None:
    shot = photograph(sheet_of_pieces(), Camera(keystone, toward, turn, k1, frame=0.14, table=table), np.random.default_rng(0))
    view, _ = find_sheet(shot.picture)
    assert view is not None
    assert distortion_left(shot, view, SIZE).most_px < 0.5


def test_a_dark_sheet_on_a_bright_table_is_found() -> None:
    shot = photograph(sheet_of_pieces(color=(30, 50, 110)), Camera(table="bright"), np.random.default_rng(0))
    view, _ = find_sheet(shot.picture)
    assert view is not None
    assert distortion_left(shot, view, SIZE).most_px < 0.5
    said = find_straightening("photo.jpg", shot.picture).sentence
    assert "by the edges of the sheet" in said
    assert "lens distortion taken out" in said


def test_a_scan_without_a_frame_is_unchanged_to_the_bit() -> None:
    scan = sheet_of_pieces()
    found = find_straightening("scan.png", scan)
    assert found is UNCHANGED
    assert found.straighten(scan) is scan


def test_a_scan_with_an_upright_frame_is_cut_out_to_the_bit() -> None:
    scan = np.pad(sheet_of_pieces(), ((40, 30), (25, 50), (0, 0)), constant_values=20)
    found = find_straightening("scan.png", scan)
    assert found.view is not None
    assert found.sentence.startswith("Photographed from straight above; cut out by the edges of the sheet")
    flat = found.straighten(scan)
    height, width = flat.shape[:2]
    assert (width, height) >= (SIZE[0] - 12, SIZE[1] - 12)
    x, y = (SIZE[0] - width) // 2, (SIZE[1] - height) // 2
    assert any(
        np.array_equal(flat, scan[40 + top : 40 + top + height, 25 + left : 25 + left + width])
        for top in range(y - 3, y + 4)
        for left in range(x - 3, x + 4)
    )


def test_a_scan_with_a_dark_strip_at_one_side_is_left_as_it_is() -> None:
    assert find_straightening("scan.png", np.pad(sheet_of_pieces(), ((0, 0), (30, 0), (0, 0)))) is UNCHANGED


def test_large_rectangular_pieces_are_no_sheets() -> None:
    scan = np.full((500, 900, 3), 40, np.uint8)
    scan[30:470, 30:430] = scan[30:470, 470:870] = 235
    for x in (60, 500):
        for y in range(60, 440, 40):
            scan[y : y + 14, x : x + 300] = 90
    assert find_straightening("scan.png", scan) is UNCHANGED


def test_a_picture_of_something_else_is_left_as_it_is() -> None:
    coarse = np.random.default_rng(5).integers(0, 256, (9, 12, 3), dtype=np.uint8)
    photo = np.asarray(cv2.resize(coarse, (600, 450), interpolation=cv2.INTER_CUBIC), np.uint8)
    assert find_straightening("photo.jpg", photo) is UNCHANGED
    framed = np.pad(photo, ((60, 60), (60, 60), (0, 0)), constant_values=15)  # a painting
    assert find_straightening("photo.jpg", framed) is UNCHANGED


@pytest.mark.parametrize("shape", [(1, 1), (17, 2500), (64, 64), (300, 300)])
@pytest.mark.parametrize("level", [0, 255])
def test_empty_pictures_are_left_as_they_are(shape: tuple[int, int], level: int) -> None:
    assert find_straightening("photo.jpg", np.full((*shape, 3), level, np.uint8)) is UNCHANGED


def test_an_edge_that_is_not_clear_is_said() -> None:
    scan = np.pad(sheet_of_pieces(), ((60, 60), (60, 60), (0, 0)), constant_values=20)
    rng = np.random.default_rng(3)
    for y in range(60, 640, 12):  # the left edge is torn
        depth = int(rng.integers(0, 11))
        scan[y : y + 12, 60 : 60 + depth] = 20
    found = find_straightening("photo.jpg", scan)
    assert found.view is None
    assert found.sentence.startswith("A sheet was seen, but its edges not clearly enough")


def test_a_sheet_is_told_from_a_piece_by_size_and_shape() -> None:
    mask = np.zeros((1000, 1200), np.bool_)
    mask[100:900, 100:1100] = True
    assert may_be_sheet(mask)
    assert not may_be_sheet(np.rot90(np.tri(1000, dtype=np.bool_)))
    assert not may_be_sheet(np.zeros_like(mask))
    mask[100:900, 300:1100] = False
    assert not may_be_sheet(mask)


def test_the_drawing_shows_what_was_found() -> None:
    shot = photograph(sheet_of_pieces(), Camera(), np.random.default_rng(0))
    view, _ = find_sheet(shot.picture)
    assert view is not None
    drawn = draw_straightening(shot.picture, view)
    assert drawn.shape == shot.picture.shape
    assert 0.01 < np.mean((drawn != shot.picture).any(axis=2)) < 0.2

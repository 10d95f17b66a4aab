"""The background of a page: its colour among several, its texture, a frame around it, glare on it."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from jigsawnet.fragments.background import even_out, fit_background
from jigsawnet.fragments.check import check_scan, draw_findings
from jigsawnet.fragments.scan import find_pieces
from jigsawnet.types import UInt8Array


def page_of_squares(color: tuple[int, int, int] = (60, 120, 180)) -> UInt8Array:
    page = np.full((300, 400, 3), color, np.uint8)
    for x, y in ((60, 60), (170, 70), (280, 60), (80, 180), (220, 190)):
        page[y : y + 60, x : x + 60] = (220, 90, 60)
    return np.asarray(cv2.GaussianBlur(page, (0, 0), 0.6), np.uint8)


def test_a_dark_frame_is_no_piece_and_is_told() -> None:
    page = page_of_squares()
    page[:14], page[-14:], page[:, :14], page[:, -14:] = 20, 20, 20, 20
    result = find_pieces(page)
    assert len(result.pieces) == 5
    assert result.background.frame is not None
    assert result.background.frame[0].all()
    assert "What lies around the page was left out." in [finding.sentence for finding in check_scan(result)]
    assert find_pieces(page_of_squares()).background.frame is None


def test_of_two_colours_along_the_border_the_one_without_print_is_the_background() -> None:
    page = np.full((300, 400, 3), (240, 240, 238), np.uint8)
    for x in range(20, 400, 50):
        page[:, x : x + 16] = (250, 200, 70)
    page[:, :6] = page[:, -6:] = (250, 200, 70)
    for y in range(20, 290, 9):
        page[y : y + 3, 40:390:9] = 40
        page[y : y + 3, 41:390:9] = 40
    behind = fit_background(page).window(0, 0, 400, 300)
    assert np.abs(behind.reshape(-1, 3).mean(axis=0) - (250, 200, 70)).max() < 12


def test_glare_is_background_and_is_told_with_its_place() -> None:
    page = page_of_squares().astype(np.float32)
    y, x = np.mgrid[0:300, 0:400]
    page += (255 - page) * (0.3 * np.exp(-((x - 340) ** 2 + (y - 220) ** 2) / (2 * 45.0**2)))[..., None]
    page += np.random.default_rng(1).normal(0, 1.0, page.shape)
    scan = np.clip(page, 0, 255).astype(np.uint8)
    result = find_pieces(scan)
    assert len(result.pieces) == 5
    (finding,) = [finding for finding in check_scan(result) if finding.kind == "glare"]
    assert finding.box is not None
    left, top, width, height = finding.box
    assert left < 340 < left + width
    assert top < 220 < top + height
    assert (draw_findings(scan, result, [finding])[top + height // 2, left] != scan[top + height // 2, left]).any()


def test_directions_in_which_a_background_varies_count_less() -> None:
    rng = np.random.default_rng(3)
    light = rng.normal(0, 12, (4000, 1)) * np.ones(3) / np.sqrt(3)
    matrix = even_out((light + rng.normal(0, 0.5, (4000, 3))).astype(np.float32))
    assert np.linalg.norm(matrix @ np.ones(3)) < 0.3 * np.sqrt(3)
    assert np.linalg.norm(matrix @ np.array([1.0, -1.0, 0.0])) > 0.9 * np.sqrt(2)


def test_pieces_that_hardly_stand_out_are_told() -> None:
    page = page_of_squares()
    page[60:120, 60:90] = (90, 140, 190)
    result = find_pieces(page)
    assert "similar" not in {finding.kind for finding in check_scan(result)}
    barely = replace(result, contrast=replace(result.contrast, floor=40.0))
    (finding,) = [finding for finding in check_scan(barely) if finding.kind == "similar"]
    assert finding.pieces == (0,)
    assert finding.sentence.startswith("Piece 1 is too similar to the background along its border")

"""Photographs of sheets: straightened before pieces are cut, on one scale, said, shown, and switched off on request."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image

from jigsawnet.cli import main_code
from jigsawnet.errors import InputError
from jigsawnet.loading import ScanInput, cut_scans, find_scale, load_input
from jigsawnet.types import FloatArray, Piece, UInt8Array
from jigsawnet_bench.scans.photographs import Camera, blank_sheet, photograph

SIDES = 60, 45


def with_pieces(page: UInt8Array, left: int, top: int, scale: int = 1) -> UInt8Array:
    """Four rectangles of 60 x 45 px, in other colours than the page."""
    page = page.copy()
    for k in range(4):
        x, y = left + (k % 2) * 120 * scale, top + (k // 2) * 100 * scale
        page[y : y + SIDES[1] * scale, x : x + SIDES[0] * scale] = (170 - 30 * k, 60 + 20 * k, 40 + 40 * k)
    return np.asarray(cv2.GaussianBlur(page, (0, 0), 0.6), np.uint8)


def save(path: Path, page: UInt8Array, camera: Camera, dpi: float = 72.0) -> Path:
    """As phones do, with a resolution that says nothing."""
    shot = photograph(page, camera, np.random.default_rng(0))
    Image.fromarray(shot.picture).save(path, dpi=(dpi, dpi), quality=95)
    return path


def sides_of(pieces: Sequence[Piece]) -> FloatArray:
    """Long and short side of pieces ``(N, 2)``, by the rectangle around them."""
    rectangles = [cv2.minAreaRect(np.argwhere(piece.mask).astype(np.float32))[1] for piece in pieces]
    return np.array([(max(sides) + 1, min(sides) + 1) for sides in rectangles])


def test_a_photographed_sheet_is_as_if_scanned(tmp_path: Path) -> None:
    page = with_pieces(np.full((480, 340, 3), 245, np.uint8), 60, 100)
    path = save(tmp_path / "photo.png", page, Camera(0.06, 90.0, 1.5, -0.04, frame=0.1))
    loaded = load_input([path])
    sides = sides_of(loaded.puzzle.pieces)
    assert len(sides) == 4
    assert np.abs(sides - SIDES).max() < 2.0
    assert loaded.dpi is None  # the tag of a photograph says nothing
    assert any("photo.png: Photographed obliquely" in line and "lower side" in line for line in loaded.puzzle.warnings)
    assert [check.name for check in loaded.checks] == ["photo.png", "photo photograph.png"]


def test_what_is_switched_off_is_said(tmp_path: Path) -> None:
    page = with_pieces(np.full((480, 340, 3), 245, np.uint8), 60, 100)
    path = save(tmp_path / "photo.png", page, Camera(0.06, 90.0, 0.0, 0.0, frame=0.1))
    options = ScanInput(straighten=False)
    (cut,) = cut_scans([path], find_scale([path], options), [], options)
    assert [check.name for check in cut.checks] == ["photo.png"]
    assert "not straightened: pieces at the lower side appear" in cut.findings[0].sentence


def test_printed_sheets_bring_photographs_to_one_scale(tmp_path: Path) -> None:
    near = save(tmp_path / "near.png", with_pieces(blank_sheet("a4", 108), 150, 200), Camera(0.03, frame=0.05))
    far = save(tmp_path / "far.png", with_pieces(blank_sheet("a4", 72), 100, 150), Camera(0.02, 20.0, frame=0.05), 300.0)
    loaded = load_input([near, far])
    assert loaded.dpi == pytest.approx(72.0, abs=0.5)
    sides = sides_of(loaded.puzzle.pieces)
    assert len(sides) == 8  # markers are no pieces
    assert np.abs(sides[:4] - (40, 30)).max() < 1.6
    assert np.abs(sides[4:] - SIDES).max() < 1.6


def test_several_photographs_of_sheets_are_scans_on_the_scale_of_the_sheet(tmp_path: Path) -> None:
    paths = []
    for k, scale in enumerate((2, 3)):
        page = with_pieces(np.full((480 * scale, 340 * scale, 3), 245, np.uint8), 60 * scale, 100 * scale, scale)
        paths.append(save(tmp_path / f"{k}.png", page, Camera(0.03, 60.0, k, 0.0, frame=0.1)))
    loaded = load_input(paths)
    sides = sides_of(loaded.puzzle.pieces)
    assert len(sides) == 8
    assert np.abs(sides - 2 * np.array(SIDES)).max() < 2.5
    assert any("one scale by the sheets on them" in line for line in loaded.puzzle.warnings)


def test_boxes_left_out_are_those_of_the_photograph(tmp_path: Path) -> None:
    page = with_pieces(blank_sheet("a4", 72), 100, 150)
    shot = photograph(page, Camera(0.04, 90.0, 3.0, 0.0), np.random.default_rng(0))
    path = save(tmp_path / "photo.png", page, Camera(0.04, 90.0, 3.0, 0.0))
    x, y = shot.see(np.array([[95.0, 140.0]]))[0]
    loaded = load_input([path], ScanInput(exclude=(f"{round(x)},{round(y)},80,70",)))
    assert len(loaded.puzzle.pieces) == 3


def test_cut_writes_down_what_was_straightened(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = save(tmp_path / "photo.png", with_pieces(blank_sheet("a4", 72), 100, 150), Camera(0.04, 90.0, 3.0, 0.0))
    assert main_code(["cut", str(path), "-o", str(tmp_path / "out")]) == 0
    said = capsys.readouterr()
    assert "4 pieces from 1 scan" in said.out
    assert "note: photo.png: Photographed obliquely" in said.err
    (scan,) = json.loads((tmp_path / "out" / "cut.json").read_text())["scans"]
    assert scan["straightened"]["by"] == "markers"
    assert scan["straightened"]["dpi"] == pytest.approx(72.0, abs=0.5)
    assert np.array(scan["straightened"]["ideal_from_flat"]).shape == (3, 3)
    assert (tmp_path / "out" / "check" / "photo photograph.png").exists()


def test_two_printed_sheets_are_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "both.png"
    Image.fromarray(np.hstack([blank_sheet("a4", 72)] * 2)).save(path)
    with pytest.raises(InputError, match=r"both\.png shows two sheets"):
        load_input([path])


def test_a_scan_is_cut_as_before(tmp_path: Path) -> None:
    path = tmp_path / "scan.png"
    Image.fromarray(with_pieces(np.full((300, 340, 3), 235, np.uint8), 40, 50)).save(path, dpi=(300, 300))
    on, off = (load_input([path], replace(ScanInput(), straighten=value)) for value in (True, False))
    assert on.dpi == off.dpi == 300
    assert on.puzzle.warnings == off.puzzle.warnings == ()
    assert all(np.array_equal(a.image, b.image) for a, b in zip(on.puzzle.pieces, off.puzzle.pieces, strict=True))
    assert len(on.checks) == 1

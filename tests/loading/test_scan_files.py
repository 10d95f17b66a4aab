"""Scans of any kind of file: 16 bit, CMYK, palette and grey are read; damaged, empty and huge ones are refused."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import cv2
import made_files
import numpy as np
import pytest
from PIL import Image

from jigsawnet.errors import InputError
from jigsawnet.loading import ScanInput, load_input
from jigsawnet.types import UInt8Array


def page() -> UInt8Array:
    """Three dark squares on light grey."""
    pixels = np.full((150, 240, 3), 220, np.uint8)
    for k, x in enumerate((20, 95, 170)):
        pixels[40:100, x : x + 50] = 40 + 20 * k
    return np.asarray(cv2.GaussianBlur(pixels, (0, 0), 0.6), np.uint8)


@pytest.mark.parametrize(("mode", "suffix"), [("CMYK", ".tif"), ("P", ".png"), ("L", ".png"), ("I;16", ".png"), ("L", ".jpg")])
def test_scans_of_every_kind_are_read(tmp_path: Path, mode: str, suffix: str) -> None:
    path = tmp_path / f"scan{suffix}"
    if mode == "I;16":
        Image.fromarray(page()[..., 0].astype(np.uint16) * 257).save(path)
    else:
        picture = Image.fromarray(page())
        (picture.quantize(64) if mode == "P" else picture.convert(mode)).save(path)
    puzzle = load_input([path]).puzzle
    assert puzzle.names() == ("scan-001.png", "scan-002.png", "scan-003.png")
    assert [np.count_nonzero(piece.mask) for piece in puzzle.pieces] == pytest.approx([3000] * 3, rel=0.06)


@pytest.mark.parametrize("ending", [".heic", ".avif", ".pdf"])
def test_scans_of_newer_kinds_are_read(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"scan{ending}"
    make = {".heic": made_files.heic, ".avif": made_files.avif, ".pdf": made_files.pdf_of_scan}[ending]
    path.write_bytes(make(page()))
    puzzle = load_input([path]).puzzle
    assert puzzle.names() == ("scan-001.png", "scan-002.png", "scan-003.png")
    assert [np.count_nonzero(piece.mask) for piece in puzzle.pieces] == pytest.approx([3000] * 3, rel=0.06)


@pytest.mark.parametrize("ending", [".tif", ".pdf"])
def test_each_page_is_a_scan(tmp_path: Path, ending: str) -> None:
    path, turned = tmp_path / f"scan{ending}", np.ascontiguousarray(page()[::-1])
    if ending == ".tif":
        path.write_bytes(made_files.tiff(page(), turned, page(), dpi=(300, 300)))
    else:
        draw = b"q 57.6 0 0 36 0 0 cm /I Do Q"
        path.write_bytes(made_files.pdf_pages([draw] * 3, made_files.pdf_picture(page()), b"0 0 57.6 36"))
    loaded = load_input([path])
    assert loaded.puzzle.names() == tuple(f"scan page {k}-00{i}.png" for k in (1, 2, 3) for i in (1, 2, 3))
    assert [check.name for check in loaded.checks] == [f"scan page {k}.png" for k in (1, 2, 3)]
    assert [check.scan_name for check in loaded.checks] == [f"scan{ending} page {k}" for k in (1, 2, 3)]
    assert loaded.dpi == 300.0
    some = load_input([path], ScanInput(pages="3,1")).puzzle
    assert some.names()[::3] == ("scan page 3-001.png", "scan page 1-001.png")


def test_backs_may_be_pages_too(tmp_path: Path) -> None:
    front, back = tmp_path / "fronts.tif", tmp_path / "backs.tif"
    front.write_bytes(made_files.tiff(page(), page()))
    back.write_bytes(made_files.tiff(np.ascontiguousarray(page()[:, ::-1]), np.ascontiguousarray(page()[:, ::-1])))
    assert sorted(load_input([front], ScanInput(back=(back,))).backs) == list(range(6))


@pytest.mark.parametrize("with_backs", [False, True])
def test_the_bar_moves_while_a_scan_is_cut(tmp_path: Path, with_backs: bool) -> None:
    scans = [tmp_path / "a.png", tmp_path / "b.png"]
    for path in scans:
        Image.fromarray(page()).save(path)
    calls: list[tuple[str, int, int]] = []
    options = ScanInput(back=tuple(scans) if with_backs else ())
    load_input(scans, options, progress=lambda *call: calls.append(call))
    cut = [call[1:] for call in calls if call[0] == "cut"]
    total = 2 * (13 if with_backs else 7)
    assert cut == [(k, total) for k in range(1, total + 1)]


def test_other_files_beside_scans_are_named(tmp_path: Path) -> None:
    Image.fromarray(page()).save(tmp_path / "a.png")
    for name in ("b.gif", "notes.txt"):
        (tmp_path / name).touch()
    assert load_input([tmp_path]).puzzle.warnings[0].startswith("b.gif was not read, being of another kind")
    backs = tmp_path / "backs"
    backs.mkdir()
    Image.fromarray(page()[:, ::-1]).save(backs / "a.png")
    (backs / "c.gif").touch()
    assert load_input([tmp_path], ScanInput(back=(backs,))).puzzle.warnings[1].startswith("c.gif was not read")


def huge_png() -> bytes:
    header = b"IHDR" + struct.pack(">IIBBBBB", 30_000, 30_000, 8, 2, 0, 0, 0)
    start = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header))
    return start + b"\0\0\0\0IDAT5\xaf\x06\x1e"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "empty file"),
        (b"not a picture", "not a picture"),
        (huge_png(), "larger than"),
    ],
)
def test_unusable_files_are_named(tmp_path: Path, data: bytes, said: str) -> None:
    good, bad = tmp_path / "a.png", tmp_path / "b.png"
    Image.fromarray(page()).save(good)
    bad.write_bytes(data)
    for paths in ([bad], [good, bad], [tmp_path]):
        with pytest.raises(InputError, match=rf"b\.png .*{said}"):
            load_input(paths)


def test_a_scan_cut_short_is_named(tmp_path: Path) -> None:
    path = tmp_path / "scan.png"
    Image.fromarray(page()).save(path)
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(InputError, match=r"scan\.png is damaged"):
        load_input([path])

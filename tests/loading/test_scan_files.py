"""Scans of any kind of file: 16 bit, CMYK, palette and grey are read; damaged, empty and huge ones are refused."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image

from jigsawnet.errors import InputError
from jigsawnet.loading import load_input
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

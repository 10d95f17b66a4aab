"""Pictures that are damaged, wrongly named or larger than they look: read or refused in words, in bounded memory."""

from __future__ import annotations

import io
import random
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import made_files
import numpy as np
import pytest
from PIL import Image, TiffImagePlugin

from jigsawnet.errors import InputError
from jigsawnet.fragments import make_piece
from jigsawnet.io import pdf
from jigsawnet.io.images import read_image
from jigsawnet.io.pages import Page
from jigsawnet.io.scans import read_dpi, read_scan

RefusesInWords = Callable[[Callable[[], object]], bool]
PIXELS = np.random.default_rng(5).integers(0, 256, (19, 23, 4), dtype=np.uint8)


def _saved(file_format: str, mode: str, **options: object) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(PIXELS).convert(mode).save(stream, format=file_format, **options)
    return stream.getvalue()


def _deep() -> bytes:
    stream = io.BytesIO()
    Image.fromarray(PIXELS[..., 0].astype(np.uint16) * 257).save(stream, format="PNG")
    return stream.getvalue()


def _with_exif() -> bytes:
    exif = Image.Exif()
    exif[0x0112] = 6
    return _saved("JPEG", "RGB", exif=exif, dpi=(300, 300))


PICTURES = {
    "png": _saved("PNG", "RGBA", dpi=(300, 300)),
    "png-palette": _saved("PNG", "P", transparency=3),
    "png-grey-16": _deep(),
    "jpeg": _with_exif(),
    "jpeg-progressive": _saved("JPEG", "L", progressive=True),
    "tiff": _saved("TIFF", "RGB", dpi=(600, 600)),
    "tiff-lzw": _saved("TIFF", "RGBA", compression="tiff_lzw"),
    "tiff-deflate": _saved("TIFF", "L", compression="tiff_adobe_deflate"),
    "webp": _saved("WEBP", "RGBA", lossless=True),
    "webp-lossy": _saved("WEBP", "RGB"),
    "bmp": _saved("BMP", "RGB"),
    "heic": made_files.heic(PIXELS),
    "avif": made_files.avif(PIXELS),
}


def read_all(path: Path) -> None:
    """What ``solve`` does with a picture."""
    read_dpi(path)
    read_scan(path)
    make_piece(0, path.name, read_image(path), None)


@pytest.mark.parametrize("name", PICTURES)
def test_damaged_pictures(name: str, tmp_path: Path, refuses_in_words: RefusesInWords) -> None:
    data, path, draw = PICTURES[name], tmp_path / "p.png", random.Random(name)
    for _ in range(25):
        damaged = bytearray(data)
        for _ in range(draw.randint(1, 6)):
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        path.write_bytes(damaged)
        refuses_in_words(lambda: read_all(path))
    for _ in range(10):
        path.write_bytes(data[: draw.randrange(len(data))])
        refuses_in_words(lambda: read_all(path))
    for _ in range(10):  # the head, where sizes and kinds stand
        head = draw.randbytes(draw.randint(1, 4))
        at = draw.randrange(min(60, len(data) - 4))
        path.write_bytes(data[:at] + head + data[at + len(head) :])
        refuses_in_words(lambda: read_all(path))


@pytest.mark.parametrize("name", PICTURES)
@pytest.mark.parametrize("suffix", [".png", ".jpg", ".tif", ".webp", ".bmp"])
def test_what_a_picture_is_called_does_not_matter(name: str, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"picture{suffix}"
    path.write_bytes(PICTURES[name])
    assert sorted(read_image(path).shape[:2]) == [19, 23]


@pytest.mark.parametrize("text", [b"GIF89a\x01\x00\x01\x00", b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"PK\x03\x04"])
def test_other_kinds_of_files_are_refused(text: bytes, tmp_path: Path) -> None:
    path = tmp_path / "p.png"
    path.write_bytes(text * 20)
    with pytest.raises(InputError, match="not a picture that can be read"):
        read_image(path)
    assert read_dpi(path) is None


@pytest.mark.parametrize("ending", [".pdf", ".png"])
def test_a_pdf_may_have_any_name_too(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"p{ending}"
    path.write_bytes(made_files.pdf_of_scan(PIXELS[..., :3]))
    np.testing.assert_array_equal(read_image(path), PIXELS[..., :3])


PDFS = {
    "scan": made_files.pdf_of_scan(PIXELS[..., :3]),
    "text": made_files.pdf_pages(
        [b"BT /F 9 Tf 10 10 Td (torn) Tj ET", b"0 0 9 9 re f"], made_files.pdf_picture(PIXELS[..., :3])
    ),
    "forms": made_files.pdf_of_nested_forms(2),
}


def _damaged(data: bytes, draw: random.Random) -> bytes:
    damaged = bytearray(data)
    for _ in range(draw.randint(1, 6)):
        damaged[draw.randrange(len(damaged))] = draw.choice([draw.randrange(256), *b"0123456789<>[]/ "])
    return bytes(damaged[: draw.randrange(len(data))] if draw.random() < 0.2 else damaged)


@pytest.mark.parametrize("name", PDFS)
def test_damaged_pdfs(name: str, tmp_path: Path, refuses_in_words: RefusesInWords, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "_MOST_SECONDS", 3)
    monkeypatch.setattr(pdf, "_MOST_BYTES", 2**30)
    path, draw = tmp_path / "p.pdf", random.Random(name)
    for _ in range(20):
        path.write_bytes(_damaged(PDFS[name], draw))
        refuses_in_words(lambda: read_image(Page(path, 1), max_pixels=1_000_000))
    for _ in range(4):
        path.write_bytes(_damaged(PDFS[name], draw))
        refuses_in_words(lambda: read_all(path))


@pytest.mark.parametrize("make", [made_files.heic, made_files.avif], ids=["heic", "avif"])
def test_pictures_that_say_another_size_than_they_have(
    make: Callable[..., bytes], tmp_path: Path, refuses_in_words: RefusesInWords
) -> None:
    """The box that says the size is changed: to a bomb, which is refused unread, and to less than what is unpacked."""
    data, path = bytearray(make(np.full((640, 640, 3), 90, np.uint8))), tmp_path / "p.heic"
    at = data.index(b"ispe") + 8
    data[at : at + 8] = struct.pack(">II", 60_000, 60_000)
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"p\.heic is (larger than 100 million pixels|damaged)"):
        read_image(path)
    data[at : at + 8] = struct.pack(">II", 16, 16)
    path.write_bytes(data)
    if not refuses_in_words(lambda: read_image(path)):
        assert read_image(path).shape == (16, 16, 3)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _png(width: int, height: int, *more: bytes, pixels: bytes = b"") -> bytes:
    head = _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + b"".join(more) + _chunk(b"IDAT", pixels) + _chunk(b"IEND", b"")


def _zeros(count: int) -> bytes:
    """So many zeros, compressed, without holding them."""
    packer, block = zlib.compressobj(1), bytes(2**20)
    parts = [packer.compress(block) for _ in range(count // len(block))]
    return b"".join([*parts, packer.compress(bytes(count % len(block))), packer.flush()])


def test_bombs_are_not_unpacked(tmp_path: Path, refuses_in_words: RefusesInWords) -> None:
    path = tmp_path / "bomb.png"
    path.write_bytes(_png(60_000, 60_000, pixels=_zeros(1000)))
    with pytest.raises(InputError, match="larger than 100 million pixels"):
        read_image(path)
    assert read_dpi(path) is None
    text = _chunk(b"zTXt", b"Comment\0\0" + _zeros(80 * 2**20))
    assert len(text) < 2**20, "small on the disk"
    path.write_bytes(_png(8, 8, text, pixels=zlib.compress(bytes(16))))
    refuses_in_words(lambda: read_image(path))


def test_more_data_than_the_size_says_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "long.png"
    path.write_bytes(_png(8, 8, pixels=_zeros(80 * 2**20)))
    assert read_image(path).shape == (8, 8, 3)


def test_a_tiff_whose_pages_go_in_a_circle(tmp_path: Path, refuses_in_words: RefusesInWords) -> None:
    stream, info = io.BytesIO(), TiffImagePlugin.ImageFileDirectory_v2()
    info[254] = 1  # every page says that it is a small copy of another
    Image.fromarray(PIXELS[..., 0]).save(stream, format="TIFF", tiffinfo=info)
    data = bytearray(stream.getvalue())
    first = struct.unpack("<I", data[4:8])[0]
    entries = struct.unpack("<H", data[first : first + 2])[0]
    data[first + 2 + 12 * entries : first + 6 + 12 * entries] = struct.pack("<I", first)
    path = tmp_path / "circle.tif"
    path.write_bytes(data)
    refuses_in_words(lambda: read_image(path))

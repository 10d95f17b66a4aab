"""Any picture in as 8-bit RGB(A), or one sentence; PNG out, whole or not at all."""

from __future__ import annotations

import errno
import io
import os
import struct
import threading
import warnings
import zlib
from pathlib import Path
from typing import NoReturn

import cv2
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from jigsawnet.errors import InputError, OutputError
from jigsawnet.io import colors, images, scans
from jigsawnet.io.images import read_image, read_pixel_count, write_png
from jigsawnet.types import UInt8Array

COLORS = np.arange(5 * 7 * 3, dtype=np.uint8).reshape(5, 7, 3)


def encode(picture: Image.Image, kind: str, **options: object) -> bytes:
    stream = io.BytesIO()
    picture.save(stream, format=kind, **options)
    return stream.getvalue()


def png_chunk(tag: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + tag + body + struct.pack(">I", zlib.crc32(tag + body))


def png_of(width: int, height: int, bits: int, kind: int, rows: bytes, extra: bytes = b"") -> bytes:
    header = struct.pack(">IIBBBBB", width, height, bits, kind, 0, 0, 0)
    chunks = png_chunk(b"IHDR", header) + extra + png_chunk(b"IDAT", zlib.compress(rows)) + png_chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


def save(folder: Path, data: bytes, name: str = "piece.png") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def read_bytes(folder: Path, data: bytes) -> UInt8Array:
    return read_image(save(folder, data))


@pytest.mark.parametrize(
    ("kind", "options"),
    [("PNG", {}), ("TIFF", {}), ("TIFF", {"compression": "tiff_lzw"}), ("WEBP", {"lossless": True}), ("BMP", {})],
)
def test_lossless_formats_keep_every_value(tmp_path: Path, kind: str, options: dict[str, object]) -> None:
    np.testing.assert_array_equal(read_bytes(tmp_path, encode(Image.fromarray(COLORS), kind, **options)), COLORS)


def test_jpeg_is_close(tmp_path: Path) -> None:
    flat = np.full((16, 16, 3), (200, 100, 50), dtype=np.uint8)
    read = read_bytes(tmp_path, encode(Image.fromarray(flat), "JPEG", quality=95))
    assert np.abs(read.astype(int) - flat).max() <= 3


def test_cmyk_jpeg_becomes_rgb(tmp_path: Path) -> None:
    red = Image.new("CMYK", (16, 16), (0, 255, 255, 0))
    pixel = read_bytes(tmp_path, encode(red, "JPEG", quality=95))[8, 8]
    assert pixel.shape == (3,)
    assert pixel[0] > 220
    assert pixel[1:].max() < 60


def test_alpha_is_kept(tmp_path: Path) -> None:
    pixels = np.dstack([COLORS, np.where(np.arange(35).reshape(5, 7) % 2, 255, 0).astype(np.uint8)])
    for kind in ("PNG", "TIFF"):
        np.testing.assert_array_equal(read_bytes(tmp_path, encode(Image.fromarray(pixels), kind)), pixels)


def test_grey_one_bit_and_grey_alpha(tmp_path: Path) -> None:
    assert read_bytes(tmp_path, encode(Image.new("L", (2, 3), 77), "PNG"))[0, 0].tolist() == [77, 77, 77]
    assert read_bytes(tmp_path, encode(Image.new("1", (2, 3), 1), "PNG"))[0, 0].tolist() == [255, 255, 255]
    assert read_bytes(tmp_path, encode(Image.new("LA", (2, 3), (77, 9)), "PNG"))[0, 0].tolist() == [77, 77, 77, 9]


def test_palette_with_and_without_transparency(tmp_path: Path) -> None:
    picture = Image.new("P", (2, 1))
    picture.putpalette([10, 20, 30, 40, 50, 60])
    picture.putpixel((1, 0), 1)
    assert read_bytes(tmp_path, encode(picture, "PNG"))[0].tolist() == [[10, 20, 30], [40, 50, 60]]
    for transparency in (0, b"\x00\xff"):
        read = read_bytes(tmp_path, encode(picture, "PNG", transparency=transparency))
        assert read[0].tolist() == [[10, 20, 30, 0], [40, 50, 60, 255]]


@pytest.mark.parametrize("suffix", [".png", ".tif"])
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_sixteen_bits_keep_their_range(tmp_path: Path, suffix: str, channels: int) -> None:
    levels = np.array([0, 128 * 257, 200 * 256, 65535], dtype=np.uint16)
    deep = np.repeat(levels.reshape(1, 4, 1), channels, axis=2)
    read = read_bytes(tmp_path, cv2.imencode(suffix, deep)[1].tobytes())
    assert read.shape == (1, 4, 4 if channels == 4 else 3)
    assert read[0, :, 0].tolist() == [0, 128, 200, 255]


def test_sixteen_bit_grey_with_a_transparent_level(tmp_path: Path) -> None:
    data = png_of(2, 1, 16, 0, b"\0" + struct.pack(">2H", 65535, 0x8000), png_chunk(b"tRNS", struct.pack(">H", 65535)))
    assert read_bytes(tmp_path, data)[0].tolist() == [[255, 255, 255, 0], [128, 128, 128, 255]]


@pytest.mark.parametrize("full", [1.0, 255.0, 65535.0, 1e9])
def test_float_tiff_is_scaled_to_its_range(tmp_path: Path, full: float) -> None:
    values = np.array([[0.0, full / 2, full, np.nan, -1.0]], dtype=np.float32)
    read = read_bytes(tmp_path, encode(Image.fromarray(values), "TIFF"))
    assert read[0, :, 0].tolist() == [0, 128, 255, 0, 0]


@pytest.mark.parametrize("kind", ["PNG", "TIFF", "WEBP"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_orientation_is_applied(tmp_path: Path, kind: str, orientation: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    options: dict[str, object] = {"lossless": True} if kind == "WEBP" else {}
    upright = {
        1: COLORS,
        2: COLORS[:, ::-1],
        3: COLORS[::-1, ::-1],
        4: COLORS[::-1],
        5: COLORS.transpose(1, 0, 2),
        6: np.rot90(COLORS, -1),
        7: np.rot90(COLORS, 2).transpose(1, 0, 2),
        8: np.rot90(COLORS),
    }[orientation]
    read = read_bytes(tmp_path, encode(Image.fromarray(COLORS), kind, exif=exif, **options))
    np.testing.assert_array_equal(read, upright)


def test_damaged_exif_data_is_no_reason_to_refuse_a_picture(tmp_path: Path) -> None:
    good = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0"
    grey = Image.new("L", (16, 8), 90)
    assert read_bytes(tmp_path, encode(grey, "JPEG", exif=good)).shape == (16, 8, 3)
    for damaged in (good[:20], good[:6] + b"XX" + good[8:], good[:10] + b"\xff" * 20):
        for kind in ("JPEG", "PNG", "WEBP"):
            assert read_bytes(tmp_path, encode(grey, kind, exif=damaged)).shape == (8, 16, 3)


@pytest.mark.parametrize(("kind", "share"), [("PNG", 0.6), ("JPEG", 0.6), ("TIFF", 0.6), ("WEBP", 0.6), ("BMP", 0.6)])
def test_truncated_pictures_are_refused(tmp_path: Path, kind: str, share: float) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (60, 60, 3), dtype=np.uint8)
    data = encode(Image.fromarray(noise), kind)
    with pytest.raises(InputError, match=r"piece\.png is damaged or cut short"):
        read_bytes(tmp_path, data[: int(share * len(data))])


def tiff_of_two(folder: Path, second_subfile_type: int) -> Path:
    """COLORS, and a smaller second page of the given TIFF subfile type."""
    first, second = Image.fromarray(COLORS), Image.fromarray(COLORS[:3, :3])
    second.encoderinfo = {"tiffinfo": {254: second_subfile_type}}
    path = folder / "scan.tif"
    first.save(path, save_all=True, append_images=[second])
    return path


def test_the_pixels_of_a_picture_are_counted_before_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image.Image, "load", lambda _: pytest.fail("it was read"))
    (tmp_path / "text.png").write_text("no picture")
    assert read_pixel_count(tmp_path / "text.png") == read_pixel_count(tmp_path / "none.png") == read_pixel_count(tmp_path) == 0
    monkeypatch.undo()
    Image.fromarray(COLORS).save(tmp_path / "a.png")
    monkeypatch.setattr(Image.Image, "load", lambda _: pytest.fail("it was read"))
    assert read_pixel_count(tmp_path / "a.png") == COLORS.shape[0] * COLORS.shape[1]


def test_too_little_memory_is_not_taken_for_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(*_: object) -> None:
        raise MemoryError

    Image.fromarray(COLORS).save(tmp_path / "a.png")
    monkeypatch.setattr(images, "_decode", no_room)
    with pytest.raises(InputError, match=r"a\.png cannot be read: there is not enough memory"):
        read_image(tmp_path / "a.png")


def test_a_second_page_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"scan\.tif holds several pages: save each page"):
        read_image(tiff_of_two(tmp_path, second_subfile_type=0))


@pytest.mark.parametrize("subfile_type", [1, 4])
def test_a_thumbnail_or_mask_is_no_second_page(tmp_path: Path, subfile_type: int) -> None:
    np.testing.assert_array_equal(read_image(tiff_of_two(tmp_path, subfile_type)), COLORS)


def test_text_is_no_picture(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"piece\.png is not a picture"):
        read_bytes(tmp_path, b"this is a shopping list\n" * 20)


def test_zero_bytes_directory_and_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"piece\.png is an empty file"):
        read_bytes(tmp_path, b"")
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(InputError, match=r"folder\.png is a folder"):
        read_image(tmp_path / "folder.png")
    with pytest.raises(InputError, match=r"gone\.png does not exist"):
        read_image(tmp_path / "gone.png")


@pytest.mark.parametrize("name", ["n" * 300 + ".png", "nul\0.png"])
def test_impossible_names_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError):
        read_image(tmp_path / name)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.png")
    with pytest.raises(InputError, match="not an ordinary file"):
        read_image(tmp_path / "pipe.png")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the administrator may read everything")
def test_unreadable_file(tmp_path: Path) -> None:
    path = save(tmp_path, encode(Image.fromarray(COLORS), "PNG"))
    path.chmod(0)
    with pytest.raises(InputError, match="permissions"):
        read_image(path)


def bmp_header(width: int, height: int) -> bytes:
    return (
        b"BM"
        + struct.pack("<IHHI", 1_000_000, 0, 0, 54)
        + struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, 0, 0, 0, 0, 0)
    )


@pytest.mark.parametrize(
    "data",
    [png_of(20_000, 20_000, 1, 0, b"\0" * 100), bmp_header(20_000, 20_000), bmp_header(12_000, 10_000)],
    ids=["png-400M", "bmp-400M", "bmp-120M"],
)
def test_huge_pictures_are_refused_by_their_header(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(InputError, match="larger than 100 million pixels"):
        read_bytes(tmp_path, data)


def test_the_limit_can_be_set(tmp_path: Path) -> None:
    path = save(tmp_path, encode(Image.fromarray(COLORS), "PNG"))
    assert read_image(path, max_pixels=35).shape == (5, 7, 3)
    with pytest.raises(InputError, match="larger than"):
        read_image(path, max_pixels=34)


def test_warning_filters_survive_reading_in_threads(tmp_path: Path) -> None:
    path = save(tmp_path, encode(Image.fromarray(COLORS), "PNG"))
    before = list(warnings.filters)
    threads = [threading.Thread(target=lambda: [read_image(path) for _ in range(20)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(warnings.filters) == before


SEEDS = [
    encode(Image.fromarray(COLORS), "PNG"),
    encode(Image.fromarray(COLORS).convert("P"), "PNG", transparency=b"\0\1"),
    encode(Image.fromarray(COLORS), "JPEG"),
    encode(Image.fromarray(COLORS), "TIFF"),
    encode(Image.fromarray(COLORS), "TIFF", compression="tiff_adobe_deflate"),
    encode(Image.fromarray(COLORS), "WEBP"),
    encode(Image.fromarray(COLORS), "BMP"),
    encode(Image.fromarray(COLORS), "JPEG", exif=b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0"),
]


@st.composite
def damaged_pictures(draw: st.DrawFn) -> bytes:
    """Random bytes, or a valid picture with bytes changed, dropped or put in."""
    data = bytearray(draw(st.one_of(st.binary(max_size=60), st.sampled_from(SEEDS))))
    for _ in range(draw(st.integers(0, 6))):
        at = draw(st.integers(0, len(data)))
        data[at : at + draw(st.integers(0, 4))] = draw(st.binary(max_size=4))
    return bytes(data[: draw(st.integers(len(data) // 2, len(data)))] if draw(st.booleans()) else data)


@settings(deadline=None, max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=damaged_pictures())
def test_any_bytes_give_an_array_or_an_input_error(tmp_path: Path, data: bytes) -> None:
    path = save(tmp_path, data)
    try:
        pixels = read_image(path, max_pixels=1_000_000)
    except InputError:
        return
    assert pixels.dtype == np.uint8
    assert pixels.ndim == 3
    assert pixels.shape[2] in (3, 4)


@pytest.mark.parametrize("name", ["plain.png", "with space.png", "ünï çødé 片.png", 'it\'s "quoted".png'])
def test_write_then_read(tmp_path: Path, name: str) -> None:
    rgba = np.dstack([COLORS, COLORS[..., 0]])
    for pixels in (COLORS, rgba):
        write_png(tmp_path / name, pixels)
        np.testing.assert_array_equal(read_image(tmp_path / name), pixels)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "out.png").mkdir()
    with pytest.raises(OutputError, match=r"out\.png cannot be written"):
        write_png(tmp_path / "out.png", COLORS)
    assert [path.name for path in tmp_path.iterdir()] == ["out.png"]


def test_writing_into_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in ("missing", "file"):
        with pytest.raises(OutputError, match=r"x\.png cannot be written"):
            write_png(tmp_path / folder / "x.png", COLORS)


def test_only_pictures_can_be_written(tmp_path: Path) -> None:
    for wrong in (COLORS[..., 0], COLORS.astype(np.float32), COLORS[:0]):
        with pytest.raises(ValueError, match="uint8"):
            write_png(tmp_path / "x.png", wrong)


class _Fails:
    """Something that a machine cannot do just now."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __call__(self, *_: object, **__: object) -> NoReturn:
        raise self.error


@pytest.mark.parametrize("error", [OSError(errno.EIO, "Input/output error"), MemoryError()], ids=["disk", "memory"])
@pytest.mark.parametrize("broken", ["dpi", "exif", "profile"])
def test_a_machine_that_fails_is_not_taken_for_a_picture_that_lacks_something(
    broken: str, error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.png"
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (4, 6)).save(path, dpi=(300, 300), exif=exif, icc_profile=images.srgb_profile())
    assert (scans.read_dpi(path), images.read_image(path).shape) == (300.0, (4, 6, 3))
    place = {
        "dpi": (scans, "picture_of"),
        "exif": (images.ImageOps, "exif_transpose"),
        "profile": (colors.ImageCms, "applyTransform"),
    }
    monkeypatch.setattr(*place[broken], _Fails(error))
    with pytest.raises(InputError, match=r"a\.png (cannot be read|is damaged or cut short and cannot be read)"):
        scans.read_dpi(path) if broken == "dpi" else images.read_image(path)
    monkeypatch.setattr(*place[broken], _Fails(ValueError("damaged")))
    assert (scans.read_dpi(path) is None) if broken == "dpi" else images.read_image(path).size

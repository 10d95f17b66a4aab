"""Colours as they are meant: profiles are applied, deep values scaled, alpha kept, and sRGB left alone."""

from __future__ import annotations

import io
from pathlib import Path

import cv2
import numpy as np
import pillow_heif
import pytest
from made_files import avif, deep_tiff, heic
from PIL import Image, ImageCms

from jigsawnet.io.images import read_image
from jigsawnet.types import UInt8Array

PIXELS = np.random.default_rng(1).integers(0, 256, (8, 9, 3), dtype=np.uint8)
ALPHA = np.where(np.arange(72).reshape(8, 9) % 2, 255, 40).astype(np.uint8)
DEEP = np.random.default_rng(2).integers(0, 65536, (5, 6, 4), dtype=np.uint16)


def s15(value: float) -> bytes:
    return round(value * 65536).to_bytes(4, "big", signed=True)


def profile(space: bytes, gamma: float, red_and_blue_swapped: bool = False) -> bytes:
    """A colour profile of primaries like those of sRGB, or of grey, with another tone curve."""
    red, green, blue = (0.4361, 0.2225, 0.0139), (0.3851, 0.7169, 0.0971), (0.1431, 0.0606, 0.7141)
    if red_and_blue_swapped:
        red, blue = blue, red
    curve = b"curv" + bytes(4) + (1).to_bytes(4, "big") + round(gamma * 256).to_bytes(2, "big") + bytes(2)
    tags = {b"wtpt": b"XYZ " + bytes(4) + s15(0.9642) + s15(1.0) + s15(0.8249)}
    if space == b"GRAY":
        tags[b"kTRC"] = curve
    else:
        for letter, place in zip(b"rgb", (red, green, blue), strict=True):
            tags[bytes([letter]) + b"XYZ"] = b"XYZ " + bytes(4) + b"".join(map(s15, place))
            tags[bytes([letter]) + b"TRC"] = curve
    at, table, body = 132 + 12 * len(tags), len(tags).to_bytes(4, "big"), b""
    for name, data in tags.items():
        table += name + (at + len(body)).to_bytes(4, "big") + len(data).to_bytes(4, "big")
        body += data
    head = bytes(8) + b"\x02\x40\0\0" + b"mntr" + space.ljust(4) + b"XYZ " + bytes(12) + b"acsp" + bytes(28)
    head += s15(0.9642) + s15(1.0) + s15(0.8249)
    whole = head.ljust(128, b"\0") + table + body
    return (len(whole)).to_bytes(4, "big") + whole[4:]


def saved(folder: Path, picture: Image.Image, kind: str = "PNG", **options: object) -> Path:
    picture.save(folder / "p.bin", format=kind, **options)
    return folder / "p.bin"


def linear_to_srgb(values: UInt8Array) -> np.ndarray:
    light = values / 255.0
    return 255 * np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)


@pytest.mark.parametrize("kind", ["PNG", "TIFF", "JPEG", "WEBP", "AVIF"])
def test_a_profile_is_applied_in_every_format(tmp_path: Path, kind: str) -> None:
    flat = np.full((16, 16, 3), (40, 120, 200), np.uint8)
    options = {} if kind in ("PNG", "TIFF") else {"quality": 100}
    path = saved(tmp_path, Image.fromarray(flat), kind, icc_profile=profile(b"RGB", 1.0), **options)
    np.testing.assert_allclose(read_image(path)[8, 8], linear_to_srgb(flat[8, 8]), atol=3)


def test_a_profile_in_a_heic_is_applied(tmp_path: Path) -> None:
    flat = np.full((32, 32, 3), (40, 120, 200), np.uint8)
    (tmp_path / "a.heic").write_bytes(heic(flat, icc_profile=profile(b"RGB", 1.0)))
    np.testing.assert_allclose(read_image(tmp_path / "a.heic")[8, 8], linear_to_srgb(flat[8, 8]), atol=6)


def test_primaries_count_too_and_alpha_stays(tmp_path: Path) -> None:
    rgba = np.dstack([np.full((8, 9, 3), (250, 10, 10), np.uint8), ALPHA])
    read = read_image(saved(tmp_path, Image.fromarray(rgba), icc_profile=profile(b"RGB", 2.2, red_and_blue_swapped=True)))
    np.testing.assert_array_equal(read[..., 3], ALPHA)
    assert read[0, 0, 2] > 200
    assert read[0, 0, 0] < 60


def test_grey_with_a_profile(tmp_path: Path) -> None:
    grey = np.arange(256, dtype=np.uint8).reshape(16, 16)
    linear = profile(b"GRAY", 1.0)
    for picture in (Image.fromarray(grey), Image.fromarray(grey.astype(np.uint16) * 257)):
        read = read_image(saved(tmp_path, picture, icc_profile=linear))
        np.testing.assert_allclose(read[..., 1], linear_to_srgb(grey), atol=2)
    both = Image.merge("LA", [Image.fromarray(grey), Image.fromarray(255 - grey)])
    read = read_image(saved(tmp_path, both, icc_profile=linear))
    np.testing.assert_allclose(read[..., 0], linear_to_srgb(grey), atol=2)
    np.testing.assert_array_equal(read[..., 3], 255 - grey)


def test_a_palette_with_a_profile(tmp_path: Path) -> None:
    picture = Image.new("P", (3, 2), 1)
    picture.putpalette([0, 0, 0, 40, 120, 200])
    read = read_image(saved(tmp_path, picture, icc_profile=profile(b"RGB", 1.0)))
    np.testing.assert_allclose(read[0, 0], linear_to_srgb(np.array([40, 120, 200], np.uint8)), atol=2)


def test_srgb_stays_to_the_bit(tmp_path: Path) -> None:
    srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    np.testing.assert_array_equal(read_image(saved(tmp_path, Image.fromarray(PIXELS), icc_profile=srgb)), PIXELS)


@pytest.mark.parametrize(
    "bad", [b"no profile", profile(b"RGB", 1.0)[:200], profile(b"GRAY", 1.0)], ids=["words", "cut", "grey"]
)
def test_a_bad_profile_is_no_reason_to_refuse_a_picture(tmp_path: Path, bad: bytes) -> None:
    np.testing.assert_array_equal(read_image(saved(tmp_path, Image.fromarray(PIXELS), icc_profile=bad)), PIXELS)


def test_lab(tmp_path: Path) -> None:
    lab = ImageCms.applyTransform(
        Image.fromarray(PIXELS),
        ImageCms.buildTransform(ImageCms.createProfile("sRGB"), ImageCms.createProfile("LAB"), "RGB", "LAB"),
    )
    assert lab is not None
    read = read_image(saved(tmp_path, lab, "TIFF"))
    assert np.abs(read.astype(int) - PIXELS).mean() < 3


@pytest.mark.parametrize("channels", [3, 4])
@pytest.mark.parametrize("ending", [".png", ".tif"])
def test_deep_colours_keep_their_range(tmp_path: Path, channels: int, ending: str) -> None:
    values = DEEP[..., :channels].copy()
    values[0, 0], values[0, 1] = 0, 65535
    order = [2, 1, 0, 3][:channels]
    data = deep_tiff(values, 2) if ending == ".tif" else cv2.imencode(".png", values[..., order])[1].tobytes()
    (tmp_path / f"a{ending}").write_bytes(data)
    np.testing.assert_array_equal(read_image(tmp_path / f"a{ending}"), values >> 8)


@pytest.mark.parametrize("white_is_zero", [False, True])
def test_deep_grey_keeps_its_range(tmp_path: Path, white_is_zero: bool) -> None:
    (tmp_path / "a.tif").write_bytes(deep_tiff(DEEP[..., :1], 0 if white_is_zero else 1))
    grey = (DEEP[..., 0] >> 8).astype(np.uint8)
    np.testing.assert_array_equal(read_image(tmp_path / "a.tif")[..., 0], 255 - grey if white_is_zero else grey)


def test_heic_and_avif_keep_colours_and_alpha(tmp_path: Path) -> None:
    rgba = np.zeros((32, 40, 4), np.uint8)
    rgba[:16] = (200, 60, 30, 255)
    rgba[16:] = (30, 60, 200, 0)
    for name, data in {"a.heic": heic(rgba), "a.avif": avif(rgba)}.items():
        (tmp_path / name).write_bytes(data)
        read = read_image(tmp_path / name)
        assert read.shape == (32, 40, 4)
        np.testing.assert_allclose(read[4, 4], (200, 60, 30, 255), atol=6)
        assert read[28, 4, 3] == 0


def test_ten_bit_heic(tmp_path: Path) -> None:
    values = np.full((32, 32, 3), (60000, 30000, 5000), np.uint16)
    stream = io.BytesIO()
    made = pillow_heif.from_bytes("RGB;16", (32, 32), values.tobytes())
    made.save(stream, quality=100, chroma=444)
    (tmp_path / "deep.heic").write_bytes(stream.getvalue())
    np.testing.assert_allclose(read_image(tmp_path / "deep.heic")[8, 8], (234, 117, 20), atol=4)


@pytest.mark.parametrize("name", ["a.heic", "a.avif", "a.jpg", "a.webp"])
def test_camera_orientation(tmp_path: Path, name: str) -> None:
    """Red on the left of the sensor, held so that it is the top: what is read is upright in every format."""
    sensor = np.full((32, 64, 3), (20, 60, 220), np.uint8)
    sensor[:, :32] = (220, 60, 20)
    exif = Image.Exif()
    exif[0x0112] = 6
    if name == "a.heic":
        (tmp_path / name).write_bytes(heic(sensor, exif=exif.tobytes()))
    else:
        Image.fromarray(sensor).save(tmp_path / name, exif=exif, quality=95)
    read = read_image(tmp_path / name)
    assert read.shape == (64, 32, 3)
    assert read[8, 16, 0] > 180
    assert read[56, 16, 0] < 80

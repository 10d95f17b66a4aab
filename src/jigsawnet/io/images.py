"""Picture files ↔ 8-bit arrays: every ordinary format in, PNG and TIFF out."""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import IO, Any

import numpy as np
from PIL import Image, ImageCms, ImageOps
from PIL.TiffImagePlugin import TiffImageFile

from jigsawnet.errors import InputError
from jigsawnet.io.colors import to_array
from jigsawnet.io.decoding import DECODE_ERRORS, is_of_the_machine, kind_of, picture_in, silence
from jigsawnet.io.files import write_stream
from jigsawnet.io.pages import Page, as_page, file_errors, picture_of
from jigsawnet.io.pdf import draw_page
from jigsawnet.types import UInt8Array

MAX_PIXELS = 100_000_000
_PNG_LEVEL = 2
"""Compression that is three to four times as fast as Pillow's usual level 6; files are 1 to 13 % larger."""
_TIFF_BITS, _TIFF_SAMPLES, _TIFF_PLANES = 258, 277, 284
_TIFF_PREDICTOR, _HORIZONTAL = 317, 2
_ICC_DATE = slice(24, 36)
"""Where a profile says when it was made."""
_CLASSIC_TIFF_BYTES = 3_900_000_000
"""A plain TIFF counts its bytes in 32 bits; what may not fit becomes a BigTIFF."""


def read_image(source: Path | Page, max_pixels: int = MAX_PIXELS) -> UInt8Array:
    """Read a picture, or a page of a file, as ``(H, W, 3)`` sRGB or, with transparency, ``(H, W, 4)``; upright by its tags.

    16-bit pictures keep their range (65535 becomes 255), and colour profiles are applied. The size in the header is checked
    before anything is decoded; Pillow's own limit of 178 million pixels holds too.

    Raises:
        InputError: the file is missing, unreadable, too large, damaged, not a picture, or has several pages and none is named.
    """
    page = as_page(source)
    name = page.name
    with file_errors(name), page.open() as stream, silence:
        try:
            return _decode(stream, page, max_pixels)
        except Image.DecompressionBombError as error:
            raise _too_large(name, max_pixels) from error


def read_pixel_count(path: Path) -> int:
    """How many pixels a picture says it has, before they are read; 0 when it cannot be told: reading it says why."""
    try:
        if not path.is_file():
            return 0
        with path.open("rb") as stream, silence:
            if kind_of(stream) == "pdf":  # each page is bounded where it is drawn
                return 0
            with picture_in(stream) as picture:
                return int(picture.width * picture.height)
    except (*DECODE_ERRORS, Image.DecompressionBombError):
        return 0


@contextmanager
def silent_decoders() -> Iterator[None]:
    """Keep libraries written in C, such as libtiff, from printing lines of their own about a damaged picture.

    They write to descriptor 2, which leads nowhere meanwhile, while ``sys.stderr`` goes on through a copy of it. This holds
    for the whole process, so it is for the command line and not for `read_image`.
    """
    python_stderr = sys.stderr
    if not _is_descriptor_2(python_stderr):
        yield
        return
    python_stderr.flush()
    with Path(os.devnull).open("w") as nowhere, os.fdopen(os.dup(2), "w", encoding=python_stderr.encoding) as copy:
        sys.stderr = copy
        os.dup2(nowhere.fileno(), 2)
        try:
            yield
        finally:
            copy.flush()
            os.dup2(copy.fileno(), 2)
            sys.stderr = python_stderr


def _is_descriptor_2(stream: IO[str] | None) -> bool:
    try:
        return stream is not None and stream.fileno() == 2
    except OSError:
        return False


def write_png(
    path: Path, image: UInt8Array, dpi: float | None = None, below: Path | None = None, *, profile: bytes | None = None
) -> None:
    """Write ``(H, W, 3)`` RGB or ``(H, W, 4)`` RGBA as PNG, whole or not at all; the folder must exist.

    ``below`` as for `write_stream`; ``profile`` is an ICC profile, such as `srgb_profile`.

    Raises:
        OutputError: the file cannot be written.
    """
    _save(path, image, "PNG", dpi, below, compress_level=_PNG_LEVEL, icc_profile=profile)


def write_tiff(path: Path, image: UInt8Array, dpi: float | None = None, *, profile: bytes | None = None) -> None:
    """As `write_png`, as TIFF for archives and image editors (alpha not multiplied in).

    It is compressed by deflate with differences of neighbouring pixels; a BigTIFF is not compressed.
    """
    if image.nbytes > _CLASSIC_TIFF_BYTES:
        _save(path, image, "TIFF", dpi, None, big_tiff=True, icc_profile=profile)
    else:
        info = {_TIFF_PREDICTOR: _HORIZONTAL}
        _save(path, image, "TIFF", dpi, None, compression="tiff_adobe_deflate", tiffinfo=info, icc_profile=profile)


@cache
def srgb_profile() -> bytes:
    """The ICC profile of sRGB, the same bytes every time."""
    profile = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    profile[_ICC_DATE] = struct.pack(">6H", 2000, 1, 1, 0, 0, 0)
    return bytes(profile)


def _save(path: Path, image: UInt8Array, file_format: str, dpi: float | None, below: Path | None, **options: Any) -> None:
    """Write a picture with its resolution, if it is known; ``options`` are those of Pillow's writer of the format."""
    if image.ndim != 3 or image.shape[2] not in (3, 4) or image.dtype != np.uint8 or image.size == 0:
        raise ValueError("an image to write must be (H, W, 3) or (H, W, 4) uint8 and not empty")
    if dpi is not None:
        options["dpi"] = (dpi, dpi)
    picture = Image.fromarray(np.ascontiguousarray(image))
    write_stream(path, lambda stream: picture.save(stream, format=file_format, **options), below)


def _too_large(name: str, max_pixels: int) -> InputError:
    return InputError(f"{name} is larger than {max_pixels / 1e6:g} million pixels: make it smaller and try again.")


def _decode(stream: IO[bytes], page: Page, max_pixels: int) -> UInt8Array:
    if kind_of(stream) == "pdf":
        return draw_page(page.path, page.name, page.number, max_pixels)
    with picture_of(stream, page) as picture:
        width, height = picture.size
        if width * height > max_pixels:
            raise _too_large(page.name, max_pixels)
        if width * height == 0:
            raise InputError(f"{page.name} has no pixels.")
        _refuse_planes(picture, page.name)
        picture.load()
        try:
            ImageOps.exif_transpose(picture, in_place=True)
        except DECODE_ERRORS as error:  # damaged EXIF data is no reason to refuse a picture
            if is_of_the_machine(error):
                raise
        return to_array(picture)


def _refuse_planes(picture: Image.Image, name: str) -> None:
    """Pillow reads the wrong bytes where a TIFF keeps the colours of deep pixels apart."""
    if isinstance(picture, TiffImageFile):
        tags = picture.tag_v2
        if tags.get(_TIFF_PLANES, 1) != 1 and tags.get(_TIFF_SAMPLES, 1) > 1 and max(tags.get(_TIFF_BITS, (8,))) > 8:
            raise InputError(f"{name} keeps its 16-bit colours in separate planes, which cannot be read: save it as PNG.")

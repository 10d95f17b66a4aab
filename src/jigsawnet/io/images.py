"""Picture files ↔ 8-bit arrays: every ordinary format in, PNG and TIFF out."""

from __future__ import annotations

import os
import struct
import sys
import threading
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError
from PIL.TiffImagePlugin import TiffImageFile

from jigsawnet.errors import InputError
from jigsawnet.io.files import write_stream
from jigsawnet.types import UInt8Array

FORMATS = ("PNG", "JPEG", "TIFF", "WEBP", "BMP")
_DECODE_ERRORS = (
    OSError,
    SyntaxError,
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    ArithmeticError,
    EOFError,
    RuntimeError,
    MemoryError,
    AssertionError,
    struct.error,
    zlib.error,
)
"""What Pillow's decoders raise on damaged files, found by fuzzing and by reading its plugins."""

_PNG_LEVEL = 2
"""Compression that is three to four times as fast as Pillow's usual level 6; files are 1 to 13 % larger."""
_TIFF_SUBFILE_TYPE = 254
_NO_PAGE = 0b101
"""Bits of the subfile type: a smaller copy of another page, and a transparency mask."""
_TIFF_PREDICTOR, _HORIZONTAL = 317, 2
_CLASSIC_TIFF_BYTES = 3_900_000_000
"""A plain TIFF counts its bytes in 32 bits; what may not fit becomes a BigTIFF."""


class _Silence:
    """Silences warnings while any thread reads a picture.

    Pillow warns about large pictures and odd metadata. `warnings.catch_warnings` alone would restore the filters in the wrong
    order when several threads use it, so the first reader enters it and the last one leaves it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._readers = 0
        self._saved = warnings.catch_warnings()

    def __enter__(self) -> None:
        with self._lock:
            if self._readers == 0:
                self._saved = warnings.catch_warnings()
                self._saved.__enter__()
                warnings.simplefilter("ignore")
            self._readers += 1

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with self._lock:
            self._readers -= 1
            if self._readers == 0:
                self._saved.__exit__(None, None, None)


_silence = _Silence()


def read_image(path: Path, max_pixels: int = 100_000_000) -> UInt8Array:
    """Read a picture as ``(H, W, 3)`` RGB or, when it has transparency, ``(H, W, 4)`` RGBA; upright by its EXIF tag.

    16-bit pictures keep their range (65535 becomes 255). The size in the header is checked before anything is decoded;
    Pillow's own limit of 178 million pixels holds too.

    Raises:
        InputError: the file is missing, unreadable, too large, damaged, not a picture, or a TIFF of several pages.
    """
    try:
        if path.is_dir():
            raise InputError(f"{path.name} is a folder, not a picture.")
        if path.exists() and not path.is_file():
            raise InputError(f"{path.name} is not an ordinary file, so it cannot be read as a picture.")
        with path.open("rb") as stream, _silence:
            return _decode(stream, path.name, max_pixels)
    except FileNotFoundError as error:
        raise InputError(f"{path.name} does not exist.") from error
    except PermissionError as error:
        raise InputError(f"{path.name} may not be read: check its permissions.") from error
    except UnidentifiedImageError as error:
        raise InputError(f"{path.name} is not a picture that can be read: use PNG, JPEG, TIFF, WebP or BMP.") from error
    except Image.DecompressionBombError as error:
        raise _too_large(path.name, max_pixels) from error
    except _DECODE_ERRORS as error:
        raise InputError(f"{path.name} is damaged or cut short and cannot be read: save or copy it again.") from error


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


def write_png(path: Path, image: UInt8Array, dpi: float | None = None) -> None:
    """Write ``(H, W, 3)`` RGB or ``(H, W, 4)`` RGBA as PNG, whole or not at all; the folder must exist.

    Raises:
        OutputError: the file cannot be written.
    """
    _save(path, image, "PNG", dpi, compress_level=_PNG_LEVEL)


def write_tiff(path: Path, image: UInt8Array, dpi: float | None = None) -> None:
    """As `write_png`, as TIFF for archives and image editors (alpha not multiplied in).

    It is compressed by deflate with differences of neighbouring pixels; a BigTIFF is not compressed.
    """
    if image.nbytes > _CLASSIC_TIFF_BYTES:
        _save(path, image, "TIFF", dpi, big_tiff=True)
    else:
        _save(path, image, "TIFF", dpi, compression="tiff_adobe_deflate", tiffinfo={_TIFF_PREDICTOR: _HORIZONTAL})


def _save(path: Path, image: UInt8Array, file_format: str, dpi: float | None, **options: Any) -> None:
    """Write a picture with its resolution, if it is known; ``options`` are those of Pillow's writer of the format."""
    if image.ndim != 3 or image.shape[2] not in (3, 4) or image.dtype != np.uint8 or image.size == 0:
        raise ValueError("an image to write must be (H, W, 3) or (H, W, 4) uint8 and not empty")
    if dpi is not None:
        options["dpi"] = (dpi, dpi)
    picture = Image.fromarray(np.ascontiguousarray(image))
    write_stream(path, lambda stream: picture.save(stream, format=file_format, **options))


def _too_large(name: str, max_pixels: int) -> InputError:
    return InputError(f"{name} is larger than {max_pixels / 1e6:g} million pixels: make it smaller and try again.")


def _decode(stream: IO[bytes], name: str, max_pixels: int) -> UInt8Array:
    if not stream.read(1):
        raise InputError(f"{name} is an empty file.")
    stream.seek(0)
    with Image.open(stream, formats=FORMATS) as picture:
        width, height = picture.size
        if width * height > max_pixels:
            raise _too_large(name, max_pixels)
        if width * height == 0:
            raise InputError(f"{name} has no pixels.")
        if isinstance(picture, TiffImageFile) and _has_second_page(picture):
            raise InputError(f"{name} holds several pages: save each page as a picture of its own.")
        picture.load()
        with suppress(*_DECODE_ERRORS):  # damaged EXIF data is no reason to refuse a picture
            ImageOps.exif_transpose(picture, in_place=True)
        return _to_array(picture)


def _has_second_page(picture: TiffImageFile) -> bool:
    """True when another page is a picture in its own right; thumbnails, pyramid levels and masks are not."""
    for page in count(1):
        try:
            picture.seek(page)
        except EOFError:
            break
        if not picture.tag_v2.get(_TIFF_SUBFILE_TYPE, 0) & _NO_PAGE:
            return True
    picture.seek(0)
    return False


def _to_array(picture: Image.Image) -> UInt8Array:
    if picture.mode.startswith(("I", "F")):
        return _deep_grey_to_array(picture)
    return np.array(picture.convert("RGBA" if picture.has_transparency_data else "RGB"))


def _deep_grey_to_array(picture: Image.Image) -> UInt8Array:
    """Grey with 16-bit, 32-bit or float values; the float scale (1, 255, 65535) is the least that holds every value."""
    values = np.asarray(picture)
    if picture.mode.startswith("I;16"):
        grey = (values >> 8).astype(np.uint8)
    else:
        finite = np.nan_to_num(values.astype(np.float64), posinf=0.0, neginf=0.0)
        top = float(finite.max())
        scales = (1.0, 255.0, 65535.0) if picture.mode == "F" else (65535.0, 2.0**31)
        full = next((scale for scale in scales if top <= scale), top)
        grey = np.rint(np.clip(finite / full, 0.0, 1.0) * 255.0).astype(np.uint8)
    transparent = picture.info.get("transparency")
    if not isinstance(transparent, int):
        return np.dstack([grey] * 3)
    alpha = np.where(values == transparent, 0, 255).astype(np.uint8)
    return np.dstack([grey, grey, grey, alpha])

"""Picture files opened, not yet decoded: what kind a file is, and what its decoders raise when it is damaged."""

from __future__ import annotations

import errno
import struct
import threading
import warnings
import zlib
from types import TracebackType
from typing import IO, Literal, cast

from PIL import Image, UnidentifiedImageError

FORMATS = ("PNG", "JPEG", "TIFF", "WEBP", "BMP", "AVIF")
"""Those that Pillow reads by itself."""
READABLE = "PNG, JPEG, TIFF, WebP, BMP, HEIC, AVIF or PDF"

DECODE_ERRORS = (
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
"""What decoders raise on damaged files, found by fuzzing and by reading Pillow's plugins."""

_OF_THE_MACHINE = frozenset({errno.EIO, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.EINTR})

_HEAD_BYTES = 1024
"""Other things may stand before the mark of a PDF, up to so many bytes."""
_TIFF_MARKS = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
_HEIF_BRANDS = frozenset(
    {b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs", b"mif1", b"msf1", b"avif", b"avis"}
)

Kind = Literal["pdf", "tiff", "heif", "other"]


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


silence = _Silence()


def is_of_the_machine(error: BaseException) -> bool:
    """True when a disk or the memory failed, so that the file may be all right: what it says must not be passed over."""
    return isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno in _OF_THE_MACHINE)


def kind_of(stream: IO[bytes]) -> Kind:
    """What a file is by its first bytes, whatever it is called; the stream is at its beginning before and after."""
    head = stream.read(_HEAD_BYTES)
    stream.seek(0)
    if head.startswith(_TIFF_MARKS):
        return "tiff"
    if head[4:8] == b"ftyp" and head[8:12] in _HEIF_BRANDS:
        return "heif"
    return "pdf" if b"%PDF-" in head and not head.startswith((b"\x89PNG", b"\xff\xd8", b"RIFF", b"BM")) else "other"


def picture_in(stream: IO[bytes]) -> Image.Image:
    """The picture in a file that is no PDF, with its size and tags; its pixels are decoded when they are asked for.

    Raises:
        UnidentifiedImageError: it is no picture.
        Exception: one of `DECODE_ERRORS`.
    """
    try:
        return Image.open(stream, formats=FORMATS)
    except UnidentifiedImageError:
        stream.seek(0)
        if kind_of(stream) != "heif":
            raise
        from pillow_heif import HeifImageFile  # noqa: PLC0415 - takes a while to load

        return cast(Image.Image, HeifImageFile(stream))  # type: ignore[no-untyped-call]

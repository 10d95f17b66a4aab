"""Files that hold several pictures: which pages there are, which of them are wanted, and what they are called."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from PIL import Image, UnidentifiedImageError
from PIL.TiffImagePlugin import TiffImageFile

from jigsawnet.errors import ConfigError, InputError
from jigsawnet.io.decoding import DECODE_ERRORS, READABLE, kind_of, picture_in, silence
from jigsawnet.io.pdf import count_pages
from jigsawnet.io.tiff_pages import tiff_pages

_MOST_PAGES = 100
"""Pages of one file that are read without being named one by one."""
_RANGE = re.compile(r"([0-9]{1,6})(?:-([0-9]{1,6}))?")


@dataclass(frozen=True, slots=True)
class Page:
    """A picture file, or the page of one: ``number`` counts from 1 and is None for a file that holds one picture."""

    path: Path
    number: int | None = None

    @property
    def name(self) -> str:
        """What people call it: ``scan.pdf page 3``."""
        return self.path.name if self.number is None else f"{self.path.name} page {self.number}"

    @property
    def stem(self) -> str:
        """Its name without the ending: ``scan page 3``."""
        return self.path.stem if self.number is None else f"{self.path.stem} page {self.number}"

    def open(self) -> IO[bytes]:
        """The file, if it is one; a pipe would be waited for for ever.

        Raises:
            InputError: it is a folder, a pipe, a device or empty.
            OSError: it cannot be opened.
        """
        if self.path.is_dir():
            raise InputError(f"{self.path.name} is a folder, not a picture.")
        if self.path.exists() and not self.path.is_file():
            raise InputError(f"{self.path.name} is not an ordinary file, so it cannot be read as a picture.")
        stream = self.path.open("rb")
        if not stream.read(1):
            stream.close()
            raise InputError(f"{self.path.name} is an empty file.")
        stream.seek(0)
        return stream


def as_page(source: Path | Page) -> Page:
    """A file that holds one picture as its page."""
    return source if isinstance(source, Page) else Page(source)


def parse_pages(text: str) -> tuple[range, ...]:
    """The pages that a person names: ``3``, ``1-4`` or ``1-4,7``; none for no text.

    Raises:
        ConfigError: it is something else.
    """
    if not text.strip():
        return ()
    ranges = []
    for word in text.replace(" ", "").split(","):
        match = _RANGE.fullmatch(word)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 1 <= first <= last:
            raise ConfigError(f"pages is {text!r}; it must be numbers from 1 on and ranges of them, such as 1-4,7.")
        ranges.append(range(first, last + 1))
    return tuple(ranges)


def list_pages(path: Path, wanted: str = "") -> list[Page]:
    """The pages of a picture file, or those of them that are ``wanted`` (see `parse_pages`); one of a file that has only one.

    Raises:
        InputError: the file cannot be read, has none of the pages, or has more than 100 and none is named.
        ConfigError: ``wanted`` makes no sense.
    """
    chosen = parse_pages(wanted)
    with file_errors(path.name), Page(path).open() as stream, silence:
        count = _count(stream, path)
    if count == 1:
        return [Page(path)]
    if chosen:
        numbers = list(dict.fromkeys(number for span in chosen for number in span if number <= count))
        if not numbers:
            raise InputError(f"{path.name} has {count} pages, none of them page {wanted}: give others with --pages.")
        return [Page(path, number) for number in numbers]
    if count > _MOST_PAGES:
        raise InputError(
            f"{path.name} has {count} pages, and at most {_MOST_PAGES} are read unasked: "
            f"say which ones, such as --pages 1-{_MOST_PAGES}."
        )
    return [Page(path, number) for number in range(1, count + 1)]


@contextmanager
def picture_of(stream: IO[bytes], page: Page) -> Iterator[Image.Image]:
    """The picture of a page of a file that is no PDF, not yet decoded.

    Raises:
        InputError: no page is named, and the file has several; or there is no such page.
    """
    kind = kind_of(stream)
    pages = _tiff_pages(stream, page.name) if kind == "tiff" else None
    try:
        opened = picture_in(stream)
    except UnidentifiedImageError as error:
        if kind != "tiff":
            raise
        raise InputError(f"{page.name} is damaged, or a TIFF of a kind that cannot be read: save it as PNG.") from error
    with opened as picture:
        if pages is None:
            pages = list(range(_heif_count(picture)))
        number = 1 if page.number is None else page.number
        if page.number is None and len(pages) > 1:
            raise InputError(f"{page.name} holds several pages: save each page as a picture of its own.")
        if number > len(pages):
            raise InputError(f"{page.path.name} has {len(pages)} pages, so there is no page {number}.")
        if len(pages) > 1 or isinstance(picture, TiffImageFile):
            picture.seek(pages[number - 1])
        yield picture


@contextmanager
def file_errors(name: str) -> Iterator[None]:
    """Whatever goes wrong while a picture file is read, as one sentence."""
    try:
        yield
    except FileNotFoundError as error:
        raise InputError(f"{name} does not exist.") from error
    except PermissionError as error:
        raise InputError(f"{name} may not be read: check its permissions.") from error
    except UnidentifiedImageError as error:
        raise InputError(f"{name} is not a picture that can be read: use {READABLE}.") from error
    except MemoryError as error:
        raise InputError(f"{name} cannot be read: there is not enough memory for it, or it is damaged.") from error
    except DECODE_ERRORS as error:
        raise InputError(f"{name} is damaged or cut short and cannot be read: save or copy it again.") from error


def _count(stream: IO[bytes], path: Path) -> int:
    match kind_of(stream):
        case "pdf":
            return count_pages(path, path.name)
        case "tiff":
            return len(_tiff_pages(stream, path.name))
        case "heif":
            with picture_in(stream) as picture:
                return _heif_count(picture)
        case _:
            return 1  # of an animation only the first picture counts


def _heif_count(picture: Image.Image) -> int:
    return cast(int, getattr(picture, "n_frames", 1)) if picture.format == "HEIF" else 1


def _tiff_pages(stream: IO[bytes], name: str) -> list[int]:
    pages = tiff_pages(stream, name)
    stream.seek(0)
    return pages

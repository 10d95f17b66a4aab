"""Which pictures of a TIFF are pages: its chain of directories, walked without reading what they describe."""

from __future__ import annotations

import struct
from typing import IO

from jigsawnet.errors import InputError

_SUBFILE_TYPE = 254
_NO_PAGE = 0b101
"""Bits of the subfile type: a smaller copy of another page, and a transparency mask."""
_BIG = 43
_FIRST_ENTRIES = 8
"""Entries are sorted by their tags, and the subfile type is the lowest."""
_MOST_DIRECTORIES = 10_000


def tiff_pages(stream: IO[bytes], name: str) -> list[int]:
    """Numbers from 0, in the chain of directories, of the pictures that are pages; the first when none says that it is one.

    Thumbnails, pyramid levels and masks are no pages.

    Raises:
        InputError: the chain is cut short, goes in a circle or has more than 10,000 links.
    """
    order = "<" if stream.read(2) == b"II" else ">"
    big = _number(stream, order + "H") == _BIG
    if big:
        stream.seek(8)
    link = order + ("Q" if big else "I")
    at, seen, pages = _number(stream, link), set[int](), list[int]()
    while at:
        if at in seen:
            raise InputError(f"{name} is damaged: its pages go in a circle. Save it again.")
        if len(seen) == _MOST_DIRECTORIES:
            raise InputError(f"{name} holds more than {_MOST_DIRECTORIES:,} pages: save those that are needed by themselves.")
        seen.add(at)
        at, kind = _directory(stream, at, order, big)
        if at is None:
            raise InputError(f"{name} is damaged or cut short and cannot be read: save or copy it again.")
        if not kind & _NO_PAGE:
            pages.append(len(seen) - 1)
    return pages or [0]


def _directory(stream: IO[bytes], at: int, order: str, big: bool) -> tuple[int | None, int]:
    """Where the next directory is (0: nowhere; None: the file ends before), and the subfile type of this one."""
    stream.seek(at)
    count = _number(stream, order + ("Q" if big else "H"))
    entry, kind = (20 if big else 12), 0
    if count is None:
        return None, 0
    start = stream.tell()
    for _ in range(min(count, _FIRST_ENTRIES)):
        data = stream.read(entry)
        if len(data) == entry and struct.unpack(order + "H", data[:2])[0] == _SUBFILE_TYPE:
            kind = struct.unpack(order + "I", data[12:16] if big else data[8:12])[0]
    if start + entry * count >= 2**63:
        return None, 0
    stream.seek(start + entry * count)
    return _number(stream, order + ("Q" if big else "I")), kind


def _number(stream: IO[bytes], layout: str) -> int | None:
    data = stream.read(struct.calcsize(layout))
    return int(struct.unpack(layout, data)[0]) if len(data) == struct.calcsize(layout) else None

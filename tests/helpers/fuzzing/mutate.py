"""Files changed by chance: bytes, values of JSON, and parts of PNG and zip files, whose checksums are right afterwards."""

from __future__ import annotations

import copy
import io
import json
import random
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

Mutator = Callable[[Sequence[bytes], random.Random], bytes]

WORDS = (
    b"-1", b"1e999", b"NaN", b"null", b"9" * 400, b"0", b"1e-320", b'"', b"\\", b"\0", b"{}", b"[]", b"\n", b" ", b"[" * 3000,
    b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0\0\0\0", b"\x80\0\0\0", b"/", b"<<", b">>", b"endobj",
)  # fmt: skip
NUMBERS = (0, 1, 2, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1)
VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 1, 2**63, 10**400, float("nan"), float("inf"), 1e308, 1e-320, -0.0, "", "x" * 3000, "../../x", "\0",
    "\ud800", "a.png", [], {}, [[]], [None] * 3, {"": 1}, [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
)  # fmt: skip
_LARGEST = 2**17
_PNG = b"\x89PNG\r\n\x1a\n"
_PACKED = {b"IDAT": 0, b"iCCP": 2, b"zTXt": 2}
"""Chunks that hold compressed data, after a name that ends with so many zeros (0: no name)."""


def bytes_changed(seeds: Sequence[bytes], draw: random.Random) -> bytes:
    """One of the files: cut, doubled, parts left out, overwritten, or of another; mostly in one place, so that much is read."""
    data = draw.choice(seeds)
    for _ in range(draw.choice((1, 1, 1, 2, 5))):
        data = _changed_once(data, seeds, draw)[:_LARGEST]
    return data


def _changed_once(data: bytes, seeds: Sequence[bytes], draw: random.Random) -> bytes:  # noqa: PLR0911 - one for each kind
    start = draw.randrange(len(data) + 1)
    stop = start + 1 + int(draw.random() ** 3 * (len(data) - start))
    match draw.randrange(16):
        case 0:
            return data[:start]
        case 1:
            return data[:start] + data[stop:]
        case 2:
            return data[:stop] + data[start:]
        case 3:
            return data[:start] + draw.choice(WORDS) + data[stop:]
        case 4:
            other = draw.choice(seeds)
            return data[:start] + other[draw.randrange(len(other) + 1) :]
        case 5 | 6 | 7 | 8:
            layout = draw.choice(("<H", ">H", "<I", ">I"))
            number = struct.pack(layout, draw.choice(NUMBERS) % 2 ** (8 * struct.calcsize(layout)))
            return data[:start] + number + data[start + len(number) :]
        case 9 | 10 | 11:
            old = data[start] if start < len(data) else 0
            return data[:start] + bytes([old ^ 1 << draw.randrange(8)]) + data[start + 1 :]
        case _:
            new = draw.randbytes(draw.randint(1, 4))
            return data[:start] + new + data[start + len(new) :]


def json_changed(seeds: Sequence[bytes], draw: random.Random) -> bytes:
    """JSON with other values, and now and then other bytes."""
    if draw.random() < 0.25:
        return bytes_changed(seeds, draw)
    data = json.loads(draw.choice(seeds))
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        places = list(_places(data))
        if not places:
            break
        owner, key = draw.choice(places)
        _change_value(owner, key, draw, places)
    return json.dumps(data).encode("utf-8", "surrogatepass")


def _places(node: Any) -> Iterator[tuple[Any, Any]]:
    for key in list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ():
        yield node, key
        yield from _places(node[key])


def _change_value(owner: Any, key: Any, draw: random.Random, places: Sequence[tuple[Any, Any]]) -> None:
    match draw.randrange(6):
        case 0:
            del owner[key]
        case 1 if isinstance(owner, list):
            owner.insert(key, owner[key])
        case 2:
            other, name = draw.choice(places)
            with suppress(KeyError, IndexError):  # it was deleted
                owner[key] = json.loads(json.dumps(other[name]))
        case 3 if isinstance(owner[key], int | float):
            with suppress(OverflowError):
                owner[key] = owner[key] * draw.choice((-1, 0.5, 1e9, 1e300)) + draw.choice((0, 1, -1e-9))
        case _:
            owner[key] = copy.deepcopy(draw.choice(VALUES))


def png_changed(seeds: Sequence[bytes], draw: random.Random) -> bytes:
    """A PNG with other chunks, also inside what is compressed; their checksums are right."""
    if draw.random() < 0.2:
        return bytes_changed(seeds, draw)
    chunks = list(_chunks(draw.choice(seeds)))
    for _ in range(draw.randint(1, 3)):
        at = draw.randrange(len(chunks))
        kind, data = chunks[at]
        match draw.randrange(6):
            case 0:
                chunks.insert(draw.randrange(len(chunks) + 1), (kind, data))
            case 1 if len(chunks) > 1:
                del chunks[at]
            case 2:
                others = list(_chunks(draw.choice(seeds)))
                chunks[at] = draw.choice(others)
            case _:
                chunks[at] = kind, _chunk_changed(kind, data, draw)
        if not chunks:
            break
    return _PNG + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(_PNG)
    while at + 12 <= len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        yield kind, data[at + 8 : at + 8 + length]
        at += 12 + length


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _chunk_changed(kind: bytes, data: bytes, draw: random.Random) -> bytes:
    if kind in _PACKED and draw.random() < 0.7:
        head = data[: data.find(b"\0") + _PACKED[kind]] if _PACKED[kind] else b""
        with suppress(zlib.error):
            return head + zlib.compress(bytes_changed([zlib.decompress(data[len(head) :])], draw), 1)
    return bytes_changed([data], draw) if data else draw.randbytes(4)


def zip_changed(seeds: Sequence[bytes], draw: random.Random) -> bytes:
    """A zip file with other entries, whose checksums are right, and now and then other bytes."""
    if draw.random() < 0.3:
        return bytes_changed(seeds, draw)
    entries = _entries(draw.choice(seeds))
    for _ in range(draw.randint(1, 3)):
        at = draw.randrange(len(entries))
        name, data = entries[at]
        match draw.randrange(6):
            case 0 if len(entries) > 1:
                del entries[at]
            case 1:
                entries.append((draw.choice((name, "../x.npy", "", "a" * 2000, "head.npy")), data))
            case 2:
                entries[at] = name, draw.choice(_entries(draw.choice(seeds)))[1]
            case _:  # the first bytes say what and how much there is
                head = draw.choice((0, 16, 128))
                entries[at] = name, data[:head] + bytes_changed([data[head:] or b"\0"], draw)
    made = io.BytesIO()
    method = zipfile.ZIP_DEFLATED if draw.random() < 0.1 else zipfile.ZIP_STORED
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(made, "w", method) as archive:  # a name may occur twice
        for name, data in entries:
            with archive.open(zipfile.ZipInfo(name or "x"), "w", force_zip64=draw.random() < 0.5) as entry:
                entry.write(data)
    return made.getvalue()


def _entries(data: bytes) -> list[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return [(info.filename, archive.read(info)) for info in archive.infolist()]

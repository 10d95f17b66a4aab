"""Arrays in one file: an ``.npz`` that NumPy reads too, without compression and without pickle, known by its checksum."""

from __future__ import annotations

import hashlib
import io
import json
import math
import re
import struct
import zipfile
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from jigsawnet.io.files import make_folder, write_stream
from jigsawnet.io.json_text import parse_json
from jigsawnet.types import StageReport

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Saved:
    """A stage as a store keeps it."""

    key: str
    """Hash of all that it depends on."""
    source: str
    """Key of what it was made from."""
    arrays: Arrays
    reports: tuple[StageReport, ...] = ()
    """Seconds and counts of the stages up to this one."""


MEASURED = "measured"
"""The name of what a matcher measured, kept beside its candidates for when pieces are added."""
MAX_BYTES = 64 * 2**30
_MOST_DIRECTORY = 8 * 2**20
"""Bytes of the list of entries: those of tens of thousands of pieces."""
_END, _END_64, _LOCATOR_64 = struct.Struct("<4s4H2LH"), struct.Struct("<4sQ2H2L4Q"), struct.Struct("<4sLQL")
_ENTRY_BYTES = 30
"""Before the name and the data of an entry."""
_EPOCH = (1980, 1, 1, 0, 0, 0)
_HEADER = re.compile(
    rb"\{'descr': '[<>|=][biuf][0-9]{1,2}', 'fortran_order': (?:True|False), 'shape': \((?:[0-9]{1,19},? ?){0,32}\), \} *\n"
)
"""What NumPy writes before an array of numbers. Its reader takes this for a piece of Python, so nothing else is shown to it."""
DAMAGED = (
    OSError,
    ValueError,
    KeyError,
    EOFError,
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
    struct.error,
)
"""What a file that is none of ours, or only a part of one, may bring about."""


class _Hashing(io.RawIOBase):
    """Passes on what is written and keeps its checksum; it cannot seek, so that every byte is seen once and in order."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self.sha256 = stream, hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.sha256.update(data)
        return self._stream.write(data)


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]], below: Path | None = None) -> str:
    """Write arrays of numbers and truth values, whole or not at all; gives the checksum. The same arrays give the same bytes.

    ``below`` as for `write_stream`.

    Raises:
        OutputError: the disk is full or the folder cannot be written.
    """
    checksum = ""

    def write(stream: IO[bytes]) -> None:
        nonlocal checksum
        through = _Hashing(stream)
        with zipfile.ZipFile(through, "w") as archive:
            for name, array in arrays.items():
                with archive.open(zipfile.ZipInfo(f"{name}.npy", _EPOCH), "w", force_zip64=True) as entry:
                    np.lib.format.write_array(entry, np.asanyarray(array), allow_pickle=False)
        checksum = through.sha256.hexdigest()

    write_stream(path, write, below)
    return checksum


def read_arrays(path: Path, sha256: str | None, names: Collection[str] | None = None) -> Arrays | None:
    """Read arrays back, those with these names (None: all).

    None when the file is not there, not the one with this checksum (None: any), or no such file at all; not when there is too
    little memory for it.
    """
    try:
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            return None
        with path.open("rb") as stream:
            if sha256 is not None and hashlib.file_digest(stream, "sha256").hexdigest() != sha256:
                return None
            check_directory(stream)
            with zipfile.ZipFile(stream) as archive:
                check_entries(archive)
                listed = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
                return {name: _read(archive, listed[name]) for name in (listed if names is None else names)}
    except DAMAGED:
        return None


def check_directory(stream: IO[bytes]) -> None:
    """Refuse a list of entries that is too long, before it is read; its length stands at the end of the file.

    Raises:
        ValueError, struct.error: it is too long, or there is none.
    """
    end = stream.seek(0, io.SEEK_END) - _END.size
    mark, *_, length, _, comment = _END.unpack(_read_at(stream, end, _END.size))
    if mark != b"PK\5\6" or comment:
        raise ValueError("no end")
    place = end - _LOCATOR_64.size
    if place >= 0 and (found := _LOCATOR_64.unpack(_read_at(stream, place, _LOCATOR_64.size)))[0] == b"PK\6\7":
        if found[2] != place - _END_64.size:
            raise ValueError("not where it belongs")
        length = _END_64.unpack(_read_at(stream, found[2], _END_64.size))[-2]
    if length > _MOST_DIRECTORY:
        raise ValueError("too many entries")


def _read_at(stream: IO[bytes], place: int, length: int) -> bytes:
    stream.seek(place)
    return stream.read(length)


def check_entries(archive: zipfile.ZipFile) -> None:
    """Refuse entries that are compressed or overlap: what is unpacked is never larger than the file.

    Raises:
        ValueError: there are such entries.
    """
    free = 0
    for info in sorted(archive.infolist(), key=lambda info: info.header_offset):
        if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
            raise ValueError("compressed")
        if info.header_offset < free:
            raise ValueError("entries overlap")
        free = info.header_offset + _ENTRY_BYTES + len(info.filename) + info.file_size
    if free > archive.start_dir:
        raise ValueError("entries reach into the list of entries")


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray[Any]:
    """One array; its size in the header must be the size of its entry, so that nothing is allocated that is not there."""
    with archive.open(info) as entry:
        if np.lib.format.read_magic(entry) != (1, 0):
            raise ValueError("of another version")
        length = entry.read(2)
        header = length + entry.read(int.from_bytes(length, "little"))
        if not _HEADER.fullmatch(header, 2):
            raise ValueError("no numbers")
        shape, _, dtype = np.lib.format.read_array_header_1_0(io.BytesIO(header))
        if math.prod(shape) * dtype.itemsize != info.file_size - entry.tell():
            raise ValueError("not as large as it says")
    with archive.open(info) as entry:
        array: NDArray[Any] = np.lib.format.read_array(entry, allow_pickle=False)
    return array


def text_array(value: Any) -> NDArray[np.uint8]:
    """Plain values (JSON) as an array of bytes, to lie beside other arrays."""
    return np.frombuffer(json.dumps(value, allow_nan=False).encode(), np.uint8)


def read_text_array(array: NDArray[Any]) -> Any:
    """What `text_array` was given."""
    return parse_json(array.tobytes().decode())


class FolderStore:
    """A folder that keeps the stages of many puzzles and options, each in a file named by its key.

    What a matcher measured is not kept: it is for pieces that are added to the newest run of a folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def load(self, name: str, key: str | None = None) -> Saved | None:
        """What was saved under the key."""
        arrays = None if key is None else read_arrays(self._file(name, key), None)
        if arrays is None or key is None:
            return None
        try:
            head = read_text_array(arrays.pop("head"))
            reports = tuple(StageReport(r["name"], r["seconds"], r["counts"]) for r in head["reports"])
            return Saved(key, str(head["source"]), arrays, reports) if head["key"] == key else None
        except (KeyError, TypeError, ValueError):
            return None

    def save(self, stages: Mapping[str, Saved]) -> None:
        """Write each stage, whole or not at all."""
        make_folder(self.path)
        for name, saved in ((name, saved) for name, saved in stages.items() if name != MEASURED):
            head = {"key": saved.key, "source": saved.source, "reports": [asdict(report) for report in saved.reports]}
            write_arrays(self._file(name, saved.key), {"head": text_array(head), **saved.arrays})

    def _file(self, name: str, key: str) -> Path:
        return self.path / f"{name}-{key[:32]}.npz"

"""Arrays in one file: an ``.npz`` that NumPy reads too, without compression and without pickle, known by its checksum."""

from __future__ import annotations

import hashlib
import io
import json
import math
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from jigsawnet.io.files import write_stream

Arrays = dict[str, NDArray[Any]]

MAX_BYTES = 64 * 2**30
_EPOCH = (1980, 1, 1, 0, 0, 0)
_KINDS = "biuf"
_DAMAGED = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, NotImplementedError, RuntimeError, MemoryError)


class _Hashing(io.RawIOBase):
    """Passes on what is written and keeps its checksum; it cannot seek, so that every byte is seen once and in order."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self.sha256 = stream, hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.sha256.update(data)
        return self._stream.write(data)


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> str:
    """Write arrays of numbers and truth values, whole or not at all; gives the checksum. The same arrays give the same bytes.

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

    write_stream(path, write)
    return checksum


def read_arrays(path: Path, sha256: str) -> Arrays | None:
    """Read arrays back; None when the file is not there, not the one with this checksum, or no such file at all."""
    try:
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            return None
        with path.open("rb") as stream:
            if hashlib.file_digest(stream, "sha256").hexdigest() != sha256:
                return None
            with zipfile.ZipFile(stream) as archive:
                return {info.filename.removesuffix(".npy"): _read(archive, info) for info in archive.infolist()}
    except _DAMAGED:
        return None


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray[Any]:
    """One array; its size in the header must be the size of its entry, so that nothing is allocated that is not there."""
    if info.compress_type != zipfile.ZIP_STORED:
        raise ValueError("compressed")
    with archive.open(info) as entry:
        np.lib.format.read_magic(entry)
        shape, _, dtype = np.lib.format.read_array_header_1_0(entry)
        if dtype.kind not in _KINDS or math.prod(shape) * dtype.itemsize != info.file_size - entry.tell():
            raise ValueError("not as large as it says")
    with archive.open(info) as entry:
        array: NDArray[Any] = np.lib.format.read_array(entry, allow_pickle=False)
    return array


def text_array(value: Any) -> NDArray[np.uint8]:
    """Plain values (JSON) as an array of bytes, to lie beside other arrays."""
    return np.frombuffer(json.dumps(value, allow_nan=False).encode(), np.uint8)


def read_text_array(array: NDArray[Any]) -> Any:
    """What `text_array` was given."""
    return json.loads(array.tobytes().decode())

"""Files: bounded reading, and writing so that a reader sees the old one or the whole new one."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO
from uuid import uuid4

from jigsawnet.errors import FormatError, InputError, OutputError
from jigsawnet.io.places import hold_below, hold_place

RESULT_FILE = "assembly.json"
"""A folder with this file holds a finished solve."""

TEMPORARY = ".jigsawnet-"
"""How the names of files and folders begin that are not finished."""

MAX_TEXT_BYTES = 64 * 2**20


def read_text(path: Path, max_bytes: int = MAX_TEXT_BYTES) -> str:
    """Read a UTF-8 text file of at most ``max_bytes``; a byte order mark is dropped."""
    try:
        if not path.is_file():
            raise InputError(f"{path} is not a file; check the path.")
        with path.open("rb") as stream:
            data = stream.read(max_bytes + 1)
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {reason_of(error)}.") from error
    if len(data) > max_bytes:
        raise FormatError(f"{path} is larger than {max_bytes / 2**20:g} MiB, too large for a file of its kind.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path} is not a UTF-8 text file (byte {error.start} does not fit).") from error


def write_text(path: Path, text: str) -> None:
    r"""Write UTF-8 with ``\n`` line ends; a reader sees the old file or the whole new one, never a part.

    File names that are no valid Unicode carry lone surrogates; these are written as ``\udcXX``, which JSON reads back.
    """
    write_bytes(path, text.encode("utf-8", errors="backslashreplace"))


def make_folder(folder: Path, below: Path | None = None) -> None:
    """Make a folder and those above it, unless they are there; ``below`` as for `write_stream`."""
    try:
        trusted, parts = _way_to(folder, below)
        trusted.mkdir(parents=True, exist_ok=True)
        with hold_below(trusted, parts, make=True):
            pass
    except (OSError, ValueError) as error:
        raise OutputError(f"{folder} cannot be written: {reason_of(error)}.") from error


def can_write_in(folder: Path) -> bool:
    """False when this person may not write into a folder, or nobody may, as on a read-only disk."""
    return os.access(folder, os.W_OK)


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file so that a reader, or the next start after a power cut, sees the old one or the whole new one.

    Raises:
        OutputError: the disk is full or the folder cannot be written; the old file is as it was.
    """
    write_stream(path, lambda stream: stream.write(data))


def write_stream(path: Path, write: Callable[[IO[bytes]], object], below: Path | None = None) -> None:
    """As `write_bytes`, for what ``write`` puts into a stream piece by piece.

    ``below`` is the folder that a person named, if the file lies deeper: no link leads from there to the file. Nor does one
    lead into a folder that is not finished.
    """
    temporary = f"{TEMPORARY}{uuid4().hex}.tmp"
    try:
        with hold_below(*_way_to(path.parent, below)) as place:
            try:
                with place.create(temporary) as stream:
                    write(stream)
                    stream.flush()
                    os.fsync(stream.fileno())
                place.move(temporary, place, path.name)
                place.sync()
            finally:
                with suppress(OSError):
                    place.unlink(temporary)
    except (OSError, ValueError) as error:
        raise _not_written(path, error) from error


def _way_to(folder: Path, below: Path | None) -> tuple[Path, tuple[str, ...]]:
    """What is trusted of the way to a folder, and the parts that must be no links."""
    trusted = len((folder if below is None else below).parts)
    hidden = next((k for k, part in enumerate(folder.parts) if part.startswith(TEMPORARY)), trusted)
    trusted = min(trusted, hidden)
    return Path(*folder.parts[:trusted]), folder.parts[trusted:]


def _not_written(path: Path, error: Exception) -> OutputError:
    path = Path(*(part for part in path.parts if not part.startswith(TEMPORARY)))  # where it was to be in the end
    if getattr(error, "errno", None) in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)):
        return OutputError(f"The disk is full and {path} was not written; make room and start again.")
    return OutputError(f"{path} cannot be written: {reason_of(error)}.")


def refuse_link_outside(path: Path, folder: Path) -> None:
    """Refuse a link in a folder of input that leads out of it: who packs such a folder must not choose what else is read.

    Raises:
        InputError: it is such a link.
    """
    try:
        if not path.is_symlink() or path.resolve().is_relative_to(folder.resolve()):
            return
    except (OSError, RuntimeError) as error:  # a link to itself
        raise InputError(f"{path} is a link that leads nowhere; put the file itself there.") from error
    raise InputError(f"{path} is a link to a file outside the folder {folder}; copy the file into it.")


def file_digest(path: Path) -> str:
    """SHA-256 of a file, as hex digits."""
    try:
        if path.exists() and not path.is_file():
            raise InputError(f"{path} is not an ordinary file; check the path.")
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {reason_of(error)}.") from error


def remove_empty(folders: list[Path]) -> None:
    """Remove the folders that are there and empty, in the order given."""
    for folder in folders:
        with suppress(OSError, ValueError):
            folder.rmdir()


def remove_unfinished(folder: Path, own: str = "") -> None:
    """Remove what a killed process left in a folder that nobody else writes into; ``own`` stays."""
    with suppress(OSError), hold_place(folder) as place:
        for name in place.names():
            if name.startswith(TEMPORARY) and name != own:
                place.remove(name)


def reason_of(error: Exception) -> str:
    """Why the system refused, for the end of a sentence."""
    return (getattr(error, "strerror", None) or str(error)).rstrip(".").lower()

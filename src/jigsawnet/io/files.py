"""Text files and result folders: bounded reading, atomic writing, all or nothing."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO
from uuid import uuid4

from jigsawnet.errors import FormatError, InputError, OutputError

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
        raise InputError(f"{path} cannot be read: {_reason(error)}.") from error
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


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, unless they are there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder} cannot be written: {_reason(error)}.") from error


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file so that a reader, or the next start after a power cut, sees the old one or the whole new one.

    Raises:
        OutputError: the disk is full or the folder cannot be written; the old file is as it was.
    """
    write_stream(path, lambda stream: stream.write(data))


def write_stream(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """As `write_bytes`, for what ``write`` puts into a stream piece by piece."""
    temporary = path.parent / f"{TEMPORARY}{uuid4().hex}.tmp"
    try:
        with temporary.open("xb") as stream:
            write(stream)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
        _sync_folder(path.parent)
    except (OSError, ValueError) as error:
        raise _not_written(path, error) from error
    finally:
        with suppress(OSError, ValueError):
            temporary.unlink(missing_ok=True)


def _not_written(path: Path, error: Exception) -> OutputError:
    path = Path(*(part for part in path.parts if not part.startswith(TEMPORARY)))  # where it was to be in the end
    if getattr(error, "errno", None) in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)):
        return OutputError(f"The disk is full and {path} was not written; make room and start again.")
    return OutputError(f"{path} cannot be written: {_reason(error)}.")


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
        raise InputError(f"{path} cannot be read: {_reason(error)}.") from error


@contextmanager
def staged_folder(out: Path, result_file: str = RESULT_FILE, *, replace: bool = False) -> Iterator[Path]:
    """Give a hidden folder to write a result in; on success its files appear in ``out``, on any error nothing changes.

    Whether ``out`` can be written is found out before the work starts. The hidden folder lies inside ``out``: there it is on
    the same file system and as writable as ``out`` itself, even when ``out`` is a mount point or the current folder.
    Other files in ``out`` stay.

    ``result_file`` marks a finished result; it is moved into place last. With ``replace`` it may be there already.

    Raises:
        OutputError: ``out`` is a file, holds a result already, or cannot be written.
    """
    stage, created = _open_stage(out, result_file, replace)
    done = False
    try:
        yield stage
        _move_into_place(stage, out, result_file)
        done = True
    finally:
        shutil.rmtree(stage, ignore_errors=True)
        if not done:
            remove_empty(created)


def _open_stage(out: Path, result_file: str, replace: bool) -> tuple[Path, list[Path]]:
    """Make ``out`` and the hidden folder in it; gives that folder and the folders that did not exist before, deepest first."""
    created: list[Path] = []
    try:
        if out.exists() and not out.is_dir():
            raise OutputError(f"{out} is a file; give a folder for the result.")
        if not replace and os.path.lexists(out / result_file):
            raise OutputError(f"{out} already holds a result; give another folder or remove it.")
        created = [folder for folder in (out, *out.parents) if not folder.exists()]
        out.mkdir(parents=True, exist_ok=True)
        stage = out / f"{TEMPORARY}{uuid4().hex}"
        stage.mkdir()
    except (OSError, ValueError) as error:
        remove_empty(created)
        raise OutputError(f"The folder {out} cannot be written: {_reason(error)}; give another one.") from error
    return stage, created


def _move_into_place(stage: Path, out: Path, result_file: str) -> None:
    """Move every file below ``stage`` to ``out``, the result file last; undo all of it when one cannot be moved."""
    files = sorted(p.relative_to(stage) for p in stage.rglob("*") if p.is_file())
    files.sort(key=lambda name: name == Path(result_file))
    replaced = stage / uuid4().hex
    with ExitStack() as undo:
        try:
            for name in files:
                target = out / name
                refuse_way_out(target.parent, out)
                undo.callback(remove_empty, [folder for folder in target.parents if not folder.exists()])
                target.parent.mkdir(parents=True, exist_ok=True)
                if target.is_file():
                    backup = replaced / name
                    backup.parent.mkdir(parents=True, exist_ok=True)
                    _keep_copy(target, backup)
                    undo.callback(backup.replace, target)
                (stage / name).replace(target)
                undo.callback(target.unlink, missing_ok=True)
        except OSError as error:
            raise OutputError(f"The result cannot be moved into {out}: {_reason(error)}.") from error
        undo.pop_all()


def refuse_way_out(folder: Path, out: Path) -> None:
    """Refuse to write into a folder below ``out`` that is a link to somewhere else.

    Raises:
        OutputError: it is such a link.
    """
    if not folder.resolve().is_relative_to(out.resolve()):
        raise OutputError(f"{folder} is a link that leads out of {out}; remove it or give another folder.")


def _keep_copy(path: Path, backup: Path) -> None:
    """A second name for a file, or a copy where there are no such names; the first one stays in place all the time."""
    try:
        os.link(path, backup)
    except OSError:
        shutil.copy2(path, backup)


def remove_empty(folders: list[Path]) -> None:
    """Remove the folders that are there and empty, in the order given."""
    for folder in folders:
        with suppress(OSError, ValueError):
            folder.rmdir()


def _sync_folder(folder: Path) -> None:
    """Make a new name last through a power cut, where the system lets a folder be synchronised."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).rstrip(".").lower()

"""Folders held open: what is done in one is done there and nowhere else, whatever its path leads to meanwhile.

Below the folder that a person named, links are never followed. Where the system cannot hold a folder, as on Windows, each
folder is looked at before it is used.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from jigsawnet.errors import OutputError

_CAN_HOLD = {os.open, os.stat, os.mkdir, os.unlink, os.rmdir, os.rename, os.link} <= os.supports_dir_fd and hasattr(
    os, "O_NOFOLLOW"
)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_PLAIN = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0) | _NO_LINK


class Place:
    """One folder; names are those of what lies in it."""

    def __init__(self, path: Path, descriptor: int | None) -> None:
        self.path, self._held = path, descriptor

    def __enter__(self) -> Place:
        return self

    def __exit__(self, *_: object) -> None:
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def _at(self, name: str) -> str:
        return name if self._held is not None else str(self.path / name)

    def enter(self, name: str, *, make: bool = False) -> Place:
        """A folder in this one, made if need be.

        Raises:
            OutputError: it is a link.
            OSError: it is not there, or no folder.
        """
        if make:
            with suppress(FileExistsError):
                self.mkdir(name)
        if self._is_link(name):
            raise OutputError(f"{self.path / name} is a link, and nothing is written through links; remove it first.")
        if self._held is None:
            return Place(self.path / name, None)
        try:
            return Place(self.path / name, os.open(name, _FOLDER | _NO_LINK, dir_fd=self._held))
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
            raise OutputError(f"{self.path / name} became a link while it was used; nothing was written.") from error

    def _is_link(self, name: str) -> bool:
        found = self.stat(name)
        reparse = getattr(found, "st_file_attributes", 0) & getattr(stat, "FILE_ATTRIBUTE_REPARSE_POINT", 0)
        return found is not None and (stat.S_ISLNK(found.st_mode) or bool(reparse))

    def stat(self, name: str) -> os.stat_result | None:
        """What lies there, a link as such; None for nothing."""
        try:
            return os.stat(self._at(name), dir_fd=self._held, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def names(self) -> list[str]:
        """What lies in it, sorted; nothing when it cannot be listed."""
        try:
            return sorted(os.listdir(self.path if self._held is None else self._held))  # noqa: PTH208 - of a held folder
        except OSError:
            return []

    def mkdir(self, name: str) -> None:
        """Make a folder."""
        os.mkdir(self._at(name), dir_fd=self._held)

    def create(self, name: str) -> IO[bytes]:
        """A new file to write."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _PLAIN
        return os.fdopen(os.open(self._at(name), flags, 0o666, dir_fd=self._held), "wb")

    def move(self, name: str, to: Place, new: str) -> None:
        """Move a file, over what lies there."""
        os.replace(self._at(name), to._at(new), src_dir_fd=self._held, dst_dir_fd=to._held)

    def keep_copy(self, name: str, to: Place, new: str) -> None:
        """A second name for a file, or a copy where there are no such names; the first one stays in place all the time."""
        try:
            os.link(self._at(name), to._at(new), src_dir_fd=self._held, dst_dir_fd=to._held, follow_symlinks=False)
        except (OSError, NotImplementedError):
            flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _PLAIN
            descriptor = os.open(self._at(name), flags, dir_fd=self._held)
            with os.fdopen(descriptor, "rb") as source, to.create(new) as copy:
                shutil.copyfileobj(source, copy)

    def unlink(self, name: str) -> None:
        """Remove a file or a link, if it is there."""
        with suppress(FileNotFoundError):
            os.unlink(self._at(name), dir_fd=self._held)

    def rmdir(self, name: str) -> None:
        """Remove a folder if it is there and empty."""
        with suppress(OSError):
            os.rmdir(self._at(name), dir_fd=self._held)

    def remove(self, name: str) -> None:
        """Remove a file, a link, or a folder with all that is in it, as far as possible."""
        found = self.stat(name)
        if found is not None and stat.S_ISDIR(found.st_mode):
            shutil.rmtree(self._at(name), ignore_errors=True, dir_fd=self._held)
        else:
            with suppress(OSError):
                self.unlink(name)

    def sync(self) -> None:
        """Make new names last through a power cut, where the system lets a folder be synchronised."""
        with suppress(OSError):
            if self._held is not None:
                os.fsync(self._held)


def hold_place(path: Path) -> Place:
    """The folder that a person named, which may be a link.

    Raises:
        OSError: it is not there, or no folder.
    """
    if not _CAN_HOLD:
        return Place(path, None)
    try:
        return Place(path, os.open(path, _FOLDER))
    except PermissionError:  # it may not be listed, but perhaps written
        return Place(path, None)


@contextmanager
def hold_below(path: Path, parts: Sequence[str], *, make: bool = False) -> Iterator[Place]:
    """A folder below the one that a person named, made if need be; no link leads to it.

    Raises:
        OutputError: a part of the way is a link.
        OSError: it is not there, or no folder.
    """
    place = hold_place(path)
    try:
        for part in parts:
            outer, place = place, place.enter(part, make=make)
            outer.__exit__()
        yield place
    finally:
        place.__exit__()

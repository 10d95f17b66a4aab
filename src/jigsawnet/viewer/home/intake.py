"""Files that are dropped on the page: they come in pieces, are checked, and lie in the case's folder under clean names."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from jigsawnet.errors import InputError, OutputError
from jigsawnet.io.decoding import READABLE, kind_of, silence
from jigsawnet.io.files import TEMPORARY, reason_of
from jigsawnet.io.images import MAX_PIXELS
from jigsawnet.io.pages import file_errors, list_pages, picture_of
from jigsawnet.io.pieces import KEY_COLOR_FILE, PICTURE_SUFFIXES, read_key_color
from jigsawnet.names import clean_name
from jigsawnet.viewer.home.cases import INPUT_FOLDER, Case

MOST_OPEN = 32
_SPARE_BYTES = 256 * 2**20
"""What a file must leave free on the disk."""


@dataclass(frozen=True, slots=True)
class IntakeLimits:
    """How much may be dropped on the page."""

    file_bytes: int = 2 * 2**30
    files: int = 5000
    """Files of one case."""


@dataclass(slots=True)
class _Upload:
    case: Case
    name: str
    folder: Path
    path: Path
    size: int
    got: int = 0


class Intake:
    """Takes files in, some bytes at a time; may be used from any thread."""

    def __init__(self, limits: IntakeLimits | None = None) -> None:
        self.limits = limits or IntakeLimits()
        self._lock = threading.Lock()
        self._open: dict[str, _Upload] = {}

    def begin(self, find: Callable[[], Case], name: str, folder: str, size: int) -> tuple[Case, str]:
        """Announce a file of ``size`` bytes; its case is asked for when the file is wanted. Gives the case and a ticket.

        ``folder`` is the name of the folder in which it lay, empty for a file by itself.

        Raises:
            InputError: it is of another kind, too large, or one too many.
            OutputError: the disk is full or cannot be written.
        """
        shown = name[-60:]
        plain = clean_name(name)
        if Path(plain).suffix.lower() not in PICTURE_SUFFIXES and not (folder and plain == KEY_COLOR_FILE):
            raise InputError(f"{shown} is of another kind: give {READABLE}.")
        if size <= 0:
            raise InputError(f"{shown} is an empty file.")
        most = min(self.limits.file_bytes, 10_000 if plain == KEY_COLOR_FILE else self.limits.file_bytes)
        if size > most:
            raise InputError(f"{shown} is larger than {most / 2**20:g} MB: give a smaller picture.")
        with self._lock:
            if len(self._open) >= MOST_OPEN:
                self._drop(next(iter(self._open)))
            case = find()
            scans = case.folder / INPUT_FOLDER
            place = scans / clean_name(folder, "folder") if folder else scans
            try:
                if shutil.disk_usage(case.folder).free < size + _SPARE_BYTES:
                    raise OutputError("There is not enough room on the disk for this file; make room and try again.")
                if sum(1 for _ in scans.rglob("*")) >= self.limits.files:
                    raise InputError(f"A case can have at most {self.limits.files} files.")
                place.mkdir(exist_ok=True)
                path = place / f"{TEMPORARY}{uuid4().hex}.tmp"
                path.touch(exist_ok=False)
            except OSError as error:
                raise OutputError(f"{case.folder} cannot be written: {reason_of(error)}.") from error
            ticket = uuid4().hex
            self._open[ticket] = _Upload(case, plain, place, path, size)
            return case, ticket

    def add(self, ticket: str, at: int, data: bytes) -> str | None:
        """The next bytes of a file, which begin at byte ``at``; when it is whole, it is checked and the name given that it got.

        Raises:
            InputError: there is no such upload, the bytes do not follow those before, or the file is no picture.
            OutputError: the disk is full or cannot be written.
        """
        with self._lock:
            upload = self._open.get(ticket)
            if upload is None:
                raise InputError("This file is not being uploaded any more; drop it again.")
            if at != upload.got or not data or at + len(data) > upload.size:
                self._drop(ticket)
                raise InputError(f"{upload.name} did not come whole; drop it again.")
            try:
                with upload.path.open("ab") as stream:
                    stream.write(data)
            except OSError as error:
                self._drop(ticket)
                raise OutputError(f"{upload.name} cannot be written: {reason_of(error)}.") from error
            upload.got += len(data)
            if upload.got < upload.size:
                return None
            del self._open[ticket]
            path = _free_name(upload.folder, upload.name)
            upload.path.replace(path)
        try:
            check_picture(path)
        except Exception:
            path.unlink(missing_ok=True)
            raise
        return path.name

    def close(self) -> None:
        """Forget files that have not come whole."""
        with self._lock:
            for ticket in list(self._open):
                self._drop(ticket)

    def _drop(self, ticket: str) -> None:
        with suppress(OSError):
            self._open.pop(ticket).path.unlink(missing_ok=True)


def check_picture(path: Path) -> None:
    """Look whether a file is a picture that can be read, by its first bytes and its sizes; its pixels are not decoded.

    Raises:
        InputError: it is none, or too large.
        FormatError: it is a background colour, and a wrong one.
    """
    if path.name == KEY_COLOR_FILE:
        read_key_color(path.parent)
        return
    first = list_pages(path)[0]
    with file_errors(path.name), first.open() as stream, silence:
        if kind_of(stream) == "pdf":
            return
        with picture_of(stream, first) as picture:
            if picture.width * picture.height > MAX_PIXELS:
                raise InputError(f"{path.name} is larger than {MAX_PIXELS / 1e6:g} million pixels: make it smaller.")


def _free_name(folder: Path, name: str) -> Path:
    """A path that is not taken: ``scan.png``, or else ``scan (2).png``."""
    path, number = folder / name, 2
    while path.exists():
        path, number = folder / f"{Path(name).stem} ({number}){Path(name).suffix}", number + 1
    return path

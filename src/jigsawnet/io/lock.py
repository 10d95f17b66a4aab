"""A file that one process holds at a time. The system lets go of it when the process ends, however it ends."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jigsawnet.errors import OutputError

SOLVING = "Another solve is writing into {folder}{holder}; wait for it, stop it, or give another folder."

_FAR = 2**30
"""The byte that is locked on Windows, where a locked byte cannot be read: far behind the text."""
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
"""A link in the place of the file is refused: what it leads to would be written over."""
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP}

if sys.platform == "win32":
    import msvcrt

    def _take(descriptor: int) -> None:
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _take(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def hold_lock(path: Path, taken: str = SOLVING) -> Iterator[None]:
    """Hold the file ``path`` while the block runs; ``taken`` says it is held, with ``{folder}`` and ``{holder}`` filled in.

    Raises:
        OutputError: another process holds it; the sentence says which and since when.
    """
    descriptor = _open(path, taken)
    try:
        text = json.dumps({"pid": os.getpid(), "since": datetime.now(UTC).isoformat(timespec="seconds")})
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.ftruncate(descriptor, 0)
        os.write(descriptor, text.encode())
        yield
    finally:
        if sys.platform != "win32":  # while it is held: who opens it now sees below that it is gone
            with suppress(OSError):
                path.unlink()
        os.close(descriptor)
        if sys.platform == "win32":
            with suppress(OSError):
                path.unlink()


def _open(path: Path, taken: str) -> int:
    """Open and lock; a file that was removed between the two is opened anew."""
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | _NO_LINK, 0o666)
        except OSError as error:
            raise OutputError(f"{path} cannot be written: {(error.strerror or str(error)).lower()}.") from error
        try:
            _take(descriptor)
        except OSError as error:
            if error.errno not in _NO_LOCKS:  # where the file system has no locks, go on without
                holder = _holder(descriptor)
                os.close(descriptor)
                raise OutputError(taken.format(folder=path.parent, holder=holder)) from error
        if _is_still(path, descriptor):
            return descriptor
        os.close(descriptor)


def _is_still(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except OSError:
        return False


def _holder(descriptor: int) -> str:
    """Who holds it, as far as the file says."""
    try:
        os.lseek(descriptor, 0, os.SEEK_SET)
        data: Any = json.loads(os.read(descriptor, 1000))
        return f" (process {int(data['pid'])}, since {datetime.fromisoformat(data['since']):%Y-%m-%d %H:%M:%S} UTC)"
    except (OSError, ValueError, KeyError, TypeError):
        return ""

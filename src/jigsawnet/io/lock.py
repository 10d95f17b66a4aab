"""A file that one process holds at a time. The system lets go of it when the process ends, however it ends."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jigsawnet.errors import OutputError
from jigsawnet.io.places import Place, hold_place

LOCK_FILE = ".lock"
SOLVING = "Another solve is writing into {folder}{holder}; wait for it, stop it, or give another folder."

_TIMEOUT_S = 0.1
"""A holder that is just ending has removed the file that was opened; the next attempt opens a new one."""
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP}


@contextmanager
def hold_lock(path: Path, taken: str = SOLVING) -> Iterator[None]:
    """Hold the file ``path`` while the block runs; ``taken`` says it is held, with ``{folder}`` and ``{holder}`` filled in.

    Raises:
        OutputError: another process holds it; the sentence says which and since when. Or it cannot be written.
    """
    from filelock import FileLock, Timeout  # noqa: PLC0415 - many commands need no lock

    lock = FileLock(path, timeout=_TIMEOUT_S, poll_interval=_TIMEOUT_S / 5, thread_local=False, on_acquired=_sign)
    try:
        _refuse_strange(path)
        lock.acquire()
    except Timeout as error:
        raise OutputError(taken.format(folder=path.parent, holder=_holder(path))) from error
    except OSError as error:
        if error.errno not in _NO_LOCKS:  # where the file system has no locks, go on without
            raise OutputError(f"{path} cannot be written: {(error.strerror or str(error)).lower()}.") from error
    with ExitStack() as held:
        held.callback(lock.release)  # removes the file on Windows
        with suppress(OSError):
            place = held.enter_context(hold_place(path.parent))
            if sys.platform != "win32":  # while it is held: who opened it before sees that it is gone, and opens it anew
                held.callback(_remove, place, path.name)
        yield


def _remove(place: Place, name: str) -> None:
    """From the folder where it was made, whatever its path leads to by now."""
    with suppress(OSError):
        place.unlink(name)


def _refuse_strange(path: Path) -> None:
    """Refuse what only looks like a lock: writing to a pipe or through a link would do harm elsewhere."""
    if not path.parent.is_dir():  # it would be made
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    if os.path.lexists(path) and (path.is_symlink() or not path.is_file()):
        raise OutputError(f"{path} cannot be written: it is a link, a folder or a pipe; remove it or give another folder.")
    if os.path.lexists(path):  # some versions of filelock empty the file before it is signed
        _refuse_second_name(path.lstat())


def _refuse_second_name(found: os.stat_result) -> None:
    if found.st_nlink > 1:
        raise OSError(errno.EMLINK, "It is a second name of another file; remove it or give another folder")


def _sign(descriptor: int) -> None:
    """Say who holds it; behind a blank, since on Windows nobody else can read the first byte, which is the one locked.

    A file with a second name elsewhere would be changed there, too, so it is refused.
    """
    _refuse_second_name(os.fstat(descriptor))
    text = " " + json.dumps({"pid": os.getpid(), "since": datetime.now(UTC).isoformat(timespec="seconds")})
    os.ftruncate(descriptor, 0)
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, text.encode())


def _holder(path: Path) -> str:
    """Who holds it, as far as the file says."""
    try:
        with path.open("rb", buffering=0) as stream:
            stream.seek(1)
            data: Any = json.loads(stream.read(1000))
        return f" (process {int(data['pid'])}, since {datetime.fromisoformat(data['since']):%Y-%m-%d %H:%M:%S} UTC)"
    except (OSError, ValueError, KeyError, TypeError):
        return ""

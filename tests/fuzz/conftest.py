"""What the fuzz tests share: nothing may hang, and nothing may be written where nobody asked for it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import pytest

from jigsawnet.errors import JigsawNetError

PATIENCE_S = 1800
"""Far more than any of these tests takes on a busy machine, compiling included."""


class Hangs(BaseException):
    """A reader does not come back; no reader can catch this."""


@pytest.fixture(autouse=True)
def nothing_hangs() -> Iterator[None]:
    """End a test that waits for something that never comes, as when a named pipe is opened."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def give_up(number: int, frame: FrameType | None) -> None:
        raise Hangs(f"more than {PATIENCE_S} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(PATIENCE_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of files are written here, and none has to last through a power cut."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


def _refuses_in_words(read: Callable[[], object]) -> bool:
    """True when what is read is refused, in one sentence; False when it can be used. Any other error fails the test."""
    try:
        read()
    except JigsawNetError as error:
        text = str(error)
        assert text.strip(), "an error without words"
        assert len(text) < 10_000, "an error that repeats its whole file"
        return True
    return False


@pytest.fixture(scope="session")
def refuses_in_words() -> Callable[[Callable[[], object]], bool]:
    return _refuses_in_words


def _snapshot(folder: Path) -> dict[str, bytes | None]:
    """Everything below a folder; links are not followed."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() and not path.is_symlink() else None
        for path in sorted(folder.rglob("*"))
    }


@pytest.fixture(scope="session")
def snapshot() -> Callable[[Path], dict[str, bytes | None]]:
    return _snapshot

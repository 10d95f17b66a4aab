"""Ctrl-C and SIGTERM: the first asks the work to end soon, the second leaves at once."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from jigsawnet.cli.speech import is_hushed
from jigsawnet.stopping import Stop

_HINT = b"\nStopping: the best so far is being written. Ctrl-C again leaves at once.\n"


@contextmanager
def stop_on_signals(stop: Stop) -> Iterator[None]:
    """While the block runs, SIGINT and SIGTERM ask ``stop``; the second one raises KeyboardInterrupt, the third ends it."""
    count = 0

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal count
        count += 1
        if count > 2:
            os._exit(130)
        if count > 1:
            raise KeyboardInterrupt
        stop.request()
        if not is_hushed() and sys.stderr is not None and sys.stderr.isatty():
            with suppress(OSError):
                os.write(2, _HINT)  # print is not for signal handlers

    with _handled_by(handle):
        yield


@contextmanager
def leave_on_signals() -> Iterator[None]:
    """While the block runs, SIGINT and SIGTERM raise KeyboardInterrupt, also in a process that was started to ignore Ctrl-C."""

    def leave(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    with _handled_by(leave):
        yield


@contextmanager
def _handled_by(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """SIGINT and SIGTERM go to ``handler`` while the block runs; only the main thread can have it so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, previous in before.items():
            signal.signal(number, previous)

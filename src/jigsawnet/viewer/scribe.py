"""Keeps the result files equal to what the table shows, in a thread of its own."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from jigsawnet.errors import TROUBLE, sentence_of

REST_SECONDS = 1.0
"""The files are written when nothing has changed for so long."""

log = logging.getLogger(__name__)


class Scribe:
    """Writes when it is asked to and things have come to rest; what is asked for meanwhile is written after."""

    def __init__(self, write: Callable[[], None], on_error: Callable[[str], None]) -> None:
        """``write`` writes what holds when it is called; ``on_error`` is told why that failed."""
        self._write, self._on_error = write, on_error
        self._change = threading.Condition()
        self._wanted = self._written = 0
        self._closed = self._hurry = False
        self._thread: threading.Thread | None = None

    @property
    def is_done(self) -> bool:
        """True when nothing is left to write."""
        return self._wanted == self._written

    def ask(self) -> None:
        """What is on the disk is no longer what is shown."""
        with self._change:
            self._wanted += 1
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._work, daemon=True)
                self._thread.start()
            self._change.notify_all()

    def wait(self) -> None:
        """Until all is written, without waiting for rest."""
        with self._change:
            self._hurry = True
            self._change.notify_all()
            self._change.wait_for(lambda: self.is_done or self._thread is None)
            self._hurry = False

    def close(self) -> None:
        """Write what is left, and end."""
        self.wait()
        with self._change:
            self._closed = True
            self._change.notify_all()
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        while (wanted := self._come_to_rest()) is not None:
            try:
                self._write()
            except TROUBLE as error:
                self._on_error(sentence_of(error))
            except Exception:
                log.exception("writing the results failed")
                self._on_error("The result files could not be written; the edits are safe.")
            finally:
                with self._change:
                    self._written = wanted
                    self._change.notify_all()

    def _come_to_rest(self) -> int | None:
        """Wait until something is to be written and nothing more was asked for a while; None: it is over."""
        with self._change:
            self._change.wait_for(lambda: not self.is_done or self._closed)
            if self.is_done:
                return None
            while not (self._hurry or self._closed):
                seen = self._wanted
                self._change.wait(REST_SECONDS)
                if self._wanted == seen:
                    break
            return self._wanted

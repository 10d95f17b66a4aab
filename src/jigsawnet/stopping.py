"""Ground floor: when to stop. Long work asks between its steps and ends early with what it has."""

from __future__ import annotations

import time


class StoppedError(Exception):
    """Raised by `Stop.check` deep inside work that has nothing to show for itself; who began the work catches it."""


class Stop:
    """Over when its time is up, or when a signal handler or another thread has requested it."""

    def __init__(self, deadline: float | None = None) -> None:
        """``deadline`` is a `time.monotonic` value; None: only `request` ends the work."""
        self.deadline = deadline
        self._requested = False
        self._noticed = False
        self._whole: Stop | None = None

    @staticmethod
    def after(seconds: float | None) -> Stop:
        """Over in so many seconds; None: never by itself."""
        return Stop(None if seconds is None else time.monotonic() + seconds)

    def request(self) -> None:
        """Ask the work to end soon."""
        self._requested = True

    @property
    def is_requested(self) -> bool:
        """True when a stop was requested, whatever the time."""
        return self._requested or (self._whole is not None and self._whole.is_requested)

    def is_over(self) -> bool:
        """True when the work is to end; the caller then leaves something out, and `has_cut` records that."""
        over = self.is_requested or (self.deadline is not None and time.monotonic() >= self.deadline)
        if over:
            self._notice()
        return over

    def check(self) -> None:
        """Raise `StoppedError` when the work is to end."""
        if self.is_over():
            raise StoppedError

    @property
    def has_cut(self) -> bool:
        """True when some work was told to end, here or in a part of the time: its result is not what it could be."""
        return self._noticed

    def part(self, share: float) -> Stop:
        """For a step that may use this share of the time that is left."""
        if self.deadline is None:
            return self
        now = time.monotonic()
        part = Stop(now + share * (self.deadline - now))
        part._whole = self
        return part

    def by_request(self) -> Stop:
        """For a step that is finished when the time is up, but not when somebody asks it to end."""
        part = Stop()
        part._whole = self
        return part

    def _notice(self) -> None:
        self._noticed = True
        if self._whole is not None:
            self._whole._notice()

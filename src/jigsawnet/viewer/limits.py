"""How much of the workbench anybody may take: connections, time, bytes, requests."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field


def most_connections(wanted: int = 512) -> int:
    """So many, but at most half of the files that this process may hold open."""
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return wanted
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return wanted if files == resource.RLIM_INFINITY else max(8, min(wanted, files // 2))


@dataclass(frozen=True, slots=True)
class Limits:
    """Far beyond what a browser asks for, and little enough to stay within."""

    connections: int = field(default_factory=most_connections)
    header_seconds: float = 20.0
    """Until the first line and the headers of a request are there."""
    body_seconds: float = 20.0
    """Until its body is there."""
    header_bytes: int = 2**15
    body_bytes: int = 2**20
    strangers: tuple[float, int] = (10.0, 200)
    """Requests that are refused with words: so many a second, and so many at once."""
    friends: tuple[float, int] = (1000.0, 20_000)
    """The same for browsers that are known."""


@dataclass(slots=True)
class Allowance:
    """So many a second, and so many at once."""

    per_second: float
    at_once: int
    clock: Callable[[], float] = time.monotonic
    _left: float = field(init=False)
    _seen: float = field(init=False)

    def __post_init__(self) -> None:
        self._left, self._seen = float(self.at_once), self.clock()

    def take(self) -> bool:
        """One more; False when none is left."""
        now = self.clock()
        self._left = min(float(self.at_once), self._left + (now - self._seen) * self.per_second)
        self._seen = now
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True

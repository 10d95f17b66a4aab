"""Server-sent events: what happens is sent to every open window."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Mapping
from typing import Any

MAX_WAITING = 256
"""Events kept for a window that does not read; the oldest go first."""
MAX_WINDOWS = 64
HEARTBEAT_SECONDS = 10.0


class _Window:
    """The events that wait for one window; filled from any thread, emptied on its own loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.queue: asyncio.Queue[str | None] = asyncio.Queue()

    def put(self, text: str | None) -> None:
        while self.queue.qsize() >= MAX_WAITING:
            self.queue.get_nowait()
        self.queue.put_nowait(text)


class EventHub:
    """Sends every event to all windows."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._windows: set[_Window] = set()
        self._closed = False

    def publish(self, event: Mapping[str, Any]) -> None:
        """Send to all windows; may be called from any thread and never waits."""
        self._send(f"data: {json.dumps(event)}\n\n")

    def close(self) -> None:
        """End all streams, so that the server can shut down."""
        self._closed = True
        self._send(None)

    async def stream(self, first: Mapping[str, Any]) -> AsyncIterator[str]:
        """The text of one window's stream, beginning with ``first``."""
        window = _Window(asyncio.get_running_loop())
        with self._lock:
            if self._closed or len(self._windows) >= MAX_WINDOWS:
                return
            self._windows.add(window)
        try:
            yield f"data: {json.dumps(first)}\n\n"
            while True:
                try:
                    text = await asyncio.wait_for(window.queue.get(), HEARTBEAT_SECONDS)
                except TimeoutError:
                    text = ": heartbeat\n\n"
                if text is None:
                    return
                yield text
        finally:
            with self._lock:
                self._windows.discard(window)

    def _send(self, text: str | None) -> None:
        with self._lock:
            windows = list(self._windows)
        for window in windows:
            if not window.loop.is_closed():
                window.loop.call_soon_threadsafe(window.put, text)

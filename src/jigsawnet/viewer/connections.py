"""Connections to the workbench: a bounded number, none of which waits for ever for a request.

When all are taken, the one that has waited longest for a request goes: connections that ask for nothing stop nobody.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict

from uvicorn.protocols.http.h11_impl import H11Protocol

from jigsawnet.viewer.limits import Limits


class Hall:
    """All connections; those without a request under way in the order in which they began to wait."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._waiting: OrderedDict[Connection, None] = OrderedDict()
        self._busy: set[Connection] = set()

    def admit(self, connection: Connection) -> None:
        """Take a new one in, in the place of another if need be."""
        self._waiting[connection] = None
        if len(self._waiting) + len(self._busy) > self.limits.connections:
            oldest = next(iter(self._waiting))
            self.leave(oldest)
            oldest.transport.abort()

    def mark(self, connection: Connection, *, busy: bool) -> None:
        """A request is under way in it, or none."""
        if busy and connection in self._waiting:
            del self._waiting[connection]
            self._busy.add(connection)
        elif not busy and connection in self._busy:
            self._busy.discard(connection)
            self._waiting[connection] = None

    def leave(self, connection: Connection) -> None:
        """It is closed."""
        self._waiting.pop(connection, None)
        self._busy.discard(connection)


class Connection(H11Protocol):
    """One connection, closed when the headers of a request do not come in time."""

    hall: Hall

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody has connected."""
        super().connection_made(transport)
        self._patience: asyncio.TimerHandle | None = None
        self.hall.admit(self)
        self._look()

    def data_received(self, data: bytes) -> None:
        """Some bytes of a request."""
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """The next request may come, for which there is a time of its own."""
        super().on_response_complete()
        self.hall.mark(self, busy=False)

    def connection_lost(self, exc: Exception | None) -> None:
        """It is closed."""
        self.hall.leave(self)
        self._be_patient()
        super().connection_lost(exc)

    def _look(self) -> None:
        busy = self.cycle is not None and not self.cycle.response_complete
        self.hall.mark(self, busy=busy)
        if busy:
            self._be_patient()
        elif self._patience is None:
            self._patience = self.loop.call_later(self.hall.limits.header_seconds, self.transport.abort)

    def _be_patient(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None


def connections_within(limits: Limits) -> type[Connection]:
    """The kind of connection of one server."""
    return type("BoundConnection", (Connection,), {"hall": Hall(limits)})

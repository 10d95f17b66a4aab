"""The server: on this machine only, on a free port, opened by a token; also while a puzzle is being solved."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack

import uvicorn
from starlette.types import ASGIApp

from jigsawnet.errors import ConfigError
from jigsawnet.geometry import SE2
from jigsawnet.runs import Run
from jigsawnet.stopping import Stop
from jigsawnet.types import Progress
from jigsawnet.viewer.app import create_app
from jigsawnet.viewer.connections import connections_within
from jigsawnet.viewer.keys import Keys
from jigsawnet.viewer.limits import Limits
from jigsawnet.viewer.security import Guard
from jigsawnet.viewer.session import Session

HOST = "127.0.0.1"


class Server:
    """An application behind an address."""

    def __init__(self, app: ASGIApp, close: Callable[[], None], port: int = 0, limits: Limits | None = None) -> None:
        """Take a port, 0 for any free one; ``close`` ends what the application does by itself.

        Raises:
            ConfigError: the port is out of range or taken.
        """
        self._close = close
        self._socket = _listen(port)
        taken = int(self._socket.getsockname()[1])
        self._keys, self._base = Keys(), f"http://{HOST}:{taken}/"
        limits = limits or Limits()
        config = uvicorn.Config(
            Guard(app, self._keys, taken, limits), http=connections_within(limits), ws="none", lifespan="off",
            h11_max_incomplete_event_size=limits.header_bytes, timeout_graceful_shutdown=5, server_header=False,
            log_level="error", access_log=False,
        )  # fmt: skip
        self._server = uvicorn.Server(config)
        self._thread: threading.Thread | None = None

    @property
    def address(self) -> str:
        """Where a browser gets in, once: then there is a new one."""
        return f"{self._base}?token={self._keys.token}"

    def start(self) -> None:
        """Serve in a thread until `stop`."""
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Until the server ends; KeyboardInterrupt comes through."""
        while self._thread is not None and self._thread.is_alive():
            self._thread.join(0.5)

    def goes_on(self, seconds: float) -> bool:
        """Wait so long; false once the server has ended."""
        if self._thread is not None:
            self._thread.join(seconds)
        return self._thread is not None and self._thread.is_alive()

    def ask_to_end(self) -> None:
        """Have the server end by itself."""
        self._server.should_exit = True

    def stop(self) -> None:
        """End what goes on, the streams of the windows and the server."""
        self._close()
        self.ask_to_end()
        if self._thread is not None:
            self._thread.join()
        self._socket.close()


class Workbench(Server):
    """A session behind an address."""

    def __init__(self, session: Session, port: int = 0, limits: Limits | None = None) -> None:
        """As `Server`."""
        super().__init__(create_app(session), session.close, port, limits)


def _listen(port: int) -> socket.socket:
    if not 0 <= port <= 65535:
        raise ConfigError(f"port is {port}; it must lie between 0 and 65535.")
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.bind((HOST, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise ConfigError(f"The port {port} cannot be used: {error.strerror or error}; give another one, or none.") from error
    return listener


class Watch:
    """Opens the workbench once the pieces are read, and shows them coming together."""

    def __init__(
        self, stop: Stop, lock: AbstractContextManager[None], invite: Callable[[str], None], operator: str = ""
    ) -> None:
        """``lock`` keeps other workbenches off the folder; ``invite`` is given the address; ``operator`` is for the history."""
        self._stop, self._lock, self._invite, self._operator = stop, lock, invite, operator
        self._resources = ExitStack()
        self._session: Session | None = None
        self._bench: Workbench | None = None

    def on_pieces(self, run: Run) -> None:
        """The pieces are read: open the window."""
        self._resources.enter_context(self._lock)
        self._session = Session(run, watched=self._stop, operator=self._operator)
        self._bench = Workbench(self._session)
        self._bench.start()
        self._resources.callback(self._bench.stop)
        self._invite(self._bench.address)

    def with_progress(self, progress: Progress) -> Progress:
        """The same progress, also shown in the window."""

        def send(stage: str, done: int, total: int) -> None:
            progress(stage, done, total)
            if self._session is not None:
                self._session.send_progress(stage, done, total)

        return send

    def on_snapshot(self, poses: Mapping[int, SE2]) -> None:
        """Show how far the pieces have come."""
        if self._session is not None:
            self._session.send_snapshot(poses)

    @property
    def has_stopped(self) -> bool:
        """True when the solve was ended from the window."""
        return self._session is not None and self._session.has_stopped

    def stay(self, run: Run) -> None:
        """The solve is done: the window becomes the workbench, until Ctrl-C."""
        if self._session is not None and self._bench is not None:
            self._session.adopt(run)
            self._bench.wait()

    def close(self) -> None:
        """Close the window."""
        self._resources.close()

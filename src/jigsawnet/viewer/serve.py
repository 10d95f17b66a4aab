"""The server: on this machine only, on a free port, with a token in the address."""

from __future__ import annotations

import secrets
import socket
import threading
from types import FrameType

import uvicorn

from jigsawnet.errors import ConfigError
from jigsawnet.viewer.app import create_app
from jigsawnet.viewer.session import Session

HOST = "127.0.0.1"


class _Server(uvicorn.Server):
    """Sends the open windows home before it waits for them."""

    def __init__(self, config: uvicorn.Config, session: Session) -> None:
        super().__init__(config)
        self._session = session

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._session.hub.close()
        super().handle_exit(sig, frame)


class Workbench:
    """A session behind an address."""

    def __init__(self, session: Session, port: int = 0) -> None:
        """Take a port, 0 for any free one.

        Raises:
            ConfigError: the port is out of range or taken.
        """
        self._session = session
        self._socket = _listen(port)
        taken = int(self._socket.getsockname()[1])
        self.token = secrets.token_urlsafe(24)
        self.address = f"http://{HOST}:{taken}/?token={self.token}"
        app = create_app(session, self.token, taken)
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, lifespan="off", ws="none", timeout_graceful_shutdown=5
        )
        self._server = _Server(config, session)
        self._thread: threading.Thread | None = None

    def run(self) -> None:
        """Serve until Ctrl-C; call it from the main thread."""
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._session.close()
            self._socket.close()

    def start(self) -> None:
        """Serve in a thread until `stop`."""
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Until the server that `start` began ends; Ctrl-C comes through."""
        while self._thread is not None and self._thread.is_alive():
            self._thread.join(0.5)

    def stop(self) -> None:
        """End what `start` began."""
        self._session.close()
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join()
        self._socket.close()


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

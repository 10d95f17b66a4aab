"""How much of the workbench anybody may take."""

from __future__ import annotations

import http.client
import select
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from jigsawnet.runs import Run
from jigsawnet.viewer.limits import Allowance, Limits
from jigsawnet.viewer.serve import Workbench
from jigsawnet.viewer.session import Session

PATIENCE_SECONDS = 300
LetIn = Callable[[str], httpx.Client]


@pytest.fixture(scope="module")
def session(nine_in: Callable[[Path], Run], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """One for all that changes nothing."""
    session = Session(nine_in(tmp_path_factory.mktemp("run")))
    yield session
    assert session.revision == 0
    session.close()


@contextmanager
def serving(session: Session, **limits: object) -> Iterator[Workbench]:
    bench = Workbench(session, limits=Limits(**limits))  # type: ignore[arg-type]
    bench.start()
    try:
        yield bench
    finally:
        bench._server.should_exit = True
        assert bench._thread is not None
        bench._thread.join()
        bench._socket.close()


def knock(bench: Workbench) -> socket.socket:
    port = httpx.URL(bench.address).port
    assert port is not None
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS)


def is_closed(connection: socket.socket) -> bool:
    """True when the server has closed it, whether or not it said something before."""
    try:
        while select.select([connection], [], [], 0)[0]:
            if not connection.recv(65536):
                return True
    except OSError:
        return True
    return False


@pytest.mark.parametrize("begun", [b"", b"GET / HTTP/1.1\r\nHost: 127", b"POST /"])
def test_connections_that_ask_for_nothing_stop_nobody(session: Session, let_in: LetIn, begun: bytes) -> None:
    with serving(session, connections=20, header_seconds=3600.0) as bench, ExitStack() as stack:
        connections = [stack.enter_context(knock(bench)) for _ in range(60)]
        for connection in connections:
            try:
                connection.sendall(begun)
            except OSError:
                assert is_closed(connection)
        with let_in(bench.address) as friend:
            assert friend.get("/api/state").status_code == 200
        closed = [is_closed(connection) for connection in connections]
        assert sum(closed) >= 40
        assert closed[:40] == [True] * 40, "those that waited longest went"


def test_a_request_that_is_being_answered_is_not_ended_for_a_new_one(session: Session, let_in: LetIn) -> None:
    with serving(session, connections=20) as bench, let_in(bench.address) as friend, ExitStack() as stack:
        lines = stack.enter_context(friend.stream("GET", "/api/events")).iter_lines()
        assert "revision" in next(lines)
        for _ in range(60):
            stack.enter_context(knock(bench))
        session.hub.publish({"type": "still here"})
        assert any("still here" in line for line in lines)


@pytest.mark.parametrize("begun", [b"", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: "])
def test_headers_must_come_in_time(session: Session, begun: bytes) -> None:
    with serving(session, header_seconds=0.2) as bench, knock(bench) as connection:
        connection.sendall(begun)
        with suppress(ConnectionResetError):
            assert connection.recv(1000) == b""


def test_headers_must_come_in_time_after_a_first_request_too(session: Session, let_in: LetIn) -> None:
    with serving(session, header_seconds=3600.0) as bench, let_in(bench.address) as friend, knock(bench) as connection:
        name, cookie = next(iter(friend.cookies.items()))
        request = f"GET {friend.base_url.path}static/dom.js HTTP/1.1\r\nHost: 127.0.0.1:{friend.base_url.port}\r\n"
        connection.sendall(f"{request}Cookie: {name}={cookie}\r\n\r\n".encode())
        assert connection.recv(12) == b"HTTP/1.1 200"
        bench._server.config.http.hall.limits = Limits(header_seconds=0.0)  # type: ignore[union-attr]
        connection.sendall(b"GET / HT")
        with suppress(ConnectionResetError):
            while connection.recv(65536):
                pass


def test_a_body_must_come_in_time(session: Session, let_in: LetIn) -> None:
    with serving(session, body_seconds=0.2) as bench, let_in(bench.address) as friend:
        name, cookie = next(iter(friend.cookies.items()))
        connection = http.client.HTTPConnection("127.0.0.1", friend.base_url.port, timeout=PATIENCE_SECONDS)
        connection.putrequest("POST", f"{friend.base_url.path}api/edits")
        connection.putheader("Cookie", f"{name}={cookie}")
        connection.putheader("Content-Length", "100")
        connection.endheaders()
        connection.send(b"{")
        answer = connection.getresponse()
        assert answer.status == 408
        assert b"did not come in time" in answer.read()
        connection.close()


def test_a_stream_outlives_the_time_of_a_body(session: Session, let_in: LetIn) -> None:
    with serving(session, body_seconds=0.2) as bench, let_in(bench.address) as friend, ExitStack() as stack:
        lines = stack.enter_context(friend.stream("GET", "/api/events")).iter_lines()
        assert "revision" in next(lines)
        time.sleep(0.4)
        session.hub.publish({"type": "later"})
        assert any("later" in line for line in lines)


def test_long_headers_are_refused_without_a_word_in_the_log(
    session: Session, let_in: LetIn, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with serving(session) as bench:
        for nonsense in (b"\0\1\2\r\n\r\n", b"GET / HTTP/1.1\r\nX: " + b"x" * 10**6, b"GET / HTTP/1.1\r\nUpgrade: a\r\n" * 3):
            with knock(bench) as connection:
                try:
                    connection.sendall(nonsense)
                    connection.shutdown(socket.SHUT_WR)
                    while connection.recv(65536):
                        pass
                except OSError:
                    pass
        with let_in(bench.address) as friend:
            assert friend.get("/api/state").status_code == 200
    assert capfd.readouterr() == ("", "")
    assert [
        record.getMessage() for record in caplog.records if record.levelname != "DEBUG" and "httpx" not in record.name
    ] == []


def test_strangers_have_only_so_many_tries_and_friends_do_not_notice(session: Session, let_in: LetIn) -> None:
    with serving(session, strangers=(0.0, 5)) as bench, let_in(bench.address) as friend:
        base = bench.address.split("?")[0]
        codes = [httpx.get(f"{base}?token=wrong", timeout=600).status_code for _ in range(8)]
        assert codes == [401] * 5 + [429] * 3
        assert httpx.get(bench.address, timeout=600).status_code == 303, "nobody can lock out who has the token"
        assert friend.get("/api/state").status_code == 200


def test_friends_have_an_allowance_too(session: Session, let_in: LetIn) -> None:
    with serving(session, friends=(0.0, 3)) as bench, let_in(bench.address) as friend:
        assert [friend.get("/static/dom.js").status_code for _ in range(4)] == [200] * 3 + [429]


def test_an_allowance_grows_with_time_and_never_beyond_its_bound() -> None:
    now = 0.0
    allowance = Allowance(2.0, 3, lambda: now)
    assert [allowance.take() for _ in range(4)] == [True] * 3 + [False]
    now = 0.5
    assert [allowance.take() for _ in range(2)] == [True, False]
    now = 100.0
    assert [allowance.take() for _ in range(4)] == [True] * 3 + [False]


def test_connections_leave_room_for_other_files(monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    for files, most in ((256, 128), (1024, 512), (10**6, 512), (4, 8), (resource.RLIM_INFINITY, 512)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, files=files: (files, files))
        assert Limits().connections == most

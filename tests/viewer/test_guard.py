"""Who may talk to the workbench, and what happens to nonsense."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from jigsawnet.errors import ConfigError
from jigsawnet.runs import Run
from jigsawnet.viewer.serve import Workbench
from jigsawnet.viewer.session import Session

LetIn = Callable[[str], httpx.Client]
EDIT = {"revision": 0, "edit": {"kind": "pin", "pieces": [1]}}


@pytest.fixture(scope="module")
def bench(nine_in: Callable[[Path], Run], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workbench]:
    """One server for all that changes nothing."""
    session = Session(nine_in(tmp_path_factory.mktemp("run")))
    bench = Workbench(session)
    bench.start()
    yield bench
    assert session.revision == 0
    bench.stop()


@pytest.fixture(scope="module")
def stranger(bench: Workbench) -> Iterator[httpx.Client]:
    """A client that knows the port only."""
    with httpx.Client(base_url=_base(bench), timeout=600) as client:
        yield client


@pytest.fixture(scope="module")
def friend(bench: Workbench, let_in: LetIn) -> Iterator[httpx.Client]:
    """A client that has the cookie."""
    with let_in(bench.address) as client:
        yield client


def _base(bench: Workbench) -> str:
    return f"http://127.0.0.1:{httpx.URL(bench.address).port}"


PATHS = ("/", "/static/main.js", "/api/state", "/api/pieces/0.png", "/api/events", "/api/export/assembly.json", "/nowhere")


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("token", ["", "?token=", "?token=wrong", "?token=%00", "?token=t\u00f6ken", "?" + "a=1&" * 50])
def test_without_the_token_nothing_is_told(stranger: httpx.Client, path: str, token: str) -> None:
    answer = stranger.get(path + token)
    assert answer.status_code == 401
    assert "token" in answer.json()["error"]
    assert "set-cookie" not in answer.headers


def test_the_token_opens_once_and_leaves_the_address(bench: Workbench) -> None:
    address, port = bench.address, httpx.URL(bench.address).port
    token = httpx.URL(address).params["token"]
    with httpx.Client(timeout=600) as browser:
        first = browser.get(address)
        room = first.headers["location"]
        assert first.status_code == 303
        assert room.startswith("/")
        assert token not in room
        name, cookie = next(iter(first.cookies.items()))
        assert name == f"jigsawnet-{port}", "bound to its port by name"
        assert cookie != token
        assert cookie not in room
        words = {word.strip() for word in first.headers["set-cookie"].lower().split(";")}
        assert {"httponly", "samesite=strict", f"path={room.lower()}"} <= words
        page = browser.get(f"{_base(bench)}{room}")
        assert page.status_code == 200
        assert token not in page.text
        assert browser.get(address).status_code == 401, "it was used"
        assert browser.get(f"{_base(bench)}{room}api/state").status_code == 200
        assert browser.get(f"{_base(bench)}/api/state").status_code == 401, "outside the room the cookie is not even sent"
    assert bench.address != address, "for another browser there is a new one"
    assert httpx.get(f"{_base(bench)}{room}", timeout=600).status_code == 401, "the room alone opens nothing"
    assert httpx.get(f"{_base(bench)}{room}api/state?token={token}", timeout=600).status_code == 401


def test_what_another_server_of_this_machine_has_set_is_no_obstacle(friend: httpx.Client) -> None:
    """Cookies do not know ports: there may be two of one name."""
    name, cookie = next(iter(friend.cookies.items()))
    for line in (f"{name}=planted; {name}={cookie}", f"{name}={cookie}; {name}=planted; other=1"):
        answer = httpx.get(friend.base_url.join("api/state"), headers={"Cookie": line}, timeout=600)
        assert answer.status_code == 200
    planted = httpx.get(friend.base_url.join("api/state"), headers={"Cookie": f"{name}=planted"}, timeout=600)
    assert planted.status_code == 401


def test_a_token_is_not_used_up_by_a_look_or_from_a_foreign_name(bench: Workbench) -> None:
    address = bench.address
    assert httpx.head(address, timeout=600).status_code == 401
    assert httpx.post(address, timeout=600).status_code == 401
    assert httpx.get(address, headers={"Host": "evil.example"}, timeout=600).status_code == 421
    assert bench.address == address


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.nip.io:{port}", ""])
def test_another_host_name_is_refused_even_with_the_token(friend: httpx.Client, host: str) -> None:
    answer = friend.get("/api/state", headers={"Host": host.replace("{port}", str(friend.base_url.port))})
    assert answer.status_code in (400, 421)


def test_localhost_is_this_machine_too(friend: httpx.Client) -> None:
    assert friend.get("/api/state", headers={"Host": f"localhost:{friend.base_url.port}"}).status_code == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:{port}", "http://127.0.0.1:1"])
def test_a_change_from_another_page_is_refused(friend: httpx.Client, origin: str) -> None:
    headers = {"Origin": origin.replace("{port}", str(friend.base_url.port))}
    assert friend.post("/api/edits", json=EDIT, headers=headers).status_code == 403
    assert friend.post("/api/solve", json={"revision": 0}, headers=headers).status_code == 403
    assert friend.get("/api/state").json()["revision"] == 0
    assert friend.post("/api/edits", json=EDIT, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403


def test_a_change_from_the_own_page_is_taken(client: httpx.Client) -> None:
    origin = f"http://127.0.0.1:{client.base_url.port}"
    headers = {"Origin": origin, "Sec-Fetch-Site": "same-origin"}
    assert client.post("/api/edits", json=EDIT, headers=headers).status_code == 200


def test_every_answer_carries_the_headers_of_safety(friend: httpx.Client, stranger: httpx.Client) -> None:
    for answer in (friend.get("/api/state"), friend.get("/nowhere"), friend.get("/api/pieces/0.png"), stranger.get("/")):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "default-src 'self'" in answer.headers["content-security-policy"]
        assert answer.headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2f..%2fversion.py", "/static//etc/passwd",
        "/static/%2fetc%2fpasswd", "/static/..\\app.py", "/static/", "/static/main.js%00.png", "/%2e%2e/app.py",
        "/api/export/../../edits.json", "/api/export/..%2fedits.json", "/api/pieces/..%2f0.png", "/api/pieces/-1.png",
        "/api/pieces/9.png", "/api/pieces/0x1", "/api/pieces/99999999999999999999", "/api/joins/0/0", "/api/joins/0/99",
        "/docs", "/openapi.json", "/edits.json",
    ],
)  # fmt: skip
def test_no_path_leads_out(friend: httpx.Client, path: str) -> None:
    port = friend.base_url.port
    assert port is not None
    name, cookie = next(iter(friend.cookies.items()))
    path = friend.base_url.path.rstrip("/") + path
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: {name}={cookie}\r\nConnection: close\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=600) as raw:  # httpx would tidy the path up
        raw.sendall(request.encode())
        answer = b"".join(iter(lambda: raw.recv(65536), b""))
    status, _, body = answer.partition(b"\r\n")
    assert status.split()[1] in (b"400", b"404")
    assert b"import" not in body
    assert b"root:" not in body


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"revision": NaN}', b"[" * 50_000, b'{"revision": "0", "edit": {}}',
        b'{"revision": 0}', b'{"revision": true, "edit": {"kind": "pin", "pieces": [1]}}',
        b'{"revision": 0, "edit": {"kind": "explode"}}', b'{"revision": 0, "edit": {"kind": "solved", "result": 0}}',
        b'{"revision": 0, "edit": {"kind": "pin", "pieces": [9]}}', b'{"revision": 0, "edit": {"kind": "pin", "pieces": [-1]}}',
        b'{"revision": 0, "edit": {"kind": "pin", "pieces": [true]}}',
        b'{"revision": 0, "edit": {"kind": "pin", "pieces": []}}',
        b'{"revision": 0, "edit": {"kind": "pin", "pieces": "1"}}', b'{"revision": 0, "edit": {"kind": "pin"}}',
        b'{"revision": 0, "edit": {"kind": "move", "poses": {"1": [NaN, 0, 0]}}}',
        b'{"revision": 0, "edit": {"kind": "move", "poses": {"1": [0, Infinity, 0]}}}',
        b'{"revision": 0, "edit": {"kind": "move", "poses": {"1": [0, 1e300, 0]}}}',
        b'{"revision": 0, "edit": {"kind": "move", "poses": {"1": [0, 0]}}}',
        b'{"revision": 0, "edit": {"kind": "move", "poses": {"1": ["0", 0, 0]}}}',
        b'{"revision": 0, "edit": {"kind": "move", "poses": {"one": [0, 0, 0]}}}',
        b'{"revision": 0, "edit": {"kind": "move", "poses": {"1": [0, 0, 0]}, "joins": [[1]]}}',
        b'{"revision": 0, "edit": {"kind": "move", "poses": {"1": [0, 0, 0]}, "joins": [[1, 1]]}}',
        b'{"revision": 0, "edit": {"kind": "accept", "i": 0, "j": 0}}', b'{"revision": 0, "edit": {"kind": ["accept"]}}',
    ],
)  # fmt: skip
def test_nonsense_gets_one_sentence_and_changes_nothing(friend: httpx.Client, body: bytes) -> None:
    answer = friend.post("/api/edits", content=body)
    assert answer.status_code == 422
    assert answer.json()["error"].endswith(".")
    assert friend.get("/api/state").json()["revision"] == 0


@pytest.mark.parametrize(
    "body",
    [
        {"pieces": [], "pose": [0, 0, 0]}, {"pieces": [1, 1], "pose": [0, 0, 0]}, {"pieces": [77], "pose": [0, 0, 0]},
        {"pieces": [1], "pose": None}, {"pieces": [1]}, {"pose": [0, 0, 0]},
    ],
)  # fmt: skip
def test_nonsense_does_not_snap(friend: httpx.Client, body: object) -> None:
    assert friend.post("/api/snap", json=body).status_code == 422


def test_a_body_beyond_the_bound_is_refused(friend: httpx.Client) -> None:
    large = b'{"revision": 0, "edit": "' + b"x" * 2**20 + b'"}'
    assert friend.post("/api/edits", content=large).status_code == 413
    parts = (large[k : k + 4096] for k in range(0, len(large), 4096))  # without a length, in pieces
    assert friend.post("/api/edits", content=parts).status_code == 413
    assert friend.get("/api/state").json()["revision"] == 0


@pytest.mark.parametrize("size", ["-5", "0", "1000000000"])
def test_sizes_of_pictures_are_bounded(friend: httpx.Client, size: str) -> None:
    assert friend.get(f"/api/pieces/0.png?size={size}").status_code == 200
    assert friend.get("/api/pieces/0.png?size=large").status_code == 404


def test_a_taken_port_is_said_in_a_sentence(bench: Workbench, nine_session: Session) -> None:
    port = httpx.URL(bench.address).port
    assert port is not None
    with pytest.raises(ConfigError, match="cannot be used"):
        Workbench(nine_session, port)
    with pytest.raises(ConfigError, match="between"):
        Workbench(nine_session, 70000)

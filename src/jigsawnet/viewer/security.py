"""Who may talk to the workbench: only this machine's browser, with the token, from the workbench's own page."""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterable
from urllib.parse import parse_qs

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jigsawnet.errors import JigsawNetError

MAX_BODY_BYTES = 2**20
_TOO_LARGE = "The request is larger than 1 MB."

_HEADERS = {
    b"content-security-policy": b"default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; "
    b"form-action 'none'; frame-ancestors 'none'",
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-resource-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
}


class TooLargeError(JigsawNetError):
    """The body of a request is beyond the bound."""


class Guard:
    """Checks every request before anything looks at it, and adds the headers of safety to every answer.

    The Host header must name this server, so that another name that leads to 127.0.0.1 is of no use; a POST must come from
    the workbench's own page; the token comes once in the address and then in a cookie that no script and no other site sees.
    """

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app = app
        self._token = token.encode()
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        if port == 80:
            self._hosts |= {"127.0.0.1", "localhost"}
        self._cookie = f"jigsawnet-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        headers = [(bytes(key).lower(), bytes(value)) for key, value in scope["headers"]]
        refusal = self._refusal(scope, headers)
        if refusal:
            await _answer(send, *refusal)
            return
        by_address = self._is_token(_query_token(scope))

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                extra = list(_HEADERS.items())
                if by_address:
                    cookie = f"{self._cookie}={self._token.decode()}; Path=/; HttpOnly; SameSite=Strict"
                    extra.append((b"set-cookie", cookie.encode()))
                message = {**message, "headers": [*message.get("headers", ()), *extra]}
            await send(message)

        await self._app(scope, _bounded(receive), send_safely)

    def _refusal(self, scope: Scope, headers: list[tuple[bytes, bytes]]) -> tuple[int, str] | None:
        """Status and sentence for a request that is turned away."""
        hosts = [value.decode("latin-1").lower() for key, value in headers if key == b"host"]
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return 421, "This is not the address of the workbench."
        if scope["method"] not in ("GET", "HEAD"):
            origins = [value.decode("latin-1").lower() for key, value in headers if key == b"origin"]
            sites = [value for key, value in headers if key == b"sec-fetch-site"]
            foreign = any(site not in (b"same-origin", b"none") for site in sites)
            if foreign or any(origin != f"http://{hosts[0]}" for origin in origins):
                return 403, "Only the workbench's own page may ask for changes."
        if not self._is_token(_query_token(scope)) and not any(self._is_token(value) for value in self._cookies(headers)):
            return 401, "The address lacks the token: open the address that jigsawnet view has printed."
        lengths = [value for key, value in headers if key == b"content-length"]
        if any(not value.isdigit() or int(value) > MAX_BODY_BYTES for value in lengths):
            return 413, _TOO_LARGE
        return None

    def _is_token(self, given: bytes) -> bool:
        return hmac.compare_digest(given, self._token)

    def _cookies(self, headers: Iterable[tuple[bytes, bytes]]) -> list[bytes]:
        parts = [part.strip().partition(b"=") for key, value in headers if key == b"cookie" for part in value.split(b";")]
        return [value for name, _, value in parts if name == self._cookie.encode()]


def _query_token(scope: Scope) -> bytes:
    query: bytes = scope.get("query_string", b"")
    try:
        given = parse_qs(query.decode("latin-1"), max_num_fields=20).get("token", [""])
    except ValueError:
        return b""
    return given[0].encode("utf-8", "replace")


def _bounded(receive: Receive) -> Receive:
    """The same body, but never more than the bound."""
    total = 0

    async def receive_some() -> Message:
        nonlocal total
        message = await receive()
        total += len(message.get("body", b""))
        if total > MAX_BODY_BYTES:
            raise TooLargeError(_TOO_LARGE)
        return message

    return receive_some


async def _answer(send: Send, status: int, text: str) -> None:
    body = json.dumps({"error": text}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *_HEADERS.items()]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})

"""Who may talk to the workbench: only this machine's browser, with the token, from the workbench's own page."""

from __future__ import annotations

import hmac

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jigsawnet.errors import JigsawNetError

MAX_BODY_BYTES = 2**20
_TOO_LARGE = "The request is larger than 1 MB."

_HEADERS = {
    "content-security-policy": "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}


class TooLargeError(JigsawNetError):
    """The body of a request is beyond the bound."""


class Guard:
    """Checks every request before anything looks at it, and adds the security headers to every answer.

    The Host header must name this server, so that another name that leads to 127.0.0.1 is of no use; a POST must come from
    the workbench's own page; the token comes once in the address and then in a cookie that no script and no other site sees.
    """

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app = app
        self._token = token
        self._hosts = {
            f"{name}{end}" for name in ("127.0.0.1", "localhost") for end in (f":{port}", *(("",) if port == 80 else ()))
        }
        self._cookie = f"jigsawnet-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        if scope["type"] != "http":
            return
        request = Request(scope)
        by_address = self._is_token(request.query_params.get("token", ""))
        if refusal := self._refusal(request, by_address):
            status, text = refusal
            await JSONResponse({"error": text}, status, _HEADERS)(scope, receive, send)
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=list(message.get("headers", ())))
                headers.update(_HEADERS)
                if by_address:
                    headers.append("set-cookie", f"{self._cookie}={self._token}; Path=/; HttpOnly; SameSite=Strict")
                message = {**message, "headers": headers.raw}
            await send(message)

        await self._app(scope, _bounded(receive), send_safely)

    def _refusal(self, request: Request, by_address: bool) -> tuple[int, str] | None:
        """Status and sentence for a request that is turned away."""
        hosts = [host.lower() for host in request.headers.getlist("host")]
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return 421, "This is not the address of the workbench."
        if request.method not in ("GET", "HEAD"):
            origins, sites = (request.headers.getlist(name) for name in ("origin", "sec-fetch-site"))
            foreign = any(site not in ("same-origin", "none") for site in sites)
            if foreign or any(origin.lower() != f"http://{hosts[0]}" for origin in origins):
                return 403, "Only the workbench's own page may ask for changes."
        if not by_address and not self._is_token(request.cookies.get(self._cookie, "")):
            return 401, "The address lacks the token: open the address that jigsawnet view has printed."
        lengths = request.headers.getlist("content-length")
        if any(not value.isascii() or not value.isdigit() or int(value) > MAX_BODY_BYTES for value in lengths):
            return 413, _TOO_LARGE
        return None

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "replace"), self._token.encode())


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

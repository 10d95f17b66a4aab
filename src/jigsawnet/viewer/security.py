"""Who may talk to the workbench: only this machine's browser, let in by a token, from the workbench's own page."""

from __future__ import annotations

import asyncio
import secrets
import time

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jigsawnet.errors import JigsawNetError
from jigsawnet.viewer.keys import Keys
from jigsawnet.viewer.limits import Allowance, Limits

_TOO_LARGE = "The request is larger than {:g} MB."
_TOO_SLOW = "The request did not come in time."
_LACKS_TOKEN = (
    "The address lacks the token, or its token was used: open the address that was printed, or start jigsawnet again."
)
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


class TooSlowError(JigsawNetError):
    """The body of a request does not come in time."""


class Guard:
    """Checks every request before anything looks at it, and adds the security headers to every answer.

    The Host header must name this server, so that another name that leads to 127.0.0.1 is of no use; a POST must come from
    the workbench's own page. The token in the address opens the door once: the browser gets a cookie that no script and no
    other site sees, and is sent on to the room, whose path nobody can guess and to which alone the cookie is sent, so that
    servers at other ports do not get it.
    """

    def __init__(self, app: ASGIApp, keys: Keys, port: int, limits: Limits) -> None:
        self._app, self._keys, self._limits = app, keys, limits
        self._hosts = {
            f"{name}{end}" for name in ("127.0.0.1", "localhost") for end in (f":{port}", *(("",) if port == 80 else ()))
        }
        self._cookie, self._room = f"jigsawnet-{port}", f"/{secrets.token_urlsafe(12)}"
        self._strangers, self._friends = Allowance(*limits.strangers), Allowance(*limits.friends)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        if scope["type"] != "http":
            return
        answer = self._answer(Request(scope))
        if answer is not None:
            answer.headers.update(_HEADERS)
            await answer(scope, receive, send)
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=list(message.get("headers", ())))
                headers.update(_HEADERS)
                message = {**message, "headers": headers.raw}
            await send(message)

        await self._app(self._inside(scope), self._bounded(receive, scope["method"]), send_safely)

    def _answer(self, request: Request) -> Response | None:
        """What is said at the door; None lets the request in."""
        if not self._is_known(request):
            return self._open_door(request) or self._turn_away(request)
        if foreign := self._foreign(request):
            return _refusal(*foreign)
        if not self._friends.take():
            return _refusal(429, "There were too many requests; wait a little.")
        lengths = request.headers.getlist("content-length")
        if any(not value.isascii() or not value.isdigit() or int(value[:20]) > self._limits.body_bytes for value in lengths):
            return _refusal(413, _TOO_LARGE.format(self._limits.body_bytes / 2**20))
        return None

    def _turn_away(self, request: Request) -> Response:
        """Words for a stranger, whose connection ends."""
        if self._strangers.take():
            answer = _refusal(*(self._foreign(request) or (401, _LACKS_TOKEN)))
        else:
            answer = _refusal(429, "There were too many requests without a token; wait a little.")
        answer.headers["connection"] = "close"
        return answer

    def _foreign(self, request: Request) -> tuple[int, str] | None:
        """Status and sentence for a request to another name, or from another page."""
        hosts = [host.lower() for host in request.headers.getlist("host")]
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return 421, "This is not the address of the workbench."
        if request.method not in ("GET", "HEAD"):
            origins, sites = (request.headers.getlist(name) for name in ("origin", "sec-fetch-site"))
            foreign = any(site not in ("same-origin", "none") for site in sites)
            if foreign or any(origin.lower() != f"http://{hosts[0]}" for origin in origins):
                return 403, "Only the workbench's own page may ask for changes."
        return None

    def _open_door(self, request: Request) -> Response | None:
        """Use the token of the address up, and send the browser on to the room, so that the token leaves the address."""
        token = request.query_params.get("token", "")
        if request.method != "GET" or request.url.path != "/" or not token or self._foreign(request):
            return None
        session = self._keys.enter(token)
        if session is None:
            return None
        answer = RedirectResponse(f"{self._room}/", 303, {"cache-control": "no-store"})
        answer.set_cookie(self._cookie, session, path=f"{self._room}/", httponly=True, samesite="strict")
        return answer

    def _is_known(self, request: Request) -> bool:
        """True in the room with the cookie; another server of this machine may have set one of the same name."""
        if not request.scope["path"].startswith(f"{self._room}/"):
            return False
        pairs = (part.strip().partition("=") for line in request.headers.getlist("cookie") for part in line.split(";"))
        return any(name == self._cookie and self._keys.knows(value) for name, _, value in list(pairs)[:100])

    def _inside(self, scope: Scope) -> Scope:
        """The request as the room sees it."""
        path = scope["path"].removeprefix(self._room)
        return {**scope, "path": path, "raw_path": scope["raw_path"].removeprefix(self._room.encode())}

    def _bounded(self, receive: Receive, method: str) -> Receive:
        """The same body, but never more than the bound, and not later."""
        total, end, is_whole = 0, time.monotonic() + self._limits.body_seconds, method in ("GET", "HEAD")

        async def receive_some() -> Message:
            nonlocal total, is_whole
            try:  # when all is there, what comes is the end of the connection
                message = await asyncio.wait_for(receive(), None if is_whole else max(0.0, end - time.monotonic()))
            except TimeoutError as error:
                raise TooSlowError(_TOO_SLOW) from error
            is_whole = is_whole or not message.get("more_body", False)
            total += len(message.get("body", b""))
            if total > self._limits.body_bytes:
                raise TooLargeError(_TOO_LARGE.format(self._limits.body_bytes / 2**20))
            return message

        return receive_some


def _refusal(status: int, text: str) -> Response:
    """Words for somebody who is turned away."""
    return JSONResponse({"error": text}, status, {"cache-control": "no-store"})

"""What the workbench and the page of cases share: answers, errors as sentences, bodies of requests, the files of the pages."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import msgspec
from fastapi import APIRouter, Depends, FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response

from jigsawnet.errors import TROUBLE, ConfigError, EditError, FormatError, InputError, sentence_of
from jigsawnet.viewer.security import TooLargeError, TooSlowError
from jigsawnet.viewer.session import StaleError

_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
"""By the name's ending, not by the system's table, which may be wrong: the page is served with ``nosniff``."""


def new_app(revision: Callable[[], int]) -> FastAPI:
    """An application without routes, whose errors are one sentence; ``revision`` is what a page that is behind is told."""
    app = FastAPI(title="jigsawnet", docs_url=None, redoc_url=None, openapi_url=None)

    def refuse(_: Request, error: Exception) -> Response:
        if isinstance(error, StaleError):
            return json_answer({"error": str(error), "revision": revision()}, 409)
        if isinstance(error, TooLargeError | TooSlowError):
            return json_answer({"error": str(error)}, 413 if isinstance(error, TooLargeError) else 408)
        return json_answer(
            {"error": sentence_of(error)}, 422 if isinstance(error, ConfigError | EditError | FormatError | InputError) else 500
        )

    def unknown(_: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 404
        return json_answer({"error": "There is no such thing here." if status == 404 else "This cannot be done here."}, status)

    for trouble in TROUBLE:
        app.add_exception_handler(trouble, refuse)
    for kind in (404, 405, RequestValidationError):
        app.add_exception_handler(kind, unknown)
    return app


def json_answer(data: Any, status: int = 200) -> Response:
    """Plain values as JSON, which no browser keeps."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return Response(text, status_code=status, media_type="application/json", headers={"Cache-Control": "no-store"})


def page_routes(first: str) -> APIRouter:
    """``/`` and ``/static/...``: files of the package, listed before any request, so that no path leads anywhere else."""
    router = APIRouter()
    listed = files("jigsawnet.viewer").joinpath("static").iterdir()
    known = {entry.name: entry for entry in listed if entry.name.rpartition(".")[2] in _TYPES}

    @router.get("/")
    def page() -> Response:
        return static(first)

    @router.get("/static/{name:path}")
    def static(name: str) -> Response:
        if name not in known:
            raise HTTPException(404)
        media_type = _TYPES[name.rpartition(".")[2]]
        return Response(known[name].read_bytes(), media_type=media_type, headers={"Cache-Control": "no-cache"})

    @router.get("/favicon.ico")
    def icon() -> Response:
        return Response(status_code=204)

    return router


def body(wanted: type) -> Any:
    """The body of a request as ``wanted``; its size was bounded by the guard."""

    async def read(request: Request) -> Any:
        try:
            return msgspec.json.decode(await request.body(), type=wanted)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise FormatError(f"The request cannot be read: {error}.") from error

    return Depends(read)

"""The workbench as a web application; everything it knows is in its `Session`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.types import ASGIApp

from jigsawnet.errors import EditError, FormatError, InputError, JigsawNetError
from jigsawnet.viewer.routes_edit import edit_routes
from jigsawnet.viewer.routes_page import page_routes
from jigsawnet.viewer.routes_see import see_routes
from jigsawnet.viewer.security import Guard, TooLargeError
from jigsawnet.viewer.session import Session, StaleError
from jigsawnet.viewer.state import outlines


def create_app(session: Session, token: str, port: int) -> ASGIApp:
    """All routes behind the guard; ``port`` is where the server will listen, since the Host header names it."""
    app = FastAPI(title="jigsawnet", docs_url=None, redoc_url=None, openapi_url=None)
    shapes = outlines(session.puzzle, session.bank)
    app.include_router(page_routes())
    app.include_router(see_routes(session, shapes))
    app.include_router(edit_routes(session, shapes))

    def say(_: Request, error: Exception) -> Response:
        if isinstance(error, StaleError):
            return _sentence(409, str(error), {"revision": session.revision})
        if isinstance(error, TooLargeError):
            return _sentence(413, str(error))
        return _sentence(422 if isinstance(error, EditError | FormatError | InputError) else 500, str(error))

    def unknown(_: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 404
        return _sentence(status, "There is no such thing here." if status == 404 else "This cannot be done here.")

    app.add_exception_handler(JigsawNetError, say)
    app.add_exception_handler(404, unknown)
    app.add_exception_handler(405, unknown)
    app.add_exception_handler(RequestValidationError, lambda request, error: _sentence(404, "There is no such thing here."))
    return Guard(app, token, port)


def _sentence(status: int, text: str, more: Mapping[str, Any] | None = None) -> Response:
    body = json.dumps({"error": text, **(more or {})})
    return Response(body, status_code=status, media_type="application/json", headers={"Cache-Control": "no-store"})

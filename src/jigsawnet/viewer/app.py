"""The workbench as a web application; everything it knows is in its `Session`. What the page sends is never trusted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, FastAPI, HTTPException, Request
from fastapi.responses import Response, StreamingResponse

from jigsawnet.errors import EditError, FormatError
from jigsawnet.io.edits_json import parse_edit, parse_pose
from jigsawnet.viewer import web
from jigsawnet.viewer.cases import case_routes
from jigsawnet.viewer.exports import ARCHIVE, config_of, pages_archive, table_file
from jigsawnet.viewer.guesses import guesses_json
from jigsawnet.viewer.session import Session
from jigsawnet.viewer.state import join_json, outlines, piece_json, places_json, snap_json, state_json, truth_json
from jigsawnet.viewer.thumbs import page_png
from jigsawnet.viewer.web import body as _body
from jigsawnet.viewer.web import json_answer as _json

_FOREVER = "private, max-age=31536000, immutable"


def create_app(session: Session) -> FastAPI:
    """All routes of the workbench; to be put behind a `Guard`."""
    app = web.new_app(lambda: session.revision)
    shapes = outlines(session.puzzle, session.borders)

    def state() -> Response:
        with session.lock:
            return _json(state_json(session, shapes))

    app.include_router(web.page_routes("index.html"))
    app.include_router(_post_routes(session, state), prefix="/api")
    app.include_router(case_routes(session), prefix="/api")
    app.include_router(_get_routes(session), prefix="/api")
    app.add_api_route("/api/state", state)
    return app


def _get_routes(session: Session) -> APIRouter:
    """What can be looked at: pieces, joins, the truth, and the arrangement as files."""
    router = APIRouter()

    def known(idx: int) -> int:
        if not 0 <= idx < len(session.pieces):
            raise HTTPException(404)
        return idx

    @router.get("/pieces/{idx}.png")
    def picture(request: Request, idx: int, size: int | None = None, v: str | None = None) -> Response:
        tag = f'"{session.pictures.key}-{known(idx)}-{size}"'
        headers = {"ETag": tag, "Cache-Control": _FOREVER if v == session.pictures.key else "private, no-cache"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(session.pictures.png(idx, size), media_type="image/png", headers=headers)

    @router.get("/pieces/{idx}")
    def piece(idx: int) -> Response:
        with session.lock:
            return _json(piece_json(session, known(idx)))

    @router.get("/pieces/{idx}/places")
    def places(idx: int) -> Response:
        with session.lock:
            return _json(places_json(session, known(idx)))

    @router.get("/guesses")
    def guesses() -> Response:
        with session.lock:
            return _json(guesses_json(session))

    @router.get("/pages/{idx}.png")
    def page(idx: int) -> Response:
        with session.lock:
            now = session.arrangement
        if known(idx) not in now.poses:
            raise HTTPException(404)
        data = page_png(session.pictures, session.pieces, now.poses, now.component_of(idx))
        return Response(data, media_type="image/png", headers={"Cache-Control": "private, max-age=600"})

    @router.get("/joins/{i}/{j}")
    def join(i: int, j: int) -> Response:
        pair = (min(i, j), max(i, j))
        with session.lock:
            if pair not in session.arrangement.joins:
                raise HTTPException(404)
            return _json(join_json(session, pair))

    @router.get("/truth")
    def truth() -> Response:
        with session.lock:
            if session.truth is None:
                raise HTTPException(404)
            return _json(truth_json(session, session.truth))

    @router.get("/events")
    async def events() -> StreamingResponse:
        first = {"type": "revision", "revision": session.revision}
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(session.hub.stream(first), media_type="text/event-stream", headers=headers)

    @router.get(f"/export/{ARCHIVE}")
    def archive(
        formats: str = "pdf,tiff,png,svg,csv",
        pages: str = "",
        paper: str = "fitting",
        dpi: float | None = None,
        drawn: str = "",
    ) -> Response:
        data = pages_archive(session, config_of(formats, pages, paper, dpi, drawn))
        headers = {"Content-Disposition": f'attachment; filename="{ARCHIVE}"', "Cache-Control": "no-store"}
        return StreamingResponse(data, media_type="application/zip", headers=headers)

    @router.get("/export/{name}")
    def export(name: str) -> Response:
        data, media_type = table_file(session, name)
        headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
        return Response(data, media_type=media_type, headers=headers)

    return router


class _Change(msgspec.Struct):
    """A change and the revision that its sender has seen."""

    revision: int
    edit: Any = None
    join: bool = False
    """Join what is moved to what its borders meet."""


class _Snap(msgspec.Struct):
    """Pieces in a person's hand, and the pose of the first on the table."""

    pieces: list[int]
    pose: Any


Change = Annotated[_Change, _body(_Change)]
Snap = Annotated[_Snap, _body(_Snap)]


def _post_routes(session: Session, state: Callable[[], Response]) -> APIRouter:
    """What can be changed; every change names the revision it was made on."""
    router = APIRouter()

    def piece_number(value: Any, where: str) -> int:
        """A piece by its number, as a number or, as a key of an object must be, as text."""
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 9:
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < len(session.pieces):
            raise FormatError(f"{where} names a piece that does not exist.")
        return value

    @router.post("/edits")
    def make(change: Change) -> Response:
        session.make(change.revision, parse_edit(change.edit, piece_number, "edit"), join=change.join)
        return state()

    @router.post("/undo")
    def undo(change: Change) -> Response:
        session.undo(change.revision)
        return state()

    @router.post("/redo")
    def redo(change: Change) -> Response:
        session.redo(change.revision)
        return state()

    @router.post("/snap")
    def snap(data: Snap) -> Response:
        pieces, pose = [piece_number(value, "pieces") for value in data.pieces], parse_pose(data.pose, "pose")
        if not pieces or len(set(pieces)) != len(pieces):
            raise FormatError("pieces must name at least one piece, and each only once.")
        with session.lock:
            now = session.arrangement
            if len(pieces) > 1 and any(idx not in now.poses for idx in pieces):
                raise EditError("Only pieces that are placed can be moved together.")
            return _json(snap_json(session.places.snap(now, pieces, pose)))

    @router.post("/solve")
    def solve(change: Change) -> Response:
        session.solve(change.revision)
        return _json({"busy": True}, 202)

    @router.post("/stop")
    def stop() -> Response:
        session.stop()
        return _json({"busy": session.busy}, 202)

    return router

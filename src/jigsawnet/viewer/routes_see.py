"""What can be looked at: the state, pieces, joins, the truth, and the arrangement as files."""

from __future__ import annotations

import dataclasses

import cv2
import numpy as np
from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import Response, StreamingResponse

from jigsawnet.io.assembly_json import assembly_to_json
from jigsawnet.render.image import render_assembly
from jigsawnet.render.svg import assembly_svg
from jigsawnet.viewer.answers import answer
from jigsawnet.viewer.session import Session
from jigsawnet.viewer.state import join_json, piece_json, places_json, state_json
from jigsawnet.viewer.truth import truth_json

_FOREVER = "private, max-age=31536000, immutable"


def see_routes(session: Session, shapes: list[list[list[int]]]) -> APIRouter:
    """All GET routes of the interface."""
    router = APIRouter(prefix="/api")

    def known(idx: int) -> int:
        if not 0 <= idx < len(session.pieces):
            raise HTTPException(404)
        return idx

    @router.get("/state")
    def state() -> Response:
        with session.lock:
            return answer(state_json(session, shapes))

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
            return answer(piece_json(session, known(idx)))

    @router.get("/pieces/{idx}/places")
    def places(idx: int) -> Response:
        with session.lock:
            return answer(places_json(session, known(idx)))

    @router.get("/joins/{i}/{j}")
    def join(i: int, j: int) -> Response:
        with session.lock:
            if known(i) == known(j) or (min(i, j), max(i, j)) not in session.arrangement.joins:
                raise HTTPException(404)
            return answer(join_json(session, i, j))

    @router.get("/truth")
    def truth() -> Response:
        with session.lock:
            found = truth_json(session)
        if found is None:
            raise HTTPException(404)
        return answer(found)

    @router.get("/events")
    async def events() -> StreamingResponse:
        first = {"type": "revision", "revision": session.revision}
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(session.hub.stream(first), media_type="text/event-stream", headers=headers)

    @router.get("/export/{name}")
    def export(name: str) -> Response:
        data, media_type = _export(session, name)
        headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
        return Response(data, media_type=media_type, headers=headers)

    return router


def _export(session: Session, name: str) -> tuple[bytes, str]:
    """The arrangement as it lies on the table, as a file."""
    with session.lock:
        assembly = session.arrangement.to_assembly(len(session.pieces))
    if name == "assembly.json":
        text = assembly_to_json(assembly, session.pieces.names)
        return text.encode("utf-8", errors="backslashreplace"), "application/json"
    placed = tuple(sorted(assembly.poses))
    table = dataclasses.replace(assembly, components=(placed,) if placed else ())
    if name == "assembly.png":
        picture = render_assembly(session.puzzle, table)
        done, png = cv2.imencode(".png", np.ascontiguousarray(picture[..., [2, 1, 0, 3]]))
        if not done:
            raise HTTPException(500)
        return png.tobytes(), "image/png"
    if name == "assembly.svg":
        return assembly_svg(session.puzzle, table).encode("utf-8", errors="backslashreplace"), "image/svg+xml"
    raise HTTPException(404)

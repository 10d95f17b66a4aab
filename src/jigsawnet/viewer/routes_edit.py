"""What can be changed; every change names the revision it was made on."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends
from fastapi.responses import Response

from jigsawnet.errors import EditError, FormatError
from jigsawnet.io.edits_json import parse_pose
from jigsawnet.io.json_fields import object_list
from jigsawnet.viewer.answers import answer
from jigsawnet.viewer.bodies import edit_of, piece_number, read_body, revision_of
from jigsawnet.viewer.session import Session
from jigsawnet.viewer.state import snap_json, state_json

Body = Annotated[dict[str, Any], Depends(read_body)]


def edit_routes(session: Session, shapes: list[list[list[int]]]) -> APIRouter:
    """All POST routes of the interface."""
    router = APIRouter(prefix="/api")
    n_pieces = len(session.pieces)

    def state() -> Response:
        with session.lock:
            return answer(state_json(session, shapes))

    @router.post("/edits")
    def make(data: Body) -> Response:
        session.make(revision_of(data), edit_of(data, n_pieces))
        return state()

    @router.post("/undo")
    def undo(data: Body) -> Response:
        session.undo(revision_of(data))
        return state()

    @router.post("/redo")
    def redo(data: Body) -> Response:
        session.redo(revision_of(data))
        return state()

    @router.post("/snap")
    def snap(data: Body) -> Response:
        pieces = [piece_number(value, n_pieces, "pieces") for value in object_list(data, "pieces", "The request")]
        pose = parse_pose(data.get("pose"), "pose")
        if not pieces or len(set(pieces)) != len(pieces):
            raise FormatError("pieces must name at least one piece, and each only once.")
        with session.lock:
            now = session.arrangement
            if len(pieces) > 1 and any(idx not in now.poses for idx in pieces):
                raise EditError("Only pieces that are placed can be moved together.")
            return answer(snap_json(session.candidates.snap(now, pieces, pose)))

    @router.post("/solve")
    def solve(data: Body) -> Response:
        session.solve(revision_of(data))
        return answer({"busy": True}, 202)

    @router.post("/stop")
    def stop() -> Response:
        session.stop()
        return answer({"busy": session.busy}, 202)

    return router

"""The page of cases as a web application; the workbench of the case on the desk lies below ``/case/NAME/``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any
from urllib.parse import quote

import msgspec
from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import Response, StreamingResponse
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Receive, Scope, Send

from jigsawnet.errors import InputError, JigsawNetError
from jigsawnet.viewer import web
from jigsawnet.viewer.home.cases import Case
from jigsawnet.viewer.home.desk import Desk
from jigsawnet.viewer.home.intake import Intake
from jigsawnet.viewer.home.review import Review
from jigsawnet.viewer.web import json_answer

_CLOSED = "This case is not open any more; open it again from the page of cases."
CASE_PATH = "/case/"


def create_home(desk: Desk, intake: Intake, end: Callable[[], None]) -> ASGIApp:
    """All routes; to be put behind a `Guard`. ``end`` is called when a person ends the program."""
    app = web.new_app(lambda: -1 if desk.review is None else desk.review.revision)
    app.include_router(web.page_routes("home.html"))
    app.include_router(_desk_routes(desk, end), prefix="/api")
    app.include_router(_case_routes(desk, intake), prefix="/api")
    app.include_router(_review_routes(desk), prefix="/api")
    return _Rooms(app, desk)


class _Rooms:
    """The workbench for what lies below the path of a case, the page of cases for the rest."""

    def __init__(self, home: ASGIApp, desk: Desk) -> None:
        self._home, self._desk = home, desk

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        name, slash, _ = path.removeprefix(CASE_PATH).partition("/")
        if not path.startswith(CASE_PATH) or not slash:
            await self._home(scope, receive, send)
        elif (app := self._desk.app_of(name)) is not None:
            inside = path.removeprefix(CASE_PATH + name)
            await app({**scope, "path": inside, "raw_path": quote(inside).encode()}, receive, send)
        else:
            await json_answer({"error": self._desk.error or _CLOSED}, 410)(scope, receive, send)


def _desk_routes(desk: Desk, end: Callable[[], None]) -> APIRouter:
    router = APIRouter()

    @router.get("/desk")
    def state() -> Response:
        return json_answer(desk.to_plain())

    @router.get("/events")
    async def events() -> StreamingResponse:
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(desk.hub.stream({"type": "changed"}), media_type="text/event-stream", headers=headers)

    @router.post("/solve")
    def solve() -> Response:
        desk.solve()
        return json_answer(desk.to_plain(), 202)

    @router.post("/stop")
    def stop() -> Response:
        desk.stop()
        return json_answer(desk.to_plain(), 202)

    @router.post("/leave")
    def leave() -> Response:
        desk.leave()
        return json_answer(desk.to_plain())

    @router.post("/end")
    def end_all() -> Response:
        end()
        return json_answer({}, 202)

    return router


class _File(msgspec.Struct):
    """A file that is about to come: into the case of this name, or into a new one."""

    name: str
    size: int
    folder: str = ""
    case: str | None = None


FileToCome = Annotated[_File, web.body(_File)]


def _case_routes(desk: Desk, intake: Intake) -> APIRouter:
    router = APIRouter()

    def known(name: str) -> Case:
        case = desk.cases.find(name)
        if case is None:
            raise HTTPException(404)
        return case

    @router.get("/cases")
    def cases() -> Response:
        return json_answer(desk.cases.recent())

    @router.get("/cases/{name}/thumb.jpg")
    def thumb(name: str) -> Response:
        data = known(name).thumb()
        if data is None:
            raise HTTPException(404)
        return Response(data, media_type="image/jpeg", headers={"Cache-Control": "private, max-age=600"})

    @router.post("/cases/{name}/look")
    def look(name: str) -> Response:
        desk.look(known(name).name)
        return json_answer(desk.to_plain(), 202)

    @router.post("/cases/{name}/open")
    def open_case(name: str) -> Response:
        desk.open(known(name).name)
        return json_answer(desk.to_plain())

    @router.post("/files")
    def begin(file: FileToCome) -> Response:
        def find() -> Case:
            if file.case is None:
                return desk.cases.make(file.folder or file.name)
            case = desk.cases.find(file.case)
            if case is None or case.given:
                raise InputError("Files cannot be added to this case.")
            return case

        case, ticket = intake.begin(find, file.name, file.folder, file.size)
        return json_answer({"case": case.name, "ticket": ticket}, 201)

    @router.post("/files/{case_name}/{ticket}")
    async def add(request: Request, case_name: str, ticket: str, at: int) -> Response:
        data = await request.body()
        return await run_in_threadpool(_add, case_name, ticket, at, data)

    def _add(case_name: str, ticket: str, at: int, data: bytes) -> Response:
        try:
            name = intake.add(ticket, at, data)
        except JigsawNetError:
            if (case := desk.cases.find(case_name)) is not None:
                desk.cases.remove_if_empty(case)
            raise
        return json_answer({"name": name})

    return router


class _Change(msgspec.Struct):
    """A correction and the revision that its sender has seen."""

    revision: int
    edit: Any = None


Change = Annotated[_Change, web.body(_Change)]


def _review_routes(desk: Desk) -> APIRouter:
    """What was found, and its corrections."""
    router = APIRouter()

    def review() -> Review:
        if desk.review is None:
            raise HTTPException(404)
        return desk.review

    def state() -> Response:
        with desk.lock:
            return json_answer(review().to_plain())

    @router.get("/review/{idx}.jpg")
    def scan(idx: int) -> Response:
        if not 0 <= idx < len(jpegs := review().jpegs):
            raise HTTPException(404)
        return Response(jpegs[idx], media_type="image/jpeg", headers={"Cache-Control": "no-store"})

    @router.get("/review/pieces/{idx}.png")
    def piece(idx: int) -> Response:
        found = review()
        if found.pictures is None or found.loaded is None or not 0 <= idx < len(found.loaded.puzzle):
            raise HTTPException(404)
        return Response(found.pictures.png(idx, 128), media_type="image/png", headers={"Cache-Control": "no-store"})

    @router.post("/review/edits")
    def make(change: Change) -> Response:
        desk.correct(change.revision, lambda found: found.make(change.edit))
        return state()

    @router.post("/review/undo")
    def undo(change: Change) -> Response:
        desk.correct(change.revision, lambda found: found.step(-1))
        return state()

    @router.post("/review/redo")
    def redo(change: Change) -> Response:
        desk.correct(change.revision, lambda found: found.step(1))
        return state()

    router.add_api_route("/review", state)
    return router

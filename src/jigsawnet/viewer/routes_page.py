"""The page itself: files of the package, known by name before anybody asks, so that no path leads anywhere else."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable

from fastapi import APIRouter, HTTPException
from fastapi.responses import Response

_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
    "ico": "image/x-icon",
}


def page_routes() -> APIRouter:
    """``/`` and ``/static/...``."""
    router = APIRouter()
    known = dict(_walk(files("jigsawnet.viewer").joinpath("static"), ""))

    @router.get("/")
    def page() -> Response:
        return send("index.html")

    @router.get("/static/{name:path}")
    def static(name: str) -> Response:
        return send(name)

    @router.get("/favicon.ico")
    def icon() -> Response:
        return Response(status_code=204)

    def send(name: str) -> Response:
        if name not in known:
            raise HTTPException(404)
        media_type = _TYPES[name.rpartition(".")[2]]
        return Response(known[name].read_bytes(), media_type=media_type, headers={"Cache-Control": "no-cache"})

    return router


def _walk(folder: Traversable, prefix: str) -> Iterator[tuple[str, Traversable]]:
    """Every file of a kind that the page may consist of."""
    if not folder.is_dir():
        return
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _walk(entry, f"{prefix}{entry.name}/")
        elif entry.name.rpartition(".")[2] in _TYPES:
            yield f"{prefix}{entry.name}", entry

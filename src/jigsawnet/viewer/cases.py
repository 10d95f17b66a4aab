"""The run as a case, out of the workbench: its file and its history."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import Response, StreamingResponse

from jigsawnet.io.case_file import CASE_SUFFIX
from jigsawnet.io.history import read_history
from jigsawnet.runs.case import pack_run
from jigsawnet.viewer.exports import chunks_of
from jigsawnet.viewer.session import Session

_MOST_SHOWN = 500
"""Lines of the history that the page shows, the newest first."""


def case_routes(session: Session) -> APIRouter:
    """``/export/case.jigsaw``, with ``inputs=true`` the pictures inside; ``/history``, what was done when."""
    router = APIRouter()

    @router.get(f"/export/case{CASE_SUFFIX}")
    def case(inputs: bool = False) -> Response:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, session.at_rest() as run:
            target = Path(folder) / f"case{CASE_SUFFIX}"
            pack_run(run.folder, target, with_inputs=inputs)
            archive = target.open("rb")  # it may be gone from its folder while it is sent
        name = re.sub(r"[^A-Za-z0-9._-]+", "_", session.puzzle.name)[:80].strip("._") or "case"
        headers = {"Content-Disposition": f'attachment; filename="{name}{CASE_SUFFIX}"', "Cache-Control": "no-store"}
        return StreamingResponse(chunks_of(archive), media_type="application/zip", headers=headers)

    @router.get("/history")
    def history() -> Response:
        entries = read_history(session.run.folder)
        answer = {"entries": entries[: -_MOST_SHOWN - 1 : -1], "more": max(0, len(entries) - _MOST_SHOWN)}
        text = json.dumps(answer, separators=(",", ":"))
        return Response(text, media_type="application/json", headers={"Cache-Control": "no-store"})

    return router

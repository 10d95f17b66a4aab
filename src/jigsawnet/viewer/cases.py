"""The run as a case file, out of the workbench."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import Response, StreamingResponse

from jigsawnet.io.case_file import CASE_SUFFIX
from jigsawnet.runs.case import pack_run
from jigsawnet.viewer.exports import chunks_of
from jigsawnet.viewer.session import Session


def case_routes(session: Session) -> APIRouter:
    """``/export/case.jigsaw``, with ``inputs=true`` the pictures inside."""
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

    return router

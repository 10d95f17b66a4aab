"""Answers as JSON."""

from __future__ import annotations

import json
from typing import Any

from fastapi.responses import Response


def answer(data: Any, status: int = 200) -> Response:
    """Compact JSON that nobody keeps."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return Response(text, status_code=status, media_type="application/json", headers={"Cache-Control": "no-store"})

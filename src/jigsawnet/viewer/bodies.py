"""What the page sends, read with care: bounded before it comes here, and never trusted."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from fastapi import Request

from jigsawnet.edits import Edit
from jigsawnet.errors import FormatError
from jigsawnet.io.edits_json import parse_edit


async def read_body(request: Request) -> dict[str, Any]:
    """A JSON object.

    Raises:
        FormatError: it is anything else.
    """

    def refuse(constant: str) -> NoReturn:
        raise ValueError(f"{constant} is not a JSON number")

    try:
        data = json.loads((await request.body()).decode(), parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise FormatError("The request is not valid JSON.") from error
    if not isinstance(data, dict):
        raise FormatError("The request must be a JSON object.")
    return data


def revision_of(data: dict[str, Any]) -> int:
    """The revision that the sender has seen."""
    value = data.get("revision")
    if isinstance(value, bool) or not isinstance(value, int):
        raise FormatError('The field "revision" must be a whole number.')
    return value


def edit_of(data: dict[str, Any], n_pieces: int) -> Edit:
    """The edit in a request; pieces by number."""
    return parse_edit(data.get("edit"), lambda value, where: piece_number(value, n_pieces, where), "edit")


def piece_number(value: Any, n_pieces: int, where: str) -> int:
    """A piece by its number, as a number or, as a key of an object must be, as text."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 9:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < n_pieces:
        raise FormatError(f"{where} names a piece that does not exist.")
    return value

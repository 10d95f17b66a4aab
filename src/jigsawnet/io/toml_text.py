"""TOML text → tables, within bounds of size, depth and time."""

from __future__ import annotations

import tomllib
from typing import Any

from jigsawnet.errors import FormatError

MAX_CHARACTERS = 2**18
MAX_LINE = 2000
"""The parser's time grows with the square of how often a key is dotted, and a key lies in one line."""
MAX_DEPTH = 20


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """The tables of a TOML file that a person wrote; ``where`` names it in errors.

    Raises:
        FormatError: it is no TOML, or beyond the bounds.
    """
    if len(text) > MAX_CHARACTERS or any(len(line) > MAX_LINE for line in text.splitlines()):
        raise FormatError(f"{where} is too large, or has a line of more than {MAX_LINE} characters; make it shorter.")
    try:
        data = tomllib.loads(text)
    except RecursionError as error:
        raise FormatError(f"{where} is not valid TOML: nested too deeply.") from error
    except ValueError as error:
        raise FormatError(f"{where} is not valid TOML: {str(error).rstrip('.')}.") from error
    if _is_deep(data):
        raise FormatError(f"{where} is not valid TOML: nested too deeply.")
    return data


def _is_deep(data: Any) -> bool:
    level = [data]
    for _ in range(MAX_DEPTH):
        inner = (node.values() if isinstance(node, dict) else node for node in level)
        level = [part for parts in inner for part in parts if isinstance(part, dict | list)]
        if not level:
            return False
    return True

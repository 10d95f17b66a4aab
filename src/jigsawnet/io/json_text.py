"""JSON text → plain values, within bounds: what it would take in memory is reckoned before anything is parsed."""

from __future__ import annotations

import json
from typing import Any, NoReturn

MAX_PARSED_BYTES = 2 * 2**30
_PER_OBJECT, _PER_LIST, _PER_VALUE = 232, 88, 60
"""Bytes that Python takes for an object, a list, and each value in one, at most."""


def parse_json(text: str) -> Any:
    """Plain values; a key that occurs twice in an object, and numbers that JSON does not have, are refused.

    Raises:
        ValueError: it is no JSON, or beyond the bounds; the message says why.
    """
    taken = _PER_OBJECT * text.count("{") + _PER_LIST * text.count("[") + _PER_VALUE * text.count(",")
    if taken > MAX_PARSED_BYTES:
        raise ValueError("it holds too many values")
    try:
        return json.loads(text, parse_constant=_no_number, object_pairs_hook=_object)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _no_number(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a key that occurs twice: programs differ in which value they take."""
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {twice[:40]!r} occurs twice in one object")
    return made

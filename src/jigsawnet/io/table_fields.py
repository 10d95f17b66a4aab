"""Tables of a TOML or JSON file → dataclasses: unknown keys, missing keys and wrong kinds of values are named."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import NoneType
from typing import Any, TypeVar

from jigsawnet.errors import ConfigError, FormatError

T = TypeVar("T")

_KINDS: Mapping[Any, tuple[tuple[type, ...], str]] = {
    bool: ((bool,), "true or false"),
    int: ((int,), "a whole number"),
    float: ((int, float), "a number"),
    str: ((str,), "a text"),
}


def fill(cls: type[T], table: Mapping[str, Any], where: str) -> T:
    """Make a dataclass of a table whose values are plain: truth values, numbers, texts, lists of these, or tables again.

    Raises:
        FormatError: a key is unknown or missing, or a value is of the wrong kind or out of range; the sentence begins with
            ``where``.
    """
    hints = typing.get_type_hints(cls)
    check_keys(table, hints, where)
    fields = dataclasses.fields(cls)  # type: ignore[arg-type]
    required = (f.name for f in fields if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING)
    for name in required:
        if name not in table:
            raise FormatError(f'{where} lacks the key "{name}".')
    try:
        return cls(**{key: _value(value, hints[key], f"{where}: {key}") for key, value in table.items()})
    except ConfigError as error:
        raise FormatError(f"{where}: {error}") from error


def check_keys(table: Mapping[str, Any], allowed: Iterable[str], where: str) -> None:
    """Refuse keys that mean nothing here."""
    names = list(allowed)
    for key in table:
        if key not in names:
            raise FormatError(f'{where} has the unknown key "{key}"; it may have: {", ".join(names)}.')


def tables(data: Mapping[str, Any], key: str, where: str) -> list[Mapping[str, Any]]:
    """The list of tables ``[[key]]``, empty when there is none."""
    found = data.get(key, [])
    if not isinstance(found, list) or not all(isinstance(table, dict) for table in found):
        raise FormatError(f"{where}: {key} must be written as [[{key}]].")
    return found


def table(data: Mapping[str, Any], key: str, where: str) -> Mapping[str, Any]:
    """The table ``key``, empty when there is none."""
    found = data.get(key, {})
    if not isinstance(found, dict):
        raise FormatError(f"{where}: {key} must be a table.")
    return found


def _value(value: Any, hint: Any, where: str) -> Any:
    kinds = [part for part in typing.get_args(hint) if part is not NoneType]
    if NoneType in typing.get_args(hint):
        return None if value is None else _value(value, kinds[0], where)
    if typing.get_origin(hint) is tuple:
        if not isinstance(value, list):
            raise FormatError(f"{where} must be a list.")
        return tuple(_value(item, kinds[0], where) for item in value)
    if typing.get_origin(hint) is typing.Literal:
        if value not in kinds:
            raise FormatError(f"{where} must be one of {', '.join(kinds)}.")
        return value
    if hint is Path:
        return Path(_value(value, str, where))
    if dataclasses.is_dataclass(hint):
        if not isinstance(value, dict):
            raise FormatError(f"{where} must be a table.")
        return fill(typing.cast(type[Any], hint), value, where)
    types, wanted = _KINDS[hint]
    if not isinstance(value, types) or (isinstance(value, bool) and hint is not bool):
        raise FormatError(f"{where} must be {wanted}.")
    return value

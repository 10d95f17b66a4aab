"""JSON files, and tables of TOML files: read into typed structures with msgspec, and written for people to read.

The text is parsed by `json`, since msgspec refuses the lone surrogates that stand for file names that are no valid Unicode.
"""

from __future__ import annotations

import json
import math
import re
import typing
from collections.abc import Iterable, Mapping, Sequence, Set
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec
import numpy as np

from jigsawnet.errors import ConfigError, FormatError
from jigsawnet.geometry import SE2
from jigsawnet.io.files import MAX_TEXT_BYTES, read_text
from jigsawnet.io.json_text import parse_json

T = TypeVar("T")

MAX_NUMBER = 1e9
RIGID_TOLERANCE = 1e-3
DIGITS = 12

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=1000)]
Share = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
"""A score or a confidence."""

_KINDS = {
    "str": "a text", "int": "a whole number", "float": "a number", "bool": "true or false", "array": "a list",
    "object": "an object",
}  # fmt: skip
_LIMITS = {">=": "at least ", "<=": "at most ", None: ""}


class RigidMatrix:
    """Field of a structure: a rigid motion that the file holds as a 3x3 matrix."""

    __slots__ = ("pose",)

    def __init__(self, matrix: Any) -> None:
        self.pose = _rigid(matrix)


def load_object(path: Path, wanted_format: str, wanted_version: int, max_bytes: int = MAX_TEXT_BYTES) -> dict[str, Any]:
    """Read a JSON object and check its ``format`` and ``version``."""
    try:
        data = parse_json(read_text(path, max_bytes))
    except ValueError as error:
        raise FormatError(f"{path} is not valid JSON: {str(error).rstrip('.')}.") from error
    if not isinstance(data, dict) or data.get("format") != wanted_format:
        raise FormatError(f'{path} is of another kind: its field "format" must be "{wanted_format}".')
    version = data.get("version")
    if isinstance(version, bool) or version != wanted_version:
        raise FormatError(f'{path}: the field "version" must be {wanted_version}; files of other versions cannot be read.')
    return data


def convert(kind: type[T], data: Any, where: str) -> T:
    """Plain values as a structure (dataclass or msgspec.Struct); keys that it does not have are passed over.

    Raises:
        FormatError: a key is missing, or a value is of the wrong kind or out of range; the sentence begins with ``where`` and
            says where in ``data``, as in ``pieces[3].name``.
    """
    try:
        return msgspec.convert(data, kind, dec_hook=_decode)
    except msgspec.ValidationError as error:
        raise FormatError(_sentence(str(error), kind, where)) from error
    except UnicodeEncodeError as error:  # a lone surrogate where no text belongs
        raise FormatError(f"{where} has a key or a value that is no valid Unicode text.") from error
    except ConfigError as error:
        raise FormatError(f"{where}: {error}") from error
    except RecursionError as error:
        raise FormatError(f"{where} is nested too deeply.") from error


def fill(kind: type[T], data: Mapping[str, Any], where: str) -> T:
    """As `convert`, for tables that people write: unknown keys are refused too."""
    filled = convert(kind, data, where)
    _refuse_unknown(data, msgspec.to_builtins(filled, enc_hook=str), where)
    return filled


def check_keys(data: Mapping[str, Any], allowed: Iterable[str], where: str) -> None:
    """Refuse keys that mean nothing here."""
    names = list(allowed)
    for key in data:
        if key not in names:
            raise FormatError(f'{where} has the unknown key "{key}"; it may have: {", ".join(names)}.')


def tables(data: Mapping[str, Any], key: str, where: str) -> list[Mapping[str, Any]]:
    """The list of tables ``[[key]]`` of a TOML file, empty when there is none."""
    found = data.get(key, [])
    if not isinstance(found, list) or not all(isinstance(table, dict) for table in found):
        raise FormatError(f"{where}: {key} must be written as [[{key}]].")
    return found


def table(data: Mapping[str, Any], key: str, where: str) -> Mapping[str, Any]:
    """The table ``key`` of a TOML file, empty when there is none."""
    found = data.get(key, {})
    if not isinstance(found, dict):
        raise FormatError(f"{where}: {key} must be a table.")
    return found


def parse_rigid(matrix: Any, where: str) -> SE2:
    """Check that ``matrix`` is a 3x3 list of plain numbers and a rigid motion; ``where`` opens the sentence of the error."""
    try:
        return _rigid(matrix)
    except ValueError as error:
        raise FormatError(f"{where} {error}.") from error


def matrix_rows(pose: SE2) -> list[list[float]]:
    """A pose as nested lists, rounded so that no noise digits and no ``-0.0`` are written."""
    matrix = pose.matrix()
    if not np.isfinite(matrix).all():
        raise ValueError("a pose that is not finite cannot be written")
    rounded: list[list[float]] = (np.round(matrix, DIGITS) + 0.0).tolist()
    return rounded


def one_per_line(entries: Sequence[Mapping[str, Any]]) -> str:
    """A JSON list that a person can read: one entry per line."""
    lines = ",\n  ".join(json.dumps(entry, ensure_ascii=False, allow_nan=False) for entry in entries)
    return f"[\n  {lines}\n ]" if entries else "[]"


def to_json(value: Any) -> str:
    """JSON that a person can read; numbers that are not finite become null."""
    return json.dumps(plain(value), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


_PLAIN = frozenset((str, int, bool))


def plain(value: Any) -> Any:
    """Turn options and counts into what JSON has: objects, lists, numbers, text and null."""
    if value is None or type(value) in _PLAIN:  # nearly all, so they are asked first
        return value
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Set):
        value = sorted(value, key=str)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def _decode(kind: type[Any], value: Any) -> Any:
    """Values of the types that msgspec does not know."""
    if kind is Path and not isinstance(value, str):
        raise ValueError(f"must be {_KINDS['str']}")
    return kind(value)


def _rigid(matrix: Any) -> SE2:
    if not _is_triple(matrix) or not all(_is_triple(row) for row in matrix):
        raise ValueError("must be a 3x3 matrix")
    if not all(_is_number(value, -MAX_NUMBER, MAX_NUMBER) for row in matrix for value in row):
        raise ValueError(f"must hold numbers from {-MAX_NUMBER:g} to {MAX_NUMBER:g}")
    (a, b, _), (c, d, _), (u, v, w) = matrix
    skew = max(map(abs, (a * a + c * c - 1.0, b * b + d * d - 1.0, a * b + c * d, u, v, w - 1.0)))
    if skew > RIGID_TOLERANCE or a * d - b * c < 0:
        raise ValueError("is not a rotation and a shift; scaled, mirrored or skewed poses are not possible")
    return SE2.from_matrix(matrix)


def _is_triple(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 3


def _is_number(value: Any, low: float, high: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high


def _refuse_unknown(given: Any, known: Any, where: str) -> None:
    """Compare what was given with what was made of it: a key that is lacking there is unknown."""
    if isinstance(given, Mapping):
        check_keys(given, known, where)
        for key, value in given.items():
            _refuse_unknown(value, known[key], f"{where}: {key}")
    elif isinstance(given, list):
        for value, made in zip(given, known, strict=True):
            _refuse_unknown(value, made, where)


def _sentence(message: str, kind: Any, where: str) -> str:
    """A message of msgspec, such as "Expected `str`, got `int` - at `$.a[0]`", in our words."""
    problem, _, place = message.partition(" - at `$")
    place = place.rstrip("`").lstrip(".")
    subject = f"{where}: {place}" if place else where
    if missing := re.fullmatch("Object missing required field `(.*)`", problem):
        return f'{subject} lacks the key "{missing[1]}".'
    if problem.startswith("Invalid enum value"):
        return f"{subject} must be one of {', '.join(_choices(kind, place))}."
    if problem == "Number out of range":
        return f"{subject} holds a number that is too large."
    expected = re.match(r"Expected `(.*?)`(?: of length)?(?: (>=|<=)? ?([-+.\de]+))?", problem)
    if expected is None:
        return f"{subject} {problem}."
    kinds = [_KINDS.get(word, word) for word in expected[1].split(" | ") if word != "int" or "float" not in expected[1]]
    limit = "" if expected[3] is None else f" of {_LIMITS[expected[2]]}{float(expected[3]):g}"
    unit = " characters" if limit and expected[1] == "str" else ""
    return f"{subject} must be {' or '.join(kinds)}{limit}{unit}."


def _choices(kind: Any, place: str) -> list[str]:
    """The words of the ``Literal`` that stands at a place of a structure."""
    for name in re.findall(r"[A-Za-z_]\w*", place):
        owner = next(part for part in (kind, *typing.get_args(kind)) if hasattr(part, "__annotations__"))
        kind = typing.get_type_hints(owner)[name]
    return _words(kind)


def _words(hint: Any) -> list[str]:
    parts = typing.get_args(hint)
    return [str(part) for part in parts] if typing.get_origin(hint) is Literal else [w for part in parts for w in _words(part)]

"""What our JSON files have in common: named joins, rigid matrices, and checks that name the file and the field."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from jigsawnet.errors import FormatError
from jigsawnet.geometry import SE2
from jigsawnet.io.files import MAX_TEXT_BYTES, read_text
from jigsawnet.types import Alignment

MAX_NAME_CHARS = 1000
MAX_NUMBER = 1e9
RIGID_TOLERANCE = 1e-3
DIGITS = 12


def load_object(path: Path, wanted_format: str, wanted_version: int, max_bytes: int = MAX_TEXT_BYTES) -> dict[str, Any]:
    """Read a JSON object and check its ``format`` and ``version``."""

    def refuse(constant: str) -> NoReturn:
        raise ValueError(f"{constant} is not a JSON number")

    try:
        data = json.loads(read_text(path, max_bytes), parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        detail = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise FormatError(f"{path} is not valid JSON: {detail}.") from error
    if not isinstance(data, dict) or data.get("format") != wanted_format:
        raise FormatError(f'{path} is of another kind: its field "format" must be "{wanted_format}".')
    version = data.get("version")
    if isinstance(version, bool) or version != wanted_version:
        raise FormatError(f'{path}: the field "version" must be {wanted_version}; files of other versions cannot be read.')
    return data


def one_per_line(entries: Sequence[Mapping[str, Any]]) -> str:
    """A JSON list that a person can read: one entry per line."""
    lines = ",\n  ".join(json.dumps(entry, ensure_ascii=False, allow_nan=False) for entry in entries)
    return f"[\n  {lines}\n ]" if entries else "[]"


def named_join(entry: Any, index: Mapping[str, int], value_key: str, where: str) -> Alignment:
    """A join between two named pieces; ``fit`` is the entry's ``value_key``, and i < j whatever the order in the file."""
    first, second = name_field(entry, "i", where), name_field(entry, "j", where)
    for name in (first, second):
        if name not in index:
            raise FormatError(f"{where} names {name!r}, which is not among the fragments.")
    if first == second:
        raise FormatError(f"{where} joins the piece {first!r} to itself.")
    i, j, i_from_j = index[first], index[second], pose_field(entry, "i_from_j", where)
    if i > j:
        i, j, i_from_j = j, i, i_from_j.inverse()
    fit = number(field(entry, value_key, where), f"{where}.{value_key}", 0.0, 1.0)
    return Alignment(i, j, i_from_j, fit)


def parse_rigid(matrix: Any, where: str) -> SE2:
    """Check that ``matrix`` is a 3x3 list of plain numbers and a rigid motion; ``where`` opens the sentence of the error."""
    if not _is_list(matrix, 3) or not all(_is_list(row, 3) for row in matrix):
        raise FormatError(f"{where} must be a 3x3 matrix.")
    m = np.array([[number(value, where, -MAX_NUMBER, MAX_NUMBER) for value in row] for row in matrix])
    rotation = m[:2, :2]
    skew = max(np.abs(rotation.T @ rotation - np.eye(2)).max(), np.abs(m[2] - (0.0, 0.0, 1.0)).max())
    if skew > RIGID_TOLERANCE or np.linalg.det(rotation) < 0:
        raise FormatError(f"{where} is not a rotation and a shift; scaled, mirrored or skewed poses are not possible.")
    return SE2.from_matrix(m)


def matrix_rows(pose: SE2) -> list[list[float]]:
    """A pose as nested lists, rounded so that no noise digits and no ``-0.0`` are written."""
    matrix = pose.matrix()
    if not np.isfinite(matrix).all():
        raise ValueError("a pose that is not finite cannot be written")
    rounded: list[list[float]] = (np.round(matrix, DIGITS) + 0.0).tolist()
    return rounded


def field(entry: Any, key: str, where: str) -> Any:
    """A field that must be there."""
    if not isinstance(entry, dict) or key not in entry:
        raise FormatError(f'{where} must be an object with the field "{key}".')
    return entry[key]


def object_list(data: Any, key: str, where: str) -> list[Any]:
    """A field that must be a list."""
    value = field(data, key, where)
    if not isinstance(value, list):
        raise FormatError(f'{where}: the field "{key}" must be a list.')
    return value


def name_field(entry: Any, key: str, where: str) -> str:
    """A field that must be a name."""
    value = field(entry, key, where)
    if not isinstance(value, str) or not 0 < len(value) <= MAX_NAME_CHARS:
        raise FormatError(f"{where}.{key} must be a name of 1 to {MAX_NAME_CHARS} characters.")
    return value


def number(value: Any, where: str, low: float, high: float) -> float:
    """A finite number within limits, and not a truth value."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise FormatError(f"{where} must hold numbers from {low:g} to {high:g}.")
    return float(value)


def pose_field(entry: Any, key: str, where: str) -> SE2:
    """A field that must be a rigid 3x3 matrix."""
    return parse_rigid(field(entry, key, where), f"{where}.{key}")


def _is_list(value: Any, length: int) -> bool:
    return isinstance(value, list) and len(value) == length

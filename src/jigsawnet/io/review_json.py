"""``review.json``: what a person corrected about the pieces found on scans, one correction a line."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec

from jigsawnet.edits.cutting import KINDS, MAX_RADIUS_PX, MOST_POINTS, Correction
from jigsawnet.errors import FormatError
from jigsawnet.io.files import write_text
from jigsawnet.io.json_files import MAX_NUMBER, convert, load_object

REVIEW_FILE = "review.json"
FORMAT, VERSION = "jigsawnet/review", 1
_MAX_BYTES = 64 * 2**20

_Number = Annotated[float, msgspec.Meta(ge=-MAX_NUMBER, le=MAX_NUMBER)]
_Point = tuple[_Number, _Number]
_Points = Annotated[tuple[_Point, ...], msgspec.Meta(min_length=1, max_length=MOST_POINTS)]
_Radius = Annotated[float, msgspec.Meta(gt=0, le=MAX_RADIUS_PX)]
_SCAN = Annotated[str, msgspec.Meta(min_length=1, max_length=1000)]


def save_review(path: Path, corrections: Sequence[Correction]) -> None:
    """Write the list.

    Raises:
        OutputError: the file cannot be written.
    """
    rows = [json.dumps({"kind": one.kind} | dataclasses.asdict(one)) for one in corrections]  # type: ignore[call-overload]
    body = "[" + ",".join(f"\n  {row}" for row in rows) + ("\n ]" if rows else "]")
    write_text(path, f'{{\n "format": "{FORMAT}",\n "version": {VERSION},\n "corrections": {body}\n}}\n')


def load_review(path: Path) -> tuple[Correction, ...]:
    """Read the list.

    Raises:
        InputError: the file cannot be read.
        FormatError: it breaks its format.
    """
    listed = load_object(path, FORMAT, VERSION, _MAX_BYTES).get("corrections")
    if not isinstance(listed, list):
        raise FormatError(f'{path}: the field "corrections" must be a list.')
    return tuple(parse_correction(entry, f"{path}: corrections[{k}]") for k, entry in enumerate(listed))


def parse_correction(entry: Any, where: str) -> Correction:
    """One correction from JSON.

    Raises:
        FormatError: it is none.
    """
    given = convert(dict[str, Any], entry, where)
    name = given.get("kind")
    kind = KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise FormatError(f"{where}.kind is not the name of a kind of correction.")
    values = {}
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]
        if field.name in given:
            values[field.name] = _read_field(field.name, field.type, given[field.name], f"{where}.{field.name}")
        elif field.default is dataclasses.MISSING:
            raise FormatError(f'{where} must be an object with the field "{field.name}".')
    return kind(**values)


def _read_field(name: str, declared: Any, value: Any, where: str) -> Any:
    match name:
        case "scan":
            return convert(_SCAN, value, where)
        case "radius":
            return float(convert(_Radius, value, where))
        case "at" if "None" in str(declared):
            return None if value is None else convert(_Point, value, where)  # type: ignore[arg-type]
        case _:
            points = convert(_Points, value, where)
            if not all(math.isfinite(number) for point in points for number in point):
                raise FormatError(f"{where} has numbers that are not finite.")
            return points

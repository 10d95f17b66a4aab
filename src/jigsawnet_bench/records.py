"""What one method made of one puzzle, as one small JSON file, written at once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from jigsawnet.errors import FormatError, InputError
from jigsawnet.io.files import read_text, write_text
from jigsawnet.io.json_text import parse_json
from jigsawnet_bench.cases import Case

FORMAT = "jigsawnet/suite-run"
VERSION = 2


@dataclass(frozen=True, slots=True)
class Record:
    """A run: what was measured, or the error that ended it."""

    seconds: float = 0.0
    """The whole solve, from reading the pieces to the last file written; saved stages count with what they took."""
    stage_seconds: float = 0.0
    """Sum of the stages."""
    stages: Mapping[str, float] = field(default_factory=dict)
    """Seconds of each stage."""
    peak_mb: float | None = None
    """Largest memory, None where it is not known."""
    memory: Mapping[str, float | None] = field(default_factory=dict)
    """Largest memory by the end of each stage, of the process that did it."""
    measured: Mapping[str, Any] = field(default_factory=dict)
    """Of a solve see `measure`; of another task its ``rows``, see `tasks`."""
    error: str | None = None
    """One sentence, when there is no result."""


@dataclass(frozen=True, slots=True)
class Run:
    """One puzzle, one method, and what came of it."""

    case: Case
    method: str
    key: str
    record: Record


def record_path(folder: Path, key: str) -> Path:
    """Where a run is recorded."""
    return folder / f"{key}.json"


def thumbnail_path(folder: Path, key: str) -> Path:
    """Where the picture of a run lies."""
    return folder / f"{key}.png"


def write_record(folder: Path, key: str, record: Record) -> None:
    """Write a run whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    data = {"format": FORMAT, "version": VERSION, **asdict(record)}
    write_text(record_path(folder, key), json.dumps(data, allow_nan=False) + "\n")


def forget_record(folder: Path, key: str) -> None:
    """Remove what a run left before."""
    record_path(folder, key).unlink(missing_ok=True)


def read_record(folder: Path, key: str) -> Record | None:
    """Read a run; None when there is none that can be used, so that it is done again."""
    try:
        data = parse_json(read_text(record_path(folder, key)))
        return Record(**{name: data[name] for name in Record.__dataclass_fields__}) if data["version"] == VERSION else None
    except (FormatError, InputError, KeyError, TypeError, ValueError):
        return None

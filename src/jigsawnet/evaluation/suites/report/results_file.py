"""``SUITE.json``: what a suite measured, where and by which program; written whole, read with care."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jigsawnet.errors import FormatError, InputError, OutputError
from jigsawnet.evaluation.results import describe_machine
from jigsawnet.io.files import read_text, write_text
from jigsawnet.version import __version__

FORMAT = "jigsawnet/suite"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Results:
    """What a suite measured. ``summary`` and ``rows`` are those of `summary`."""

    name: str
    title: str
    command: str
    """How to measure it again."""
    workers: int
    """Puzzles solved at a time."""
    summary: Sequence[Mapping[str, Any]]
    rows: Sequence[Mapping[str, Any]]
    jigsawnet: str = __version__
    machine: Mapping[str, Any] = field(default_factory=describe_machine)

    @property
    def where(self) -> str:
        """The machine, in a line."""
        machine = self.machine
        busy = f", {self.workers} puzzles at a time" if self.workers > 1 else ""
        return f"{machine.get('processor')}, {machine.get('cores')} cores, {machine.get('memory_gb')} GB{busy}"


def write_suite_results(folder: Path, results: Results) -> Path:
    """Write ``NAME.json``; gives its path."""
    data = {
        "format": FORMAT,
        "version": VERSION,
        "name": results.name,
        "title": results.title,
        "command": results.command,
        "workers": results.workers,
        "jigsawnet": results.jigsawnet,
        "machine": dict(results.machine),
        "summary": list(results.summary),
        "rows": list(results.rows),
    }
    path = folder / f"{results.name}.json"
    folder.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps(data, indent=1, allow_nan=False) + "\n")
    return path


def read_suite_results(path: Path) -> Results:
    """Read ``NAME.json``.

    Raises:
        FormatError: it is no results file of a suite, or one of another version.
    """
    data = _load(path)
    if data.get("format") != FORMAT:
        raise FormatError(f"{path} does not hold results of a suite.")
    if data.get("version") != VERSION:
        raise FormatError(
            f"{path} is of version {data.get('version')}, and this program reads version {VERSION}; "
            f"run `{data.get('command', 'jigsawnet bench')}` again."
        )
    try:
        return Results(**{name: data[name] for name in Results.__dataclass_fields__})
    except KeyError as error:
        raise FormatError(f"{path} lacks the field {error}; run its bench again.") from error


def check_free(folder: Path, name: str) -> None:
    """Refuse to write over results of another kind, such as those of a single stage."""
    path = folder / f"{name}.json"
    if path.exists() and _load(path).get("format") != FORMAT:
        raise OutputError(f"{path} holds results of another kind; give the suite file another name, or another folder.")


def all_results(folder: Path) -> list[Results]:
    """Results of all suites in a folder, by name; results of other kinds are passed over.

    Raises:
        InputError: there are none.
    """
    paths = sorted(folder.glob("*.json"))
    found = [read_suite_results(path) for path in paths if _load(path).get("format") == FORMAT]
    if not found:
        raise InputError(f"The folder {folder} holds no results of suites; run `jigsawnet bench quick` first.")
    return sorted(found, key=_order)


def _load(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path} is not valid JSON; run its bench again.") from error
    return data if isinstance(data, dict) else {}


def _order(results: Results) -> tuple[float, str]:
    """Smaller puzzles first, curves after sizes."""
    pieces = [row["pieces"] or 0.0 for row in results.summary]
    is_curve = all(row["curve"] for row in results.summary)
    return (float("inf") if is_curve else min(pieces, default=0.0)), results.name

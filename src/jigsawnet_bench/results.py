"""``NAME.json``: what a suite or an experiment measured, by which command and commit, on which machine; read with care."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from jigsawnet.errors import FormatError, InputError, OutputError
from jigsawnet.io.files import read_text, write_text
from jigsawnet.io.json_text import parse_json
from jigsawnet.version import __version__
from jigsawnet_bench.machine import commit_of, describe_machine

SUITE, EXPERIMENT = "jigsawnet/suite", "jigsawnet/bench"
"""Formats: solved puzzles, whose summary is that of `summary`; rows of any kind, with means or a choice of them."""
VERSION = 1

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Results:
    """What was measured: a row for each puzzle and method, and the means."""

    name: str
    title: str
    command: str
    """How to measure it again."""
    workers: int
    """Puzzles solved at a time."""
    summary: Sequence[Row]
    rows: Sequence[Row]
    jigsawnet: str = __version__
    commit: str = field(default_factory=commit_of)
    """Commit of the clone, with ``+`` when files were changed; empty where there is none or it was not written down."""
    machine: Mapping[str, Any] = field(default_factory=describe_machine)
    format: str = SUITE

    @property
    def where(self) -> str:
        """The machine, in a line."""
        machine = self.machine
        busy = f", {self.workers} puzzles at a time" if self.workers > 1 else ""
        return f"{machine.get('processor')}, {machine.get('cores')} cores, {machine.get('memory_gb')} GB{busy}"


def write_results(folder: Path, results: Results) -> Path:
    """Write ``NAME.json``; gives its path."""
    path = folder / f"{results.name}.json"
    folder.mkdir(parents=True, exist_ok=True)
    data = {"format": results.format, "version": VERSION} | asdict(results)
    write_text(path, json.dumps(data, indent=1, allow_nan=False) + "\n")
    return path


def read_results(path: Path) -> Results:
    """Read ``NAME.json``.

    Raises:
        FormatError: it is no results file, or one of another version.
    """
    data = _load(path)
    if data.get("format") not in (SUITE, EXPERIMENT):
        raise FormatError(f"{path} does not hold results of a benchmark.")
    if data.get("version") != VERSION:
        raise FormatError(
            f"{path} is of version {data.get('version')}, and this program reads version {VERSION}; "
            f"run `{data.get('command', 'jigsawnet bench')}` again."
        )
    older: dict[str, Any] = {"commit": ""} if data["format"] == SUITE else {"commit": "", "title": "", "workers": 1}
    try:
        return Results(**{each.name: (older | data)[each.name] for each in fields(Results)})
    except KeyError as error:
        raise FormatError(f"{path} lacks the field {error}; run its bench again.") from error


def check_free(folder: Path, name: str, wanted: str = SUITE) -> None:
    """Refuse to write over results of another kind, such as those of a single stage."""
    path = folder / f"{name}.json"
    if path.exists() and _load(path).get("format") != wanted:
        raise OutputError(f"{path} holds results of another kind; give the suite file another name, or another folder.")


def all_results(folder: Path, wanted: str = SUITE) -> list[Results]:
    """All results of one format in a folder; those of suites with small puzzles first. Other files are passed over.

    Raises:
        InputError: there are no results of suites, and such are wanted.
    """
    found = [read_results(path) for path in sorted(folder.glob("*.json")) if _load(path).get("format") == wanted]
    if wanted == EXPERIMENT:
        return found
    if not found:
        raise InputError(f"The folder {folder} holds no results of suites; run `jigsawnet bench quick` first.")
    return sorted(found, key=_order)


def _load(path: Path) -> dict[str, Any]:
    try:
        data = parse_json(read_text(path))
    except ValueError as error:
        raise FormatError(f"{path} is not valid JSON; run its bench again.") from error
    return data if isinstance(data, dict) else {}


def _order(results: Results) -> tuple[float, str]:
    """Smaller puzzles first, curves after sizes."""
    pieces = [row["pieces"] or 0.0 for row in results.summary]
    is_curve = all(row["curve"] for row in results.summary)
    return (float("inf") if is_curve else min(pieces, default=0.0)), results.name

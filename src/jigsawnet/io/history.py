"""``history.jsonl``: who did what when, one line for each, added to and never changed; it survives a kill at any moment.

A line that was cut off by a kill is passed over when it is read, and the next one begins anew. When the file has grown beyond
its bound, lines from its middle are left out, and one says how many.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jigsawnet.errors import OutputError
from jigsawnet.io.files import reason_of, write_bytes
from jigsawnet.io.json_text import parse_json

HISTORY_FILE = "history.jsonl"
MAX_BYTES = 8 * 2**20
"""About fifty thousand lines."""
_LONGEST_LINE = 8 * 2**10
_LEFT_OUT = "left_out"
_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)


def add_to_history(folder: Path, what: str, details: Mapping[str, Any], who: str = "") -> None:
    """Add a line and make it last; ``details`` are plain values.

    Raises:
        OutputError: it cannot be written.
    """
    entry = {"when": datetime.now(UTC).isoformat(timespec="seconds"), **({"who": who} if who else {}), "what": what, **details}
    line = json.dumps(entry, ensure_ascii=False, allow_nan=False).encode("utf-8", "backslashreplace")
    if len(line) > _LONGEST_LINE:
        line = json.dumps({key: entry[key] for key in ("when", "who", "what") if key in entry}).encode()
    path = folder / HISTORY_FILE
    try:
        descriptor = os.open(path, _FLAGS, 0o666)
        try:
            size = os.fstat(descriptor).st_size
            torn = size > 0 and os.lseek(descriptor, -1, os.SEEK_END) >= 0 and os.read(descriptor, 1) != b"\n"
            os.write(descriptor, (b"\n" if torn else b"") + line + b"\n")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except (OSError, ValueError) as error:
        raise OutputError(f"{path} cannot be written: {reason_of(error)}.") from error
    if size > MAX_BYTES:
        _shorten(path)


def _shorten(path: Path) -> None:
    """Keep the first and the last quarter of the bound."""
    lines = path.read_bytes().splitlines(keepends=True)
    first, last, sizes = 0, len(lines), [len(line) for line in lines]
    quarter = MAX_BYTES // 4
    while first < last and sum(sizes[: first + 1]) <= quarter:
        first += 1
    room = quarter
    while last > first and sizes[last - 1] <= room:
        last -= 1
        room -= sizes[last]
    gone = lines[first:last]
    count = len(gone) + sum(entry.get("entries", 1) - 1 for entry in map(_entry, gone) if entry and entry["what"] == _LEFT_OUT)
    told = json.dumps({"when": datetime.now(UTC).isoformat(timespec="seconds"), "what": _LEFT_OUT, "entries": count})
    write_bytes(path, b"".join([*lines[:first], told.encode() + b"\n", *lines[last:]]))


def read_history(folder: Path) -> list[dict[str, Any]]:
    """All lines that can be read, the oldest first; none of a folder without any."""
    path = folder / HISTORY_FILE
    data = b""
    with suppress(OSError, ValueError):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as stream:
                data = stream.read(2 * MAX_BYTES)
    return [entry for entry in map(_entry, data.splitlines()) if entry]


def _entry(line: bytes) -> dict[str, Any] | None:
    """A line as an object with texts where texts belong; None for what is none."""
    if len(line) > 2 * _LONGEST_LINE:
        return None
    try:
        found = parse_json(line.decode("utf-8"))
    except ValueError:
        return None
    if not isinstance(found, dict) or not all(isinstance(found.get(key, ""), str) for key in ("when", "who", "what")):
        return None
    return found if "when" in found and "what" in found and isinstance(found.get("entries", 1), int) else None

"""Benchmark results on disk: JSON that says what was run on which machine, and the same as a Markdown table."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numba
import numpy as np

from jigsawnet.io.files import write_text
from jigsawnet.version import __version__

FORMAT = "jigsawnet/bench"
VERSION = 1

Row = Mapping[str, Any]


def describe_machine() -> dict[str, Any]:
    """What a figure depends on: processor, cores, memory, system and the versions of the numeric libraries."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gb": _memory_gb(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }


def write_results(folder: Path, name: str, command: str, rows: Sequence[Row], summary: Sequence[Row]) -> None:
    """Write ``NAME.json`` (every puzzle, and the means) and ``NAME.md`` (the means as a table)."""
    machine = describe_machine()
    data = {
        "format": FORMAT,
        "version": VERSION,
        "name": name,
        "command": command,
        "jigsawnet": __version__,
        "machine": machine,
        "summary": list(summary),
        "rows": list(rows),
    }
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / f"{name}.json", json.dumps(data, indent=1) + "\n")
    where = f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gb']} GB"
    write_text(folder / f"{name}.md", f"# {name}\n\n`{command}`\n\n{where}\n\n{markdown_table(summary)}\n")


def markdown_table(rows: Sequence[Row]) -> str:
    """Rows with the same keys as a Markdown table."""
    if not rows:
        return ""
    keys = list(rows[0])
    lines = [keys, ["---"] * len(keys), *([_cell(row[key]) for key in keys] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def mean_rows(rows: Sequence[Row], by: Sequence[str], mean: Sequence[str], most: Sequence[str] = ()) -> list[Row]:
    """Group rows by some keys, in order of appearance; means of some columns, maxima of others, and how many there were."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in by), []).append(row)
    return [
        {
            **dict(zip(by, key, strict=True)),
            "puzzles": len(group),
            **{name: round(float(np.mean([row[name] for row in group])), 4) for name in mean},
            **{f"max {name}": round(float(max(row[name] for row in group)), 4) for name in most},
        }
        for key, group in groups.items()
    ]


def peak_mb() -> float:
    """Largest resident memory of this process so far."""
    if sys.platform == "win32":
        return float("nan")
    import resource  # noqa: PLC0415 - not on Windows

    unit = 1 if sys.platform == "darwin" else 1024
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20, 1)


def _cell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        names = [line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
        if names:
            return names[0]
    return platform.processor() or "unknown"


def _memory_gb() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (AttributeError, OSError, ValueError):
        return None

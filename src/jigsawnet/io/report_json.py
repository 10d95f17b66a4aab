"""``report.json``: what a run did, how long each stage took and with which options."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any

import numpy as np

from jigsawnet.io.files import write_text
from jigsawnet.types import RunReport

FORMAT = "jigsawnet/report"
VERSION = 1


def write_report(path: Path, report: RunReport) -> None:
    """Write ``report.json``; numbers that are not finite become null."""
    data = {
        "format": FORMAT,
        "version": VERSION,
        "jigsawnet": report.version,
        "puzzle": report.puzzle,
        "seed": report.seed,
        "total_seconds": round(sum(stage.seconds for stage in report.stages), 6),
        "stages": [{"name": s.name, "seconds": round(s.seconds, 6), "counts": s.counts} for s in report.stages],
        "warnings": report.warnings,
        "config": report.config,
    }
    write_text(path, json.dumps(_plain(data), indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def _plain(value: Any) -> Any:
    """Turn options and counts into what JSON has: objects, lists, numbers, text and null."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Set):
        value = sorted(value, key=str)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)

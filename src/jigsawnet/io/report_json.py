"""``report.json``: what a run did, how long each stage took and with which options."""

from __future__ import annotations

from pathlib import Path

from jigsawnet.io.files import write_text
from jigsawnet.io.plain_json import to_json
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
    write_text(path, to_json(data))

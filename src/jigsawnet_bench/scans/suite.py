"""``jigsawnet bench scans``: of pages made with their truth, how many pieces are found, how exactly, and at what cost."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jigsawnet.errors import InputError
from jigsawnet.fragments.scan import find_pieces
from jigsawnet.io.images import read_image
from jigsawnet.io.pieces import list_pictures
from jigsawnet.types import Progress, UInt8Array, no_progress
from jigsawnet_bench.results import EXPERIMENT, Results, Row, write_results
from jigsawnet_bench.scans.made import KINDS, draw_page
from jigsawnet_bench.scans.score import score_scan
from jigsawnet_bench.tables import Table, table_of

NAME, TITLE = "scans", "Pieces found on made scans and photographs"
PAGES = 9
"""Pages of each kind; each holds 12 to 30 pieces."""
SEED = 17


def bench_scans(
    photos: Path, out: Path, pages: int | None, kinds: Sequence[str], command: str, progress: Progress = no_progress
) -> Table:
    """Make ``pages`` pages of each kind from the pictures of a folder, find their pieces, and write ``scans.json``."""
    paths = list_pictures(photos)
    if not paths:
        raise InputError(f"The folder {photos} holds no pictures; give a folder of photographs.")
    chosen, n_pages = [kind for kind in KINDS if not kinds or kind in kinds], pages or PAGES
    if not chosen:
        raise InputError(f"No such kind of page: give some of {', '.join(KINDS)}.")
    rows: list[dict[str, Any]] = []
    for kind in chosen:
        for number in range(n_pages):
            path = paths[(n_pages * KINDS.index(kind) + number) % len(paths)]
            rows.append(measure(read_image(path)[..., :3], kind, number))
            progress("scans", len(rows), len(chosen) * n_pages)
    summary = summarise(rows)
    write_results(out, Results(NAME, TITLE, command, 1, summary, rows, format=EXPERIMENT))
    return table_of(TITLE, summary)


def measure(photo: UInt8Array, kind: str, number: int) -> dict[str, Any]:
    """One page: what lies on it, what was found, and the CPU seconds it took."""
    page, laid = draw_page(photo, kind, np.random.default_rng([SEED, KINDS.index(kind), number]))
    start = time.process_time()
    result = find_pieces(page)
    seconds = time.process_time() - start
    score = score_scan(result, laid)
    return {
        "kind": kind,
        "page": number,
        "pieces": score.true,
        "found": score.found,
        "phantoms": score.extra,
        "merged": score.merged,
        "split": score.split,
        "border px": [round(float(error), 3) for error in score.border_px],
        "CPU s": round(seconds, 2),
    }


def summarise(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Sums and means of each kind, and of all."""
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    parts = [(kind, [row for row in rows if row["kind"] == kind]) for kind in kinds]
    return [_sum_up(name, own) for name, own in [*parts, ("all", list(rows))]]


def _sum_up(name: str, rows: Sequence[Row]) -> dict[str, Any]:
    pieces = sum(row["pieces"] for row in rows)
    errors = np.array([error for row in rows for error in row["border px"]])
    counts = {key: sum(row[key] for row in rows) for key in ("found", "phantoms", "merged", "split")}
    return {
        "kind": name,
        "pieces": pieces,
        "found %": round(100.0 * counts["found"] / max(1, pieces), 1),
        "phantoms %": round(100.0 * counts["phantoms"] / max(1, pieces), 1),
        "merged": counts["merged"],
        "split": counts["split"],
        "border px": round(float(errors.mean()), 2) if errors.size else None,
        "worst twentieth px": round(float(np.percentile(errors, 95)), 2) if errors.size else None,
        "CPU s per page": round(sum(row["CPU s"] for row in rows) / max(1, len(rows)), 2),
    }

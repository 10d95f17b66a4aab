"""Real material put together, and what can be said of it: by its truth, by the order of strips, or by the result alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from jigsawnet.evaluation.metrics import right_pieces
from jigsawnet.evaluation.strips import evaluate_strips, right_strip_candidates
from jigsawnet.io.images import write_png
from jigsawnet.io.truth import read_truth
from jigsawnet.pipeline import Corridor
from jigsawnet.types import Assembly, Puzzle
from jigsawnet_bench.layouts import Truth, read_order, scans_of, truth_of
from jigsawnet_bench.measure import measure
from jigsawnet_bench.pictures import draw_alone, draw_result
from jigsawnet_bench.records import Record, Run
from jigsawnet_bench.results import Row
from jigsawnet_bench.work import Job, solve_files

SURE = 0.9
"""Pieces with at least this confidence are counted."""
UPRIGHT = ("sherds",)
"""Kinds whose pieces are stored upright, so that true joins hardly turn."""
UPRIGHT_DEG = 5.0
REAL_LEGEND = "pieces · result · truth, where it is known; outlined: in a wrong place (orange) or left out (blue)"
_OF_MEASURE = (
    "pcr", "pcr_tight", "acr_precision", "acr_recall", "lcr", "neighbors", "candidate_recall", "missed_pairs", "doubted_pairs",
    "believed_wrong",
)  # fmt: skip


def real_case(job: Job, thumbnail: Path) -> Record:
    """Put one puzzle together as `jigsawnet solve` does and measure what its truth allows; a row of plain values."""
    folder = job.case.sources[0]
    known = truth_of(folder)
    walk, record = solve_files(job, *scans_of(folder))
    assembly: Assembly = walk.get("assembly")
    sure = [idx for idx, value in assembly.confidence.items() if value >= SURE]
    row: dict[str, Any] = {
        "truth": known, "pieces": len(walk.puzzle), "placed": len(assembly.poses), "components": len(assembly.components),
        "joins": len(assembly.joins), "sure": len(sure), **_MEASURES[known](job, walk, sure),
    }  # fmt: skip
    thumbnail.parent.mkdir(parents=True, exist_ok=True)
    drawn = draw_result(walk.puzzle, read_truth(folder, walk.puzzle), assembly) if known == "poses" else None
    write_png(thumbnail, draw_alone(walk.puzzle, assembly) if drawn is None else drawn)
    return replace(record, measured={"rows": [row]})


def _by_poses(job: Job, walk: Corridor, sure: Sequence[int]) -> Row:
    """The paper's ratios, and how many of the sure pieces lie rightly to others of their component."""
    puzzle, assembly = walk.puzzle, walk.get("assembly")
    truth = read_truth(job.case.sources[0], puzzle)
    scored, least = walk.get("scored").rows, walk.config.compose.min_score
    measured = measure(puzzle, truth, assembly, scored, least, job.case.gap_px, walk.offered)
    hits = right_in_parts(puzzle, assembly, truth)
    return {**{name: measured[name] for name in _OF_MEASURE}, "sure_right": len(hits.intersection(sure))}


def right_in_parts(puzzle: Puzzle, assembly: Assembly, truth: Assembly) -> set[int]:
    """Pieces that lie rightly to others of their own component, which may be one of many; those of the best anchor of each."""
    parts = [Assembly(assembly.n_pieces, {idx: assembly.poses[idx] for idx in own}, (own,)) for own in assembly.components]
    hits = [right_pieces(puzzle, part, truth) for part in parts]
    return {idx for own in hits if len(own) > 1 for idx in own}


def _by_order(job: Job, walk: Corridor, sure: Sequence[int]) -> Row:
    """Neighbouring strips that lie side by side."""
    order, n = read_order(job.case.sources[0], walk.puzzle)
    found = evaluate_strips(walk.puzzle, walk.get("assembly"), order, n)
    rows = walk.get("candidates").rows
    right = right_strip_candidates(walk.puzzle, rows, order)
    return {
        **asdict(found), "pairs": n - 1,
        "pairs_found": len(set(zip(rows.i[right].tolist(), rows.j[right].tolist(), strict=True))),
    }  # fmt: skip


def _by_itself(job: Job, walk: Corridor, sure: Sequence[int]) -> Row:
    """Where pieces are stored upright: joins that do not turn them, and the pieces in these."""
    if job.case.group.kind.name not in UPRIGHT:
        return {"upright_joins": None, "upright_pieces": None}
    joins = [e.alignment for e in walk.get("assembly").joins]
    upright = [a for a in joins if abs(math.degrees(math.remainder(a.i_from_j.theta, math.tau))) < UPRIGHT_DEG]
    return {"upright_joins": len(upright), "upright_pieces": len({idx for a in upright for idx in (a.i, a.j)})}


_MEASURES: Mapping[Truth, Callable[[Job, Corridor, Sequence[int]], Row]] = {
    "poses": _by_poses,
    "order": _by_order,
    "none": _by_itself,
}


def real_tables(runs: Sequence[Run]) -> dict[str, tuple[Sequence[Row], Sequence[Row]]]:
    """By the name of the results file: a row for each puzzle, and one for each kind. A puzzle that failed counts with 0."""
    known: dict[Truth, list[Row]] = {"poses": [], "order": [], "none": []}
    for run in runs:
        rows = run.record.measured.get("rows", ())
        head = {"kind": run.case.group.kind.name, "puzzle": run.case.title, "method": run.method}
        tail = {"seconds": run.record.seconds, "peak_mb": run.record.peak_mb, "error": run.record.error}
        known[truth_of(run.case.sources[0])].append({**head, **(rows[0] if rows else {}), **tail})
    return {
        "real": (known["poses"], _by_kind(known["poses"], _poses_summary)),
        "real_strips": (known["order"], _by_kind(known["order"], _order_summary)),
        "real_unknown": (known["none"], _by_kind(known["none"], _none_summary)),
    }


def _by_kind(rows: Sequence[Row], summary: Callable[[Sequence[Row]], Row]) -> list[Row]:
    kinds: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        kinds.setdefault((row["kind"], row["method"]), []).append(row)
    return [
        {
            "kind": kind, "method": method, "puzzles": len(own),
            **({"failed": sum(row["error"] is not None for row in own)} if any(row["error"] for row in rows) else {}),
            **summary(own),
            "seconds": round(float(np.mean([row["seconds"] for row in own])), 1),
        }
        for (kind, method), own in kinds.items()
    ]  # fmt: skip


def _poses_summary(rows: Sequence[Row]) -> Row:
    """Means over the puzzles; joins right over those that have joins."""
    return {
        "pieces": _sum(rows, "pieces"), "placed": _sum(rows, "placed"),
        "PCR, %": _mean(rows, "pcr"), "tight, %": _mean(rows, "pcr_tight"),
        "joins right, %": _mean([row for row in rows if row.get("acr_precision") is not None], "acr_precision"),
        "joins found, %": _mean(rows, "acr_recall"), "candidate recall, %": _mean(rows, "candidate_recall"),
        "LCR, %": _mean(rows, "lcr"),
        "sure": _sum(rows, "sure"), "sure and right": _sum(rows, "sure_right"),
    }  # fmt: skip


def _order_summary(rows: Sequence[Row]) -> Row:
    """Over all pairs and joins of a kind together."""
    pairs, joins = _sum(rows, "pairs"), _sum(rows, "joins")
    return {
        "strips": _sum(rows, "n"), "placed": _sum(rows, "placed"), "components": _sum(rows, "components"),
        "pairs right, %": _share(_sum(rows, "pairs_right"), pairs), "joins": joins,
        "joins right, %": _share(_sum(rows, "joins_right"), joins),
        "candidate recall, %": _share(_sum(rows, "pairs_found"), pairs),
        "sure": _sum(rows, "sure"),
    }  # fmt: skip


def _none_summary(rows: Sequence[Row]) -> Row:
    """Counts of all puzzles of a kind."""
    names = {"pieces": "pieces", "placed": "placed", "components": "components", "joins": "joins", "sure": "sure"}
    upright = any(row.get("upright_joins") is not None for row in rows)
    told = {"upright joins": "upright_joins", "pieces in these": "upright_pieces"}
    return {
        **{name: _sum(rows, key) for name, key in names.items()},
        **{name: _sum(rows, key) if upright else None for name, key in told.items()},
    }


def real_lines(runs: Sequence[Run]) -> dict[str, str]:
    """What stands above each picture of the contact sheet, by the key of the run."""
    return {run.key: _line(run, run.record.measured["rows"][0]) for run in runs if run.record.error is None}


def _line(run: Run, row: Row) -> str:
    placed = f"{row['placed']} of {row['pieces']} placed in {row['components']} parts, {row['sure']} sure"
    told = ""
    if row["truth"] == "poses":
        told = f", PCR {100 * row['pcr']:.0f} %, tight {100 * row['pcr_tight']:.0f} %"
    elif row["truth"] == "order":
        told = f", {row['pairs_right']} of {row['pairs']} pairs right"
    return f"{run.case.group.kind.name} · {run.case.title} · {placed}{told}"


def _sum(rows: Sequence[Row], key: str) -> int:
    return int(sum(row.get(key) or 0 for row in rows))


def _mean(rows: Sequence[Row], key: str) -> float | None:
    """In percent."""
    return round(100 * float(np.mean([row.get(key) or 0.0 for row in rows])), 1) if rows else None


def _share(part: int, whole: int) -> float | None:
    """In percent."""
    return round(100 * part / whole, 1) if whole else None

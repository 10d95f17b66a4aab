"""``jigsawnet bench match``: how many true neighbours the matchers find, how fast, in how much memory."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from jigsawnet.contours import ContourConfig, trace_contours
from jigsawnet.errors import InputError
from jigsawnet.evaluation.metrics import candidate_recall, right_candidates
from jigsawnet.evaluation.pages import make_page
from jigsawnet.evaluation.results import Row, mean_rows, peak_mb, write_results
from jigsawnet.io.images import read_image
from jigsawnet.io.pieces import list_pictures
from jigsawnet.match import MatchConfig, MatcherName, propose_alignments
from jigsawnet.raster import build_bank
from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.types import Progress, no_progress

BORDER_PX = 2.5
"""Two borders this close (and twice the erosion) are common; neighbours share at least 4 % of the smaller perimeter."""
TOUCHING_PX = 5.0
"""The wider notion of `evaluate`: at small pieces it also takes in pieces that meet at a corner only."""


@dataclass(frozen=True, slots=True)
class Case:
    """Some puzzles of one kind for one matcher."""

    name: str
    matcher: MatcherName
    shred: ShredConfig
    seeds: tuple[int, ...]
    pages: bool = False
    match: MatchConfig = field(default_factory=MatchConfig)


def match_cases(seeds: tuple[int, ...] = (0, 1, 2), largest: int = 1000) -> list[Case]:
    """The suite: sizes for each matcher, growth, damage, and pages."""
    sizes = [9, 36, 100, 400]
    cases = [Case(f"{n} pieces", "dense", ShredConfig(pieces=n), seeds) for n in sizes]
    cases.append(Case("1000 pieces", "dense", ShredConfig(pieces=1000), seeds[:1]))
    damage = {
        "erosion 1 px": ShredConfig(erosion_px=1.0),
        "erosion 2 px": ShredConfig(erosion_px=2.0),
        "erosion 4 px": ShredConfig(erosion_px=4.0),
        "noise 8": ShredConfig(noise=8.0),
        "JPEG 75": ShredConfig(jpeg_quality=75),
        "straight cuts": ShredConfig(perturbation=0.0),
    }
    cases += [Case(f"36 pieces, {name}", "dense", shred, seeds) for name, shred in damage.items()]
    cases.append(Case("36 pieces, text pages", "dense", ShredConfig(), seeds, pages=True))
    baselines: tuple[MatcherName, ...] = ("zhang", "tsamoura")
    for matcher in baselines:
        cases += [Case(f"{n} pieces", matcher, ShredConfig(pieces=n), seeds) for n in sizes[:3]]
    return [case for case in cases if case.shred.pieces <= largest]


def bench_match(photos: Path, out: Path, cases: Sequence[Case], command: str, progress: Progress = no_progress) -> list[Row]:
    """Run the cases, each puzzle in a process of its own (for its peak memory), and write ``match.json`` and ``match.md``."""
    pictures = list_pictures(photos)
    if not pictures:
        raise InputError(f"The folder {photos} holds no pictures; give a folder of photographs.")
    jobs = [(case, seed, pictures[(k * 7 + seed * 11) % len(pictures)]) for k, case in enumerate(cases) for seed in case.seeds]
    rows: list[Row] = []
    for case, seed, picture in jobs:
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            rows.append(pool.submit(run_case, case, seed, picture).result())
        progress("bench", len(rows), len(jobs))
    means = ("recall", "recall_touching", "per_piece", "residual_px", "ms_per_pair", "seconds")
    summary = mean_rows(rows, ("case", "matcher"), means, ("seconds", "peak_mb"))
    write_results(out, "match", command, rows, summary)
    return summary


def run_case(case: Case, seed: int, picture: Path) -> dict[str, Any]:
    """Cut one puzzle, match it, and measure."""
    rng = np.random.default_rng(seed)
    image = make_page(rng) if case.pages else read_image(picture)[..., :3]
    puzzle, truth = shred_images([image], case.shred, rng)
    start = time.perf_counter()
    bank = build_bank(trace_contours(puzzle, ContourConfig()))
    found = propose_alignments(bank, case.matcher, case.match)
    seconds = time.perf_counter() - start
    memory = peak_mb()
    n, gap = len(puzzle), 2 * case.shred.erosion_px
    right = right_candidates(puzzle, found, truth, gap_px=BORDER_PX + gap)
    residuals = [a.seam.residual_px for a, good in zip(found, right, strict=True) if good and a.seam is not None]
    degree = np.bincount([idx for a in found for idx in (a.i, a.j)], minlength=n)
    return {
        "case": case.name,
        "matcher": case.matcher,
        "seed": seed,
        "picture": "generated page" if case.pages else picture.name,
        "pieces": n,
        "recall": candidate_recall(puzzle, found, truth, gap_px=BORDER_PX + gap),
        "recall_touching": candidate_recall(puzzle, found, truth, gap_px=TOUCHING_PX + gap),
        "candidates": len(found),
        "per_piece": float(degree.mean()),
        "per_piece_most": int(degree.max(initial=0)),
        "residual_px": round(float(np.median(residuals)) if residuals else 0.0, 3),
        "ms_per_pair": round(1000 * seconds / max(1, n * (n - 1) // 2), 3),
        "seconds": round(seconds, 3),
        "peak_mb": memory,
    }

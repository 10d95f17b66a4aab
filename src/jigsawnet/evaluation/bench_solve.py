"""``jigsawnet bench solve``: pieces in, picture out, as shipped: how much is right, in how many seconds."""

from __future__ import annotations

import dataclasses
import multiprocessing
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from jigsawnet.errors import InputError
from jigsawnet.evaluation.metrics import candidate_recall, evaluate
from jigsawnet.evaluation.pages import make_page
from jigsawnet.evaluation.results import Row, mean_rows, peak_mb, write_results
from jigsawnet.io.images import read_image
from jigsawnet.io.pieces import list_pictures
from jigsawnet.io.truth import read_truth
from jigsawnet.loading import load_puzzle
from jigsawnet.pipeline import solve_puzzle
from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.types import Assembly, Progress, Puzzle, no_progress

NEIGHBOR_PX = 5.0


@dataclass(frozen=True, slots=True)
class Job:
    """One puzzle: cut from a picture or a made-up page, or read from a folder with its truth."""

    name: str
    source: Path
    shred: ShredConfig | None = None
    seed: int = 0
    page: bool = False


def solve_jobs(photos: Path, seeds: int, largest: int) -> list[Job]:
    """Ten puzzles of 36 pieces, ``seeds`` of other sizes and of each kind of damage, from different photographs."""
    pictures = list_pictures(photos)
    if not pictures:
        raise InputError(f"The folder {photos} holds no pictures; give a folder of photographs.")
    kinds: list[tuple[str, ShredConfig, int, bool]] = [
        ("9 pieces", ShredConfig(pieces=9), seeds, False),
        ("36 pieces", ShredConfig(pieces=36), 10, False),
        ("100 pieces", ShredConfig(pieces=100), seeds, False),
        ("400 pieces", ShredConfig(pieces=400), seeds, False),
        ("1000 pieces", ShredConfig(pieces=1000), 1, False),
        ("36 pieces, erosion 2 px", ShredConfig(erosion_px=2.0), seeds, False),
        ("36 pieces, straight cuts", ShredConfig(perturbation=0.0), seeds, False),
        ("36 pieces, 20 % missing", ShredConfig(missing=0.2), seeds, False),
        ("36 pieces, text pages", ShredConfig(), seeds, True),
    ]
    return [
        Job(name, pictures[(k * 5 + seed * 3) % len(pictures)], shred, seed, page)
        for k, (name, shred, count, page) in enumerate(kinds)
        for seed in range(count)
        if shred.pieces <= largest
    ]


def bench_solve(jobs: Sequence[Job], out: Path, command: str, progress: Progress = no_progress) -> list[Row]:
    """Solve every puzzle in a process of its own and write ``solve.json`` and ``solve.md``."""
    rows: list[Row] = []
    for job in jobs:
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            rows.append(pool.submit(run_job, job).result())
        progress("bench", len(rows), len(jobs))
    means = ("pcr", "pcr_tight", "acr_precision", "acr_recall", "lcr", "candidate_recall", "seconds")
    summary = mean_rows(rows, ("puzzle",), means, ("seconds", "peak_mb"))
    write_results(out, "solve", command, rows, summary)
    return summary


def run_job(job: Job) -> dict[str, Any]:
    """Solve one puzzle and compare it with the truth."""
    puzzle, truth = _puzzle(job)
    start = time.perf_counter()
    solution = solve_puzzle(puzzle, seed=job.seed)
    seconds, memory = time.perf_counter() - start, peak_mb()
    gap_px = NEIGHBOR_PX + (2 * job.shred.erosion_px if job.shred else 0.0)
    metrics = dataclasses.asdict(evaluate(puzzle, solution.assembly, truth, gap_px))
    metrics["acr_precision"] = metrics["acr_precision"] or 0.0
    return {
        "puzzle": job.name,
        "source": "generated page" if job.page else job.source.name,
        "seed": job.seed,
        **{key: round(value, 4) for key, value in metrics.items()},
        "candidate_recall": round(candidate_recall(puzzle, solution.alignments, truth, gap_px=gap_px), 4),
        "seconds": round(seconds, 3),
        "stages": {stage.name: round(stage.seconds, 3) for stage in solution.report.stages},
        "peak_mb": memory,
    }


def _puzzle(job: Job) -> tuple[Puzzle, Assembly]:
    if job.shred is None:
        puzzle = load_puzzle(job.source)
        return puzzle, read_truth(job.source, puzzle)
    rng = np.random.default_rng(job.seed)
    image = make_page(rng) if job.page else read_image(job.source)[..., :3]
    return shred_images([image], job.shred, rng)

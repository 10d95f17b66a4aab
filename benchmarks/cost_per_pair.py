"""What matching and scoring cost: CPU time per pair and per candidate, memory per piece and per pair.

    .venv/bin/python benchmarks/cost_per_pair.py --photo photo.jpg

writes ``benchmarks/results/cost_per_pair.json``; ``docs/cluster.md`` plans large puzzles from it. CPU time of one thread is
measured, so other work on the machine matters little. Of larger puzzles, an even sample of the pairs is measured.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from jigsawnet.config import SolveConfig
from jigsawnet.contours import trace_contours
from jigsawnet.evaluation.results import write_results
from jigsawnet.io.images import read_image
from jigsawnet.judging import Judge
from jigsawnet.match.dense import best_of_block, choose_candidates, prepare_material, scales_of
from jigsawnet.match.measured import Measured
from jigsawnet.match.pairs import all_pairs, cut_pairs
from jigsawnet.pixels import build_pixels
from jigsawnet.raster import build_bank
from jigsawnet.score.seam_path import unit_of
from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.workers import LocalWorkers, Shared

RESULTS = Path(__file__).resolve().parent / "results"
PIECES = (100, 400)
PIECE_PX = 160
"""Pieces are about this wide: the picture is enlarged to it."""
MOST_PAIRS = 12_000


def measure(photo: np.ndarray, pieces: int) -> dict[str, Any]:
    """Cut the photo, match and score on one thread."""
    scale = PIECE_PX * np.sqrt(pieces / (photo.shape[0] * photo.shape[1]))
    picture = cv2.resize(photo, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC)
    puzzle, _ = shred_images([picture], ShredConfig(pieces=pieces), np.random.default_rng(pieces))
    config, alone = SolveConfig(), LocalWorkers(1)
    start = time.process_time()
    bank = build_bank(trace_contours(puzzle, config.contours))
    material = prepare_material(bank, config.match.dense, scales_of(bank, bank.step_px), alone)
    prepared = time.process_time() - start
    blocks = cut_pairs(all_pairs(len(bank)), alone)
    total = len(bank) * (len(bank) - 1) // 2
    sample = blocks[:: max(1, round(total / MOST_PAIRS))]
    pairs = sum(len(later) for block in sample for _, later in block)
    best_of_block(material, sample[0][:1])  # compiles
    start = time.process_time()
    rows = Measured.join(alone.run(best_of_block, Shared(material), sample))
    matched = time.process_time() - start
    candidates = choose_candidates(bank, rows, config.match.per_piece, config.match.dense)
    judge = Judge(puzzle, bank, "combined", candidates, alone)
    judge(candidates[:1])
    start = time.process_time()
    judge(candidates)
    scored = time.process_time() - start
    return {
        "pieces": len(bank),
        "pairs": total,
        "pairs measured": pairs,
        "CPU ms per pair": round(1e3 * matched / pairs, 3),
        "CPU ms per candidate scored": round(1e3 * scored / len(candidates), 3),
        "CPU ms per piece prepared": round(1e3 * prepared / len(bank), 2),
        "kB per piece, borders": round(size_of(bank) / len(bank) / 1e3, 1),
        "kB per piece, windows": round(size_of(material.passes) / len(bank) / 1e3, 1),
        "kB per piece, pixels": round(size_of(build_pixels(puzzle, unit_of(bank))) / len(bank) / 1e3, 1),
        "rows per pair": round(len(rows) / pairs, 3),
        "bytes per row": round(size_of(rows) / len(rows), 1),
    }


def size_of(value: Any) -> int:
    """Bytes of all arrays inside."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, tuple):
        return sum(size_of(part) for part in value)
    if is_dataclass(value):
        return sum(size_of(getattr(value, field.name)) for field in fields(value))
    return 0


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--photo", type=Path, required=True)
    arguments = parser.parse_args()
    photo = read_image(arguments.photo)[..., :3]
    rows = [measure(photo, pieces) for pieces in PIECES]
    command = f"python benchmarks/cost_per_pair.py --photo {arguments.photo.name}"
    write_results(RESULTS, "cost_per_pair", command, rows, rows)


if __name__ == "__main__":
    main()

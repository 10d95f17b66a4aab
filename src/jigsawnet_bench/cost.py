"""``jigsawnet bench cost``: CPU time per pair and per candidate, memory per piece and per pair.

``docs/cluster.md`` plans large puzzles from ``cost_per_pair.json``. CPU time of one thread is measured, so other work on the
machine matters little. Of larger puzzles, an even sample of the pairs is measured.
"""

from __future__ import annotations

import time
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from jigsawnet.config import SolveConfig
from jigsawnet.context import Context
from jigsawnet.errors import InputError
from jigsawnet.io.images import read_image
from jigsawnet.io.pieces import list_pictures
from jigsawnet.match import Scales
from jigsawnet.match.dense import best_of_block, by_pair, choose_candidates, prepare_material
from jigsawnet.match.pairs import all_pairs, cut_pairs
from jigsawnet.pipeline import Corridor
from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.store import FoundCandidates
from jigsawnet.types import UInt8Array
from jigsawnet.workers import LocalWorkers, Shared
from jigsawnet_bench.results import EXPERIMENT, Results, write_results
from jigsawnet_bench.tables import Table, table_of

NAME = "cost_per_pair"
PIECES = (100, 400)
PIECE_PX = 160
"""Pieces are about this wide: the picture is enlarged to it."""
MOST_PAIRS = 12_000


def bench_cost(photos: Path, out: Path, command: str) -> Table:
    """Measure on the first picture of a folder, and write ``cost_per_pair.json``."""
    pictures = list_pictures(photos)
    if not pictures:
        raise InputError(f"The folder {photos} holds no pictures; give a folder of photographs.")
    photo = read_image(pictures[0])[..., :3]
    rows = [measure(photo, pieces) for pieces in PIECES]
    title = "What matching and scoring cost"
    write_results(out, Results(NAME, title, command, 1, rows, rows, format=EXPERIMENT))
    return table_of(title, rows)


def measure(photo: UInt8Array, pieces: int) -> dict[str, Any]:
    """Cut the photo, match and score on one thread."""
    scale = PIECE_PX * np.sqrt(pieces / (photo.shape[0] * photo.shape[1]))
    picture = np.asarray(cv2.resize(photo, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC), np.uint8)
    puzzle, _ = shred_images([picture], ShredConfig(pieces=pieces), np.random.default_rng(pieces))
    config, alone = SolveConfig(), LocalWorkers(1)
    walk = Corridor(puzzle, config, Context(workers=alone))
    weights = walk.get("learned").fit
    start = time.process_time()
    borders = walk.get("borders")
    material = prepare_material(borders, config.match.dense, Scales.of(borders), weights, alone)
    prepared = time.process_time() - start
    blocks = cut_pairs(all_pairs(len(borders)), alone)
    total = len(borders) * (len(borders) - 1) // 2
    sample = blocks[:: max(1, round(total / MOST_PAIRS))]
    pairs = sum(len(later) for block in sample for _, later in block)
    best_of_block(material, sample[0][:1])  # compiles
    start = time.process_time()
    rows = by_pair(alone.run(best_of_block, Shared(material), sample))
    matched = time.process_time() - start
    found = FoundCandidates(choose_candidates(borders, rows, config.match, weights), (), None)
    walk.put("candidates", found, None)
    scene = walk.get("scene")
    few = walk.changed(config)
    few.put("candidates", replace(found, rows=found.rows.take(slice(1))), None)
    few.get("scored")  # loads and compiles
    start = time.process_time()
    walk.get("scored")
    scored = time.process_time() - start
    return {
        "pieces": len(borders),
        "pairs": total,
        "pairs measured": pairs,
        "CPU ms per pair": round(1e3 * matched / pairs, 3),
        "CPU ms per candidate scored": round(1e3 * scored / len(found.rows), 3),
        "CPU ms per piece prepared": round(1e3 * prepared / len(borders), 2),
        "kB per piece, borders": round(size_of(borders) / len(borders) / 1e3, 1),
        "kB per piece, windows": round(size_of(material.passes) / len(borders) / 1e3, 1),
        "kB per piece, pixels": round(size_of(scene.pixels) / len(borders) / 1e3, 1),
        "rows per pair": round(len(rows) / pairs, 3),
        "bytes per row": round(size_of(rows) / len(rows), 1),
    }


def size_of(value: Any) -> int:
    """Bytes of all arrays inside; a column of equal numbers takes none."""
    if isinstance(value, np.ndarray):
        return value.nbytes if any(value.strides) else 0
    if isinstance(value, tuple):
        return sum(size_of(part) for part in value)
    if is_dataclass(value):
        return sum(size_of(getattr(value, field.name)) for field in fields(value))
    return 0

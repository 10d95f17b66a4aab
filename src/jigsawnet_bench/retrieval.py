"""``python -m jigsawnet_bench.retrieval --photos DIR``: how many right joins retrieval keeps, by itself, per kind of damage.

A picture joined of many photographs is cut and damaged. What the matcher finds for a pair does not depend on other pairs: so
true neighbours alone are matched to know which right joins all pairs would find, and retrieval is asked which it keeps.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import cv2
import numpy as np
import tyro

from jigsawnet.borders import Borders, Int64Array
from jigsawnet.candidates import Candidates
from jigsawnet.cli.console import say, say_error
from jigsawnet.context import Context
from jigsawnet.errors import ConfigError, InputError, JigsawNetError
from jigsawnet.evaluation.metrics import right_candidates
from jigsawnet.evaluation.neighbors import true_neighbors
from jigsawnet.io.images import read_image
from jigsawnet.io.pieces import list_pictures
from jigsawnet.learned import Learned, load_learned
from jigsawnet.match import MatchConfig, Scales
from jigsawnet.match.dense import find_dense, measure_row, prepare_material
from jigsawnet.match.pairs import rows_of
from jigsawnet.match.ragged import prepare_ragged, settle_row
from jigsawnet.match.retrieve import find_distances, nearest_partners
from jigsawnet.pipeline import Corridor
from jigsawnet.seam_fit import contact_fit, seam_fit
from jigsawnet.shred import ShredConfig, preset, shred_images
from jigsawnet.types import Assembly, Float32Array, Puzzle, UInt8Array
from jigsawnet.workers import LocalWorkers, Workers
from jigsawnet_bench.results import EXPERIMENT, Results, write_results
from jigsawnet_bench.tables import table_of

NAME = "retrieval"
KINDS: Mapping[str, Mapping[str, Any] | None] = {
    "clean": {}, "eroded by 2 px": {"erosion_px": 2.0}, "eroded by 4 px": {"erosion_px": 4.0}, "noise of 8": {"noise": 8.0},
    "JPEG of 60": {"jpeg_quality": 60}, "straight cuts": {"perturbation": 0.0},
    "fresco": None, "torn-photo": None, "torn-page": None, "phone": None, "old-print": None,
}  # fmt: skip
"""Options of the shredder; None is the preset of this name at half strength. Those are ragged."""
PIECE_PX = 160
_GAP_PX, _RIGHT_DEG, _RIGHT_PX, _LEAST_FIT = 12.0, 5.0, 12.0, 0.01
"""A right join of true neighbours, which come so close, is found when a candidate of some fit lies within these limits."""


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Measure how many of the right joins that all pairs find are kept by retrieval."""

    photos: Annotated[Path, tyro.conf.arg(metavar="DIR")]
    """Folder of photographs to join and cut."""
    pieces: int = 400
    """Pieces of each puzzle."""
    kinds: tuple[str, ...] = tuple(KINDS)
    """Only these kinds of damage."""
    seed: int = 7
    """Number that all randomness comes from."""
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"], metavar="DIR")] = Path("benchmarks/results")
    """Folder for retrieval.json."""

    def __post_init__(self) -> None:
        if unknown := [kind for kind in self.kinds if kind not in KINDS]:
            raise ConfigError(f"There is no kind {unknown[0]!r}; use some of {', '.join(KINDS)}.")
        if self.pieces <= MatchConfig().dense.retrieval.above:
            raise ConfigError(f"pieces is {self.pieces}; retrieval starts above {MatchConfig().dense.retrieval.above}.")

    def run(self) -> int:
        """Measure, print and write."""
        picture = join_photos(self.photos, self.pieces, np.random.default_rng(self.seed))
        command = f"python -m jigsawnet_bench.retrieval --photos {self.photos.name} --pieces {self.pieces}"
        rows: list[dict[str, Any]] = []
        for kind in self.kinds:
            rows.append(measure_kind(picture, kind, self.pieces, self.seed))
            write_results(self.out, Results(NAME, "What retrieval keeps", command, 1, rows, rows, format=EXPERIMENT))
        for line in table_of("What retrieval keeps", rows).markdown().splitlines():
            say(line)
        return 0


def join_photos(folder: Path, pieces: int, rng: np.random.Generator) -> UInt8Array:
    """Sixteen photographs, cut to one size, as one picture for so many pieces of 160 px."""
    paths = list_pictures(folder)
    if not paths:
        raise InputError(f"The folder {folder} holds no pictures; give a folder of photographs.")
    chosen = [paths[k] for k in rng.permutation(len(paths))]
    side = PIECE_PX * float(np.sqrt(pieces)) / 4
    width, height = round(1.25 * side), round(0.8 * side)
    fitted = [_fit(read_image(chosen[k % len(chosen)])[..., :3], width, height) for k in range(16)]
    return np.ascontiguousarray(np.vstack([np.hstack(fitted[k : k + 4]) for k in range(0, 16, 4)]))


def _fit(picture: UInt8Array, width: int, height: int) -> UInt8Array:
    """The middle of a picture, as large as it fits."""
    scale = max(width / picture.shape[1], height / picture.shape[0])
    size = max(width, round(picture.shape[1] * scale)), max(height, round(picture.shape[0] * scale))
    large = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    x, y = (size[0] - width) // 2, (size[1] - height) // 2
    return np.asarray(large[y : y + height, x : x + width], np.uint8)


def measure_kind(picture: UInt8Array, kind: str, pieces: int, seed: int) -> dict[str, Any]:
    """Cut and damage the picture, and compare what retrieval keeps with what is there to be found."""
    rng = np.random.default_rng(seed)
    options = KINDS[kind]
    config = preset(kind, 0.5, rng, pieces=pieces) if options is None else ShredConfig(pieces=pieces, **options)
    puzzle, truth = shred_images([picture], config, rng)
    borders, learned, alone = Corridor(puzzle).get("borders"), load_learned(None), LocalWorkers(1)
    right = find_right(puzzle, truth, borders, learned, alone, options is None)
    start = time.process_time()
    distance, partners = _distances(borders, learned, alone, options is None)
    seconds = time.process_time() - start
    kept = _kept_pairs(borders, learned, distance, options is None)
    n = len(borders)
    shares = {f"among the first {k}, %": _share(right, nearest_partners(distance, k), n) for k in partners}
    return {
        "kind": kind, "pieces": n, "right joins": len(right), **shares, "kept, %": _share(right, kept, n),
        "pairs per piece": round(len(kept) / n, 1), "CPU seconds": round(seconds, 1),
    }  # fmt: skip


def find_right(
    puzzle: Puzzle, truth: Assembly, borders: Borders, learned: Learned, workers: Workers, ragged: bool
) -> Int64Array:
    """Pairs ``(P, 2)`` of true neighbours whose right join the matcher finds when it is shown the pair."""
    config, scales = MatchConfig().dense, Scales.of(borders)
    rows = rows_of(np.array(sorted(true_neighbors(puzzle, truth, _GAP_PX)), np.int64).reshape(-1, 2))
    whole = prepare_material(borders, config, scales, learned.fit, workers)
    found = Candidates.concat([measure_row(whole, row) for row in rows])
    found = replace(found, fit=seam_fit(found.features, borders.step_px, learned.fit))
    if ragged:
        parts = prepare_ragged(borders, config, scales, learned.contact)
        more = Candidates.concat([settle_row(parts, row) for row in rows])
        more = replace(more, fit=contact_fit(more, borders.step_px, learned.contact))
        found = Candidates.concat([found, more])
    found = found.take(found.fit >= _LEAST_FIT)
    found = found.take(right_candidates(puzzle, found, truth, _RIGHT_DEG, _RIGHT_PX, _GAP_PX))
    return np.unique(np.column_stack([found.i, found.j]).astype(np.int64), axis=0)


def _distances(borders: Borders, learned: Learned, workers: Workers, ragged: bool) -> tuple[Float32Array, Sequence[int]]:
    """Distances of all pieces by the windows of the pass in question, and the numbers of partners that it may ask for."""
    config, scales, context = MatchConfig().dense, Scales.of(borders), Context(workers=workers)
    if ragged:
        parts = prepare_ragged(borders, config, scales, learned.contact)
        found = find_distances(parts.kinds, parts.passes, context)
    else:
        whole = prepare_material(borders, config, scales, learned.fit, workers)
        found = find_distances(whole.kinds, whole.passes, context)
    assert found is not None  # nobody stops it
    return found, (config.retrieval.ragged_partners,) if ragged else config.retrieval.partners


def _kept_pairs(borders: Borders, learned: Learned, distance: Float32Array, ragged: bool) -> Int64Array:
    """The pairs that are compared closely in the end."""
    config = MatchConfig()
    if ragged:
        return nearest_partners(distance, config.dense.retrieval.ragged_partners)
    never = replace(config, dense=replace(config.dense, ragged=replace(config.dense.ragged, enabled=False)))
    kept = find_dense(borders, never, Context(), learned, None).kept
    assert kept is not None  # nobody stops it
    return kept.every_pair()


def _share(right: Int64Array, pairs: Int64Array, n: int) -> float:
    codes = [own[:, 0] * n + own[:, 1] for own in (right, pairs)]
    return round(100.0 * float(np.isin(codes[0], codes[1]).mean()), 2) if len(right) else 100.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and give its exit code."""
    try:
        return tyro.cli(Retrieval, prog="python -m jigsawnet_bench.retrieval", args=arguments).run()
    except JigsawNetError as error:
        say_error(str(error))
        return 2


if __name__ == "__main__":
    sys.exit(main())

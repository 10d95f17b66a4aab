"""How far confidences can be trusted: hard puzzles of many kinds, what is said against what is seen.

``python -m jigsawnet_bench.reliability PHOTOS -o FOLDER`` solves them and prints the tables. Placements are kept in the folder,
so that after a change of the confidence alone only the judging is done again; ``--weights`` takes another bundle.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

from jigsawnet.candidates import Candidates
from jigsawnet.cli.console import progress_bars, say
from jigsawnet.confidence import judge_assembly
from jigsawnet.context import Context
from jigsawnet.evaluation.markdown import markdown_table
from jigsawnet.evaluation.metrics import right_joins, rightly_placed
from jigsawnet.evaluation.reliability import reliability_bins
from jigsawnet.io.array_store import FolderStore, Saved
from jigsawnet.io.images import read_image
from jigsawnet.io.pieces import list_pictures
from jigsawnet.learned import Learned, load_learned
from jigsawnet.pipeline import Corridor
from jigsawnet.shred import PRESETS, ShredConfig, preset, shred_images
from jigsawnet.shred.pages import make_page
from jigsawnet.shred.squares import SquareName, make_squares
from jigsawnet.store import assembly_from_arrays, assembly_to_arrays, found_from_arrays, found_to_arrays
from jigsawnet.types import Assembly, BoolArray, FloatArray, Puzzle
from jigsawnet.workers import LocalWorkers
from jigsawnet_bench.work import PRODUCT

SURE = 0.95
_NO_MATTER = ("cli", "viewer", "training", "confidence", "reliability.py", "runs", "edits", "evaluation")
"""Parts of the product that no placement depends on."""
_SQUARES: tuple[SquareName, ...] = ("noise", "white", "same", "foreign")
KINDS = {
    "straight cuts": (ShredConfig(pieces=42, perturbation=0.0), 1),
    "straight cuts, 100 pieces": (ShredConfig(pieces=100, perturbation=0.0), 1),
    "straight cuts, a third missing": (ShredConfig(pieces=42, perturbation=0.0, missing=0.3), 1),
    "straight cuts, two pictures": (ShredConfig(pieces=25, perturbation=0.0), 2),
    "straight cuts, tinted": (ShredConfig(pieces=36, perturbation=0.0, color_shift=8.0), 1),
    "straight cuts of pages": (ShredConfig(pieces=36, perturbation=0.0), 0),
    "straight cuts in any direction": (ShredConfig(pieces=36, perturbation=0.0, cuts=9), 1),
    "little wiggle": (ShredConfig(pieces=64, perturbation=0.005), 1),
    "worn by 3 px": (ShredConfig(pieces=36, perturbation=0.01, erosion_px=3.0), 1),
    "noise and JPEG": (ShredConfig(pieces=36, perturbation=0.0, noise=12.0, jpeg_quality=40), 1),
    "torn rims": (ShredConfig(pieces=36, perturbation=0.02, rim_px=4.0), 1),
    "strips": (ShredConfig(pieces=20, strips=True, perturbation=0.0), 1),
    **{f"{name} {strength}": (preset(name, strength, np.random.default_rng(k), 30), int(name != "torn-page"))
       for k, (name, strength) in enumerate(product(PRESETS, (0.5, 1.0)))},
}  # fmt: skip
"""How puzzles are cut, and from how many photographs; 0: from a page of text."""


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """A puzzle as it was put together, not yet judged, and the truth about it."""

    kind: str
    puzzle: Puzzle
    truth: Assembly
    assembly: Assembly
    rows: Candidates


@dataclass(frozen=True, slots=True, eq=False)
class Said:
    """Probabilities ``(N,)`` and whether they came true ``(N,)``, of the puzzles of one kind."""

    kind: str
    probability: FloatArray
    right: BoolArray

    def row(self) -> dict[str, object]:
        """How many were called sure, and how many of these were wrong."""
        sure = self.probability >= SURE
        wrong = int((~self.right[sure]).sum())
        share = 100 * wrong / max(1, int(sure.sum()))
        return {
            "kind": self.kind, "number": len(self.right), "wrong": int((~self.right).sum()), "sure": int(sure.sum()),
            "sure and wrong": wrong, "in %": f"{share:.2f}", "surest": f"{self.probability.max(initial=0.0):.3f}",
        }  # fmt: skip


def place_puzzle(kind: str, number: int, photos: Sequence[Path], folder: Path, learned: Learned) -> Placed:
    """Cut one puzzle and put it together, or take it from the folder."""
    puzzle, truth = _cut(kind, number, photos)
    cut = asdict(KINDS[kind][0]) if kind in KINDS else {}
    parts = [kind, number, cut, [path.name for path in photos], learned.digest_of("fit", "seam", "combined"), _source_digest()]
    key, store = hashlib.sha256(json.dumps(parts).encode()).hexdigest(), FolderStore(folder)
    saved, scored = store.load("placed", key), store.load("score", key)
    assembly = saved and assembly_from_arrays(saved.arrays)
    found = scored and found_from_arrays(scored.arrays)
    if not assembly or not found:
        walk = Corridor(puzzle, context=Context(workers=LocalWorkers(1)), learned=learned, seed=number)
        assembly, found = walk.get("placed"), walk.get("scored")
        arrays = {"placed": assembly_to_arrays(assembly), "score": found_to_arrays(found)}
        store.save({name: Saved(key, "", each) for name, each in arrays.items()})
    return Placed(kind, puzzle, truth, assembly, found.rows)


@cache
def _source_digest() -> str:
    """Names the state of all that a placement depends on beside what was learned."""
    files = [path for path in sorted(PRODUCT.rglob("*.py")) if path.relative_to(PRODUCT).parts[0] not in _NO_MATTER]
    return hashlib.sha256(b"".join(hashlib.sha256(path.read_bytes()).digest() for path in files)).hexdigest()


def _cut(kind: str, number: int, photos: Sequence[Path]) -> tuple[Puzzle, Assembly]:
    kinds = [*KINDS, *_SQUARES]
    rng = np.random.default_rng((number, kinds.index(kind)))
    first = 7 * number + 11 * kinds.index(kind)
    count = KINDS[kind][1] if kind in KINDS else {"same": 1, "foreign": 24}.get(kind, 0)
    pictures = [read_image(photos[(first + 5 * m) % len(photos)])[..., :3] for m in range(count)]
    for square in _SQUARES:
        if kind == square:
            return make_squares(square, 24, pictures, rng)
    return shred_images(pictures or [make_page(rng)], KINDS[kind][0], rng)


def judge(placed: Sequence[Placed], learned: Learned) -> tuple[list[Said], list[Said]]:
    """Confidences of pieces and of joins, kind by kind."""
    pieces, joins = [], []
    for kind in dict.fromkeys(each.kind for each in placed):
        of_pieces, of_joins = list[tuple[float, bool]](), list[tuple[float, bool]]()
        for each in (each for each in placed if each.kind == kind):
            judged = judge_assembly(each.assembly, each.rows, learned.confidence)
            right = rightly_placed(each.puzzle, judged, each.truth) if kind in KINDS else frozenset[int]()
            of_pieces += [(judged.confidence[idx], idx in right) for idx in judged.poses]
            good = right_joins(each.puzzle, judged, each.truth)
            of_joins += [(e.confidence, truly) for e, truly in zip(judged.joins, good, strict=True)]
        pieces.append(_said(kind, of_pieces))
        joins.append(_said(kind, of_joins))
    return pieces, joins


def _said(kind: str, values: Sequence[tuple[float, bool]]) -> Said:
    return Said(kind, np.array([value for value, _ in values], np.float64), np.array([right for _, right in values], bool))


def reliability_rows(said: Sequence[Said]) -> list[dict[str, object]]:
    """What is said against what is seen, all kinds of real puzzles together."""
    real = [each for each in said if each.kind in KINDS]
    probability, right = (np.concatenate([getattr(each, name) for each in real]) for name in ("probability", "right"))
    rows: list[dict[str, object]] = [
        {
            "said between": f"{each.low:.2f}-{each.high:.2f}", "said": f"{each.said:.4f}", "seen": f"{each.right:.4f}",
            "number": each.count,
        }
        for each in reliability_bins(probability, right)
    ]  # fmt: skip
    return [*rows, _said("all", list(zip(probability.tolist(), right.tolist(), strict=True))).row()]


def main(arguments: Sequence[str] | None = None) -> None:
    """Solve, judge, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("photos", type=Path, help="folder of photographs to cut")
    parser.add_argument("-o", "--out", type=Path, required=True, help="folder in which placements are kept")
    parser.add_argument("--each", type=int, default=4, help="puzzles of each kind")
    parser.add_argument("--weights", type=Path, default=None, help="folder that jigsawnet train has written")
    given = parser.parse_args(arguments)
    learned, photos = load_learned(given.weights), list_pictures(given.photos)
    cases = [(kind, number) for number in range(given.each) for kind in (*KINDS, *(_SQUARES if number == 0 else ()))]
    placed = []
    with progress_bars() as progress:
        for done, (kind, number) in enumerate(cases, start=1):
            placed.append(place_puzzle(kind, number, photos, given.out, learned))
            progress("bench", done, len(cases))
    for title, said in zip(("Pieces", "Joins"), judge(placed, learned), strict=True):
        *bins, total = reliability_rows(said)
        for line in ("", title, "", *markdown_table([*(each.row() for each in said), total]).splitlines(), ""):
            say(line)
        for line in markdown_table(bins).splitlines():
            say(line)


if __name__ == "__main__":
    main()

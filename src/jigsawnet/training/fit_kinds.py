"""The three regressions: on which puzzles, what is measured there, the rows that come of it, and how they are checked.

Lists, seeds and penalties are those that the shipped coefficients were fitted with.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from jigsawnet.candidates import Candidates
from jigsawnet.confidence import gather_evidence, rate
from jigsawnet.evaluation.detect_metrics import average_precision
from jigsawnet.evaluation.metrics import right_candidates, right_joins, rightly_placed
from jigsawnet.evaluation.neighbors import common_borders
from jigsawnet.geometry import SE2
from jigsawnet.io.images import read_image
from jigsawnet.learned import Learned, Logistic, PartName
from jigsawnet.reliability import piece_reliability, strongest_tree
from jigsawnet.score.combine import combined_terms
from jigsawnet.seam_fit import contact_terms, seam_terms, with_products
from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.shred.documents import Typefaces
from jigsawnet.shred.pages import make_page
from jigsawnet.shred.presets import preset
from jigsawnet.shred.squares import SquareName, make_squares
from jigsawnet.training.examples import Columns, draw_document, gap_of
from jigsawnet.training.solving import measure_seeds, placements, settle_seeds, touching, votes
from jigsawnet.types import Assembly, BoolArray, FloatArray, Puzzle, UInt8Array

FitName = Literal["fit", "contact", "combined", "touching", "lines", "confidence"]

_RIGHT_RAD, _RIGHT_PX = np.radians(3.0), 8.0
"""A seed this near to the truth is right."""
_WEIGHT_OF_RIGHT = 5.0
_WRONG_PER_PUZZLE = 40_000
_WEIGHT_OF_SETTLED, _WRONG_SETTLED = 3.0, 4_000
"""Wrong seeds kept of each puzzle, each counting for those left out."""
_SQUARE_PX = 96
"""Side of squares of nothing, at most."""
_BINS = (0.0, 0.5, 0.8, 0.95, 0.99, 1.01)


@dataclass(frozen=True, slots=True)
class Case:
    """One puzzle: how it is cut, from which photographs (none: from a page of text), and the seeds; or squares of nothing.

    ``fonts``: the page is a made-up document, printed with the fonts of these folders.
    """

    shred: ShredConfig
    photos: tuple[Path, ...]
    page_seed: int
    seed: int
    squares: SquareName | None = None
    fonts: tuple[Path, ...] | None = None

    def cut(self, rng: np.random.Generator) -> tuple[Puzzle, Assembly]:
        """The puzzle and its truth."""
        if self.squares is not None:
            pictures = [read_image(path)[..., :3] for path in self.photos]
            side_px = min([_SQUARE_PX, *(side for picture in pictures for side in picture.shape[:2])])
            return make_squares(self.squares, self.shred.pieces, pictures, rng, side_px)
        pictures = [read_image(path)[..., :3] for path in self.photos] or [self._page(np.random.default_rng(self.page_seed))]
        return shred_images(pictures, self.shred, rng)

    def _page(self, rng: np.random.Generator) -> UInt8Array:
        return make_page(rng) if self.fonts is None else draw_document(rng, Typefaces.find(self.fonts))

    def __str__(self) -> str:
        if self.squares is not None:
            return f"{self.shred.pieces} {self.squares} squares"
        kind = "page" if not self.photos else f"{len(self.photos)} photo{'s' * (len(self.photos) > 1)}"
        default = ShredConfig()
        changed = [
            f"{name.replace('_', ' ')} {value:g}"
            for name, value in self.shred.record().items()
            if name != "pieces" and isinstance(value, int | float) and value != getattr(default, name)
        ]
        return ", ".join([kind, f"{self.shred.pieces} pieces", *changed])


@dataclass(frozen=True, slots=True)
class Fit:
    """One regression: its puzzles, what is measured on one, the rows that come of it, and how it is checked.

    Photograph ``(stride * k + offset + 29 * m) % n`` is the m-th of puzzle k, every ``mixed``-th puzzle has two.
    """

    title: str
    cases: Sequence[ShredConfig]
    pages: Sequence[ShredConfig]
    squares: Sequence[tuple[SquareName, int]]
    stride: int
    offset: int
    mixed: int
    first_seed: int
    checks: Callable[[int], bool]
    penalty: float
    digits: int
    needs: tuple[PartName, ...]
    columns: tuple[str, ...]
    measure: Callable[[Case, Learned], Columns]
    rows: Callable[[Columns], tuple[FloatArray, BoolArray, FloatArray]]
    figures: Callable[[Logistic, Sequence[tuple[Case, Columns]]], list[dict[str, Any]]]
    documents: bool = False

    def plan(self, photos: Sequence[Path], puzzles: int, largest: int, fonts: tuple[Path, ...] = ()) -> list[Case]:
        """The puzzles, ``puzzles`` of them evenly spread over the list."""
        printed = fonts if self.documents else None
        jobs = []
        cut = (*self.cases, *self.pages)
        for k, shred in enumerate((*cut, *(ShredConfig(pieces=number) for _, number in self.squares))):
            small = dataclasses.replace(shred, pieces=min(shred.pieces, largest))
            kind = None if k < len(cut) else self.squares[k - len(cut)][0]
            count = 0 if k >= len(self.cases) else 2 if self.mixed and k % self.mixed == 1 else 1
            count = {"same": 1, "foreign": small.pieces}.get(kind, count) if kind else count
            chosen = tuple(photos[(self.stride * k + self.offset + 29 * m) % len(photos)] for m in range(count))
            jobs.append(Case(small, chosen, self.first_seed + k - len(self.cases), self.first_seed + k, kind, printed))
        count = min(puzzles or len(jobs), len(jobs))
        return [jobs[k * len(jobs) // count] for k in range(count)]


def _measure_seam(case: Case, learned: Learned) -> Columns:
    """All verified seeds of one puzzle, the wrong ones thinned out: features, labels, weights."""
    rng = np.random.default_rng(case.seed)
    puzzle, truth = case.cut(rng)
    seeds, step_px = measure_seeds(puzzle, learned)
    right = _right_seeds(puzzle, truth, seeds, gap_of(case.shred))
    use, weight = _thinned(right, _WRONG_PER_PUZZLE, _WEIGHT_OF_RIGHT, rng)
    return {"features": seeds.features[use], "step_px": np.array(step_px), "right": right[use], "weight": weight}


def _right_seeds(puzzle: Puzzle, truth: Assembly, seeds: Candidates, gap_px: float) -> BoolArray:
    borders = {(b.i, b.j): b for b in common_borders(puzzle, truth, gap_px=gap_px, min_share=0.0)}
    right = np.zeros(len(seeds), bool)
    for k in range(len(seeds)):
        border = borders.get((int(seeds.i[k]), int(seeds.j[k])))
        if border is not None:
            true_pose = truth.poses[border.i].inverse() @ truth.poses[border.j]
            angle, distance = SE2(*map(float, seeds.pose[k])).distance(true_pose, at=border.middle_in_j)
            right[k] = angle < _RIGHT_RAD and distance < _RIGHT_PX
    return right


def _thinned(
    right: BoolArray, most_wrong: int, weight_of_right: float, rng: np.random.Generator
) -> tuple[NDArray[np.int64], FloatArray]:
    """Rows to keep, the right ones first, and what each counts; a wrong one counts for those left out."""
    wrong = np.flatnonzero(~right)
    kept = rng.choice(wrong, min(len(wrong), most_wrong), replace=False)
    use = np.concatenate([np.flatnonzero(right), kept])
    return use, np.where(right[use], weight_of_right, len(wrong) / max(1, len(kept)))


def _measure_contact(case: Case, learned: Learned) -> Columns:
    """Seeds of one ragged puzzle as they settle, the wrong ones thinned out: terms, labels, weights."""
    rng = np.random.default_rng(case.seed)
    puzzle, truth = case.cut(rng)
    seeds, step_px = settle_seeds(puzzle, learned)
    right = _right_seeds(puzzle, truth, seeds, gap_of(case.shred))
    use, weight = _thinned(right, _WRONG_SETTLED, _WEIGHT_OF_SETTLED, rng)
    terms = contact_terms(seeds.take(use), step_px)
    return {"terms": terms.astype(np.float32), "right": right[use], "weight": weight}


def _measure_touching(case: Case, learned: Learned) -> Columns:
    puzzle, truth = case.cut(np.random.default_rng(case.seed))
    rows, terms = touching(puzzle, learned)
    return {"terms": terms, "right": right_candidates(puzzle, rows, truth, gap_px=gap_of(case.shred))}


def _measure_lines(case: Case, learned: Learned) -> Columns:
    puzzle, truth = case.cut(np.random.default_rng(case.seed))
    rows, terms = touching(puzzle, learned, printed=True)
    return {"terms": terms, "right": right_candidates(puzzle, rows, truth, gap_px=gap_of(case.shred))}


def _measure_combined(case: Case, learned: Learned) -> Columns:
    puzzle, truth = case.cut(np.random.default_rng(case.seed))
    rows, terms, said = votes(puzzle, learned)
    right = right_candidates(puzzle, rows, truth, gap_px=gap_of(case.shred))
    return {"terms": terms, "votes": said, "right": right}


def _measure_confidence(case: Case, learned: Learned) -> Columns:
    """Joins that hold the puzzle together, as it was placed in several ways: features, shares, labels and ends; and its pieces.

    A piece has a number of its own in every way, and so has the component that it is in.
    """
    puzzle, truth = case.cut(np.random.default_rng(case.seed))
    rows = []
    for way, (assembly, scored) in enumerate(placements(puzzle, learned)):
        evidence, first = gather_evidence(assembly, scored), way * len(puzzle)
        good = rightly_placed(puzzle, assembly, truth)
        ends = [(assembly.joins[row].alignment.i, assembly.joins[row].alignment.j) for row in evidence.tree.edges]
        members = [(number, idx) for number, component in enumerate(assembly.components) for idx in component]
        rows.append({
            "features": evidence.features, "share": evidence.share, "others": evidence.others,
            "ends": np.array(ends, np.int64).reshape(-1, 2) + first,
            "right": np.array(right_joins(puzzle, assembly, truth), dtype=bool)[list(evidence.tree.edges)],
            "piece": np.array([idx for _, idx in members], np.int64) + first,
            "component": np.array([number for number, _ in members], np.int64) + first,
            "piece_right": np.array([idx in good for _, idx in members], dtype=bool),
        })  # fmt: skip
    return {name: np.concatenate([row[name] for row in rows]) for name in rows[0]}


def _seam_rows(part: Columns) -> tuple[FloatArray, BoolArray, FloatArray]:
    return seam_terms(part["features"], float(part["step_px"])), part["right"], part["weight"]


def _contact_rows(part: Columns) -> tuple[FloatArray, BoolArray, FloatArray]:
    terms = with_products(part["terms"].astype(np.float64))
    return terms, part["right"], part["weight"] * (100.0 / np.sqrt(max(1, len(terms))))


def _touching_rows(part: Columns) -> tuple[FloatArray, BoolArray, FloatArray]:
    right = part["right"]
    return part["terms"], right, np.full(len(right), 100.0 / np.sqrt(max(1, len(right))))


def _precision_of(rows: Callable[[Columns], tuple[FloatArray, BoolArray, FloatArray]]) -> Callable[..., list[dict[str, Any]]]:
    """Average precision on each held-out puzzle."""

    def figures(found: Logistic, held_out: Sequence[tuple[Case, Columns]]) -> list[dict[str, Any]]:
        return [
            {"puzzle": str(case), "average precision": average_precision(_logit(found, rows(part)[0]), part["right"])}
            for case, part in held_out
        ]

    return figures


def _combined_rows(part: Columns) -> tuple[FloatArray, BoolArray, FloatArray]:
    """Every puzzle counts with its root number of candidates, so that large ones do not outweigh small ones."""
    right = part["right"]
    return combined_terms(part["terms"], part["votes"]), right, np.full(len(right), 100.0 / np.sqrt(max(1, len(right))))


def _confidence_rows(part: Columns) -> tuple[FloatArray, BoolArray, FloatArray]:
    return part["features"], part["right"], np.ones(len(part["right"]))


def _combined_figures(found: Logistic, held_out: Sequence[tuple[Case, Columns]]) -> list[dict[str, Any]]:
    """Average precision of the seam fit alone, of our network alone, and of both."""
    rows = []
    for case, part in held_out:
        scores = {"fit": part["votes"][:, 0], "seam": part["votes"][:, 1], "combined": _logit(found, _combined_rows(part)[0])}
        rows.append({"puzzle": str(case), **{name: average_precision(each, part["right"]) for name, each in scores.items()}})
    return rows


def _confidence_figures(found: Logistic, held_out: Sequence[tuple[Case, Columns]]) -> list[dict[str, Any]]:
    """What is said against what is seen, for the joins that hold puzzles together and for pieces."""
    rows: list[dict[str, Any]] = []
    if not held_out:
        return rows
    said = [rate(part["features"], part["share"], part["others"], found) for _, part in held_out]
    pieces = [_said_of_pieces(sure, part) for sure, (_, part) in zip(said, held_out, strict=True)]
    for of, probabilities, label in (("joins", said, "right"), ("pieces", pieces, "piece_right")):
        probability, good = np.concatenate(probabilities), np.concatenate([part[label] for _, part in held_out])
        for low, high in pairwise(_BINS):
            inside = (probability >= low) & (probability < high)
            if inside.any():
                mean = {"said": float(probability[inside].mean()), "seen": float(good[inside].mean())}
                rows.append({"of": of, "said between": f"{low:.2f}-{min(high, 1.0):.2f}", **mean, "number": int(inside.sum())})
    return rows


def _said_of_pieces(sure: FloatArray, part: Columns) -> FloatArray:
    """Confidences of the pieces, in order, when those of the joins are ``sure``."""
    pieces, ends = part["piece"].tolist(), [(int(i), int(j)) for i, j in part["ends"]]
    tree = strongest_tree(max(pieces, default=-1) + 1, ends, sure)
    components: dict[int, list[int]] = {}
    for idx, number in zip(pieces, part["component"].tolist(), strict=True):
        components.setdefault(number, []).append(idx)
    reliable = piece_reliability(tree, sure[list(tree.edges)], list(components.values()))
    return np.array([reliable[idx] for idx in pieces], np.float64)


def _logit(found: Logistic, terms: FloatArray) -> FloatArray:
    return np.asarray(terms @ np.array(found.weights) + found.bias)


def _cuts(pieces: int, *values: float, option: str = "perturbation", times: int = 1) -> list[ShredConfig]:
    return [ShredConfig(**{"pieces": pieces, option: value}) for value in values] * times  # type: ignore[arg-type]


def _presets(times: int, seed: int, *names: str) -> list[ShredConfig]:
    """Each preset so often, at strengths from weak to full, of 12 to 36 pieces."""
    sizes, rng = (18, 36, 12, 25), np.random.default_rng(seed)
    return [preset(name, 0.2 + 0.8 * (k + 0.5) / times, rng, sizes[k % len(sizes)]) for k in range(times) for name in names]


_WORLD = ("fresco", "torn-photo", "fresco", "phone", "fresco", "old-print")

_HARD = [
    ShredConfig(pieces=42, perturbation=0.0), ShredConfig(pieces=48, perturbation=0.005),
    ShredConfig(pieces=64, perturbation=0.01), ShredConfig(pieces=42, perturbation=0.0, missing=0.3),
    ShredConfig(pieces=36, perturbation=0.02, erosion_px=3.0),
    ShredConfig(pieces=36, perturbation=0.005, noise=12.0, jpeg_quality=40), ShredConfig(pieces=20, strips=True),
    ShredConfig(pieces=36, perturbation=0.0, color_shift=8.0), ShredConfig(pieces=36, cuts=9, perturbation=0.0),
    ShredConfig(pieces=42, perturbation=0.01, missing=0.3), ShredConfig(pieces=36, perturbation=0.02, rim_px=4.0),
    ShredConfig(pieces=36, perturbation=0.005, erosion_px=1.5), ShredConfig(pieces=36),
]  # fmt: skip
"""Kinds of puzzles on which joins go wrong, and one that is easy."""


FITS: dict[FitName, Fit] = {
    "fit": Fit(
        title="seam fit",
        cases=[
            *_cuts(9, 0.03, 0.06, times=2), *_cuts(36, 0.02, 0.03, 0.04, 0.06, times=4),
            *_cuts(100, 0.02, 0.03, 0.04, 0.05, times=2), *_cuts(400, 0.04),
            *_cuts(36, 1.0, 2.0, 2.0, 3.0, 4.0, option="erosion_px", times=2), *_cuts(100, 1.0, 2.0, option="erosion_px"),
            *_cuts(36, 0.0, times=8), *[ShredConfig(pieces=36, noise=8.0), ShredConfig(pieces=36, jpeg_quality=75)] * 2,
        ],
        pages=_cuts(36, 0.03, 0.04, 0.05, times=2), squares=(), stride=7, offset=0, mixed=0, first_seed=0,
        checks=lambda k: k % 2 == 1, penalty=1e-5, digits=5, needs=("fit",), columns=("features", "step_px", "right", "weight"),
        measure=_measure_seam, rows=_seam_rows, figures=_precision_of(_seam_rows),
    ),
    "contact": Fit(
        title="contact fit",
        cases=[*_presets(7, 1, *_WORLD), *_cuts(25, 0.0, 0.02, 0.04)],
        pages=_presets(5, 2, "torn-page"), squares=(), stride=7, offset=1, mixed=0, first_seed=2000,
        checks=lambda k: k % 5 in (1, 3),
        penalty=1e-4, digits=5, needs=("fit",), columns=("terms", "right", "weight"),
        measure=_measure_contact, rows=_contact_rows, figures=_precision_of(_contact_rows),
    ),
    "touching": Fit(
        title="combined score of seams that touch in parts",
        cases=[*_presets(10, 3, *_WORLD), *_cuts(36, 0.0, 0.0, 0.0, 0.01, 0.02, 0.04),
               *_cuts(36, 2.0, 4.0, option="erosion_px")],
        pages=[*_presets(6, 4, "torn-page"), *_cuts(36, 0.0, 0.04)], squares=(), stride=11, offset=5, mixed=0, first_seed=8000,
        checks=lambda k: k % 5 in (1, 3), penalty=1e-4, digits=5, needs=("fit", "contact", "ragged"),
        columns=("terms", "right"), measure=_measure_touching, rows=_touching_rows,
        figures=_precision_of(_touching_rows),
    ),
    "lines": Fit(
        title="combined score of such seams on pages",
        cases=(), pages=[*_presets(20, 8, "torn-page"), *_presets(4, 9, "phone", "old-print", "torn-photo")], squares=(),
        stride=11, offset=5, mixed=0, first_seed=9000, checks=lambda k: k % 5 in (1, 3), penalty=1e-4, digits=5,
        needs=("fit", "contact", "printed"), columns=("terms", "right"), measure=_measure_lines, rows=_touching_rows,
        figures=_precision_of(_touching_rows), documents=True,
    ),
    "combined": Fit(
        title="combined score",
        cases=[
            *[ShredConfig(pieces=9)] * 2, *_cuts(36, 0.02, 0.03, 0.04, 0.06, times=4),
            *_cuts(100, 0.02, 0.03, 0.04, 0.05, times=2), *_cuts(400, 0.04),
            *_cuts(36, 1.0, 2.0, 2.0, 3.0, 4.0, option="erosion_px", times=2), *_cuts(100, 1.0, 2.0, option="erosion_px"),
            *_cuts(36, 0.0, times=10), *_cuts(100, 0.0, times=2),
            *[ShredConfig(pieces=36, noise=8.0), ShredConfig(pieces=36, jpeg_quality=75),
              ShredConfig(pieces=36, color_shift=5.0)] * 2,
        ],
        pages=_cuts(36, 0.03, 0.04, 0.0, 0.05, times=2), squares=(), stride=11, offset=3, mixed=0,
        first_seed=5000,  # cuts that no network was trained on
        checks=lambda k: k % 2 == 1, penalty=1e-5, digits=5, needs=("fit", "seam"), columns=("terms", "votes", "right"),
        measure=_measure_combined,
        rows=_combined_rows, figures=_combined_figures,
    ),
    "confidence": Fit(
        title="confidence",
        cases=[*_HARD * 3, *_presets(5, 6, *_WORLD)],
        pages=[*_cuts(36, 0.0, 0.01, 0.0, 0.005), *_presets(3, 7, "torn-page")],
        squares=[
            ("noise", 40), ("white", 16), ("same", 40), ("foreign", 40), ("noise", 16), ("white", 40), ("same", 16),
            *[("foreign", number) for number in (30, 24, 50, 16, 36, 60, 40)],
        ],
        stride=11, offset=3, mixed=4, first_seed=1000, checks=lambda k: k % 4 >= 2, penalty=1e-3, digits=6,
        needs=("fit", "contact", "seam", "ragged", "printed", "combined", "touching", "lines"),
        columns=("features", "right", "share", "others", "ends", "piece", "component", "piece_right"),
        measure=_measure_confidence, rows=_confidence_rows,
        figures=_confidence_figures,
    ),
}  # fmt: skip

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

from jigsawnet.confidence import join_features, judge_assembly
from jigsawnet.evaluation.detect_metrics import average_precision
from jigsawnet.evaluation.detector import simulate_scores
from jigsawnet.evaluation.metrics import right_candidates, right_joins, right_pieces
from jigsawnet.evaluation.neighbors import common_borders
from jigsawnet.geometry import SE2
from jigsawnet.io.images import read_image
from jigsawnet.learned import Learned, Logistic, PartName
from jigsawnet.score.combine import combined_terms
from jigsawnet.seam_fit import seam_terms
from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.shred.pages import make_page
from jigsawnet.training.examples import BORDER_PX, Columns
from jigsawnet.training.solving import measure_seeds, placements, votes
from jigsawnet.types import Assembly, BoolArray, FloatArray, Puzzle

FitName = Literal["fit", "combined", "confidence"]

_RIGHT_RAD, _RIGHT_PX = np.radians(3.0), 8.0
"""A seed this near to the truth is right."""
_WEIGHT_OF_RIGHT = 5.0
_WRONG_PER_PUZZLE = 40_000
"""Wrong seeds kept of each puzzle, each counting for those left out."""
_CUT_CLEARLY = 0.03
"""Perturbation from which on a puzzle is also placed by simulated scores: by its own there would be too few wrong joins."""
_BINS = (0.0, 0.5, 0.8, 0.95, 0.99, 1.01)


@dataclass(frozen=True, slots=True)
class Case:
    """One puzzle: how it is cut, from which photographs (none: from a page of text), and the seeds."""

    shred: ShredConfig
    photos: tuple[Path, ...]
    page_seed: int
    seed: int

    def cut(self, rng: np.random.Generator) -> tuple[Puzzle, Assembly]:
        """The puzzle and its truth."""
        pictures = [read_image(path)[..., :3] for path in self.photos] or [make_page(np.random.default_rng(self.page_seed))]
        return shred_images(pictures, self.shred, rng)

    def __str__(self) -> str:
        kind = "page" if not self.photos else f"{len(self.photos)} photo{'s' * (len(self.photos) > 1)}"
        default = ShredConfig()
        changed = [
            f"{name.replace('_', ' ')} {value:g}"
            for name, value in dataclasses.asdict(self.shred).items()
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

    def plan(self, photos: Sequence[Path], puzzles: int, largest: int) -> list[Case]:
        """The puzzles, ``puzzles`` of them evenly spread over the list."""
        jobs = []
        for k, shred in enumerate((*self.cases, *self.pages)):
            count = 0 if k >= len(self.cases) else 2 if self.mixed and k % self.mixed == 1 else 1
            chosen = tuple(photos[(self.stride * k + self.offset + 29 * m) % len(photos)] for m in range(count))
            small = dataclasses.replace(shred, pieces=min(shred.pieces, largest))
            jobs.append(Case(small, chosen, self.first_seed + k - len(self.cases), self.first_seed + k))
        count = min(puzzles or len(jobs), len(jobs))
        return [jobs[k * len(jobs) // count] for k in range(count)]


def _measure_seam(case: Case, learned: Learned) -> Columns:
    """All verified seeds of one puzzle, the wrong ones thinned out: features, labels, weights."""
    rng = np.random.default_rng(case.seed)
    puzzle, truth = case.cut(rng)
    seeds, step_px = measure_seeds(puzzle, learned)
    gap_px = BORDER_PX + 2 * case.shred.erosion_px
    borders = {(b.i, b.j): b for b in common_borders(puzzle, truth, gap_px=gap_px, min_share=0.0)}
    right = np.zeros(len(seeds), bool)
    for k in range(len(seeds)):
        border = borders.get((int(seeds.i[k]), int(seeds.j[k])))
        if border is not None:
            true_pose = truth.poses[border.i].inverse() @ truth.poses[border.j]
            angle, distance = SE2(*map(float, seeds.pose[k])).distance(true_pose, at=border.middle_in_j)
            right[k] = angle < _RIGHT_RAD and distance < _RIGHT_PX
    wrong = np.flatnonzero(~right)
    kept = rng.choice(wrong, min(len(wrong), _WRONG_PER_PUZZLE), replace=False)
    use = np.concatenate([np.flatnonzero(right), kept])
    weight = np.where(right[use], _WEIGHT_OF_RIGHT, len(wrong) / max(1, len(kept)))
    return {"features": seeds.features[use], "step_px": np.array(step_px), "right": right[use], "weight": weight}


def _measure_combined(case: Case, learned: Learned) -> Columns:
    puzzle, truth = case.cut(np.random.default_rng(case.seed))
    rows, terms, said = votes(puzzle, learned)
    right = right_candidates(puzzle, rows, truth, gap_px=BORDER_PX + 2 * case.shred.erosion_px)
    return {"terms": terms, "votes": said, "right": right}


def _measure_confidence(case: Case, learned: Learned) -> Columns:
    """Joins of the placed puzzle: features and labels; its pieces: confidence by the coefficients in force, and labels."""
    rng = np.random.default_rng(case.seed)
    puzzle, truth = case.cut(rng)
    gap_px = BORDER_PX + 2 * case.shred.erosion_px
    simulate = None
    if case.shred.perturbation >= _CUT_CLEARLY:
        simulate = lambda found: simulate_scores(right_candidates(puzzle, found, truth, gap_px=gap_px), 0.5, 0.9, rng)  # noqa: E731
    rows = []
    for assembly, scored in placements(puzzle, learned, simulate):
        judged, good = judge_assembly(assembly, scored, learned.confidence), right_pieces(puzzle, assembly, truth)
        rows.append({
            "features": join_features(assembly, scored),
            "right": np.array(right_joins(puzzle, assembly, truth), dtype=bool),
            "sure": np.array([judged.confidence[idx] for idx in judged.poses]),
            "piece_right": np.array([idx in good for idx in judged.poses], dtype=bool),
        })  # fmt: skip
    return {name: np.concatenate([row[name] for row in rows]) for name in rows[0]}


def _seam_rows(part: Columns) -> tuple[FloatArray, BoolArray, FloatArray]:
    return seam_terms(part["features"], float(part["step_px"])), part["right"], part["weight"]


def _combined_rows(part: Columns) -> tuple[FloatArray, BoolArray, FloatArray]:
    """Every puzzle counts with its root number of candidates, so that large ones do not outweigh small ones."""
    right = part["right"]
    return combined_terms(part["terms"], part["votes"]), right, np.full(len(right), 100.0 / np.sqrt(max(1, len(right))))


def _confidence_rows(part: Columns) -> tuple[FloatArray, BoolArray, FloatArray]:
    return part["features"], part["right"], np.ones(len(part["right"]))


def _seam_figures(found: Logistic, held_out: Sequence[tuple[Case, Columns]]) -> list[dict[str, Any]]:
    return [
        {"puzzle": str(case), "average precision": average_precision(_logit(found, _seam_rows(part)[0]), part["right"])}
        for case, part in held_out
    ]


def _combined_figures(found: Logistic, held_out: Sequence[tuple[Case, Columns]]) -> list[dict[str, Any]]:
    """Average precision of the seam fit alone, of our network alone, and of both."""
    rows = []
    for case, part in held_out:
        scores = {"fit": part["votes"][:, 0], "seam": part["votes"][:, 1], "combined": _logit(found, _combined_rows(part)[0])}
        rows.append({"puzzle": str(case), **{name: average_precision(each, part["right"]) for name, each in scores.items()}})
    return rows


def _confidence_figures(found: Logistic, held_out: Sequence[tuple[Case, Columns]]) -> list[dict[str, Any]]:
    """What is said against what is seen, for joins, and for pieces by the coefficients in force before."""
    rows: list[dict[str, Any]] = []
    if not held_out:
        return rows
    features, right, sure, piece_right = (
        np.concatenate([part[name] for _, part in held_out]) for name in ("features", "right", "sure", "piece_right")
    )
    said = 1 / (1 + np.exp(-np.clip(_logit(found, features), -30, 30)))
    for of, probability, good in (("joins", said, right), ("pieces, before", sure, piece_right)):
        for low, high in pairwise(_BINS):
            inside = (probability >= low) & (probability < high)
            if inside.any():
                mean = {"said": float(probability[inside].mean()), "seen": float(good[inside].mean())}
                rows.append({"of": of, "said between": f"{low:.2f}-{min(high, 1.0):.2f}", **mean, "number": int(inside.sum())})
    return rows


def _logit(found: Logistic, terms: FloatArray) -> FloatArray:
    return np.asarray(terms @ np.array(found.weights) + found.bias)


def _cuts(pieces: int, *values: float, option: str = "perturbation", times: int = 1) -> list[ShredConfig]:
    return [ShredConfig(**{"pieces": pieces, option: value}) for value in values] * times  # type: ignore[arg-type]


FITS: dict[FitName, Fit] = {
    "fit": Fit(
        title="seam fit",
        cases=[
            *_cuts(9, 0.03, 0.06, times=2), *_cuts(36, 0.02, 0.03, 0.04, 0.06, times=4),
            *_cuts(100, 0.02, 0.03, 0.04, 0.05, times=2), *_cuts(400, 0.04),
            *_cuts(36, 1.0, 2.0, 2.0, 3.0, 4.0, option="erosion_px", times=2), *_cuts(100, 1.0, 2.0, option="erosion_px"),
            *_cuts(36, 0.0, times=8), *[ShredConfig(pieces=36, noise=8.0), ShredConfig(pieces=36, jpeg_quality=75)] * 2,
        ],
        pages=_cuts(36, 0.03, 0.04, 0.05, times=2), stride=7, offset=0, mixed=0, first_seed=0, checks=lambda k: k % 2 == 1,
        penalty=1e-5, digits=5, needs=("fit",), columns=("features", "step_px", "right", "weight"),
        measure=_measure_seam, rows=_seam_rows, figures=_seam_figures,
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
        pages=_cuts(36, 0.03, 0.04, 0.0, 0.05, times=2), stride=11, offset=3, mixed=0,
        first_seed=5000,  # cuts that no network was trained on
        checks=lambda k: k % 2 == 1, penalty=1e-5, digits=5, needs=("fit", "seam"), columns=("terms", "votes", "right"),
        measure=_measure_combined,
        rows=_combined_rows, figures=_combined_figures,
    ),
    "confidence": Fit(
        title="confidence",
        cases=[
            *_cuts(36, 0.0, times=16), *_cuts(64, 0.005, times=8), *_cuts(100, 0.01, times=6),
            *[ShredConfig(pieces=36, perturbation=0.0, missing=0.3)] * 6,
            *[ShredConfig(pieces=36), ShredConfig(pieces=100), ShredConfig(pieces=36, erosion_px=3.0)] * 2,
        ],
        pages=(), stride=11, offset=3, mixed=2, first_seed=1000, checks=lambda k: k % 4 >= 2, penalty=1e-3, digits=6,
        needs=("fit", "seam", "combined", "confidence"), columns=("features", "right", "sure", "piece_right"),
        measure=_measure_confidence, rows=_confidence_rows,
        figures=_confidence_figures,
    ),
}  # fmt: skip

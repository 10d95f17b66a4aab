"""How likely a join of strips is by what the networks say of it: fitted on whole pages, made up and shredded."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from jigsawnet.context import Context
from jigsawnet.errors import ConfigError
from jigsawnet.io.files import write_text
from jigsawnet.learned import Learned, Logistic
from jigsawnet.match.strips import ROW_PX, SideJoins, best_joins, describe_sides, strip_terms
from jigsawnet.shred.documents import Typefaces
from jigsawnet.strips import straighten
from jigsawnet.training.cuts import CutsConfig, shredded_page
from jigsawnet.training.fits import regress
from jigsawnet.training.straight import straight_page
from jigsawnet.types import BoolArray, FloatArray, Piece, Progress, no_progress
from jigsawnet.workers import LocalWorkers

_SEED = 1_000_000
"""Added to the number of a page, so that none was trained on."""
_RIGHT_PX = 16.0
"""A right join slides by at most so much more or less than the truth, in px of the scaled strips."""
_LOST = 0.3
"""Part of all strips of a page that may be missing."""
_BINS = (0.0, 0.1, 0.5, 0.9, 0.98, 1.01)


@dataclass(frozen=True, slots=True)
class StripFitConfig:
    """Pages that the probability of a join of strips is fitted on."""

    pages: int = 48
    """Whole pages, one in three of which checks what the others gave."""
    processes: int = 2
    """Pages shredded at a time."""

    def __post_init__(self) -> None:
        if self.pages < 3 or self.processes < 1:
            raise ConfigError("strip-fit.pages must be 3 or more, and strip-fit.processes 1 or more.")


def fit_strips(
    photos: Sequence[Path],
    cuts: CutsConfig,
    config: StripFitConfig,
    learned: Learned,
    folder: Path,
    progress: Progress = no_progress,
) -> Logistic:
    """Fit the regression and write ``folder/strips.json``."""
    fonts = Typefaces.find(cuts.fonts)
    parts = []
    with ProcessPoolExecutor(config.processes, get_context("spawn")) as pool:
        jobs = [pool.submit(measure_page, tuple(photos), fonts, cuts.seed, k, learned) for k in range(config.pages)]
        for done, job in enumerate(jobs, start=1):
            parts.append(job.result())
            progress("strips", done, len(jobs))
    half = [part for k, part in enumerate(parts) if k % 3]
    check = _figures(_regressed(half), [part for k, part in enumerate(parts) if k % 3 == 0])
    found = _regressed(parts)
    right = np.concatenate([part[1] for part in parts])
    record = {"pages": config.pages, "rows": len(right), "right": int(right.sum()), "held_out": check}
    write_text(
        folder / "strips.json", json.dumps({"bias": found.bias, "weights": found.weights, "training": record}, indent=1) + "\n"
    )
    return found


def measure_page(
    photos: Sequence[Path], fonts: Typefaces, seed: int, number: int, learned: Learned
) -> tuple[FloatArray, BoolArray]:
    """Terms ``(C, 3)`` and labels ``(C,)`` of all joins of one page, cut straight or shredded in turn, some strips lost."""
    make = shredded_page if number % 2 else straight_page
    rng = np.random.default_rng([seed, _SEED + number])
    pieces, lines, turned = _lose(*make(photos, fonts, rng), rng)
    context = Context(workers=LocalWorkers(1))
    strips = straighten(pieces)
    sides = describe_sides(strips, learned.network("strokes"), context)
    joins = None if sides is None else best_joins(sides, context)
    if joins is None:  # nobody stops it
        raise RuntimeError("the work was stopped")
    return strip_terms(joins), right_joins(joins, lines, turned)


def _lose(
    pieces: Sequence[Piece], lines: Sequence[Sequence[int]], turned: Sequence[bool], rng: np.random.Generator
) -> tuple[list[Piece], list[list[int]], list[bool]]:
    """The same, less up to `_LOST` of all pieces; lines end where one is missing."""
    kept = np.flatnonzero(rng.random(len(pieces)) >= rng.uniform(0.0, _LOST)).tolist()
    new = {old: at for at, old in enumerate(kept)}
    parts = []
    for line in lines:
        part: list[int] = []
        for old in line:
            if old in new:
                part.append(new[old])
            elif part:
                parts.append(part)
                part = []
        parts.append(part)
    return [replace(pieces[old], idx=at) for old, at in new.items()], parts, [turned[old] for old in kept]


def right_joins(joins: SideJoins, lines: Sequence[Sequence[int]], turned: Sequence[bool]) -> BoolArray:
    """Whether each join is of two neighbours, the right way round, with ends as flush as they were on the page."""
    true = {(2 * a + turned[a], 2 * b + turned[b]) for line in lines for a, b in pairwise(line)}
    true |= {(b ^ 1, a ^ 1) for a, b in true}
    near = np.abs(joins.slide) * ROW_PX <= _RIGHT_PX
    pairs = zip(joins.a.tolist(), joins.b.tolist(), strict=True)
    return np.array([pair in true for pair in pairs], np.bool_) & near


def _regressed(parts: Sequence[tuple[FloatArray, BoolArray]]) -> Logistic:
    """The regression; every page counts alike, however many joins it has."""
    terms, right = (np.concatenate(column) for column in zip(*parts, strict=True))
    each = np.concatenate([np.full(len(part[1]), len(right) / len(parts) / max(1, len(part[1]))) for part in parts])
    return regress(terms, right, each, 1e-5, 6)


def _figures(found: Logistic, parts: Sequence[tuple[FloatArray, BoolArray]]) -> list[dict[str, float]]:
    """What was said and what was so, on pages that the regression has not seen."""
    terms, right = (np.concatenate(column) for column in zip(*parts, strict=True))
    said = 1.0 / (1.0 + np.exp(-np.clip(terms @ np.array(found.weights) + found.bias, -30, 30)))
    where = np.digitize(said, _BINS) - 1
    used = [k for k in range(len(_BINS) - 1) if (where == k).any()]
    rows = [(said[where == k], right[where == k]) for k in used]
    return [{"said": round(float(p.mean()), 4), "right": round(float(r.mean()), 4), "joins": len(p)} for p, r in rows]

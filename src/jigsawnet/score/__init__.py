"""Stage 4: candidate → probability that it is right. Four scorers behind one door."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from jigsawnet.raster import ShapeBank
from jigsawnet.score.combine import combine
from jigsawnet.score.detectors import load_detector
from jigsawnet.score.views import SeamViews
from jigsawnet.types import Alignment, FloatArray, Progress, Puzzle, no_progress

__all__ = ["Ratings", "ScorerName", "score_alignments"]

ScorerName = Literal["fit", "jigsawnet", "seam", "combined"]

HOPELESS = 1e-4
"""Candidates whose seam scores below this are not looked at by the combined scorer."""


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """What was measured along the seams of C candidates: ``terms (C, T)`` and the seam score ``fit (C,)`` made of them."""

    terms: FloatArray
    fit: FloatArray


def score_alignments(
    puzzle: Puzzle, bank: ShapeBank, alignments: Sequence[Alignment], scorer: ScorerName, ratings: Ratings | None = None,
    progress: Progress = no_progress,
) -> FloatArray:  # fmt: skip
    """Score candidates ``(C,)`` in [0, 1].

    ``fit`` is the matcher's own score, ``jigsawnet`` the paper's boosted ensemble, ``seam`` our network on straightened seams,
    ``combined`` a calibrated probability from the measured seam and our network. A candidate whose borders do not meet scores 0
    with all but ``fit``. ``ratings`` are needed by ``combined`` alone.
    """
    if scorer == "fit" or not alignments:
        return np.array([a.fit for a in alignments], dtype=np.float64)
    if scorer == "combined" and ratings is None:
        raise ValueError("the combined scorer needs ratings")
    views = SeamViews(puzzle, bank, alignments)
    score = np.zeros(len(alignments))
    if scorer == "combined" and ratings is not None:
        rows = np.flatnonzero(views.met & (ratings.fit >= HOPELESS))
        seen = load_detector("seam").score(views, rows, progress)
        score[rows] = combine(ratings.terms[rows], np.column_stack([ratings.fit[rows], seen]))
    else:
        rows = np.flatnonzero(views.met)
        score[rows] = load_detector(scorer).score(views, rows, progress)
    return score

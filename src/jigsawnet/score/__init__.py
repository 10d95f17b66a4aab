"""Stage 4: candidate → probability that it is right. The scorers that look at the pieces, behind one door."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from jigsawnet.pixels import build_pixels
from jigsawnet.raster import ShapeBank
from jigsawnet.score.combine import combine
from jigsawnet.score.detectors import load_detector
from jigsawnet.score.long_seams import score_along
from jigsawnet.score.seam_path import unit_of
from jigsawnet.score.views import SeamViews
from jigsawnet.score.weights import weights_digest
from jigsawnet.stopping import Stop
from jigsawnet.types import Alignment, FloatArray, Progress, Puzzle, no_progress
from jigsawnet.workers import Workers

__all__ = ["Ratings", "Scorer", "ScorerName", "scorer_digest"]

NetworkScorerName = Literal["jigsawnet", "seam", "combined"]
ScorerName = Literal["fit", "jigsawnet", "seam", "combined"]

HOPELESS = 1e-4
"""Candidates whose seam scores below this are not looked at by the combined scorer."""


def scorer_digest(name: ScorerName) -> str:
    """Changes when the networks of a scorer do; empty for a scorer without any.

    Raises:
        ModelError: the networks are missing.
    """
    return "" if name == "fit" else weights_digest(_network_of(name))


def _network_of(name: NetworkScorerName) -> str:
    return "seam" if name == "combined" else name


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """What was measured along the seams of C candidates: ``terms (C, T)`` and the seam score ``fit (C,)`` made of them."""

    terms: FloatArray
    fit: FloatArray


class Scorer:
    """Scores candidates of one puzzle.

    ``jigsawnet`` is the paper's boosted ensemble, ``seam`` our network on straightened seams, ``combined`` a calibrated
    probability from the measured seam and our network.
    """

    def __init__(self, puzzle: Puzzle, bank: ShapeBank, name: NetworkScorerName) -> None:
        self._bank = bank
        self._pixels = build_pixels(puzzle, unit_of(bank))
        self._combined = name == "combined"
        self._detector = load_detector(_network_of(name))

    def __call__(
        self,
        alignments: Sequence[Alignment],
        ratings: Ratings,
        progress: Progress = no_progress,
        workers: Workers | None = None,
        stop: Stop | None = None,
    ) -> FloatArray:
        """Score candidates ``(C,)`` in [0, 1]; one whose borders do not meet, or that the stop left unseen, scores 0."""
        score = np.zeros(len(alignments))
        views = SeamViews(self._pixels, self._bank, alignments)
        if not self._combined:
            rows = np.flatnonzero(views.met)
            score[rows] = self._detector.score(views, rows, progress, workers, stop)
            return score
        rows = np.flatnonzero(views.met & (ratings.fit >= HOPELESS))
        seen = score_along(self._detector, self._pixels, self._bank, alignments, views, rows, progress, workers, stop)
        score[rows] = combine(ratings.terms[rows], np.column_stack([ratings.fit[rows], seen]))
        return score

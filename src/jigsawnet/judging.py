"""One measure for all joins of a puzzle: candidates of the matcher, and joins that only show once pieces lie."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jigsawnet.match.rate import cuts_of, rate_alignments
from jigsawnet.raster import ShapeBank
from jigsawnet.score import Ratings, Scorer, ScorerName
from jigsawnet.stopping import Stop
from jigsawnet.types import Alignment, FloatArray, Progress, Puzzle, no_progress
from jigsawnet.workers import Workers


class Judge:
    """Scores joins of one puzzle; ``candidates`` show what its cuts look like. The same on all ``workers``, to the bit."""

    def __init__(
        self,
        puzzle: Puzzle,
        bank: ShapeBank,
        scorer: ScorerName,
        candidates: Sequence[Alignment],
        workers: Workers | None = None,
    ) -> None:
        self.scorer = scorer
        self._workers = workers
        self._bank = bank
        if scorer != "fit":
            self._cuts = cuts_of(bank, candidates)
            self._score = Scorer(puzzle, bank, scorer)

    def __call__(
        self, alignments: Sequence[Alignment], progress: Progress = no_progress, stop: Stop | None = None
    ) -> FloatArray:
        """How likely each join is right, ``(C,)`` in [0, 1]; those not judged before the stop get 0."""
        if self.scorer == "fit":
            return np.array([a.fit for a in alignments], dtype=np.float64)
        ratings = Ratings(*rate_alignments(self._bank, alignments, self._cuts))
        return self._score(alignments, ratings, progress, self._workers, stop)

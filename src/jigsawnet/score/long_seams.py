"""Seams too long to be shown whole, as of strips: looked at in several places."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jigsawnet.pixels import PixelBank
from jigsawnet.raster import ShapeBank
from jigsawnet.score.combine import logit
from jigsawnet.score.detectors import Detector, Rows
from jigsawnet.score.seam_path import longest_shown, unit_of
from jigsawnet.score.views import SeamViews
from jigsawnet.stopping import Stop
from jigsawnet.types import Alignment, Float32Array, FloatArray, Progress, no_progress
from jigsawnet.workers import Workers

MOST_PLACES = 5


def score_along(
    detector: Detector,
    pixels: PixelBank,
    bank: ShapeBank,
    alignments: Sequence[Alignment],
    views: SeamViews,
    rows: Rows,
    progress: Progress = no_progress,
    workers: Workers | None = None,
    stop: Stop | None = None,
) -> FloatArray:
    """The detector's probability ``(R,)`` of candidates ``rows (R,)``, those with long seams seen in up to five places.

    What the places say is averaged as log odds: one place that plainly does not fit outweighs several that might.
    """
    places = count_places(views.length_px[rows], longest_shown(unit_of(bank)))
    long = np.flatnonzero(places > 1)
    score: FloatArray = np.zeros(len(rows))
    short = np.flatnonzero(places <= 1)
    score[short] = detector.score(views, rows[short], progress, workers, stop)
    if not len(long):
        return score
    owner = np.repeat(long, places[long])
    number = np.arange(len(owner)) - np.repeat(np.cumsum(places[long]) - places[long], places[long])
    share = (number + 0.5) / places[owner] - 0.5
    ahead = (share * views.length_px[rows[owner]]).astype(np.float32)
    along = SeamViews(pixels, bank, [alignments[k] for k in rows[owner].tolist()], ahead)
    seen = logit(detector.score(along, np.arange(len(owner)), progress, workers, stop))
    mean = np.bincount(owner, seen, len(rows))[long] / places[long]
    score[long] = 1.0 / (1.0 + np.exp(-mean))
    return score


def count_places(length_px: Float32Array, shown_px: float) -> Rows:
    """How many looks seams ``length_px (R,)`` need when one shows ``shown_px``."""
    places: Rows = np.clip(np.ceil(length_px / shown_px), 1, MOST_PLACES).astype(np.int64)
    return places

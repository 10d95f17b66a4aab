"""Seams too long to be shown whole, as of strips: looked at in several places."""

from __future__ import annotations

import numpy as np

from jigsawnet.borders import Borders
from jigsawnet.candidates import Candidates
from jigsawnet.context import Context
from jigsawnet.score.combine import logit
from jigsawnet.score.detectors import Detector, Rows
from jigsawnet.score.seam_path import longest_shown
from jigsawnet.score.views import SeamViews
from jigsawnet.types import Float32Array, FloatArray

MOST_PLACES = 5


def score_along(
    detector: Detector, borders: Borders, candidates: Candidates, views: SeamViews, rows: Rows, context: Context
) -> FloatArray:
    """The detector's probability ``(R,)`` of candidates ``rows (R,)``, those with long seams seen in up to five places.

    What the places say is averaged as log odds: one place that plainly does not fit outweighs several that might.
    """
    places = count_places(views.length_px[rows], longest_shown(views.unit_px))
    long = np.flatnonzero(places > 1)
    score: FloatArray = np.zeros(len(rows))
    short = np.flatnonzero(places <= 1)
    score[short] = detector.score(views, rows[short], context)
    if not len(long):
        return score
    owner = np.repeat(long, places[long])
    number = np.arange(len(owner)) - np.repeat(np.cumsum(places[long]) - places[long], places[long])
    share = (number + 0.5) / places[owner] - 0.5
    ahead = (share * views.length_px[rows[owner]]).astype(np.float32)
    along = SeamViews(views.pixels, borders, candidates.take(rows[owner]), ahead)
    seen = logit(detector.score(along, np.arange(len(owner)), context))
    mean = np.bincount(owner, seen, len(rows))[long] / places[long]
    score[long] = 1.0 / (1.0 + np.exp(-mean))
    return score


def count_places(length_px: Float32Array, shown_px: float) -> Rows:
    """How many looks seams ``length_px (R,)`` need when one shows ``shown_px``."""
    places: Rows = np.clip(np.ceil(length_px / shown_px), 1, MOST_PLACES).astype(np.int64)
    return places

"""Stage 4: candidates → the probability of each that it is right. Scorers by name; other packages can add theirs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from jigsawnet.candidates import Candidates
from jigsawnet.context import Context
from jigsawnet.learned import PARTS, NetworkName, PartName
from jigsawnet.registry import Registry
from jigsawnet.score.combine import combine, combined_terms
from jigsawnet.score.long_seams import score_along
from jigsawnet.score.scene import Scene, looking
from jigsawnet.score.views import SeamViews
from jigsawnet.seam_fit import contact_fit, seam_terms
from jigsawnet.types import FloatArray

__all__ = ["Scene", "parts_of", "score_candidates", "scorers"]

Score = Callable[[Candidates, Scene, Context], FloatArray]
"""Gives the probability ``(C,)`` in [0, 1] of measured candidates; what a stop left unseen gets 0."""

scorers: Registry[Score] = Registry("scorer")

_PARTS: Mapping[str, tuple[PartName, ...]] = {
    "fit": (), "jigsawnet": ("jigsawnet",), "seam": ("seam",), "ragged": ("ragged",), "printed": ("printed",),
    "combined": ("fit", "contact", "seam", "ragged", "printed", "strokes", "strips", "combined", "touching", "lines"),
}  # fmt: skip


def score_candidates(rows: Candidates, scene: Scene, scorer: str, context: Context) -> FloatArray:
    """How likely each candidate is right by the scorer of this name: ``(C,)`` in [0, 1], the same on all workers."""
    return np.asarray(scorers[scorer](rows, scene, context), np.float64)


def parts_of(scorer: str) -> tuple[PartName, ...]:
    """The parts of the learned bundle that a scorer answers by; of a scorer that was registered, all."""
    return _PARTS.get(scorer, PARTS)


def _score_by_fit(rows: Candidates, scene: Scene, context: Context) -> FloatArray:
    """The matcher's own score."""
    return rows.fit


def _score_by_network(name: NetworkName) -> Score:
    def score(rows: Candidates, scene: Scene, context: Context) -> FloatArray:
        """What one detector sees; a candidate whose borders do not meet scores 0."""
        views = SeamViews(scene.pixels, scene.borders, rows)
        met = np.flatnonzero(views.met)
        probability = np.zeros(len(rows))
        probability[met] = scene.detector(name).score(views, met, context)
        return probability

    return score


def _score_combined(rows: Candidates, scene: Scene, context: Context) -> FloatArray:
    """One calibrated probability from the measured seam and our network; what is hopeless by its seam scores 0.

    In a ragged puzzle there are two, for seams that run together all along and for those that touch in parts; the higher one
    counts. Along the sides of strips the matcher has looked already.
    """
    if rows.of_strips:
        return rows.fit
    learned, step_px = scene.learned, scene.borders.step_px
    whole, parts = scene.cuts.fit(rows, step_px, learned.fit), contact_fit(rows, step_px, learned.contact)
    views = SeamViews(scene.pixels, scene.borders, rows)
    met = np.flatnonzero(views.met & (whole >= learned.combined.hopeless))
    seen = score_along(scene.detector("seam"), scene.borders, rows, views, met, context)
    terms = combined_terms(seam_terms(rows.features[met], step_px), np.column_stack([whole[met], seen]))
    probability = np.zeros(len(rows))
    probability[met] = combine(terms, learned.combined)
    printed = scene.of_page
    likely = np.fmax(parts, rows.fit) if printed else parts  # what was found by its print is looked at
    touching = np.flatnonzero(views.met & rows.ragged & (likely >= learned.touching.hopeless))
    if len(touching):
        own = rows.take(touching)
        seen = score_along(scene.detector(looking(printed)), scene.borders, rows, views, touching, context)
        terms = scene.touching_terms(own, np.column_stack([parts[touching], seen]), printed)
        weights = learned.lines if printed else learned.touching
        probability[touching] = np.maximum(probability[touching], combine(terms, weights))
    return probability


OWN_SCORERS = frozenset(_PARTS)
"""Scorers that judge each candidate by itself, whichever others they are shown with it."""

scorers.register("fit", _score_by_fit)
scorers.register("jigsawnet", _score_by_network("jigsawnet"))
scorers.register("seam", _score_by_network("seam"))
scorers.register("ragged", _score_by_network("ragged"))
scorers.register("printed", _score_by_network("printed"))
scorers.register("combined", _score_combined)

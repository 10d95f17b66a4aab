"""Candidates of any origin, measured and scored as the dense matcher scores its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jigsawnet.match.fit import CutShape, cut_shape, seam_fit, seam_terms
from jigsawnet.match.verify import FEATURES, measure_alignments
from jigsawnet.raster import ShapeBank
from jigsawnet.types import Alignment, FloatArray

_LENGTH, _FLATNESS = FEATURES.index("length"), FEATURES.index("flatness")


def rate_alignments(bank: ShapeBank, alignments: Sequence[Alignment], cuts: CutShape) -> tuple[FloatArray, FloatArray]:
    """Terms ``(C, 77)`` as of `seam_terms` and the seam score ``(C,)``, lowered where a seam is too straight for the cuts."""
    features = measure_alignments(bank, alignments)
    fit = cuts.lower_straight(seam_fit(features, bank.step_px), features[:, _FLATNESS], features[:, _LENGTH])
    return seam_terms(features, bank.step_px), fit


def cuts_of(bank: ShapeBank, alignments: Sequence[Alignment]) -> CutShape:
    """What the cuts of a puzzle look like, from all its candidates."""
    features = measure_alignments(bank, alignments)
    i, j = (np.array([getattr(a, name) for a in alignments], dtype=np.int32) for name in ("i", "j"))
    fit = seam_fit(features, bank.step_px)
    return cut_shape(i, j, fit, features[:, _FLATNESS], features[:, _LENGTH], bank.step_px)

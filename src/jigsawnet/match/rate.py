"""Candidates of any origin, measured and scored as the dense matcher scores its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jigsawnet.match.fit import cut_shape, seam_fit, seam_terms
from jigsawnet.match.verify import FEATURES, measure_alignments
from jigsawnet.raster import ShapeBank
from jigsawnet.types import Alignment, FloatArray


def rate_alignments(bank: ShapeBank, alignments: Sequence[Alignment]) -> tuple[FloatArray, FloatArray]:
    """Terms ``(C, 77)`` as of `seam_terms` and the seam score ``(C,)``, straight seams lowered where cuts are wiggly."""
    features = measure_alignments(bank, alignments)
    fit = seam_fit(features, bank.step_px)
    i, j = (np.array([getattr(a, name) for a in alignments], dtype=np.int32) for name in ("i", "j"))
    length, flatness = features[:, FEATURES.index("length")], features[:, FEATURES.index("flatness")]
    cuts = cut_shape(i, j, fit, flatness, length, bank.step_px)
    return seam_terms(features, bank.step_px), cuts.lower_straight(fit, flatness, length)

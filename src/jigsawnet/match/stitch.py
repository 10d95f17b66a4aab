"""The stitch line of a candidate, as the JigsawNet authors' ``alignments.txt`` has it: where j's border touches i."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

from jigsawnet.borders import Borders
from jigsawnet.types import Alignment, FloatArray

TOUCHING_PX = 3.0


def stitch_lines(borders: Borders, alignments: Sequence[Alignment]) -> list[FloatArray]:
    """For each candidate the border samples of j, ``(K, 2)`` xy in j's own frame, that lie on i's border."""
    trees: dict[int, scipy.spatial.cKDTree] = {}
    lines = []
    for a in alignments:
        if a.i not in trees:
            trees[a.i] = scipy.spatial.cKDTree(borders.points[borders.samples(a.i)])
        own = borders.points[borders.samples(a.j)].astype(np.float64)
        distance, _ = trees[a.i].query(a.i_from_j @ own)
        gap_px = a.seam.distance_px if a.seam else 0.0
        lines.append(own[distance < max(TOUCHING_PX, borders.step_px) + gap_px])
    return lines

"""Stage 5: scored candidates → multigraph."""

from __future__ import annotations

import math
from collections.abc import Sequence

from jigsawnet.types import Alignment, Edge, MatchGraph, best_first


def build_graph(n_fragments: int, alignments: Sequence[Alignment], scores: Sequence[float]) -> MatchGraph:
    """Collect candidates with their scores, best first; a score that is not a number counts as 0."""
    edges = [
        Edge(alignment, min(1.0, max(0.0, score)) if math.isfinite(score) else 0.0)
        for alignment, score in zip(alignments, scores, strict=True)
    ]
    return MatchGraph(n_fragments, tuple(sorted(edges, key=best_first)))

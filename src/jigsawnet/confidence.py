"""Stage 8: how sure each join and each piece is, as probabilities that mean what they say.

A join is judged by its own seam, by the loops that close through it, and by how far it leads before the best candidate that
contradicts it. The weights come from joins of puzzles cut from training photographs (``benchmarks/fit_confidence.py``), hard
ones included, so that of the joins called 80 % sure about 80 % are right.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace

import numpy as np

from jigsawnet.confidence_weights import BIAS, WEIGHTS
from jigsawnet.types import Assembly, Constraints, Edge, FloatArray, MatchGraph, loops_through, sort_components

_FARTHEST = 9.0
_MOST_LOOPS = 3
_NOTHING_DECIDED = Constraints()


def judge_assembly(assembly: Assembly, graph: MatchGraph, constraints: Constraints = _NOTHING_DECIDED) -> Assembly:
    """Replace scores of joins and confidences of pieces by calibrated probabilities; what a person decided is certain."""
    logit = join_features(assembly, graph) @ np.array(WEIGHTS) + BIAS
    sure = 1.0 / (1.0 + np.exp(-np.clip(logit, -30, 30)))
    decided = {(a.i, a.j) for a in constraints.joins}
    edges = tuple(
        Edge(e.alignment, 1.0 if (e.alignment.i, e.alignment.j) in decided else float(p))
        for e, p in zip(assembly.edges, sure, strict=True)
    )
    doubt = {idx: 0.0 if idx in constraints.pinned else 1.0 for idx in assembly.poses}
    for edge in edges:
        for idx in (edge.alignment.i, edge.alignment.j):
            doubt[idx] *= 1.0 - edge.score
    return replace(assembly, edges=edges, confidence={idx: 1.0 - value for idx, value in doubt.items()})


def leave_out_unsure(assembly: Assembly, min_confidence: float, pinned: Collection[int] = ()) -> Assembly:
    """Leave pieces placed with less confidence than wanted unplaced; what they alone connected falls apart."""
    if min_confidence <= 0:
        return assembly
    sure = {idx for idx in assembly.poses if assembly.confidence.get(idx, 0.0) >= min_confidence}
    edges = tuple(e for e in assembly.edges if e.alignment.i in sure and e.alignment.j in sure)
    components = sort_components(group for group in _connected(sure, edges) if len(group) > 1 or group & set(pinned))
    kept = {idx for component in components for idx in component}
    return replace(
        assembly,
        poses={idx: assembly.poses[idx] for idx in kept},
        components=components,
        edges=tuple(e for e in edges if e.alignment.i in kept and e.alignment.j in kept),
        confidence={idx: assembly.confidence[idx] for idx in kept},
    )


def join_features(assembly: Assembly, graph: MatchGraph) -> FloatArray:
    """Per join: logit of its seam, loops of three and four through it (0 to 3), whether none, and its lead: ``(E, 4)``."""
    rival = _rivals(assembly, graph)
    rows = []
    for e, closed in zip(assembly.edges, loops_through(assembly.edges), strict=True):
        i, j = e.alignment.i, e.alignment.j
        own = _logit(e.score)
        loops = min(_MOST_LOOPS, closed)
        lead = own - max(rival.get(i, -_FARTHEST), rival.get(j, -_FARTHEST))
        rows.append((own, float(loops), float(loops == 0), lead))
    return np.array(rows, dtype=np.float64).reshape(-1, 4)


def _rivals(assembly: Assembly, graph: MatchGraph) -> dict[int, float]:
    """For each piece, the best candidate that was not selected because it contradicts the poses, as a logit."""
    selected = {(e.alignment.i, e.alignment.j) for e in assembly.edges}
    best: dict[int, float] = {}
    for e in graph.edges:
        if (e.alignment.i, e.alignment.j) not in selected:
            for idx in (e.alignment.i, e.alignment.j):
                best[idx] = max(best.get(idx, -_FARTHEST), _logit(e.score))
    return best


def _connected(members: set[int], edges: tuple[Edge, ...]) -> list[set[int]]:
    group = {idx: {idx} for idx in members}
    for e in edges:
        a, b = group[e.alignment.i], group[e.alignment.j]
        if a is not b:
            a |= b
            for idx in b:
                group[idx] = a
    return list({id(g): g for g in group.values()}.values())


def _logit(probability: float) -> float:
    p = min(max(probability, 1e-4), 1 - 1e-4)
    return math.log(p / (1 - p))

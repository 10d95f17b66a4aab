"""Stage 7: how sure each join and each piece is, as probabilities that mean what they say.

A join is judged by its own seam, by the loops that close through it, and by how far it leads before the best candidate that
contradicts it. The weights come from joins of puzzles cut from training photographs, hard ones included, so that of the joins
called 80 % sure about 80 % are right.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from jigsawnet.candidates import Candidates
from jigsawnet.learned import Logistic
from jigsawnet.types import Assembly, Constraints, FloatArray, Join, loops_through, sort_components

_FARTHEST = 9.0
_MOST_LOOPS = 3
_NOTHING_DECIDED = Constraints()


def judge_assembly(
    assembly: Assembly, rows: Candidates, weights: Logistic, constraints: Constraints = _NOTHING_DECIDED
) -> Assembly:
    """Give joins and pieces calibrated confidences; what a person decided is certain. ``rows`` are all scored candidates.

    A join: ``1 / (1 + exp(-(features . weights + bias)))``. A piece: ``1 - prod(1 - confidence of its joins)``.
    """
    logit = join_features(assembly, rows) @ np.array(weights.weights) + weights.bias
    sure = 1.0 / (1.0 + np.exp(-np.clip(logit, -30, 30)))
    decided = {(a.i, a.j) for a in constraints.joins}
    joins = tuple(
        replace(e, confidence=1.0 if (e.alignment.i, e.alignment.j) in decided else float(p))
        for e, p in zip(assembly.joins, sure, strict=True)
    )
    doubt = {idx: 0.0 if idx in constraints.pinned else 1.0 for idx in assembly.poses}
    for join in joins:
        for idx in (join.alignment.i, join.alignment.j):
            doubt[idx] *= 1.0 - join.confidence
    return replace(assembly, joins=joins, confidence={idx: 1.0 - value for idx, value in doubt.items()})


def leave_out_unsure(assembly: Assembly, min_confidence: float, pinned: Collection[int] = ()) -> Assembly:
    """Leave pieces placed with less confidence than wanted unplaced; what they alone connected falls apart."""
    if min_confidence <= 0:
        return assembly
    sure = {idx for idx in assembly.poses if assembly.confidence.get(idx, 0.0) >= min_confidence}
    joins = tuple(e for e in assembly.joins if e.alignment.i in sure and e.alignment.j in sure)
    components = sort_components(own for own in _connected(sure, joins) if len(own) > 1 or own & set(pinned))
    kept = {idx for component in components for idx in component}
    return replace(
        assembly,
        poses={idx: assembly.poses[idx] for idx in kept},
        components=components,
        joins=tuple(e for e in joins if e.alignment.i in kept and e.alignment.j in kept),
        confidence={idx: assembly.confidence[idx] for idx in kept},
    )


def join_features(assembly: Assembly, rows: Candidates) -> FloatArray:
    """Per join: logit of its score, loops of three and four through it (0 to 3), whether none, and its lead: ``(E, 4)``."""
    rival = _rivals(assembly, rows)
    features = []
    for e, closed in zip(assembly.joins, loops_through(assembly.joins), strict=True):
        own = float(_logit(np.float64(e.score)))
        loops = min(_MOST_LOOPS, closed)
        lead = own - max(rival[e.alignment.i], rival[e.alignment.j])
        features.append((own, float(loops), float(loops == 0), lead))
    return np.array(features, dtype=np.float64).reshape(-1, 4)


def _rivals(assembly: Assembly, rows: Candidates) -> FloatArray:
    """For each piece ``(n,)``, the logit of its best candidate of a pair that was not selected."""
    n = assembly.n_pieces
    selected = np.array([e.alignment.i * n + e.alignment.j for e in assembly.joins], np.int64)
    others = np.flatnonzero(~np.isin(rows.i.astype(np.int64) * n + rows.j, selected))
    best = np.full(n, -_FARTHEST)
    for side in (rows.i, rows.j):
        np.maximum.at(best, side[others], _logit(rows.score[others]))
    return best


def _connected(members: set[int], joins: tuple[Join, ...]) -> list[set[int]]:
    component = {idx: {idx} for idx in members}
    for e in joins:
        a, b = component[e.alignment.i], component[e.alignment.j]
        if a is not b:
            a |= b
            for idx in b:
                component[idx] = a
    return list({id(c): c for c in component.values()}.values())


def _logit(probability: FloatArray | np.float64) -> FloatArray:
    p = np.clip(probability, 1e-4, 1 - 1e-4)
    return np.asarray(np.log(p / (1 - p)))

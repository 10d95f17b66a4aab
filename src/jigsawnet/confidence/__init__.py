"""Stage 7: how sure each join and each piece is, as probabilities that mean what they say.

The strongest joins hold a component together; each parts it in two sides, and its probability is that the one side lies right
relative to the other. It comes from the seam, from loops, and from how far the join leads before all candidates that contradict
the assembly. A piece's confidence is the product on its way to the main part of its component, so a whole block that hangs on
one doubtful join is doubtful. The weights come from puzzles cut from training photographs, hard ones and nonsense included.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace
from itertools import pairwise

import numpy as np

from jigsawnet.candidates import Candidates
from jigsawnet.confidence.evidence import FEATURES, Evidence, gather_evidence
from jigsawnet.learned import Logistic
from jigsawnet.reliability import piece_reliability, strongest_tree
from jigsawnet.types import Assembly, Constraints, FloatArray, Join, sort_components

__all__ = ["FEATURES", "Evidence", "gather_evidence", "judge_assembly", "leave_out_unsure", "rate", "rate_cuts"]

_NOTHING_DECIDED = Constraints()
_AGREEMENT = 0.2
"""How much other joins between the same two sides count."""


def judge_assembly(
    assembly: Assembly, rows: Candidates, weights: Logistic, constraints: Constraints = _NOTHING_DECIDED
) -> Assembly:
    """Give joins and pieces calibrated confidences; what a person decided is certain. ``rows`` are all scored candidates.

    A join's confidence is that its two pieces lie right relative to each other, a piece's that it does so relative to the main
    part of its component (`piece_reliability`). Strips have no loops, and their scores have weighed all rivals: they count as
    they are.
    """
    certain = {(a.i, a.j) for a in constraints.joins}
    evidence = gather_evidence(assembly, rows, certain)
    tree, pairs = evidence.tree, [(e.alignment.i, e.alignment.j) for e in assembly.joins]
    sure = rate_cuts(evidence, weights) if not rows.of_strips else np.array([assembly.joins[row].score for row in tree.edges])
    sure[[position for position, row in enumerate(tree.edges) if pairs[row] in certain]] = 1.0
    cut = sure.tolist()
    joins = tuple(
        replace(e, confidence=1.0 if pair in certain else math.prod(cut[position] for position in tree.path(*pair)))
        for e, pair in zip(assembly.joins, pairs, strict=True)
    )
    return replace(assembly, joins=joins, confidence=_of_pieces(assembly, joins, constraints))


def rate_cuts(evidence: Evidence, weights: Logistic) -> FloatArray:
    """``(T,)``: how likely the two sides of each join of the tree lie right.

    A logistic regression of its features leaves a doubt d. Where other joins agree, it is ``d (f + (1 - f) d)`` with
    ``f = prod(1 - score) ** 0.2``, a weak power since wrong joins tend to be wrong together. The result is at most ``share``.
    """
    return rate(evidence.features, evidence.share, evidence.others, weights)


def rate(features: FloatArray, share: FloatArray, others: FloatArray, weights: Logistic) -> FloatArray:
    """`rate_cuts`, of the columns by themselves."""
    odds = features @ np.array(weights.weights) + weights.bias
    doubt, less = 1.0 / (1.0 + np.exp(np.clip(odds, -30, 30))), np.exp(_AGREEMENT * others)
    return np.asarray(np.minimum(1.0 - doubt * (less + (1.0 - less) * doubt), share))


def _of_pieces(assembly: Assembly, joins: tuple[Join, ...], constraints: Constraints) -> dict[int, float]:
    """How sure pieces are; those that a person has pinned hold each other and are certain."""
    pinned = [idx for idx in constraints.pinned if idx in assembly.poses]
    links = [((e.alignment.i, e.alignment.j), e.confidence) for e in joins] + [(pair, 1.0) for pair in pairwise(sorted(pinned))]
    sure = np.array([probability for _, probability in links])
    tree = strongest_tree(assembly.n_pieces, [pair for pair, _ in links], sure)
    found = piece_reliability(tree, sure[list(tree.edges)], assembly.components)
    return found | dict.fromkeys(pinned, 1.0)


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


def _connected(members: set[int], joins: tuple[Join, ...]) -> list[set[int]]:
    component = {idx: {idx} for idx in members}
    for e in joins:
        a, b = component[e.alignment.i], component[e.alignment.j]
        if a is not b:
            a |= b
            for idx in b:
                component[idx] = a
    return list({id(c): c for c in component.values()}.values())

"""What speaks for each join that holds a component together: its seam, loops, and the candidates that contradict it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from jigsawnet.candidates import MIDDLE, Candidates
from jigsawnet.geometry import carry_rows, chain_rows, invert_rows, pose_row, wrap_angles
from jigsawnet.reliability import Tree, strongest_tree
from jigsawnet.types import Assembly, BoolArray, FloatArray, loops_through

FEATURES = ("own", "no loop", "crowd", "usual crowd", "placed")
_OWN, _CROWD, _USUAL = (-4.0, 6.0), (-3.0, 6.0), (-3.0, 3.0)
"""Limits of logits: what lies beyond them says no more."""
_FARTHEST = 9.0
_SAME_RAD = np.radians(5.0)
_SAME_PX, _SAME_SHARE = 6.0, 0.12
"""A candidate contradicts the assembly when it lies this far off in the middle of its seam: px, or a part of its length."""
_SHARPNESS = 2.0
"""How fast a rival counts for less, the less likely it is."""
_WITNESS = 2.0
"""A seam of this score counts as so many when all seams between two sides are asked; a bound, not the estimate itself."""
_DOUBT = np.log(1e-3)
"""Of a single seam at least."""
_FEW, _AT_MOST = 1 / 3, 0.49
"""Where less than this part of the pieces is placed, a join that no loop holds is at most so sure: it may well be chance."""


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """The tree of the strongest joins; for each of its T joins ``features (T, 5)``, ``share (T,)`` and ``others (T,)``.

    ``others`` is ``log(prod(1 - score))`` over the other joins between the same two sides.
    """

    tree: Tree
    features: FloatArray
    share: FloatArray
    others: FloatArray


def gather_evidence(assembly: Assembly, rows: Candidates, certain: Collection[tuple[int, int]] = ()) -> Evidence:
    """The joins that hold the components together, and what speaks for them; ``rows`` are all scored candidates.

    A join's crowd is ``logit(score) - log(sum(exp(2 logit(rival)))) / 2`` over the candidates at one of its pieces that
    contradict the assembly, at that piece where it is less: how far it leads before all of them together. With k rivals as good
    as itself it is ``-log(k) / 2``. Features are `FEATURES`: logit of the score, whether no loop of three or four closes
    through the join, its crowd, the median of all crowds, and the log of the part of all pieces that is placed.
    ``share`` is a bound: ``1 / (1 + exp(-2 crowd))`` of the best join between the two sides, as of k + 1 places that fit alike
    one is right, and no more than all seams between the sides say together, ``1 - prod(1 - score) ** 2``. Pairs in ``certain``
    come first into the tree.
    """
    joins = assembly.joins
    pairs = [(e.alignment.i, e.alignment.j) for e in joins]
    own = logit(np.array([e.score for e in joins], np.float64))
    ends = np.array(pairs, np.int64).reshape(-1, 2)
    crowd = own - rival_strength(assembly, rows)[ends].max(axis=1, initial=-_FARTHEST)
    first = np.array([pair in certain for pair in pairs], bool)
    tree = strongest_tree(assembly.n_pieces, pairs, np.where(first, np.inf, own))
    edges = np.array(tree.edges, np.int64)
    best, doubt = crowd[edges], np.log1p(-np.clip([e.score for e in joins], 0.0, 1.0 - 1e-9))
    others = np.zeros(len(edges))
    in_tree = set(tree.edges)
    for row, (i, j) in enumerate(pairs):
        if row not in in_tree:
            way = tree.path(i, j)
            best[way] = np.maximum(best[way], crowd[row])
            others[way] += np.maximum(doubt[row], _DOUBT)
    alone = np.array(loops_through(joins), np.int64)[edges] == 0
    usual = float(np.median(crowd[edges])) if len(edges) else 0.0
    placed = max(1, len(assembly.poses)) / max(1, assembly.n_pieces)
    features = np.column_stack([
        np.clip(own[edges], *_OWN), alone, np.clip(crowd[edges], *_CROWD),
        np.full(len(edges), np.clip(usual, *_USUAL)), np.full(len(edges), np.log(placed)),
    ]).astype(np.float64).reshape(-1, len(FEATURES))  # fmt: skip
    share = np.minimum(
        1.0 / (1.0 + np.exp(np.clip(-_SHARPNESS * best, -30.0, 30.0))), -np.expm1(_WITNESS * (doubt[edges] + others))
    )
    return Evidence(tree, features, np.where(alone & (placed < _FEW), np.minimum(share, _AT_MOST), share), others)


def contradicting(assembly: Assembly, rows: Candidates) -> BoolArray:
    """``(C,)``: candidates that say otherwise than the poses where their pieces lie, or that join pieces of two components."""
    component = np.full(assembly.n_pieces, -1)
    for number, members in enumerate(assembly.components):
        component[list(members)] = number
    apart = (component[rows.i] != component[rows.j]) | (component[rows.i] < 0)
    pose = np.zeros((assembly.n_pieces, 3))
    for idx, each in assembly.poses.items():
        pose[idx] = pose_row(each)
    said = rows.pose.astype(np.float64)
    middle = rows.features[:, MIDDLE].astype(np.float64)
    middle = np.where(np.isnan(middle), said[:, 1:], middle)  # not measured: at the origin of j
    length = np.nan_to_num(rows.feature("length").astype(np.float64))
    lies = chain_rows(invert_rows(pose[rows.i]), pose[rows.j])
    off = np.linalg.norm(carry_rows(lies, carry_rows(invert_rows(said), middle)) - middle, axis=1)
    turned = np.abs(wrap_angles(said[:, 0] - lies[:, 0])) >= _SAME_RAD
    return np.asarray(apart | turned | (off >= np.maximum(_SAME_PX, _SAME_SHARE * length)))


def rival_strength(assembly: Assembly, rows: Candidates) -> FloatArray:
    """``(n,)``: ``log(sum(exp(2 logit(score)))) / 2`` over the candidates of each piece that contradict the assembly."""
    rivals = rows.take(contradicting(assembly, rows))
    weight = np.exp(_SHARPNESS * logit(rivals.score))
    total = np.full(assembly.n_pieces, np.exp(-_SHARPNESS * _FARTHEST))
    for side in (rivals.i, rivals.j):
        np.add.at(total, side, weight)
    return np.asarray(np.log(total) / _SHARPNESS)


def logit(probability: FloatArray) -> FloatArray:
    """``log(p / (1 - p))``, bounded; what is no number counts as nothing."""
    p = np.clip(np.nan_to_num(probability), 1e-4, 1 - 1e-4)
    return np.asarray(np.log(p / (1 - p)))

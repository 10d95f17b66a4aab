"""What is not certain about an assembly, for people: other places that fit about as well, and sentences that say why."""

from __future__ import annotations

import numpy as np

from jigsawnet.candidates import Candidates
from jigsawnet.confidence.evidence import contradicting, gather_evidence, logit
from jigsawnet.reliability import Tree
from jigsawnet.types import UNSURE, Assembly, OtherPlace

_RIVALLED = 0.8
"""A cut whose share is below this has rivals that fit about as well."""
_ALIKE = 1.0
"""Logits by which a candidate may be less likely than the join in its place and still fit about as well."""
_PER_CUT, _MOST = 3, 200
"""Other places that are named, for one cut and in all."""
_MANY = 4
"""Candidates about as good as its best one that a piece has where its sides fit everywhere."""
_STRAIGHT = 0.01
"""Seams that depart from a straight line by less than this part of their length are straight."""
_FEW = 0.25


def find_other_places(assembly: Assembly, rows: Candidates) -> tuple[OtherPlace, ...]:
    """Places where a side of a cut could lie, or what could lie there instead, about as well; the most doubtful cut first."""
    if not assembly.joins or not len(rows):
        return ()
    evidence = gather_evidence(assembly, rows)
    rivals = rows.take(np.flatnonzero(contradicting(assembly, rows))).best_first()
    strength, found, seen = logit(rivals.score), list[OtherPlace](), set[tuple[int, int, float]]()
    own = logit(np.array([join.score for join in assembly.joins]))
    for position in np.argsort(evidence.share, kind="stable").tolist():
        if evidence.share[position] >= _RIVALLED or len(found) >= _MOST:
            break
        number = evidence.tree.edges[position]
        join = assembly.joins[number]
        ends = (join.alignment.i, join.alignment.j)
        side = _smaller_side(evidence.tree, position, assembly)
        at_ends = np.isin(rivals.i, ends) | np.isin(rivals.j, ends)
        alike = np.flatnonzero(at_ends & (strength >= own[number] - _ALIKE))
        named = 0
        for row in alike.tolist():
            place = _place(rivals, row, ends, side, join.score)
            key = (place.piece, place.beside, round(place.beside_from_piece.x, 3)) if place else (-1, -1, 0.0)
            if place is not None and key not in seen and named < _PER_CUT:
                seen.add(key)
                found.append(place)
                named += 1
    return tuple(found[:_MOST])


def _smaller_side(tree: Tree, position: int, assembly: Assembly) -> tuple[int, ...]:
    below = set(tree.below(position))
    whole = next(component for component in assembly.components if not below.isdisjoint(component))
    return tuple(sorted(below if 2 * len(below) <= len(whole) else set(whole) - below))


def _place(rivals: Candidates, row: int, ends: tuple[int, int], side: tuple[int, ...], chosen: float) -> OtherPlace | None:
    """The smaller side placed by a rival, or the piece that the rival puts there instead; None inside of a side."""
    i, j, i_from_j = int(rivals.i[row]), int(rivals.j[row]), rivals.i_from_j(row)
    if (i in side) != (j in side):
        piece, beside, pose = (j, i, i_from_j) if j in side else (i, j, i_from_j.inverse())
        return OtherPlace(side, piece, beside, pose, float(rivals.score[row]), chosen)
    if i in side:
        return None
    piece, beside, pose = (j, i, i_from_j) if i in ends else (i, j, i_from_j.inverse())
    return OtherPlace((piece,), piece, beside, pose, float(rivals.score[row]), chosen)


def describe_doubts(assembly: Assembly, rows: Candidates) -> tuple[str, ...]:
    """Sentences about what is uncertain and why; none when every placed piece is more likely right than not."""
    placed, n_pieces = len(assembly.poses), assembly.n_pieces
    unsure = sum(assembly.confidence.get(idx, 0.0) < UNSURE for idx in assembly.poses)
    few = placed < _FEW * n_pieces
    if not len(rows) or n_pieces < 2 or not (unsure or few):
        return ()
    much = placed == 0 or 2 * unsure >= placed
    if much and fits_everywhere(rows, n_pieces):
        straight = "have straight sides that" if _is_straight(rows) else "have sides that"
        why = f"The pieces {straight} fit each other equally well in many places, and nothing printed on them tells these apart"
    elif few:
        why = "Hardly any two sides go on in one another, and what fits may be chance; the pieces may be of different pictures"
    else:
        why = "Other places fit about as well, or the seams say little"
    if placed == 0:
        return (f"{why}: no piece was placed.",)
    sure = f"{'is' if unsure == 1 else 'are'} less than {100 * UNSURE:.0f} % sure"
    return (f"{why}: {unsure:,} of {placed:,} placed pieces {sure}, so where they lie is a guess.",)


def fits_everywhere(rows: Candidates, n_pieces: int) -> bool:
    """True when most pieces have several candidates about as good as their best one."""
    strength = logit(rows.score)
    best = np.full(n_pieces, -np.inf)
    for side in (rows.i, rows.j):
        np.maximum.at(best, side, strength)
    alike = np.zeros(n_pieces, np.int64)
    for side in (rows.i, rows.j):
        np.add.at(alike, side, strength >= best[side] - _ALIKE)
    return bool(np.median(alike) >= _MANY)


def _is_straight(rows: Candidates) -> bool:
    flatness, length = rows.feature("flatness"), rows.feature("length")
    known = length > 0
    return bool(known.any() and np.median(flatness[known] / length[known]) < _STRAIGHT)

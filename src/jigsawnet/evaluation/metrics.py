"""PCR, ACR, LCR, joins right and found, and candidate recall: how much of a picture is put together rightly."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from jigsawnet.candidates import Candidates
from jigsawnet.evaluation.neighbors import common_borders, true_neighbors
from jigsawnet.geometry import SE2
from jigsawnet.types import Alignment, Assembly, BoolArray, FloatArray, Piece, Puzzle

_ANCHORS_PER_BLOCK = 256

Limits = tuple[float, float]
"""What counts as right: less than this many degrees and pixels away from the truth."""

PCR_LIMITS: Limits = (5.0, 100.0)
PCR_TIGHT_LIMITS: Limits = (2.0, 5.0)
JOIN_LIMITS: Limits = (5.0, 30.0)


@dataclass(frozen=True, slots=True)
class Metrics:
    """Shares are in [0, 1]."""

    n: int
    """Pieces of the puzzle."""
    placed: int
    """Pieces that have a pose."""
    components: int
    """Components: pieces that joins connect."""
    pcr: float
    """Pieces within 5 degrees and 100 px of the truth, over all pieces."""
    pcr_tight: float
    """Pieces within 2 degrees and 5 px of the truth, over all pieces."""
    acr_precision: float | None
    """Selected joins that are right (5 degrees, 30 px), over selected joins; None without joins."""
    acr_recall: float
    """True neighbour pairs joined rightly, over true neighbour pairs."""
    lcr: float
    """Largest set of pieces connected by right joins, over all pieces."""
    acr: float | None = None
    """Right joins that the composer itself chose, over the right candidates that it could choose from, both counted once for a
    pair of pieces; None where it is not known what it chose."""


def evaluate(
    puzzle: Puzzle, assembly: Assembly, truth: Assembly, gap_px: float = 5.0, offered: Candidates | None = None
) -> Metrics:
    """Compare an assembly with the truth; distances are measured at the centroid of a piece.

    The frame of the result is fixed on the anchor piece that gives the most hits; a hit lies in the same component of the
    assembly as the anchor. A truth with several components is a mix of pictures: each has an anchor of its own, only its own
    pieces can be hits, and the hits of all pictures are summed. ``gap_px``: how close true neighbours come. ``offered``: the
    candidates that the composer could choose from, for ACR.
    """
    if not len(puzzle) == assembly.n_pieces == truth.n_pieces:
        raise ValueError("puzzle, assembly and truth must have the same number of pieces")
    n = len(puzzle)
    joins = zip(assembly.joins, right_joins(puzzle, assembly, truth), strict=True)
    right = [(e.alignment.i, e.alignment.j) for e, good in joins if good]
    neighbors = true_neighbors(puzzle, truth, gap_px)
    return Metrics(
        n=n,
        placed=len(assembly.poses),
        components=len(assembly.components),
        pcr=len(right_pieces(puzzle, assembly, truth)) / max(1, n),
        pcr_tight=len(right_pieces(puzzle, assembly, truth, PCR_TIGHT_LIMITS)) / max(1, n),
        acr_precision=len(right) / len(assembly.joins) if assembly.joins else None,
        acr_recall=len(neighbors.intersection(right)) / max(1, len(neighbors)),
        lcr=_largest_connected(n, right) / max(1, n),
        acr=None if offered is None else alignment_correctness(puzzle, assembly, offered, truth),
    )


def alignment_correctness(puzzle: Puzzle, assembly: Assembly, offered: Candidates, truth: Assembly) -> float | None:
    """ACR as the paper's figures behave: right chosen joins over right candidates, each pair of pieces counted once.

    A tree of n - 1 joins cannot have more than (n - 1) / (right candidates), however right it is; see docs/benchmark.md.
    """
    if assembly.chosen is None:
        return None
    chosen = [e.alignment for e in assembly.chosen]
    found = _right_pairs(puzzle, chosen, truth)
    return len(found) / max(1, len(found | _right_pairs(puzzle, offered.alignments(), truth)))


def candidate_recall(
    puzzle: Puzzle,
    rows: Candidates | Iterable[Alignment],
    truth: Assembly,
    max_deg: float = 3.0,
    max_px: float = 8.0,
    gap_px: float = 5.0,
) -> float:
    """Share of the true neighbour pairs that have a candidate within the limits, measured in the middle of the true seam."""
    rows = rows if isinstance(rows, Candidates) else Candidates.of(rows)
    right = rows.take(right_candidates(puzzle, rows, truth, max_deg, max_px, gap_px))
    found = set(zip(right.i.tolist(), right.j.tolist(), strict=True))
    return len(found) / max(1, len(common_borders(puzzle, truth, gap_px)))


def right_candidates(
    puzzle: Puzzle,
    rows: Candidates | Iterable[Alignment],
    truth: Assembly,
    max_deg: float = 3.0,
    max_px: float = 8.0,
    gap_px: float = 5.0,
) -> BoolArray:
    """``(C,)``: candidates that join true neighbours and lie within the limits, measured in the middle of the true seam."""
    rows = rows if isinstance(rows, Candidates) else Candidates.of(rows)
    borders = {(border.i, border.j): border for border in common_borders(puzzle, truth, gap_px)}
    right = np.zeros(len(rows), bool)
    for k, pair in enumerate(zip(rows.i.tolist(), rows.j.tolist(), strict=True)):
        if pair in borders:
            true_pose, middle = _true_join(truth, *pair), borders[pair].middle_in_j
            right[k] = _is_right(rows.i_from_j(k), true_pose, middle, (max_deg, max_px))
    return right


def right_pieces(puzzle: Puzzle, assembly: Assembly, truth: Assembly, limits: Limits = PCR_LIMITS) -> frozenset[int]:
    """Pieces in their true place: the hits of the best anchor of each true picture."""
    centroids = _centroids(puzzle)
    hits: set[int] = set()
    for picture in truth.components:
        parts = (sorted(set(picture).intersection(component)) for component in assembly.components)
        found = [_best_anchor(assembly, truth, members, centroids, limits) for members in parts]
        best: list[int] = max(found, key=len) if found else []
        hits.update(best)
    return frozenset(hits)


def rightly_placed(puzzle: Puzzle, assembly: Assembly, truth: Assembly, limits: Limits = JOIN_LIMITS) -> frozenset[int]:
    """Pieces that lie right relative to the main part of their own component, which is what their confidence speaks of.

    The main part is the largest set of pieces of a component that lie to each other as in the truth; of equally large ones the
    one that is surest.
    """
    centroids = _centroids(puzzle)
    right: set[int] = set()
    for component in assembly.components:
        best: tuple[int, float, list[int]] = (0, 0.0, [])
        for picture in truth.components:
            members = sorted(set(picture).intersection(component))
            for hits in _hits(assembly, truth, members, centroids, limits):
                for row in np.unique(hits, axis=0):
                    found = [idx for idx, hit in zip(members, row, strict=True) if hit]
                    best = max(best, (len(found), sum(assembly.confidence.get(idx, 0.0) for idx in found), found))
        right.update(best[2])
    return frozenset(right)


def right_joins(puzzle: Puzzle, assembly: Assembly, truth: Assembly) -> list[bool]:
    """Which of the selected joins are right; pieces of two pictures can not be joined rightly."""
    return _are_right(puzzle, [e.alignment for e in assembly.joins], truth)


def _are_right(puzzle: Puzzle, alignments: Sequence[Alignment], truth: Assembly) -> list[bool]:
    centroids = _centroids(puzzle)
    picture = {idx: k for k, members in enumerate(truth.components) for idx in members}
    return [
        picture.get(a.i, -1) == picture.get(a.j, -2)
        and _is_right(a.i_from_j, _true_join(truth, a.i, a.j), centroids[a.j], JOIN_LIMITS)
        for a in alignments
    ]


def _right_pairs(puzzle: Puzzle, alignments: Sequence[Alignment], truth: Assembly) -> set[tuple[int, int]]:
    """Pairs of pieces of which one of the alignments is right."""
    return {(a.i, a.j) for a, good in zip(alignments, _are_right(puzzle, alignments, truth), strict=True) if good}


def _centroids(puzzle: Puzzle) -> FloatArray:
    return np.array([_centroid(piece) for piece in puzzle.pieces]).reshape(len(puzzle), 2)


def _best_anchor(assembly: Assembly, truth: Assembly, members: list[int], centroids: FloatArray, limits: Limits) -> list[int]:
    """The most pieces of ``members`` (one component, one picture) that are right when one of them is put on its true place."""
    best: list[int] = []
    for hits in _hits(assembly, truth, members, centroids, limits):
        row = int(hits.sum(1).argmax())
        best = max(best, [idx for idx, hit in zip(members, hits[row], strict=True) if hit], key=len)
    return best


def _hits(
    assembly: Assembly, truth: Assembly, members: list[int], centroids: FloatArray, limits: Limits
) -> Iterator[BoolArray]:
    """Blocks ``(A, M)``: which of M pieces are right when the a-th of them is put on its true place, for all of them in turn.

    Planar points are complex numbers here: a pose is ``z -> exp(i theta) z + shift``.
    """
    angle, shift, place = _as_complex(assembly, members, centroids)
    true_angle, true_shift, true_place = _as_complex(truth, members, centroids)
    turn = true_angle - angle
    for start in range(0, len(members), _ANCHORS_PER_BLOCK):
        anchors = slice(start, start + _ANCHORS_PER_BLOCK)
        difference = turn[anchors, None] - turn[None]
        degrees = np.degrees(np.abs(np.angle(np.exp(1j * difference))))
        moved = np.exp(1j * turn[anchors, None]) * (place[None] - shift[anchors, None]) + true_shift[anchors, None]
        yield (degrees < limits[0]) & (np.abs(moved - true_place[None]) < limits[1])


def _as_complex(
    assembly: Assembly, members: list[int], centroids: FloatArray
) -> tuple[FloatArray, NDArray[np.complex128], NDArray[np.complex128]]:
    """Angle and shift of the pose, and where it carries the centroid, for each of ``members``; each ``(M,)``."""
    rows = np.array([(p.theta, p.x, p.y) for p in (assembly.poses[idx] for idx in members)]).reshape(-1, 3)
    local = centroids[members].reshape(-1, 2) @ (1.0, 1.0j)
    shift = rows[:, 1] + 1j * rows[:, 2]
    return rows[:, 0], shift, np.exp(1j * rows[:, 0]) * local + shift


def _true_join(truth: Assembly, i: int, j: int) -> SE2:
    return truth.poses[i].inverse() @ truth.poses[j]


def _is_right(pose: SE2, true_pose: SE2, at: FloatArray | tuple[float, float], limits: Limits) -> bool:
    angle, distance = pose.distance(true_pose, at)
    return math.degrees(angle) < limits[0] and distance < limits[1]


def _largest_connected(n: int, pairs: list[tuple[int, int]]) -> int:
    """Size of the largest set of ``n`` pieces that ``pairs`` connect; a piece alone counts as a set of one."""
    if not n:
        return 0
    i, j = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    joined = scipy.sparse.coo_array((np.ones(len(pairs)), (i, j)), shape=(n, n))
    _, labels = scipy.sparse.csgraph.connected_components(joined, directed=False)
    return int(np.bincount(labels).max())


def _centroid(piece: Piece) -> tuple[float, float]:
    """Mean (x, y) of the paper pixels; the middle of the picture when there is no paper."""
    rows, columns = np.nonzero(piece.mask)
    if not len(rows):
        height, width = piece.mask.shape
        return (width - 1) / 2, (height - 1) / 2
    return float(columns.mean()), float(rows.mean())

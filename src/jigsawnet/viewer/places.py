"""Where a piece could lie: its candidates against the pieces as they lie on the table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jigsawnet.borders import Borders
from jigsawnet.candidates import Candidates
from jigsawnet.compose.components import pose_rows
from jigsawnet.compose.intersection import placements_intersect
from jigsawnet.edits import Arrangement, Pair, PieceSizes
from jigsawnet.geometry import (
    SAME_JOIN_PX,
    SAME_JOIN_RAD,
    SE2,
    carry_rows,
    chain_rows,
    invert_rows,
    is_same_join,
    wrap_angle,
    wrap_angles,
)
from jigsawnet.types import BoolArray, FloatArray, chance_of_any

MAX_PLACES = 3
_MOST_TRIED = 24
_SNAP_DEG = 20.0
_SNAP_SHARE = 0.35
"""How near a candidate must be to attract, as part of a piece's size."""
LEAST_SCORE = 0.01
"""Places less likely than this are not offered."""
_SNAP_SCORE = 0.02
"""Candidates scored below this attract nothing."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a piece could lie: the joins that agree on it and what they say together."""

    pose: SE2
    score: float
    joins: tuple[Pair, ...]
    beside: int
    """A placed piece that it would be joined to."""


@dataclass(frozen=True, slots=True, eq=False)
class _Offers:
    """Candidates of moving pieces: piece ``own[k]`` put against ``other[k]`` gets ``poses[k]`` on the table."""

    own: NDArray[np.int64]
    other: NDArray[np.int64]
    poses: FloatArray
    score: FloatArray

    def take(self, rows: NDArray[np.intp]) -> _Offers:
        return _Offers(self.own[rows], self.other[rows], self.poses[rows], self.score[rows])


class PlaceFinder:
    """Finds places of pieces among the scored candidates."""

    def __init__(self, candidates: Candidates, borders: Borders, pieces: PieceSizes) -> None:
        self._table = candidates
        self._borders = borders
        self._pieces = pieces
        self.unit_px = float(np.median([max(size) for size in pieces.sizes]))

    def alternatives(self, arrangement: Arrangement, idx: int, most: int = 6) -> list[Place]:
        """Other places of a piece, best join first, however they lie with the rest."""
        offers = self._offers(arrangement, [idx])
        found: list[Place] = []
        here = arrangement.poses.get(idx)
        for k in np.flatnonzero(offers.score >= LEAST_SCORE).tolist():
            pose = _pose(offers.poses[k])
            known = [place.pose for place in found] + ([] if here is None else [here])
            if not any(is_same_join(pose, other, self._borders.center[idx]) for other in known):
                other = int(offers.other[k])
                found.append(Place(pose, float(offers.score[k]), (_pair(idx, other),), other))
            if len(found) == most:
                break
        return found

    def places(self, arrangement: Arrangement, idx: int) -> list[Place]:
        """The best three places: candidates that agree count together, and no piece lies on another of the same page.

        Where another page lies in the way, it makes room when the piece is laid there.
        """
        offers = self._offers(arrangement, [idx])
        found: list[Place] = []
        free = np.ones(len(offers.own), bool)
        while free.any() and len(found) < _MOST_TRIED:
            first = int(np.argmax(free))
            agree = free & self._agree(offers, np.broadcast_to(offers.poses[first], offers.poses.shape))
            free &= ~agree
            found.append(self._joined(offers.take(np.flatnonzero(agree)), _pose(offers.poses[first])))
        found = sorted((place for place in found if place.score >= LEAST_SCORE), key=lambda place: (-place.score, place.joins))
        good = (place for place in found if self._is_free(arrangement, {idx: place.pose}, place.beside))
        return [place for place, _ in zip(good, range(MAX_PLACES), strict=False)]

    def snap(self, arrangement: Arrangement, moving: Sequence[int], target: SE2) -> Place | None:
        """The candidate nearest to where a person holds some pieces; ``target`` and the answer are poses of the first."""
        first = moving[0]
        here = {idx: arrangement.poses[idx] for idx in moving if idx in arrangement.poses}
        move = target @ here[first].inverse() if first in here else SE2.identity()
        held = {idx: move @ pose for idx, pose in here.items()} if first in here else {first: target}
        offers = self._offers(arrangement, sorted(held))
        offers = offers.take(np.flatnonzero(offers.score >= _SNAP_SCORE))
        angle, distance = self._apart(offers, _rows(held, offers.own))
        reach = max(20.0, _SNAP_SHARE * self.unit_px)
        near = np.flatnonzero((distance < reach) & (angle < math.radians(_SNAP_DEG)))
        cost = distance / reach + 0.5 * angle / math.radians(_SNAP_DEG) + 0.7 * (1.0 - offers.score)
        for k in near[np.argsort(cost[near], kind="stable")][:_MOST_TRIED].tolist():
            own = int(offers.own[k])
            shift = _pose(offers.poses[k]) @ held[own].inverse()
            moved = {idx: shift @ pose for idx, pose in held.items()}
            if self._is_free(arrangement, moved, int(offers.other[k])):
                agree = self._agree(offers, _rows(moved, offers.own))
                return self._joined(offers.take(np.flatnonzero(agree)), moved[first])
        return None

    def _offers(self, arrangement: Arrangement, moving: Sequence[int]) -> _Offers:
        """Candidates between moving pieces and placed ones that a person has not rejected, best first."""
        n = len(self._pieces)
        rows = np.zeros((n, 3))
        placed, moves = np.zeros(n, bool), np.zeros(n, bool)
        for idx, pose in arrangement.poses.items():
            rows[idx], placed[idx] = (pose.theta, pose.x, pose.y), True
        moves[list(moving)] = True
        table, still = self._table, placed & ~moves
        forward = np.flatnonzero(moves[table.i] & still[table.j])
        backward = np.flatnonzero(moves[table.j] & still[table.i])
        own = np.concatenate([table.i[forward], table.j[backward]])
        other = np.concatenate([table.j[forward], table.i[backward]])
        other_from_own = np.concatenate([invert_rows(table.pose[forward]), table.pose[backward]])
        score = np.concatenate([table.score[forward], table.score[backward]])
        allowed = np.array([not self._is_rejected(arrangement, e) for e in [*forward, *backward]], dtype=bool)
        order = np.lexsort((other, own, -score))
        order = order[allowed[order]]
        return _Offers(own[order], other[order], chain_rows(rows[other[order]], other_from_own[order]), score[order])

    def _is_rejected(self, arrangement: Arrangement, row: int) -> bool:
        i, j = int(self._table.i[row]), int(self._table.j[row])
        return any(
            (a.i, a.j) == (i, j) and self._pieces.is_same_join(j, a.i_from_j, _pose(self._table.pose[row]))
            for a in arrangement.rejected
        )

    def _apart(self, offers: _Offers, others: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Angle and distance, at the middle of each piece, between the poses offered and other poses of it; each ``(K,)``."""
        middles = self._borders.center[offers.own].astype(np.float64)
        distance = np.linalg.norm(carry_rows(offers.poses, middles) - carry_rows(others, middles), axis=1)
        return np.abs(wrap_angles(offers.poses[:, 0] - others[:, 0])), np.asarray(distance)

    def _agree(self, offers: _Offers, others: FloatArray) -> BoolArray:
        """``(K,)``: offers that are the same join as the other poses would be."""
        angle, distance = self._apart(offers, others)
        return np.asarray((angle < SAME_JOIN_RAD) & (distance < SAME_JOIN_PX))

    def _joined(self, offers: _Offers, pose: SE2) -> Place:
        """Candidates that agree as one place; several of one pair count once."""
        best: dict[Pair, float] = {}
        for own, other, score in zip(offers.own.tolist(), offers.other.tolist(), offers.score.tolist(), strict=True):
            best.setdefault(_pair(own, other), min(max(score, 0.0), 1.0))
        return Place(pose, chance_of_any(best.values()), tuple(sorted(best)), int(offers.other[0]))

    def _is_free(self, arrangement: Arrangement, moved: Mapping[int, SE2], beside: int) -> bool:
        """True when pieces moved there lie on no piece of the component that they come to."""
        fixed = [(k, arrangement.poses[k]) for k in arrangement.component_of(beside) if k not in moved]
        return not placements_intersect(self._borders, pose_rows(fixed), pose_rows(moved.items()))


def _pose(row: FloatArray) -> SE2:
    return SE2(wrap_angle(float(row[0])), float(row[1]), float(row[2]))


def _rows(poses: Mapping[int, SE2], chosen: NDArray[np.int64]) -> FloatArray:
    """The poses of the pieces ``chosen (K,)`` as rows ``(K, 3)``."""
    return np.array([(poses[k].theta, poses[k].x, poses[k].y) for k in chosen.tolist()]).reshape(-1, 3)


def _pair(a: int, b: int) -> Pair:
    return min(a, b), max(a, b)

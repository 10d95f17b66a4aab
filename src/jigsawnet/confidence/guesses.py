"""Best guesses: where pieces that were not placed most likely belong. They are only shown; no assembly is changed by them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jigsawnet.candidates import SHARED, Candidates, Claims
from jigsawnet.confidence.evidence import logit
from jigsawnet.geometry import (
    SAME_JOIN_PX,
    SAME_JOIN_RAD,
    SE2,
    carry_rows,
    chain_rows,
    invert_rows,
    pose_row,
    wrap_angle,
    wrap_angles,
)
from jigsawnet.types import Assembly, BestGuess, BoolArray, FloatArray, GuessedPlace

LEAST = 0.1
"""Best guesses are at least so likely; what is less likely is not shown."""
_LEAST_RUNNER_UP = 0.01
_SHARPNESS = 2.0
"""How fast a rival counts for less, the less likely it is."""
_MOST_TRIED = 12
"""Places of a piece that are tried, the likeliest first."""

IsFree = Callable[[FloatArray, FloatArray], bool]
"""Whether pieces as rows ``(K, 4)`` may be put beside others, in one frame."""


def find_best_guesses(
    assembly: Assembly, rows: Candidates, center: NDArray[np.floating], is_free: IsFree, aside: Collection[int] = ()
) -> tuple[BestGuess, ...]:
    """For each unplaced piece its likeliest place beside a placed or another unplaced piece, and the runner-up.

    ``rows`` are all scored candidates, best first; ``center (n, 2)`` the middles of the pieces. Pieces ``aside`` get none.

    A candidate's weight is ``exp(2 logit(score))``. A place is as likely as its own weight among all that exclude it: other
    places of this piece beside the same component or along the same stretch of its border, and candidates of other
    pieces along the same stretch of the neighbour's border; but no likelier than its score. Candidates that give the same
    place are one. Strips contend for their sides before: their scores have weighed all rivals and count as they are.
    """
    if not len(rows) or not assembly.unplaced:
        return ()
    board = _Board.of(assembly, rows, center)
    found = (board.best_guess(idx, is_free) for idx in assembly.unplaced if idx not in aside)
    return tuple(guess for guess in found if guess is not None)


@dataclass(frozen=True, slots=True, eq=False)
class _Board:
    """What is known of all claims ``(2 C,)``: each row of the candidates once from i's and once from j's side.

    ``other_from_piece (2 C, 3)``; ``score`` and ``weight (2 C,)``; ``group (n,)`` the component of a piece, or a number of
    its own; ``world (n, 3)`` the pose of a piece in its group. The claims of a piece are ``order[first[idx]:first[idx + 1]]``.
    """

    assembly: Assembly
    claims: Claims
    center: FloatArray
    other_from_piece: FloatArray
    score: FloatArray
    weight: FloatArray
    group: NDArray[np.int64]
    world: FloatArray
    order: NDArray[np.intp]
    first: NDArray[np.intp]
    of_strips: bool

    @staticmethod
    def of(assembly: Assembly, rows: Candidates, center: NDArray[np.floating]) -> _Board:
        n, claims, pose = assembly.n_pieces, Claims.of(rows), rows.pose.astype(np.float64)
        group, world = len(assembly.components) + np.arange(n), np.zeros((n, 3))
        for number, members in enumerate(assembly.components):
            group[list(members)] = number
        for idx, each in assembly.poses.items():
            world[idx] = pose_row(each)
        score = np.tile(np.nan_to_num(rows.score), 2)
        order = np.argsort(claims.piece, kind="stable")
        first = np.searchsorted(claims.piece[order], np.arange(n + 1))
        return _Board(
            assembly, claims, center.astype(np.float64), np.concatenate([invert_rows(pose), pose]),
            score, np.exp(_SHARPNESS * logit(score)), group, world, order, first, rows.of_strips,
        )  # fmt: skip

    def at(self, idx: int) -> NDArray[np.intp]:
        """The claims of a piece, the best candidates first."""
        own = self.order[self.first[idx] : self.first[idx + 1]]
        return own[np.argsort(-self.score[own], kind="stable")]

    def best_guess(self, idx: int, is_free: IsFree) -> BestGuess | None:
        """The likeliest free place of a piece and the next."""
        own = self.at(idx)
        lies = chain_rows(self.world[self.claims.other[own]], self.other_from_piece[own])
        group = self.group[self.claims.other[own]]
        left, places = np.ones(len(own), bool), list[tuple[float, int]]()
        while len(places) < _MOST_TRIED and left.any() and self.score[own[(k := int(left.argmax()))]] >= _LEAST_RUNNER_UP:
            agree = self._agree(idx, lies, group, k)
            left &= ~agree
            places.append((self._chance(own, agree, group, k), k))
        free: list[GuessedPlace] = []
        for minus, k in sorted((-chance, k) for chance, k in places):
            if -minus < (_LEAST_RUNNER_UP if free else LEAST) or len(free) == 2:
                break
            other = int(self.claims.other[own[k]])
            if is_free(self._whole(other), np.array([[idx, *lies[k]]])):
                free.append(GuessedPlace(other, _pose(self.other_from_piece[own[k]]), -minus))
        return BestGuess(idx, free[0], free[1] if len(free) > 1 else None) if free else None

    def _agree(self, idx: int, lies: FloatArray, group: NDArray[np.int64], k: int) -> BoolArray:
        """Claims that put the piece where the ``k``-th does."""
        middle = carry_rows(lies, np.broadcast_to(self.center[idx], (len(lies), 2)))
        near = np.linalg.norm(middle - middle[k], axis=1) < SAME_JOIN_PX
        alike = np.abs(wrap_angles(lies[:, 0] - lies[k, 0])) < SAME_JOIN_RAD
        return np.asarray((group == group[k]) & near & alike)

    def _chance(self, own: NDArray[np.intp], agree: BoolArray, group: NDArray[np.int64], k: int) -> float:
        """How likely the place of the ``k``-th claim is."""
        claim = int(own[k])
        if self.of_strips:
            return float(self.score[claim])
        piece, other = int(self.claims.piece[claim]), int(self.claims.other[claim])
        elsewhere = ~agree & ((group == group[k]) | self._share(claim, own))
        same = (claim + len(self.claims.piece) // 2) % len(self.claims.piece)  # the same candidate, from the other side
        theirs = self.at(other)
        beside = self.claims.other[theirs]
        instead = (beside != piece) & (self.group[beside] != self.group[other]) & self._share(same, theirs)
        rivals = max(self.weight[own[elsewhere]].sum(), self.weight[theirs[instead]].sum())
        weight = self.weight[claim]
        return float(min(self.score[claim], weight / (weight + rivals)))

    def _share(self, claim: int, others: NDArray[np.intp]) -> BoolArray:
        """Which claims of the same piece are of the same stretch of its border."""
        apart = np.linalg.norm(self.claims.middle[others] - self.claims.middle[claim], axis=1)
        return np.asarray(apart < SHARED * (self.claims.length[others] + self.claims.length[claim]))

    def _whole(self, other: int) -> FloatArray:
        """A piece with all of its component, ``(K, 4)``."""
        group = int(self.group[other])
        members = self.assembly.components[group] if group < len(self.assembly.components) else (other,)
        return np.array([[idx, *self.world[idx]] for idx in members])


def _pose(row: FloatArray) -> SE2:
    return SE2(wrap_angle(float(row[0])), float(row[1]), float(row[2]))

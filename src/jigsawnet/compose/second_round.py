"""A second look, once most of the picture lies: what single joins could not decide, whole components can.

Components are placed against each other and against left-over pieces by every candidate there is, however weak, and by new
ones found along the joint border of a component. A placement is judged by all borders that meet in it at once. In a ragged
puzzle, where a seam that fits badly may have lost what would fit, the best of what is left is then placed by a guess. At last
every pair of neighbours that the poses imply, but no join names, is measured and named.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy

from jigsawnet.borders import Borders
from jigsawnet.candidates import Candidates
from jigsawnet.compose.components import Components
from jigsawnet.compose.config import SecondRoundConfig
from jigsawnet.compose.constraints import is_near, prepare_problem
from jigsawnet.compose.hints import times_between
from jigsawnet.compose.intersection import HAIR, Overlap, allowed_overlap, placements_intersect
from jigsawnet.compose.problem import finish_assembly
from jigsawnet.context import Context
from jigsawnet.geometry import SE2, carry_rows, pose_row
from jigsawnet.types import Assembly, Constraints, FloatArray, Join, chance_of_any

_AGREEING = 0.3
"""Mean score along the border where components meet, below which a placement is refused."""
_IMPLIED_SHARE = 0.02
"""Part of the shorter perimeter along which the borders of implied neighbours meet at least."""
_AGREED, _WITNESSES, _WITNESS_SHARE = 0.7, 2, 0.05
"""Mean fit of the borders that meet, each as it fits best nearby, from which on shape alone places what is left over; so many
of them run along this part of the shorter perimeter."""
_FIRM, _SAME = 3, 1e-9
_FEW_PIECES = 500
"""Up to so many pieces all pairs are looked at; loading a tree takes longer."""

STAGE = "second round"
_STEPS = 100
"""Progress is told in percent."""

Relation = tuple[int, int, SE2]
"""Pieces ``i < j`` and i_from_j as they lie."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the second look asks of other stages, handed in by the pipeline."""

    measure: Callable[[Candidates], Candidates]
    """Measure seams as the pieces lie, and rate them: fills in ``features`` and ``fit``."""
    score: Callable[[Candidates], FloatArray]
    """The scorer's probability ``(C,)`` of measured candidates."""
    match_components: Callable[[Sequence[Mapping[int, SE2]]], Candidates]
    """Candidates between components, each taken as one piece; ``i`` and ``j`` are numbers of components, ``pose`` is i_from_j
    between their frames."""
    settle: Callable[[Candidates], Candidates] = lambda rows: rows
    """Of measured seams, those that meet better nearby, as near as loops may be open, moved there and rated there."""


@dataclass(frozen=True, slots=True)
class SecondRoundStats:
    """What the second look found."""

    components_merged: int
    joins_added: int


def second_round(
    rows: Candidates,
    borders: Borders,
    assembly: Assembly,
    evidence: Evidence,
    min_score: float,
    config: SecondRoundConfig,
    constraints: Constraints = Constraints(),  # noqa: B008 - frozen and empty
    context: Context | None = None,
    overlap: Overlap = HAIR,
) -> tuple[Assembly, SecondRoundStats]:
    """Merge components whose joint evidence reaches ``min_score``, then name all joins that the poses imply.

    ``rows`` are scored, best first. When it is to end, no more components are merged, and those joins are not named.
    """
    context = context or Context()
    overlap = allowed_overlap(overlap, rows, borders)
    problem = prepare_problem(rows, borders, constraints, overlap=overlap)
    components = components_of(assembly)
    before = len(components)
    gap_px = rows.common_gap_px
    merging = _Merging(borders, components, evidence, gap_px, min_score, constraints, context, problem.overlap)
    usable = problem.rows.take(problem.rows.score >= config.min_candidate)
    usable = usable.take(components.roots[usable.i] != components.roots[usable.j])
    usable = usable.take(slice(config.most_candidates))
    merging.merge(list(_relations(usable)), 0.0, 0.4)
    left_over = len(components) - len(constraints.aside) > 1 and any(len(component) > 1 for component in components.all())
    if left_over and not context.stop.is_over():
        found = _joint_relations(components, constraints.aside, evidence)
        merging.merge(found, 0.6, 0.8)
        if rows.ragged.any():
            likely = usable.take(usable.score >= config.guess)
            merging.guess([*_relations(likely), *found], replace(merging, min_score=config.guess).joint_score, config.guess)
        if config.guess < 1.0:
            merging.guess(found, merging.agreement, _AGREED)
    result = finish_assembly(problem, components)
    if context.stop.is_over():
        return replace(result, chosen=assembly.chosen), SecondRoundStats(before - len(components), 0)
    merging.tell(0.8)
    named = {(e.alignment.i, e.alignment.j) for e in result.joins}
    added = tuple(
        e
        for e in implied_joins(borders, result, evidence, assembly.gap_px)
        if (e.alignment.i, e.alignment.j) not in named
        and not any(is_near(e.alignment, join, borders) for join in constraints.forbidden)
    )
    if context.stop.is_over():
        added = ()
    return replace(result, joins=result.joins + added, chosen=assembly.chosen), SecondRoundStats(
        before - len(components), len(added)
    )


@dataclass(frozen=True, slots=True)
class _Merging:
    """Components that grow by placements which all borders that meet agree on."""

    borders: Borders
    components: Components
    evidence: Evidence
    gap_px: float
    min_score: float
    constraints: Constraints
    context: Context
    overlap: Overlap

    def tell(self, share: float) -> None:
        """Report progress, as a share of the whole look."""
        self.context.progress(STAGE, round(_STEPS * share), _STEPS)

    def merge(self, relations: Sequence[Relation], first: float, last: float) -> None:
        """Try relations in their order; ``first`` and ``last`` are the shares of the look at which this begins and ends."""
        components = self.components
        for done, (i, j, i_from_j) in enumerate(relations):
            if components.same(i, j):
                continue
            if self.context.stop.is_over():
                return
            self.tell(first + (last - first) * done / len(relations))
            move = components.move_between(i, j, i_from_j)
            if self.joint_score(i, j, move) >= self.min_score and not self._is_refused(i, j, move):
                components.merge(i, j, i_from_j)

    def guess(self, relations: Sequence[Relation], likelihood: Callable[[int, int, SE2], float], least: float) -> None:
        """Place left-over pieces and components where they fit best, best first, while that is ``least`` and more.

        Only beside a component of `_FIRM` pieces, or of half of a small puzzle: what fits a single piece a little says nothing.
        What is not likely enough is asked once more when components have grown.
        """
        components = self.components
        firm = min(_FIRM, (len(self.borders) + 1) // 2)
        later, grown = list(range(len(relations))), True
        while grown:
            waiting = [(-np.inf, number) for number in later if not components.same(*relations[number][:2])]
            later, grown = [], False
            while waiting and not self.context.stop.is_over():
                known, number = heapq.heappop(waiting)
                i, j, i_from_j = relations[number]
                if components.same(i, j):
                    continue
                move = components.move_between(i, j, i_from_j)
                is_firm = max(len(components.members(k)) for k in (i, j)) >= firm
                likely = likelihood(i, j, move) if is_firm else 0.0
                if likely < least or self._is_refused(i, j, move):
                    later.append(number)
                elif -likely > known + _SAME:  # components have grown since it was looked at, or it was not yet
                    heapq.heappush(waiting, (-likely, number))
                else:
                    components.merge(i, j, i_from_j)
                    grown = True

    def _is_refused(self, i: int, j: int, move: SE2) -> bool:
        """Whether a person has forbidden what would come about, or pieces would lie on each other."""
        fixed, moving = self.components.placed(i), self.components.placed(j, move)
        return placements_intersect(self.borders, fixed, moving, self.overlap)

    def joint_score(self, i: int, j: int, move: SE2) -> float:
        """What all borders that meet when j's component is moved to i's say together; scored only if their fits suffice."""
        seams = self._seams(i, j, move)
        if not len(seams):
            return 0.0
        length = _lengths(seams)
        times = self._times(i, j)
        joint = _more_likely(_joint(seams.fit, length), times)
        return joint if joint < self.min_score else _more_likely(_joint(self.evidence.score(seams), length), times)

    def agreement(self, i: int, j: int, move: SE2) -> float:
        """How well all borders that meet fit, on average by length, each settled by itself; 0 where it proves nothing.

        In a large component the errors of many joins add up, so that a piece that closes a hole fits only one side of it
        exactly. That each side fits nearby, as loops close nearby, hardly any wrong piece brings about, unless it was cut by
        the same die.
        """
        settled = self.evidence.settle(self._seams(i, j, move))
        share = settled.feature("share")
        if np.count_nonzero(share >= _WITNESS_SHARE) < _WITNESSES:
            return 0.0
        settled = settled.take(share >= _IMPLIED_SHARE)
        length = _lengths(settled)
        return _more_likely(float(settled.fit @ length / length.sum()), self._times(i, j))

    def _seams(self, i: int, j: int, move: SE2) -> Candidates:
        """The seams that come about when j's component is moved to i's, as pieces then lie, measured and rated."""
        components, borders = self.components, self.borders
        meeting = _meeting(borders, components.placed(i), components.placed(j, move), self.gap_px)
        if not meeting:
            return Candidates.none()
        stays = components.roots == components.roots[i]
        poses = {idx: components.pose(idx) if stays[idx] else move @ components.pose(idx) for pair in meeting for idx in pair}
        return self.evidence.measure(_as_they_lie(meeting, poses, self.gap_px))

    def _times(self, i: int, j: int) -> float:
        """How many times as likely hints make it that both components belong together."""
        return times_between(self.constraints.hints, self.components.members(i), self.components.members(j))


def _lengths(seams: Candidates) -> FloatArray:
    """Along how many px borders meet, and a trifle, ``(C,)``."""
    return seams.feature("length").astype(np.float64) + 1e-9


def _more_likely(score: float, times: float) -> float:
    """A probability whose odds are so many times as large."""
    return score if times == 1.0 else score * times / (1.0 - score + score * times)


def _meeting(borders: Borders, fixed: FloatArray, moving: FloatArray, gap_px: float) -> list[tuple[int, int]]:
    """Pairs of pieces, one of each of two placed components, whose circles meet; the smaller number first."""
    turned = len(fixed) > len(moving)
    few, many = (moving, fixed) if turned else (fixed, moving)
    own, others = few[:, 0].astype(np.intp), many[:, 0].astype(np.intp)
    middles, theirs = (
        carry_rows(rows[:, 1:], borders.center[idx].astype(np.float64)) for rows, idx in ((few, own), (many, others))
    )
    found = [
        (a, b)
        for a, idx in enumerate(own.tolist())
        for b in np.flatnonzero(
            np.linalg.norm(theirs - middles[a], axis=1) < borders.radius[idx] + borders.radius[others] + gap_px
        ).tolist()
    ]
    in_order = sorted(found, key=lambda pair: pair[::-1]) if turned else found
    pairs = ((int(own[a]), int(others[b])) for a, b in in_order)
    return [(min(pair), max(pair)) for pair in pairs]


def _joint(score: FloatArray, length: FloatArray) -> float:
    """Seams that support a placement add up as independent witnesses, but only if they do so along most of their length.

    ``1 - prod(1 - score)`` where the mean score by length is at least `_AGREEING`, else that mean.
    """
    agreeing = float(score @ length / length.sum())
    return chance_of_any(score.tolist()) if agreeing >= _AGREEING else agreeing


def implied_joins(borders: Borders, assembly: Assembly, evidence: Evidence, gap_px: float) -> list[Join]:
    """A join for every two pieces of a component whose borders run together as they lie; its score is that of the seam."""
    pairs = [pair for component in assembly.components for pair in _near_pairs(borders, component, assembly.poses)]
    if not pairs:
        return []
    seams = evidence.measure(_as_they_lie(pairs, assembly.poses, gap_px))
    seams = seams.take(seams.feature("share") >= _IMPLIED_SHARE)
    seams = replace(seams, score=evidence.score(seams))
    return [seams.join_at(row) for row in range(len(seams))]


def _as_they_lie(pairs: Sequence[tuple[int, int]], poses: Mapping[int, SE2], gap_px: float) -> Candidates:
    """Candidates that leave pieces where they are."""
    relative = np.array([pose_row(poses[i].inverse() @ poses[j]) for i, j in pairs], np.float32)
    return Candidates.make(
        [i for i, _ in pairs], [j for _, j in pairs], relative.astype(np.float64), gap_px=np.full(len(pairs), gap_px)
    )


def _near_pairs(borders: Borders, component: Sequence[int], poses: Mapping[int, SE2]) -> list[tuple[int, int]]:
    middles = np.array([poses[idx] @ borders.center[idx].astype(np.float64) for idx in component])
    radii = borders.radius[list(component)]
    if len(component) <= _FEW_PIECES:
        a, b = np.triu_indices(len(component), 1)
    else:
        near = scipy.spatial.KDTree(middles).query_pairs(2.0 * float(radii.max()), output_type="ndarray")
        a, b = near[np.lexsort((near[:, 1], near[:, 0]))].T
    touch = np.linalg.norm(middles[a] - middles[b], axis=1) < radii[a] + radii[b]
    a, b, order = a[touch], b[touch], np.asarray(component)
    return [(int(min(pair)), int(max(pair))) for pair in zip(order[a], order[b], strict=True)]


def _relations(rows: Candidates) -> Iterable[Relation]:
    return ((int(rows.i[k]), int(rows.j[k]), rows.i_from_j(k)) for k in range(len(rows)))


def _joint_relations(components: Components, aside: frozenset[int], evidence: Evidence) -> list[Relation]:
    """New candidates along the joint borders of components and left-over pieces, as relations of their first pieces."""
    members = [component for component in components.all() if component[0] not in aside]
    found = evidence.match_components([{idx: components.pose(idx) for idx in component} for component in members])
    relations = []
    for i, j, frame_from_frame in _relations(found):
        a, b = members[i][0], members[j][0]
        a_from_b = components.pose(a).inverse() @ frame_from_frame @ components.pose(b)
        relations.append((a, b, a_from_b) if a < b else (b, a, a_from_b.inverse()))
    return relations


def components_of(assembly: Assembly) -> Components:
    """The components of an assembly, to be changed."""
    components = Components(assembly.n_pieces)
    for component in assembly.components:
        first = component[0]
        for idx in component[1:]:
            components.merge(first, idx, assembly.poses[first].inverse() @ assembly.poses[idx])
    return components

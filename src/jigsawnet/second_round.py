"""A second look, once most of the picture lies: what single joins could not decide, whole groups can.

Groups of pieces are laid against each other and against left-over pieces by every candidate there is, however weak, and by new
ones found along the joint border of a group. A lay is judged by all borders that meet in it at once. Then every pair of
neighbours that the poses imply, but no join names, is measured and named.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from jigsawnet.compose.constraints import is_near, prepare_problem
from jigsawnet.compose.groups import Groups
from jigsawnet.compose.intersection import groups_intersect
from jigsawnet.compose.problem import finish_assembly
from jigsawnet.contours import ContourConfig, trace_contours
from jigsawnet.errors import ConfigError
from jigsawnet.geometry import SE2
from jigsawnet.judging import Judge
from jigsawnet.match import MatchConfig, propose_alignments
from jigsawnet.match.fit import CutShape, cut_shape, seam_fit
from jigsawnet.match.select import to_alignment
from jigsawnet.match.verify import FEATURES, VerifyConfig, verify
from jigsawnet.raster import ShapeBank, build_bank
from jigsawnet.render.image import render_assembly
from jigsawnet.render.layout import lay_out
from jigsawnet.stopping import Stop
from jigsawnet.types import (
    Alignment,
    Assembly,
    Constraints,
    Edge,
    Float32Array,
    FloatArray,
    Fragment,
    MatchGraph,
    Puzzle,
    laid_gap,
)
from jigsawnet.workers import Workers

_AGREEING = 0.3
"""Mean score along the border where groups meet, below which a lay is refused."""


@dataclass(frozen=True, slots=True)
class SecondRoundConfig:
    """What happens after the first composition."""

    enabled: bool = True
    """Take a second look at left-over pieces, groups and implied neighbours."""
    min_candidate: float = 0.005
    """Candidates scored below this are not tried."""
    most_candidates: int = 2000
    """Candidates tried at most, best first."""

    def __post_init__(self) -> None:
        if not 0 <= self.min_candidate <= 1 or self.most_candidates < 0:
            raise ConfigError("second-round.min-candidate must lie between 0 and 1, and most-candidates must not be negative.")


@dataclass(frozen=True, slots=True)
class SecondRoundStats:
    """What the second look found."""

    groups_merged: int
    joins_added: int


@dataclass(frozen=True, slots=True)
class _Lay:
    """How pieces are judged as they lie: all borders that meet, at the puzzle's gap, against the shape of its cuts."""

    bank: ShapeBank
    gap_px: float
    cuts: CutShape
    judge: Judge | None = None

    def joint_score(self, groups: Groups, alignment: Alignment, move: SE2, min_score: float) -> float:
        """What all borders that meet when j's group is moved to i's say together; looked at closely from ``min_score`` on."""
        fixed = {idx: groups.pose(idx) for idx in groups.members(alignment.i)}
        moving = {idx: move @ groups.pose(idx) for idx in groups.members(alignment.j)}
        middle = {idx: pose @ self.bank.center[idx].astype(np.float64) for idx, pose in (fixed | moving).items()}
        poses, relative = fixed | moving, []
        for i in fixed:
            for j in moving:
                reach = self.bank.radius[i] + self.bank.radius[j] + self.gap_px
                if np.linalg.norm(middle[i] - middle[j]) < reach:
                    a, b = min(i, j), max(i, j)
                    relative.append((a, b, poses[a].inverse() @ poses[b]))
        if not relative:
            return 0.0
        alignments, features = self.measure(relative)
        length = features[:, FEATURES.index("length")].astype(np.float64) + 1e-9
        joint = _joint(np.array([a.fit for a in alignments]), length)
        return joint if self.judge is None or joint < min_score else _joint(self.judge(alignments), length)

    def measure(self, relative: Sequence[tuple[int, int, SE2]]) -> tuple[list[Alignment], Float32Array]:
        """Seams of pieces as they lie, without moving them."""
        i, j = (np.array([r[k] for r in relative], dtype=np.int32) for k in (0, 1))
        rough = np.array([(p.theta, p.x, p.y) for _, _, p in relative], dtype=np.float32)
        pose, features = verify(self.bank, i, j, rough, VerifyConfig(radii_px=()), self.gap_px)
        fit, rows = self._fit(features), range(len(relative))
        return [to_alignment(int(i[k]), int(j[k]), pose[k], float(fit[k]), features[k], self.gap_px) for k in rows], features

    def _fit(self, features: Float32Array) -> FloatArray:
        length, flatness = features[:, FEATURES.index("length")], features[:, FEATURES.index("flatness")]
        return self.cuts.lower_straight(seam_fit(features, self.bank.step_px), flatness, length)


def _joint(score: FloatArray, length: FloatArray) -> float:
    """Seams that speak for a lay add up as independent witnesses, but only if they do so along most of their length."""
    agreeing = float(score @ length / length.sum())
    return 1.0 - float(np.prod(1.0 - score)) if agreeing >= _AGREEING else agreeing


def second_round(
    puzzle: Puzzle,
    bank: ShapeBank,
    graph: MatchGraph,
    assembly: Assembly,
    min_score: float,
    config: SecondRoundConfig,
    constraints: Constraints = Constraints(),  # noqa: B008 - frozen and empty
    judge: Judge | None = None,
    workers: Workers | None = None,
    stop: Stop | None = None,
) -> tuple[Assembly, SecondRoundStats]:
    """Merge groups whose joint evidence reaches ``min_score``, then name all joins that the poses imply.

    Stopped early, no more groups are merged.
    """
    stop = stop or Stop()
    problem = prepare_problem(graph, bank, constraints)
    lay = _Lay(bank, laid_gap(graph.edges), _cut_shape(graph, bank.step_px), judge)
    groups = _groups_of(assembly)
    before = len(groups)
    candidates = [
        e.alignment for e in problem.edges if e.score >= config.min_candidate and not groups.same(e.alignment.i, e.alignment.j)
    ]
    _merge(groups, lay, candidates[: config.most_candidates], min_score, constraints, stop)
    left_over = len(groups) - len(constraints.aside) > 1 and any(len(group) > 1 for group in groups.all())
    if left_over and not stop.is_over():
        found = _super_alignments(puzzle, groups, constraints.aside, workers)
        _merge(groups, lay, found, min_score, constraints, stop)
    result = finish_assembly(problem, groups)
    named = {(e.alignment.i, e.alignment.j) for e in result.edges}
    implied = implied_joins(lay, dict(result.poses), result.components)
    added = tuple(
        e
        for e in implied
        if (e.alignment.i, e.alignment.j) not in named
        and not any(is_near(e.alignment, join, bank) for join in constraints.forbidden)
    )
    return replace(result, edges=result.edges + added), SecondRoundStats(before - len(groups), len(added))


def implied_joins(lay: _Lay, poses: dict[int, SE2], components: Sequence[tuple[int, ...]]) -> list[Edge]:
    """A join for every two pieces of a component whose borders run together as they lie; its score is that of the seam."""
    pairs = [pair for component in components for pair in _near_pairs(lay.bank, component, poses)]
    if not pairs:
        return []
    alignments, features = lay.measure([(i, j, poses[i].inverse() @ poses[j]) for i, j in pairs])
    met = features[:, FEATURES.index("share")] >= _IMPLIED_SHARE
    found = [a for a, good in zip(alignments, met, strict=True) if good]
    scores = [a.fit for a in found] if lay.judge is None else lay.judge(found).tolist()
    return [Edge(a, score) for a, score in zip(found, scores, strict=True)]


_IMPLIED_SHARE = 0.02
"""Part of the shorter perimeter along which the borders of implied neighbours meet at least."""


def _merge(
    groups: Groups, lay: _Lay, candidates: Iterable[Alignment], min_score: float, constraints: Constraints, stop: Stop
) -> None:
    """Try lays of one group against another, best first; each merge changes what the rest are tried on."""
    for a in candidates:
        if groups.same(a.i, a.j) or constraints.aside & {a.i, a.j}:
            continue
        if stop.is_over():
            return
        move = groups.move_between(a)
        if lay.joint_score(groups, a, move, min_score) < min_score or _is_forbidden(groups, a, move, constraints, lay.bank):
            continue
        if not groups_intersect(lay.bank, groups.placed(a.i), groups.placed(a.j, move)):
            groups.merge(a)


def _is_forbidden(groups: Groups, a: Alignment, move: SE2, constraints: Constraints, bank: ShapeBank) -> bool:
    """True when the lay would bring about a join that a person has forbidden."""
    fixed, moving = set(groups.members(a.i)), set(groups.members(a.j))
    for join in constraints.forbidden:
        if (join.i in fixed and join.j in moving) or (join.j in fixed and join.i in moving):
            i, j = (groups.pose(k) if k in fixed else move @ groups.pose(k) for k in (join.i, join.j))
            if is_near(Alignment(join.i, join.j, i.inverse() @ j, 0.0), join, bank):
                return True
    return False


def _near_pairs(bank: ShapeBank, component: Sequence[int], poses: dict[int, SE2]) -> list[tuple[int, int]]:
    middles = np.array([poses[idx] @ bank.center[idx].astype(np.float64) for idx in component])
    radii = bank.radius[list(component)]
    distance = np.linalg.norm(middles[:, None] - middles[None], axis=2)
    a, b = np.nonzero(np.triu(distance < radii[:, None] + radii[None], 1))
    order = np.asarray(component)
    return [(int(min(pair)), int(max(pair))) for pair in zip(order[a], order[b], strict=True)]


def _super_alignments(puzzle: Puzzle, groups: Groups, aside: frozenset[int], workers: Workers | None) -> list[Alignment]:
    """Match the joint borders of groups, and left-over pieces, as if each were one piece; as joins of their first pieces."""
    members = [group for group in groups.all() if group[0] not in aside]
    supers, frames = [], []
    for k, group in enumerate(members):
        part = Assembly(len(puzzle), {idx: groups.pose(idx) for idx in group}, (tuple(sorted(group)),))
        picture = render_assembly(puzzle, part, margin_px=0)
        frame = lay_out(puzzle, part, margin_px=0).canvas_from_fragment[group[0]]
        supers.append(Fragment(k, str(k), np.ascontiguousarray(picture[..., :3]), picture[..., 3] > 127))
        frames.append(frame)
    bank = build_bank(trace_contours(Puzzle("groups", tuple(supers)), ContourConfig()))
    found = []
    for a in propose_alignments(bank, "dense", MatchConfig(), workers=workers):
        i, j = members[a.i][0], members[a.j][0]
        i_from_j = frames[a.i].inverse() @ a.i_from_j @ frames[a.j]
        found.append(Alignment(i, j, i_from_j, a.fit) if i < j else Alignment(j, i, i_from_j.inverse(), a.fit))
    return found


def _groups_of(assembly: Assembly) -> Groups:
    groups = Groups(assembly.n_fragments)
    for component in assembly.components:
        first = component[0]
        for idx in component[1:]:
            groups.merge(Alignment(first, idx, assembly.poses[first].inverse() @ assembly.poses[idx], 1.0))
    return groups


def _cut_shape(graph: MatchGraph, step_px: float) -> CutShape:
    rows = [(e.alignment.i, e.alignment.j, e.alignment.fit, e.alignment.seam) for e in graph.edges if e.alignment.seam]
    i, j = (np.array([row[k] for row in rows], dtype=np.int32) for k in (0, 1))
    fit = np.array([row[2] for row in rows], dtype=np.float64)
    flatness = np.array([row[3].flatness_px for row in rows], dtype=np.float64)
    length = np.array([row[3].length_px for row in rows], dtype=np.float64)
    return cut_shape(i, j, fit, flatness, length, step_px)

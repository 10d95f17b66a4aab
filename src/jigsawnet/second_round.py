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
from jigsawnet.match import MatchConfig, propose_alignments
from jigsawnet.match.fit import seam_fit
from jigsawnet.match.select import to_alignment
from jigsawnet.match.verify import FEATURES, VerifyConfig, verify
from jigsawnet.raster import ShapeBank, build_bank
from jigsawnet.render.image import render_assembly
from jigsawnet.render.layout import lay_out
from jigsawnet.types import Alignment, Assembly, Constraints, Edge, Float32Array, Fragment, MatchGraph, Puzzle

_SUMS = ("length", "tight_length", "gap", "overlap_length", "share")
_LARGEST = ("overlap_depth", "flatness")


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


def second_round(
    puzzle: Puzzle,
    bank: ShapeBank,
    graph: MatchGraph,
    assembly: Assembly,
    min_score: float,
    config: SecondRoundConfig,
    constraints: Constraints = Constraints(),  # noqa: B008 - frozen and empty
) -> tuple[Assembly, SecondRoundStats]:
    """Merge groups whose joint evidence reaches ``min_score``, then name all joins that the poses imply."""
    problem = prepare_problem(graph, bank, constraints)
    gap_px = _laid_gap(graph)
    groups = _groups_of(assembly)
    before = len(groups)
    candidates = [
        e.alignment for e in problem.edges if e.score >= config.min_candidate and not groups.same(e.alignment.i, e.alignment.j)
    ]
    _merge(groups, bank, candidates[: config.most_candidates], gap_px, min_score, constraints)
    if len(groups) - len(constraints.aside) > 1:
        _merge(groups, bank, _super_alignments(puzzle, groups, constraints.aside), gap_px, min_score, constraints)
    result = finish_assembly(problem, groups)
    named = {(e.alignment.i, e.alignment.j) for e in result.edges}
    implied = implied_joins(bank, dict(result.poses), result.components, gap_px)
    added = tuple(e for e in implied if (e.alignment.i, e.alignment.j) not in named)
    return replace(result, edges=result.edges + added), SecondRoundStats(before - len(groups), len(added))


def implied_joins(bank: ShapeBank, poses: dict[int, SE2], components: Sequence[tuple[int, ...]], gap_px: float) -> list[Edge]:
    """A join for every two pieces of a component whose borders run together as they lie; its score is that of the seam."""
    pairs = [pair for component in components for pair in _near_pairs(bank, component, poses)]
    if not pairs:
        return []
    alignments, features = _measure(bank, [(i, j, poses[i].inverse() @ poses[j]) for i, j in pairs], gap_px)
    met = features[:, FEATURES.index("share")] >= _IMPLIED_SHARE
    return [Edge(a, a.fit) for a, good in zip(alignments, met, strict=True) if good]


_IMPLIED_SHARE = 0.02
"""Part of the shorter perimeter along which the borders of implied neighbours meet at least."""


def _merge(
    groups: Groups,
    bank: ShapeBank,
    candidates: Iterable[Alignment],
    gap_px: float,
    min_score: float,
    constraints: Constraints,
) -> None:
    """Try lays of one group against another, best first; each merge changes what the rest are tried on."""
    for a in candidates:
        if groups.same(a.i, a.j) or constraints.aside & {a.i, a.j}:
            continue
        move = groups.move_between(a)
        if joint_score(bank, groups, a, move, gap_px) < min_score or _is_forbidden(groups, a, move, constraints, bank):
            continue
        if not groups_intersect(bank, groups.placed(a.i), groups.placed(a.j, move)):
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


def joint_score(bank: ShapeBank, groups: Groups, alignment: Alignment, move: SE2, gap_px: float) -> float:
    """The score of all borders that meet when j's group is moved to i's, taken as one seam."""
    fixed = {idx: groups.pose(idx) for idx in groups.members(alignment.i)}
    moving = {idx: move @ groups.pose(idx) for idx in groups.members(alignment.j)}
    relative = []
    for i, pose_i in fixed.items():
        middle = pose_i @ bank.center[i].astype(np.float64)
        for j, pose_j in moving.items():
            distance = float(np.linalg.norm(middle - pose_j @ bank.center[j].astype(np.float64)))
            if distance < bank.radius[i] + bank.radius[j] + gap_px:
                a, b = min(i, j), max(i, j)
                pose_a, pose_b = (pose_i, pose_j) if a == i else (pose_j, pose_i)
                relative.append((a, b, pose_a.inverse() @ pose_b))
    if not relative:
        return 0.0
    _, features = _measure(bank, relative, gap_px)
    return float(seam_fit(_as_one_seam(features)[None], bank.step_px)[0])


def _as_one_seam(features: Float32Array) -> Float32Array:
    """Add up lengths, take the worst overlap, and average the rest by length."""
    weight = features[:, FEATURES.index("length")] + 1e-6
    row = (features * weight[:, None]).sum(0) / weight.sum()
    for name in _SUMS:
        row[FEATURES.index(name)] = features[:, FEATURES.index(name)].sum()
    for name in _LARGEST:
        row[FEATURES.index(name)] = features[:, FEATURES.index(name)].max()
    return np.asarray(row, dtype=np.float32)


def _measure(bank: ShapeBank, relative: Sequence[tuple[int, int, SE2]], gap_px: float) -> tuple[list[Alignment], Float32Array]:
    """Seams of pieces as they lie, without moving them."""
    i, j = (np.array([r[k] for r in relative], dtype=np.int32) for k in (0, 1))
    rough = np.array([(p.theta, p.x, p.y) for _, _, p in relative], dtype=np.float32)
    pose, features = verify(bank, i, j, rough, VerifyConfig(radii_px=()), gap_px)
    fit = seam_fit(features, bank.step_px)
    rows = range(len(relative))
    return [to_alignment(int(i[k]), int(j[k]), pose[k], float(fit[k]), features[k], gap_px) for k in rows], features


def _near_pairs(bank: ShapeBank, component: Sequence[int], poses: dict[int, SE2]) -> list[tuple[int, int]]:
    middles = np.array([poses[idx] @ bank.center[idx].astype(np.float64) for idx in component])
    radii = bank.radius[list(component)]
    distance = np.linalg.norm(middles[:, None] - middles[None], axis=2)
    a, b = np.nonzero(np.triu(distance < radii[:, None] + radii[None], 1))
    order = np.asarray(component)
    return [(int(min(pair)), int(max(pair))) for pair in zip(order[a], order[b], strict=True)]


def _super_alignments(puzzle: Puzzle, groups: Groups, aside: frozenset[int]) -> list[Alignment]:
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
    for a in propose_alignments(bank, "dense", MatchConfig()):
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


def _laid_gap(graph: MatchGraph) -> float:
    distances = [e.alignment.seam.distance_px for e in graph.edges if e.alignment.seam]
    return float(np.median(distances)) if distances else 0.0

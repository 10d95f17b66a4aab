"""Stage 6: Assembly → Assembly, its pieces where all joins and seams agree best.

For each component a robust pose graph (the paper's global objective) finds the poses and the joins that contradict the others;
then all borders are laid on each other at once, so that long chains do not drift.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from jigsawnet.borders import Borders
from jigsawnet.context import Context
from jigsawnet.errors import ConfigError
from jigsawnet.geometry import SE2
from jigsawnet.refine.joins import Joins, make_joins
from jigsawnet.refine.pose_graph import optimize_poses
from jigsawnet.refine.printed import find_printed_gap
from jigsawnet.refine.seams import SeamStats, align_seams, away_from_corners, measure_seams
from jigsawnet.seam_fit import slack_of
from jigsawnet.stopping import Stop
from jigsawnet.types import Alignment, Assembly, Join, Puzzle

__all__ = ["RefineConfig", "RefineStats", "refine_poses"]


@dataclass(frozen=True, slots=True)
class RefineConfig:
    """How poses are refined after composition."""

    pose_graph: bool = True
    """Let all joins agree on the poses, and drop those that do not fit."""
    seams: bool = True
    """Lay the borders of all neighbours on each other."""
    gap: bool = True
    """Find how far apart neighbours belong, from shape and print: worn edges leave a gap, generous masks overlap."""
    inlier_px: float = 5.0
    """Joins that disagree with the poses by more than this along their seam are dropped; grows with coarse contours and rough
    seams."""
    slide_weight: float = 0.01
    """How firmly pieces keep their place along straight seams, against 1 for the fit across them."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.inlier_px) and self.inlier_px > 0):
            raise ConfigError("refine.inlier-px must be a positive number of pixels.")
        if not 0 < self.slide_weight <= 1:
            raise ConfigError("refine.slide-weight must be positive and at most 1.")


@dataclass(frozen=True, slots=True)
class RefineStats:
    """What refinement did, summed over the components."""

    objective: float
    """The paper's global objective over the joins, px²; 0 without the pose graph."""
    joins_dropped: int
    """Joins removed because they contradict the others."""
    joins_doubtful: int
    """Joins that contradict the others but stay, because a piece has no better one."""
    pieces_cut_off: int
    """Pieces that no join in agreement holds; they keep their place beside the join that placed them."""
    neighbor_pairs: int
    """Neighbours whose borders meet."""
    seam_residual_before_px: float
    """Root mean square distance of neighbouring borders before refinement."""
    seam_residual_after_px: float
    """The same after, measured from the gap."""
    gap_px: float
    """Gap found between neighbours; 0 when pieces lie edge to edge, negative when they overlap."""


def refine_poses(
    assembly: Assembly,
    borders: Borders,
    config: RefineConfig,
    context: Context,
    *,
    pinned: Collection[int] = (),
    puzzle: Puzzle | None = None,
    ragged: bool = False,
) -> tuple[Assembly, RefineStats]:
    """Refine the poses of every component.

    Joins that contradict the others are removed from ``joins``, unless a piece would be left without any; the rest keep their
    ``i_from_j``. Components and confidences do not change. The gap is the one the joins were laid at, made more exact on the
    largest component; where the print is sure of another, that one. Stopped early, the other components stay as they are.

    Args:
        assembly: what a composer found.
        borders: the borders of all pieces.
        config: options.
        context: told after each component, and asked between the steps when to stop.
        pinned: pieces that do not move.
        puzzle: the pictures; without them only shape tells the gap.
        ragged: the borders agree only in part; where they lie apart says little.
    """
    poses = dict(assembly.poses)
    inside = _by_component(assembly)
    graphs: list[_GraphStats] = []
    dropped: set[int] = set()
    stop, smooth = context.stop, away_from_corners(borders)
    seams: list[SeamStats] = []
    gap, find_gap = _gap_of(assembly.joins), config.gap
    residual_px = np.array([join.alignment.seam.residual_px for join in assembly.joins if join.alignment.seam])
    inlier_px = config.inlier_px * borders.unit_px * slack_of(residual_px, borders.unit_px)
    for done, component in enumerate(assembly.components):
        if stop.is_over():
            break
        fixed = tuple(idx for idx in component if idx in pinned)
        before = measure_seams(borders, {idx: poses[idx] for idx in component}, gap, ragged, smooth)
        if config.pose_graph:
            refused, stats = _fit_joins(component, poses, assembly.joins, inside[done], borders, inlier_px, fixed, stop)
            graphs.append(stats)
            dropped |= refused
        if config.seams and not stop.is_over():
            members = {idx: poses[idx] for idx in component}
            align = partial(
                align_seams, borders, members, slide_weight=config.slide_weight, fixed=fixed, ragged=ragged, stop=stop,
                smooth=smooth,
            )  # fmt: skip
            moved, seam = align(gap_px=gap, find_gap=find_gap)
            ask = puzzle and find_gap and not stop.is_over()
            printed = find_printed_gap(puzzle, borders, moved, seam.gap_px) if puzzle and ask else None
            if printed and printed.is_sure:
                moved, seam = align(gap_px=printed.gap_px)
            poses.update(moved)
            gap, find_gap = seam.gap_px, False
        else:
            seam = measure_seams(borders, {idx: poses[idx] for idx in component}, gap, ragged, smooth)
        seams.append(replace(seam, residual_before_px=before.residual_before_px))
        context.progress("refine", done + 1, len(assembly.components))
    joins = tuple(e for k, e in enumerate(assembly.joins) if k not in dropped)
    return replace(assembly, poses=poses, joins=joins, gap_px=gap), _sum_stats(graphs, seams)


def _by_component(assembly: Assembly) -> list[list[int]]:
    """For each component the places of its joins among all, in order."""
    number = {idx: k for k, component in enumerate(assembly.components) for idx in component}
    found: list[list[int]] = [[] for _ in assembly.components]
    for k, join in enumerate(assembly.joins):
        a, b = (number.get(idx) for idx in _ends(join))
        if a is not None and a == b:
            found[a].append(k)
    return found


def _gap_of(joins: Sequence[Join]) -> float:
    """The gap in px at which the matcher placed the borders of joins; 0 where none was measured."""
    gaps = [join.alignment.seam.distance_px for join in joins if join.alignment.seam]
    return float(np.median(gaps)) if gaps else 0.0


@dataclass(frozen=True, slots=True)
class _GraphStats:
    objective: float
    dropped: int
    doubtful: int
    cut_off: int


def _fit_joins(
    component: tuple[int, ...],
    poses: dict[int, SE2],
    joins: Sequence[Join],
    inside: Sequence[int],
    borders: Borders,
    inlier_px: float,
    fixed: tuple[int, ...],
    stop: Stop,
) -> tuple[set[int], _GraphStats]:
    """Solve the pose graph of one component, whose joins are those at ``inside``: changes ``poses``, returns joins to drop."""
    row = {idx: k for k, idx in enumerate(component)}
    measured = _measured_joins([joins[k].alignment for k in inside], row, borders)
    initial = np.array([(poses[idx].theta, poses[idx].x, poses[idx].y) for idx in component])
    result = optimize_poses(initial, measured, inlier_px, tuple(row[idx] for idx in fixed) or (0,), stop)
    if stop.is_over():
        return set(), _GraphStats(result.objective, 0, 0, 0)
    poses.update({idx: SE2(float(t), float(x), float(y)) for idx, (t, x, y) in zip(component, result.poses, strict=True)})
    held = {idx for k, good in zip(inside, result.inlier, strict=True) if good for idx in _ends(joins[k])}
    refused = [k for k, good in zip(inside, result.inlier, strict=True) if not good]
    doubtful = set()
    for k in sorted(refused, key=lambda k: (-joins[k].score, k)):
        if not held.issuperset(_ends(joins[k])):
            doubtful.add(k)
            held.update(_ends(joins[k]))
    dropped = set(refused) - doubtful
    return dropped, _GraphStats(result.objective, len(dropped), len(doubtful), len(result.cut_off))


def _ends(join: Join) -> tuple[int, int]:
    return join.alignment.i, join.alignment.j


def _measured_joins(alignments: list[Alignment], row: dict[int, int], borders: Borders) -> Joins:
    """Joins whose errors are measured in the middle of the seam, with a lever after the seam's length.

    The middle lies between the two centres, divided as the radii are. Without a measured seam, its length is taken as the
    radius of the smaller piece.
    """
    i, j = (np.array([getattr(a, name) for a in alignments], dtype=np.intp) for name in ("i", "j"))
    relative = np.array([(a.i_from_j.theta, a.i_from_j.x, a.i_from_j.y) for a in alignments]).reshape(-1, 3)
    radius = np.maximum(borders.radius.astype(np.float64), 1.0)
    share = (radius[j] / (radius[i] + radius[j]))[:, None]
    center = borders.center.astype(np.float64)
    back = np.array([a.i_from_j.inverse() @ c for a, c in zip(alignments, center[i], strict=True)]).reshape(-1, 2)
    middle = (1.0 - share) * center[j] + share * back
    smaller = np.minimum(radius[i], radius[j])
    length = np.array([a.seam.length_px if a.seam else r for a, r in zip(alignments, smaller, strict=True)])
    lever = np.maximum(length, 1.0) / math.sqrt(12.0)
    return make_joins([(row[a.i], row[a.j]) for a in alignments], relative, middle, lever)


def _sum_stats(graphs: list[_GraphStats], seams: list[SeamStats]) -> RefineStats:
    samples = max(1, sum(s.samples for s in seams))
    return RefineStats(
        objective=sum(g.objective for g in graphs),
        joins_dropped=sum(g.dropped for g in graphs),
        joins_doubtful=sum(g.doubtful for g in graphs),
        pieces_cut_off=sum(g.cut_off for g in graphs),
        neighbor_pairs=sum(s.pairs for s in seams),
        seam_residual_before_px=math.sqrt(sum(s.samples * s.residual_before_px**2 for s in seams) / samples),
        seam_residual_after_px=math.sqrt(sum(s.samples * s.residual_after_px**2 for s in seams) / samples),
        gap_px=seams[0].gap_px if seams else 0.0,
    )

"""What every composer starts from, and how its groups become an `Assembly`."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from jigsawnet.compose.edge_table import EdgeTable, IntArray, carry, chain, invert, wrap
from jigsawnet.compose.groups import Groups, row_pose
from jigsawnet.geometry import SE2
from jigsawnet.raster import ShapeBank
from jigsawnet.stopping import Stop
from jigsawnet.types import Assembly, Edge, FloatArray, Progress, sort_components

LOOP_RAD = math.radians(4.0)
LOOP_PX = 6.0
"""A join whose pieces are placed otherwise is selected too when it agrees with their poses this well."""


OnSnapshot = Callable[[Sequence[Mapping[int, SE2]]], None]
"""Called while composing with the groups of two and more pieces so far, the poses of each in a frame of its own."""
SNAPSHOT_S = 0.3
"""Seconds between snapshots."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Candidates that may be used, and what is joined from the start."""

    n_fragments: int
    bank: ShapeBank
    edges: tuple[Edge, ...]
    """Best first; never of a piece set aside, never a second one for a pair whose join is fixed."""
    fixed: tuple[Edge, ...]
    """Joins that a person has fixed; their score is 1."""
    pinned: Mapping[int, SE2]
    groups: Groups
    """To be copied, not changed."""


@dataclass(frozen=True, slots=True)
class Clock:
    """When to stop, and whom to tell how far the work is."""

    stop: Stop
    progress: Progress
    on_snapshot: OnSnapshot | None = None
    shown: list[float] = field(default_factory=lambda: [-math.inf])
    """When a snapshot was shown last."""

    def show(self, groups: Callable[[], Iterable[FloatArray]]) -> None:
        """Show rows ``(K, 4)`` of the groups so far to whoever watches, at most some times a second."""
        if self.on_snapshot is not None and time.monotonic() - self.shown[0] >= SNAPSHOT_S:
            self.on_snapshot([{int(row[0]): row_pose(row) for row in rows} for rows in groups() if len(rows) > 1])
            self.shown[0] = time.monotonic()

    def is_over(self) -> bool:
        """True when the composer is to end with what it has."""
        return self.stop.is_over()

    def part(self, share: float) -> Clock:
        """A clock for the next step, which may use this share of the time that is left."""
        return replace(self, stop=self.stop.part(share))


def finish_assembly(problem: Problem, groups: Groups) -> Assembly:
    """Groups of two and more become components; a piece alone is unplaced unless it is pinned.

    A piece's confidence is its best join's; a person's decision is certain.
    """
    edges = agreeing_joins(problem, groups)
    confidence: dict[int, float] = dict.fromkeys(problem.pinned, 1.0)
    for edge in edges:
        for idx in (edge.alignment.i, edge.alignment.j):
            confidence[idx] = max(confidence.get(idx, 0.0), edge.score)
    components = sort_components(g for g in groups.all() if len(g) > 1 or g[0] in problem.pinned)
    poses = {idx: groups.pose(idx) for component in components for idx in component}
    if problem.pinned:
        anchor, pose = min(problem.pinned.items())
        move = pose @ groups.pose(anchor).inverse()
        poses |= {idx: move @ poses[idx] for idx in groups.members(anchor)} | dict(problem.pinned)
    return Assembly(problem.n_fragments, poses, components, tuple(edges), confidence)


def agreeing_joins(problem: Problem, groups: Groups) -> list[Edge]:
    """The fixed joins, and for every other pair the best candidate that agrees with the final poses."""
    selected = {(e.alignment.i, e.alignment.j): e for e in problem.fixed}
    for k in _agreeing(EdgeTable.of(problem.edges), groups, problem.bank).tolist():
        a = problem.edges[k].alignment
        selected.setdefault((a.i, a.j), problem.edges[k])
    return list(selected.values())


def _agreeing(table: EdgeTable, groups: Groups, bank: ShapeBank) -> IntArray:
    """Edges inside groups that put j where the poses put it, in angle and at j's middle."""
    inside = np.flatnonzero(groups.roots[table.i] == groups.roots[table.j])
    table = table.take(inside)
    middles = bank.center[table.j].astype(np.float64)
    implied = chain(invert(groups.rows[table.i, 1:]), groups.rows[table.j, 1:])
    distance = np.linalg.norm(carry(table.i_from_j, middles) - carry(implied, middles), axis=1)
    angle = np.abs(wrap(table.i_from_j[:, 0] - implied[:, 0]))
    return np.asarray(inside[(angle < LOOP_RAD) & (distance < LOOP_PX * bank.unit_px)])

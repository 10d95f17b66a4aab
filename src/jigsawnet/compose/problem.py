"""What every composer starts from, and how its components become an `Assembly`."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from jigsawnet.borders import Borders
from jigsawnet.candidates import Candidates
from jigsawnet.compose.components import Components, row_pose
from jigsawnet.compose.intersection import HAIR, Overlap
from jigsawnet.context import Context
from jigsawnet.geometry import SE2, carry_rows, chain_rows, invert_rows, wrap_angles
from jigsawnet.seam_fit import puzzle_slack
from jigsawnet.types import Assembly, FloatArray, Join, sort_components

IntArray = NDArray[np.int64]

LOOP_RAD = math.radians(4.0)
LOOP_PX = 6.0
"""A join whose pieces are placed otherwise is selected too when it agrees with their poses this well."""


SNAPSHOT_S = 0.3
"""Seconds between snapshots."""


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Candidates that may be used, and what is joined from the start."""

    n_pieces: int
    borders: Borders
    rows: Candidates
    """Best first; never of a piece set aside, never a second one for a pair whose join is fixed."""
    fixed: tuple[Join, ...]
    """Joins that a person has fixed; their score is 1."""
    pinned: Mapping[int, SE2]
    components: Components
    """To be copied, not changed."""
    overlap: Overlap = HAIR
    """How far pieces may lie on each other, and what must not come about besides."""


@dataclass(frozen=True, slots=True)
class Pace:
    """When a composer is to end, and whom it tells how far it is."""

    context: Context
    shown: list[float] = field(default_factory=lambda: [-math.inf])
    """When a snapshot was shown last."""

    def show(self, components: Callable[[], Iterable[FloatArray]]) -> None:
        """Show rows ``(K, 4)`` of the components so far to `Context.on_snapshot`, at most some times a second."""
        watcher = self.context.on_snapshot
        if watcher is not None and time.monotonic() - self.shown[0] >= SNAPSHOT_S:
            watcher([{int(row[0]): row_pose(row) for row in rows} for rows in components() if len(rows) > 1])
            self.shown[0] = time.monotonic()

    def tell(self, done: int, total: int) -> None:
        """Report progress."""
        self.context.progress("compose", done, total)

    def is_over(self) -> bool:
        """True when the composer is to end with what it has."""
        return self.context.stop.is_over()

    def part(self, share: float) -> Pace:
        """The pace of the next step, which may use this share of the time that is left."""
        return replace(self, context=replace(self.context, stop=self.context.stop.part(share)))


def finish_assembly(problem: Problem, components: Components) -> Assembly:
    """Components of two and more pieces are placed; a piece alone is unplaced unless it is pinned.

    A piece's confidence is its best join's; a person's decision is certain.
    """
    joins = agreeing_joins(problem, components)
    chosen = tuple(chosen_joins(problem, components))
    confidence: dict[int, float] = dict.fromkeys(problem.pinned, 1.0)
    for join in joins:
        for idx in (join.alignment.i, join.alignment.j):
            confidence[idx] = max(confidence.get(idx, 0.0), join.score)
    placed = sort_components(c for c in components.all() if len(c) > 1 or c[0] in problem.pinned)
    poses = {idx: components.pose(idx) for component in placed for idx in component}
    if problem.pinned:
        anchor, pose = min(problem.pinned.items())
        move = pose @ components.pose(anchor).inverse()
        poses |= {idx: move @ poses[idx] for idx in components.members(anchor)} | dict(problem.pinned)
    return Assembly(problem.n_pieces, poses, placed, tuple(joins), confidence, chosen=chosen)


def agreeing_joins(problem: Problem, components: Components) -> list[Join]:
    """The fixed joins, and for every other pair the best candidate that agrees with the final poses."""
    selected = {(e.alignment.i, e.alignment.j): e for e in problem.fixed}
    rows = problem.rows
    for k in agreeing_rows(rows, components, problem.borders).tolist():
        pair = int(rows.i[k]), int(rows.j[k])
        if pair not in selected:
            selected[pair] = rows.join_at(k)
    return list(selected.values())


def chosen_joins(problem: Problem, components: Components) -> list[Join]:
    """The candidates by which the components came about, best first; a pair of pieces has at most one."""
    rows = problem.rows
    found: dict[tuple[int, int], Join] = {}
    for k, pair in enumerate(zip(rows.i.tolist(), rows.j.tolist(), strict=True)):
        if pair in components.chosen and pair not in found:
            pose = rows.i_from_j(k)
            if (pose.theta, pose.x, pose.y) == components.chosen[pair]:
                found[pair] = rows.join_at(k)
    return list(found.values())


def agreeing_rows(rows: Candidates, components: Components, borders: Borders) -> IntArray:
    """Candidates inside components that put j where the poses put it, in angle and at j's middle."""
    inside = np.flatnonzero(components.roots[rows.i] == components.roots[rows.j])
    i, j, pose = rows.i[inside], rows.j[inside], rows.pose[inside]
    middles = borders.center[j].astype(np.float64)
    implied = chain_rows(invert_rows(components.rows[i, 1:]), components.rows[j, 1:])
    distance = np.linalg.norm(carry_rows(pose, middles) - carry_rows(implied, middles), axis=1)
    angle = np.abs(wrap_angles(pose[:, 0] - implied[:, 0]))
    slack = puzzle_slack(rows, borders.unit_px)
    return np.asarray(inside[(angle < LOOP_RAD * slack) & (distance < LOOP_PX * slack * borders.unit_px)])

"""Chains: strips side by side. Every long side has one neighbour at most, so there are no loops to trust.

The best set of chains as a whole is an integer program, solved by HiGHS (through scipy): choose candidates so that the sum of
their log odds is largest, each side is used once, and no chain bites its own tail. Rings are forbidden when they turn up.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from jigsawnet.borders import Borders
from jigsawnet.candidates import Candidates
from jigsawnet.compose.components import Components
from jigsawnet.compose.config import ComposeConfig
from jigsawnet.compose.intersection import Refusals
from jigsawnet.compose.problem import Pace, Problem
from jigsawnet.geometry import SE2, carry_rows, invert_rows
from jigsawnet.types import FloatArray

_SURE = 1e-6
_STROKES = 0.01
"""Log odds for a unit of evidence: of joins that are all beyond doubt, those with more printed across them are kept."""
_ROUNDS = 50
"""So often rings are forbidden and the rest is solved again; what rings are left then lose their weakest join."""


def compose_chains(problem: Problem, config: ComposeConfig, pace: Pace, rng: np.random.Generator) -> Components:
    """Join strips into chains; ``rng`` is not used."""
    components = problem.components.copy()
    rows = problem.rows
    rows = rows.take((rows.score >= config.min_score) & (components.roots[rows.i] != components.roots[rows.j]))
    sides, fixed = _claims(rows, problem.borders), Candidates.of(join.alignment for join in problem.fixed)
    free = np.flatnonzero(~np.isin(sides, _claims(fixed, problem.borders)).any(axis=1))
    rows, sides = rows.take(free), sides[free]
    for k in choose_chains(rows, sides, problem.n_pieces, pace).tolist():
        i, j = int(rows.i[k]), int(rows.j[k])
        if not components.same(i, j) and not _is_excluded(components, problem.overlap.refusals, i, j, rows.i_from_j(k)):
            components.merge(i, j, rows.i_from_j(k))
    return components


def _is_excluded(components: Components, refusals: Refusals | None, i: int, j: int, i_from_j: SE2) -> bool:
    """Whether a person has excluded what a join would bring about."""
    if refusals is None:
        return False
    return refusals.refuse(components.placed(i), components.placed(j, components.move_between(i, j, i_from_j)))


def choose_chains(rows: Candidates, sides: NDArray[np.int64], n_pieces: int, pace: Pace) -> NDArray[np.int64]:
    """Candidates that form the best chains. ``sides (C, 2)``: the numbers of the sides of i and of j that each takes."""
    if not len(rows):
        return np.zeros(0, np.int64)
    gain = np.log(np.maximum(rows.score, _SURE) / np.maximum(1.0 - rows.score, _SURE)) + 1e-3
    gain += _STROKES * np.maximum(np.nan_to_num(rows.strokes), 0.0)
    count = np.arange(len(rows))
    used, where = np.unique(sides, return_inverse=True)
    once = scipy.sparse.coo_array((np.ones(2 * len(rows)), (where.ravel(), np.repeat(count, 2))), (len(used), len(rows)))
    limits = [scipy.optimize.LinearConstraint(once.tocsr(), -np.inf, 1.0)]
    chosen, whole = count[:0], np.ones(len(rows), np.int64)
    for _ in range(_ROUNDS):
        found = scipy.optimize.milp(-gain, integrality=whole, bounds=scipy.optimize.Bounds(0, 1), constraints=limits)
        if found.x is None or pace.is_over():
            break
        chosen = np.flatnonzero(found.x > 0.5)
        rings = _rings(rows.i[chosen], rows.j[chosen], n_pieces)
        if not rings:
            break
        for ring in rings:
            cut = np.zeros((1, len(rows)))
            cut[0, chosen[ring]] = 1.0
            limits.append(scipy.optimize.LinearConstraint(cut, -np.inf, len(ring) - 1.0))
    return chosen[np.argsort(-gain[chosen], kind="stable")]


def _rings(i: NDArray[np.int32], j: NDArray[np.int32], n_pieces: int) -> list[NDArray[np.int64]]:
    """Positions of the joins of each component that has as many joins as pieces: in chains there is one less."""
    graph = scipy.sparse.coo_array((np.ones(len(i)), (i, j)), (n_pieces, n_pieces))
    label = scipy.sparse.csgraph.connected_components(graph, directed=False)[1]
    of = label[i]
    return [np.flatnonzero(of == k) for k in np.unique(of) if (of == k).sum() >= (label == k).sum()]


def _claims(rows: Candidates, borders: Borders) -> NDArray[np.int64]:
    """The side of i and of j that each candidate takes, ``(C, 2)``: 2 p or 2 p + 1 of piece p."""
    pose, center = rows.pose.astype(np.float64), borders.center.astype(np.float64)
    across = np.array([_across(borders, p) for p in range(len(borders))]).reshape(-1, 2)
    in_i = carry_rows(pose, center[rows.j]) - center[rows.i]
    in_j = carry_rows(invert_rows(pose), center[rows.i]) - center[rows.j]
    beyond_i, beyond_j = (in_i * across[rows.i]).sum(1) > 0, (in_j * across[rows.j]).sum(1) > 0
    return np.column_stack([2 * rows.i.astype(np.int64) + beyond_i, 2 * rows.j.astype(np.int64) + beyond_j])


def _across(borders: Borders, piece: int) -> FloatArray:
    """The direction of a piece's least extent, a unit vector."""
    points = borders.points[borders.samples(piece)].astype(np.float64)
    if len(points) < 2:
        return np.array([1.0, 0.0])
    return np.asarray(np.linalg.eigh(np.cov(points.T))[1][:, 0])

"""What a person knows without knowing a join: it makes candidates likelier, and rules out what must not come about.

A hint is evidence: it multiplies the odds of the candidates that it speaks of, by a little when it is soft and by much when it
is firm. What a firm hint excludes, and what was rejected as a join, is refused whenever components are put together, however
that came about: by one candidate, by a loop, or by pieces between them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jigsawnet.borders import Borders
from jigsawnet.candidates import Candidates
from jigsawnet.compose.components import row_pose
from jigsawnet.compose.intersection import Refusals
from jigsawnet.geometry import SE2, is_same_join
from jigsawnet.types import Alignment, Assembly, BoolArray, Constraints, FloatArray, Hint

TOGETHER, SAME_PAGE = (30.0, 1e4), (5.0, 100.0)
"""By how much the odds of a candidate grow when its pieces belong together, or on one page: said softly, firmly."""
AGAINST = 30.0
"""By how much they shrink when a soft hint speaks against it."""
UP_RAD = math.radians(30.0)
"""So far apart may the ways up of two pieces of a page be."""
_ENDS, _COVERED = 0.15, 0.1
"""Part of a side at each end that is not looked at, and part of the rest beyond which another piece covers it."""
_BEYOND = (0.12, 0.3)
"""How far out it is looked whether anything lies there, as parts of the piece's radius."""


@dataclass(frozen=True, slots=True, eq=False)
class Rules(Refusals):
    """What must not come about; pieces that no rule speaks of cost next to nothing."""

    borders: Borders
    forbidden: tuple[Alignment, ...]
    apart: Mapping[int, frozenset[int]]
    """Pieces that may not be in one component with a piece."""
    up: Mapping[int, float]
    """Which way is up in the frame of a piece."""
    sides: Mapping[int, FloatArray]
    """Points ``(K, 2)`` beyond the outer sides of a piece, in its frame, where nothing may lie."""
    paired: BoolArray
    """``(n,)``: pieces that a rule about two pieces speaks of."""

    def refuse(self, fixed: FloatArray, moving: FloatArray) -> bool:
        """True when two components, as rows ``(K, 4)`` in one frame, must not be put together so."""
        one, other = (rows[self.paired[rows[:, 0].astype(np.intp)]] for rows in (fixed, moving))
        if len(one) and len(other) and self._pairs_refuse(one, other):
            return True
        return self._covers(fixed, moving) or self._covers(moving, fixed)

    def _pairs_refuse(self, one: FloatArray, other: FloatArray) -> bool:
        here = {int(row[0]): row_pose(row) for row in one}
        there = {int(row[0]): row_pose(row) for row in other}
        if any(not self.apart.get(idx, frozenset()).isdisjoint(there) for idx in here):
            return True
        ways = [[pose.theta + self.up[idx] for idx, pose in side.items() if idx in self.up] for side in (here, there)]
        if any(_turn(a, b) > UP_RAD for a in ways[0] for b in ways[1]):
            return True
        return any(self._comes_back(a, here, there) or self._comes_back(a, there, here) for a in self.forbidden)

    def _comes_back(self, a: Alignment, of_i: Mapping[int, SE2], of_j: Mapping[int, SE2]) -> bool:
        if a.i not in of_i or a.j not in of_j:
            return False
        return is_same_join(of_i[a.i].inverse() @ of_j[a.j], a.i_from_j, self.borders.center[a.j])

    def _covers(self, own: FloatArray, others: FloatArray) -> bool:
        """True when a piece of ``others`` lies beyond an outer side of a piece of ``own``."""
        if not self.sides:
            return False
        for row in own:
            beyond = self.sides.get(int(row[0]))
            if beyond is not None and is_covered(self.borders, row_pose(row), beyond, others):
                return True
        return False


def rules_of(constraints: Constraints, borders: Borders) -> Rules | None:
    """What firm hints and rejected joins exclude; None when they exclude nothing."""
    firm = [hint for hint in constraints.hints if hint.firm]
    apart: dict[int, frozenset[int]] = {}
    for hint in (hint for hint in firm if hint.kind == "apart"):
        for idx in hint.pieces:
            apart[idx] = apart.get(idx, frozenset()).union(hint.pieces) - {idx}
    up = {hint.pieces[0]: hint.angle for hint in firm if hint.kind == "up"}
    sides: dict[int, FloatArray] = {}
    for hint in (hint for hint in firm if hint.kind == "edge"):
        idx, found = hint.pieces[0], points_beyond(borders, hint.pieces[0], hint.angle)
        sides[idx] = np.concatenate([sides[idx], found]) if idx in sides else found
    if not (constraints.forbidden or apart or up or sides):
        return None
    paired = np.zeros(len(borders), bool)
    paired[[*apart, *up, *(idx for a in constraints.forbidden for idx in (a.i, a.j))]] = True
    return Rules(borders, constraints.forbidden, apart, up, sides, paired)


def weigh(rows: Candidates, hints: Sequence[Hint], borders: Borders) -> Candidates:
    """Candidates with their odds as the hints make them, best first; without hints the same."""
    if not hints or not len(rows):
        return rows
    times = np.ones(len(rows))
    for hint in hints:
        times *= _times(rows, hint, borders)
    return rows.with_scores(scale_odds(rows.score, times)) if (times != 1.0).any() else rows


def scale_odds(score: FloatArray, times: FloatArray | float) -> FloatArray:
    """Probabilities whose odds are so many times as large."""
    return np.asarray(score * times / (1.0 - score + score * times))


def excluded(rows: Candidates, hints: Sequence[Hint], borders: Borders) -> BoolArray:
    """``(C,)``: candidates that a firm hint rules out by themselves, so that no composer counts on them."""
    out, up = np.zeros(len(rows), bool), np.full(len(borders), np.nan)
    for hint in (hint for hint in hints if hint.firm):
        own = np.zeros(len(borders), bool)
        own[list(hint.pieces)] = True
        if hint.kind == "apart":
            out |= own[rows.i] & own[rows.j]
        elif hint.kind == "edge":
            out |= _along(rows, hint, borders)
        elif hint.kind == "up":
            up[hint.pieces[0]] = hint.angle
    turn = np.abs(np.remainder(rows.pose[:, 0] + up[rows.j] - up[rows.i] + np.pi, 2 * np.pi) - np.pi)
    return np.asarray(out | (turn > UP_RAD))  # what is not known is not above


def _times(rows: Candidates, hint: Hint, borders: Borders) -> FloatArray:
    """``(C,)``: by how much a hint multiplies the odds of each candidate."""
    own = np.zeros(len(borders), bool)
    own[list(hint.pieces)] = True
    both = own[rows.i] & own[rows.j]
    match hint.kind:
        case "together" | "same_page":
            return np.where(both, factor_of(hint), 1.0)
        case "apart":
            return np.where(both, 1.0 / AGAINST, 1.0)
        case "edge":
            return np.where(_along(rows, hint, borders), 1.0 / AGAINST, 1.0)
    return np.ones(len(rows))


def factor_of(hint: Hint) -> float:
    """By how much the odds grow that two of the hint's pieces meet; of k pieces that hang together about 2 / k of pairs do."""
    soft, firm = TOGETHER if hint.kind == "together" else SAME_PAGE
    return (firm if hint.firm else soft) * min(1.0, 2.0 / len(hint.pieces))


def times_between(hints: Sequence[Hint], fixed: Collection[int], moving: Collection[int]) -> float:
    """By how much the odds grow that two components belong together, by the hint that says most."""
    one, other = set(fixed), set(moving)
    speaking = (hint for hint in hints if hint.kind in ("together", "same_page"))
    said = (factor_of(hint) for hint in speaking if not one.isdisjoint(hint.pieces) and not other.isdisjoint(hint.pieces))
    return max(said, default=1.0)


def _along(rows: Candidates, hint: Hint, borders: Borders) -> BoolArray:
    """``(C,)``: candidates that lay a piece beyond a side of the hint's piece."""
    idx = hint.pieces[0]
    beyond, found = points_beyond(borders, idx, hint.angle), np.zeros(len(rows), bool)
    for k in np.flatnonzero((rows.i == idx) | (rows.j == idx)).tolist():
        pose, other = rows.i_from_j(k), int(rows.j[k])
        if other == idx:
            pose, other = pose.inverse(), int(rows.i[k])
        found[k] = is_covered(borders, SE2.identity(), beyond, np.array([(other, pose.theta, pose.x, pose.y)]))
    return found


def points_beyond(borders: Borders, idx: int, angle: float) -> FloatArray:
    """Points ``(K, 2)`` a little and a little more beyond the side of a piece that faces ``angle``, in its frame.

    The side is what is seen from there: for each step across, the sample of the border that lies farthest out.
    """
    points = borders.points[borders.samples(idx)].astype(np.float64)
    if not len(points):
        return np.zeros((0, 2))
    out, across = np.array([math.cos(angle), math.sin(angle)]), np.array([-math.sin(angle), math.cos(angle)])
    step = np.floor(points @ across / max(borders.step_px, 1e-6)).astype(np.int64)
    order = np.lexsort((points @ out, step))
    last = order[np.flatnonzero(np.diff(np.append(step[order], step[order[-1]] + 1)))]
    cut = int(len(last) * _ENDS)
    side = points[last[cut : len(last) - cut]]
    return np.concatenate([side + share * float(borders.radius[idx]) * out for share in _BEYOND])


def is_covered(borders: Borders, pose: SE2, beyond: FloatArray, others: FloatArray) -> bool:
    """True when a piece of ``others (K, 4)`` lies where the points, carried by ``pose``, are."""
    if not len(beyond):
        return False
    world = pose @ beyond
    for row in others:
        idx = int(row[0])
        local = row_pose(row).inverse() @ world
        if np.abs(local - borders.center[idx]).max(axis=1).min() > borders.radius[idx]:
            continue
        if _inside(borders, idx, local).mean() > _COVERED:
            return True
    return False


def _inside(borders: Borders, idx: int, points: FloatArray) -> BoolArray:
    """``(K,)``: points of the piece's frame that lie inside it."""
    at: NDArray[np.int64] = np.rint((points - borders.grid_origin[idx]) / borders.cell_px).astype(np.int64)
    rows, cols = (int(v) for v in borders.grid_size[idx])
    there = (at >= 0).all(axis=1) & (at[:, 0] < cols) & (at[:, 1] < rows)
    found = np.zeros(len(points), bool)
    flat = borders.grid_first[idx] + at[there, 1] * cols + at[there, 0]
    found[there] = borders.depth[flat] > 0
    return found


def _turn(a: float, b: float) -> float:
    """The angle between two directions."""
    return abs(math.remainder(a - b, 2 * math.pi))


def unmet_hints(hints: Sequence[Hint], assembly: Assembly, name: Callable[[int], str]) -> list[str]:
    """Sentences about the hints that the assembly does not follow."""
    component = {idx: k for k, members in enumerate(assembly.components) for idx in members}
    said = []
    for hint in hints:
        homes = {component.get(idx, -1 - idx) for idx in hint.pieces}
        names = _listed([name(idx) for idx in hint.pieces])
        if hint.kind in ("together", "same_page") and len(homes) > 1:
            what = "belong together" if hint.kind == "together" else "are of one page"
            said.append(f"You said that {names} {what}, but no candidate that fits brings them together.")
        elif hint.kind == "apart" and not hint.firm and len(homes) < len(hint.pieces):
            said.append(f"You said that {names} may not belong together, but the joins between them speak for it.")
    return said


def _listed(words: list[str]) -> str:
    shown = words if len(words) <= 4 else [*words[:3], f"{len(words) - 3} more"]
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]

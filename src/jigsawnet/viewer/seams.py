"""Seams of joins: where they run, what they measure, and which loops close through them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from scipy.spatial import cKDTree

from jigsawnet.edits import Arrangement
from jigsawnet.edits.kinds import Pair
from jigsawnet.match.verify import FEATURES, VerifyConfig, verify
from jigsawnet.raster import ShapeBank, longest_run
from jigsawnet.types import Alignment, FloatArray, MatchGraph, laid_gap

_TOUCHING_PX = 4.0
_MOST_POINTS = 6
_LINE_PX = 2.5
"""How far the line of a seam may depart from the border."""
_LENGTH, _RESIDUAL, _COLOR, _SHARE = (FEATURES.index(name) for name in ("length", "residual", "color_step", "share"))


@dataclass(frozen=True, slots=True, eq=False)
class SeamView:
    """``line (K, 2)`` and the unit ``normal (2,)`` towards j, both in the frame of i; lengths in px, colour as Lab distance."""

    line: FloatArray
    normal: FloatArray
    length_px: float
    residual_px: float
    color_step: float
    share: float
    """Part of the shorter perimeter that the seam takes."""


class SeamBook:
    """Measures seams once and remembers them."""

    def __init__(self, bank: ShapeBank, graph: MatchGraph) -> None:
        self._bank = bank
        self._gap_px = laid_gap(graph.edges)
        self._trees: dict[int, cKDTree] = {}
        self._known: dict[Alignment, SeamView] = {}

    def look_up(self, joins: Sequence[Alignment]) -> list[SeamView]:
        """The seams of joins, in order."""
        new = [a for a in dict.fromkeys(joins) if a not in self._known]
        if len(self._known) > 100_000:
            self._known.clear()
            new = list(dict.fromkeys(joins))
        for a, row in zip(new, self.measure(new) if new else (), strict=True):
            line, normal = self._line(a)
            self._known[a] = SeamView(
                line, normal, float(row[_LENGTH]), float(row[_RESIDUAL]), float(row[_COLOR]), float(row[_SHARE])
            )
        return [self._known[a] for a in joins]

    def measure(self, joins: Sequence[Alignment]) -> FloatArray:
        """Features of the seams as they lie, ``(K, len(FEATURES))``."""
        i, j = (np.array([getattr(a, name) for a in joins], dtype=np.int32) for name in ("i", "j"))
        pose = np.array([(a.i_from_j.theta, a.i_from_j.x, a.i_from_j.y) for a in joins], dtype=np.float32).reshape(-1, 3)
        _, features = verify(self._bank, i, j, pose, VerifyConfig(radii_px=()), self._gap_px)
        return features.astype(np.float64)

    def shares(self, joins: Sequence[Alignment]) -> FloatArray:
        """Part of the shorter perimeter along which the borders run together, ``(K,)``."""
        return np.asarray(self.measure(joins)[:, _SHARE]) if joins else np.zeros(0)

    def _line(self, a: Alignment) -> tuple[FloatArray, FloatArray]:
        """The run of i's border along j, and the direction across it, in the frame of i."""
        own = self._bank.points[self._bank.samples(a.i)].astype(np.float64)
        centers = self._bank.center[[a.i, a.j]].astype(np.float64)
        towards = (a.i_from_j @ centers[1]) - centers[0]
        if not len(own) or self._bank.first[a.j] == self._bank.first[a.j + 1]:
            return np.array([centers[0], centers[0] + towards]), _unit(towards)
        if a.j not in self._trees:
            self._trees[a.j] = cKDTree(self._bank.points[self._bank.samples(a.j)])
        distance, _ = self._trees[a.j].query(a.i_from_j.inverse() @ own)
        reach = max(_TOUCHING_PX, 1.5 * self._bank.step_px) + abs(self._gap_px)
        met = np.asarray(distance) < max(reach, float(np.min(distance)) * 1.01)
        start, stop = longest_run(met)
        run = np.arange(start, max(stop, start + 1)) % len(own)
        outward = -self._bank.normals[self._bank.samples(a.i)][run].astype(np.float64).mean(0)
        if len(run) == 1:
            run = np.array([run[0] - 1, run[0], run[0] + 1]) % len(own)
        line = cv2.approxPolyDP(own[run].astype(np.float32), _LINE_PX, False)[:, 0]
        line = line[np.unique(np.linspace(0, len(line) - 1, min(len(line), _MOST_POINTS)).round().astype(int))]
        return line.astype(np.float64), _unit(outward if outward @ outward > 1e-3 else towards)


def _unit(vector: FloatArray) -> FloatArray:
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0 else np.array([1.0, 0.0])


class Loops:
    """Closed loops of three and of four joins, of the joins as they are now."""

    def __init__(self, pairs: Iterable[Pair]) -> None:
        self._near: dict[int, set[int]] = {}
        for i, j in pairs:
            self._near.setdefault(i, set()).add(j)
            self._near.setdefault(j, set()).add(i)

    def through_join(self, i: int, j: int) -> int:
        """How many close through the join of i and j."""
        near = self._near
        if j not in near.get(i, ()):
            return 0
        return len(near[i] & near[j]) + sum(len(near[a] & near[j] - {i}) for a in near[i] - {j})

    def neighbours(self, idx: int) -> list[int]:
        """The pieces that a piece is joined to."""
        return sorted(self._near.get(idx, ()))


def loops_of(arrangement: Arrangement) -> Loops:
    """The loops of an arrangement."""
    return Loops(arrangement.joins)

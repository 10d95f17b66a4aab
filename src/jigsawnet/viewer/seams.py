"""Seams of joins: where they run, what they measure, and which pieces meet along one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from scipy.spatial import cKDTree

from jigsawnet.borders import Borders, longest_run
from jigsawnet.candidates import Candidates
from jigsawnet.edits import Arrangement, Pair
from jigsawnet.match import VerifyConfig, measure
from jigsawnet.types import Alignment, FloatArray

_TOUCHING_SHARE = 0.06
"""Part of the shorter perimeter along which borders must meet to count as joined."""
_TOUCHING_PX = 4.0
"""Borders nearer than this belong to the seam's line."""
_MOST_POINTS = 6
_LINE_PX = 2.5
"""How far the line of a seam may depart from the border."""


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

    def __init__(self, borders: Borders, gap_px: float, config: VerifyConfig) -> None:
        """``gap_px`` is the distance at which the matcher placed the borders of joins, ``config`` how it measured seams."""
        self._borders, self._gap_px, self._config = borders, gap_px, config
        self._trees: dict[int, cKDTree] = {}
        self._known: dict[Alignment, SeamView] = {}

    def look_up(self, joins: Sequence[Alignment]) -> list[SeamView]:
        """The seams of joins, in order."""
        new = [a for a in dict.fromkeys(joins) if a not in self._known]
        if len(self._known) > 100_000:
            self._known.clear()
            new = list(dict.fromkeys(joins))
        measured = self._measure(new)
        values = np.column_stack([measured.feature(name) for name in ("length", "residual", "color_step", "share")])
        for a, row in zip(new, values.tolist(), strict=True):
            self._known[a] = SeamView(*self._line(a), *row)
        return [self._known[a] for a in joins]

    def _measure(self, joins: Sequence[Alignment]) -> Candidates:
        """The seams as they lie."""
        rows = replace(Candidates.of(joins), gap_px=np.full(len(joins), self._gap_px))
        return measure(self._borders, rows, self._config)

    def touching(self, now: Arrangement, moved: Collection[int]) -> tuple[Pair, ...]:
        """Pairs of a piece that was moved and one that was not, without a join, whose borders run along each other."""
        borders, own, still = self._borders, sorted(moved), [idx for idx in now.poses if idx not in moved]
        if not still:
            return ()
        middles = [np.array([now.poses[idx] @ borders.center[idx].astype(np.float64) for idx in side]) for side in (own, still)]
        distance = np.linalg.norm(middles[0][:, None] - middles[1][None], axis=2)
        near = np.argwhere(distance < borders.radius[own][:, None] + borders.radius[still][None])
        pairs = sorted((min(own[a], still[b]), max(own[a], still[b])) for a, b in near)
        new = [pair for pair in pairs if pair not in now.joins]
        shares = self._measure([Alignment(i, j, now.relation(i, j), 1.0) for i, j in new]).feature("share")
        return tuple(pair for pair, share in zip(new, shares.tolist(), strict=True) if share >= _TOUCHING_SHARE)

    def _line(self, a: Alignment) -> tuple[FloatArray, FloatArray]:
        """The run of i's border along j, and the direction across it, in the frame of i."""
        own = self._borders.points[self._borders.samples(a.i)].astype(np.float64)
        centers = self._borders.center[[a.i, a.j]].astype(np.float64)
        towards = (a.i_from_j @ centers[1]) - centers[0]
        if not len(own) or self._borders.first[a.j] == self._borders.first[a.j + 1]:
            return np.array([centers[0], centers[0] + towards]), _unit(towards)
        if a.j not in self._trees:
            self._trees[a.j] = cKDTree(self._borders.points[self._borders.samples(a.j)])
        distance, _ = self._trees[a.j].query(a.i_from_j.inverse() @ own)
        reach = max(_TOUCHING_PX, 1.5 * self._borders.step_px) + abs(self._gap_px)
        met = np.asarray(distance) < max(reach, float(np.min(distance)) * 1.01)
        start, stop = longest_run(np.where(met, 0, -1), len(met))
        run = np.arange(start, max(stop, start + 1)) % len(own)
        outward = -self._borders.normals[self._borders.samples(a.i)][run].astype(np.float64).mean(0)
        if len(run) == 1:
            run = np.array([run[0] - 1, run[0], run[0] + 1]) % len(own)
        line = cv2.approxPolyDP(own[run].astype(np.float32), _LINE_PX, False)[:, 0]
        line = line[np.unique(np.linspace(0, len(line) - 1, min(len(line), _MOST_POINTS)).round().astype(int))]
        return line.astype(np.float64), _unit(outward if outward @ outward > 1e-3 else towards)


def _unit(vector: FloatArray) -> FloatArray:
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0 else np.array([1.0, 0.0])

"""Ground floor: candidate joins as one table, from matching to composing. A row can be looked at as an `Alignment`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jigsawnet.geometry import SE2, carry_rows, invert_rows, pose_row, wrap_angle
from jigsawnet.types import Alignment, BoolArray, Float32Array, FloatArray, Join, Seam

FEATURES = (
    "length", "tight_length", "residual", "gap", "overlap_depth", "overlap_length",
    "color_step", "color_correlation", "color_spread", "flatness", "middle_x", "middle_y", "share",
)  # fmt: skip
"""Columns of the measured features. Lengths are px of border; ``middle`` is the middle of the seam in i's frame,
``share`` the part of the shorter perimeter that the seam takes."""
CONTACT = (
    "contact", "stretches", "longest_contact", "contact_span", "contact_residual", "bend_fine", "bend_coarse", "roughness",
    "facing", "mean_gap", "overlap_area", "near_step", "near_correlation", "far_step", "far_correlation", "far_spread",
)  # fmt: skip
"""What is measured besides where a puzzle is ragged. Lengths in px of j's border: ``contact`` is what lies within about a unit
of i's border, in so many ``stretches``; ``bend_*`` how alike the borders bend there, -1 to 1; ``facing`` what faces i's border
within reach; ``near_*`` and ``far_*`` the colours across the seam where it touches and where it gapes."""
MIDDLE = slice(FEATURES.index("middle_x"), FEATURES.index("middle_y") + 1)
"""The columns of the middle."""
_SEAM = {
    "length_px": "length", "residual_px": "residual", "gap_px": "gap",
    "overlap_px": "overlap_depth", "color_step": "color_step", "flatness_px": "flatness",
}  # fmt: skip
"""Fields of a `Seam` and the columns they come from."""

Rows = NDArray[np.intp] | NDArray[np.int64] | BoolArray | slice


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """C candidate joins of pieces ``i < j``: ``pose (C, 3)`` = i_from_j as (theta, x, y).

    ``features (C, len(FEATURES))`` is what was measured along the seam at that pose, NaN where nothing was; ``gap_px (C,)``
    how far apart the borders lie there; ``fit (C,)`` the matcher's own score; ``score (C,)`` the scorer's probability that the
    join is right, NaN before scoring; ``contact (C, len(CONTACT))`` what was measured of seams that touch only in parts, NaN in
    puzzles whose seams do not; ``strokes (C,)`` the log odds by what is printed along the sides of strips, NaN elsewhere.
    Columns are made once and never changed.
    """

    i: NDArray[np.int32]
    j: NDArray[np.int32]
    pose: FloatArray
    features: Float32Array
    gap_px: FloatArray
    fit: FloatArray
    score: FloatArray
    contact: Float32Array
    strokes: FloatArray

    def __repr__(self) -> str:
        return f"Candidates({len(self)} possible joins)"

    @staticmethod
    def make(
        i: Any,
        j: Any,
        pose: Any,
        features: Float32Array | None = None,
        gap_px: Any = 0.0,
        fit: Any = np.nan,
        score: Any = np.nan,
        contact: Float32Array | None = None,
        strokes: Any = np.nan,
    ) -> Candidates:
        """A table of columns; single numbers stand for a whole column."""
        first = np.asarray(i, np.int32).reshape(-1)
        n = len(first)
        if features is None:
            features = np.full((n, len(FEATURES)), np.nan, np.float32)
        poses = np.asarray(pose)
        poses = poses.reshape(n, 3) if poses.dtype == np.float32 else poses.astype(np.float64).reshape(n, 3)
        if contact is None:
            contact = np.broadcast_to(np.float32(np.nan), (n, len(CONTACT)))
        second = np.asarray(j, np.int32).reshape(-1)
        gap, own, scores, seen = (_column(c, n) for c in (gap_px, fit, score, strokes))
        return Candidates(first, second, poses, features, gap, own, scores, contact, seen)

    @staticmethod
    def none() -> Candidates:
        """A table without rows."""
        return Candidates.make((), (), np.zeros((0, 3)))

    @staticmethod
    def of(alignments: Iterable[Alignment], scores: Sequence[float] | FloatArray | None = None) -> Candidates:
        """A table of single candidates, in their order."""
        rows = tuple(alignments)
        features = np.full((len(rows), len(FEATURES)), np.nan, np.float32)
        for row, a in enumerate(rows):
            if a.seam is not None:
                features[row, _SEAM_COLUMNS] = [getattr(a.seam, name) for name in _SEAM]
        return Candidates.make(
            [a.i for a in rows],
            [a.j for a in rows],
            [pose_row(a.i_from_j) for a in rows],
            features,
            [a.seam.distance_px if a.seam else 0.0 for a in rows],
            [a.fit for a in rows],
            np.nan if scores is None else scores,
        )

    @staticmethod
    def concat(parts: Sequence[Candidates]) -> Candidates:
        """All rows, part after part."""
        if not parts:
            return Candidates.none()
        return Candidates(*(_joined([getattr(part, name) for part in parts]) for name in Candidates.__slots__))

    def __len__(self) -> int:
        return len(self.i)

    def take(self, rows: Rows) -> Candidates:
        """Some of the rows, in this order."""
        n = len(self.i[rows])
        columns: Iterable[Any] = (getattr(self, name) for name in Candidates.__slots__)
        return Candidates(*(_pick(c, rows, n) for c in columns))

    def feature(self, name: str) -> Float32Array:
        """One measured column ``(C,)``."""
        return self.features[:, FEATURES.index(name)]

    @property
    def measured(self) -> BoolArray:
        """``(C,)``: rows whose seam was measured."""
        return ~np.isnan(self.feature("length"))

    @property
    def ragged(self) -> BoolArray:
        """``(C,)``: rows of which contact was measured."""
        return ~np.isnan(self.contact[:, 0])

    @property
    def of_strips(self) -> bool:
        """Whether all rows, of which there are some, are joins of the long sides of strips."""
        return len(self) > 0 and not np.isnan(self.strokes).any()

    @property
    def common_gap_px(self) -> float:
        """The gap at which the matcher placed the borders: the median over measured rows, 0 without any."""
        return float(np.median(self.gap_px[self.measured])) if self.measured.any() else 0.0

    def with_scores(self, score: FloatArray) -> Candidates:
        """The same rows with their scores, best first; a score that is not a number counts as 0."""
        bounded = np.where(np.isfinite(score), np.clip(score, 0.0, 1.0), 0.0)
        return replace(self, score=bounded).best_first()

    def best_first(self) -> Candidates:
        """Highest score first, ties in a fixed order."""
        theta, x, y = self.pose.T
        return self.take(np.lexsort((y, x, theta, self.j, self.i, -self.score)))

    def i_from_j(self, row: int) -> SE2:
        """The pose of one row."""
        theta, x, y = self.pose[row].tolist()
        return SE2(wrap_angle(theta), x, y)

    def alignment(self, row: int) -> Alignment:
        """One row by itself."""
        seam = None
        values = self.features[row, _SEAM_COLUMNS].tolist()
        if not np.isnan(values[0]):
            seam = Seam(**dict(zip(_SEAM, values, strict=True)), distance_px=float(self.gap_px[row]))
        return Alignment(int(self.i[row]), int(self.j[row]), self.i_from_j(row), float(self.fit[row]), seam)

    def alignments(self) -> tuple[Alignment, ...]:
        """All rows, one by one."""
        return tuple(self.alignment(row) for row in range(len(self)))

    def join_at(self, row: int) -> Join:
        """One row with its score."""
        return Join(self.alignment(row), float(self.score[row]))


@dataclass(frozen=True, slots=True, eq=False)
class Claims:
    """Stretches of border that C candidates claim, two each: on ``piece (2 C,)``, for ``other (2 C,)``.

    Their ``middle (2 C, 2)`` is in that piece's frame, their ``length (2 C,)`` in px. The claims of i come first, then those
    of j.
    """

    piece: NDArray[np.int64]
    other: NDArray[np.int64]
    middle: FloatArray
    length: FloatArray

    @staticmethod
    def of(rows: Candidates) -> Claims:
        """What measured candidates claim."""
        middle = rows.features[:, MIDDLE].astype(np.float64)
        in_j = carry_rows(invert_rows(rows.pose.astype(np.float64)), middle)
        length = rows.feature("length").astype(np.float64)
        i, j = rows.i.astype(np.int64), rows.j.astype(np.int64)
        return Claims(np.concatenate([i, j]), np.concatenate([j, i]), np.concatenate([middle, in_j]), np.tile(length, 2))


SHARED = 0.35
"""Two seams rival for a border when their middles are nearer than this part of their lengths together."""

_SEAM_COLUMNS = [FEATURES.index(name) for name in _SEAM.values()]


def _column(values: Any, n: int) -> FloatArray:
    return _constant(values, n) if np.ndim(values) == 0 else np.asarray(values, np.float64).reshape(n)


def _constant(value: Any, n: int) -> FloatArray:
    """A column of equal numbers that takes no memory."""
    return np.broadcast_to(np.asarray(value, np.float64), (n,))


def _pick(column: Any, rows: Rows, n: int) -> Any:
    return np.broadcast_to(column[0], (n, *column.shape[1:])) if _is_constant(column) else column[rows]


def _is_constant(column: NDArray[Any]) -> bool:
    return not any(column.strides) and len(column) > 0


def _joined(columns: list[NDArray[Any]]) -> NDArray[Any]:
    filled = [column for column in columns if len(column)] or columns[:1]
    if all(map(_is_constant, filled)) and len({repr(column[0]) for column in filled}) == 1:
        return np.broadcast_to(filled[0][0], (sum(map(len, columns)), *filled[0].shape[1:]))
    return np.concatenate(columns)

"""What was measured between pairs of pieces, kept so that later only pairs with a new piece are looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jigsawnet.match.verify import FEATURES
from jigsawnet.raster import Int32Array, Int64Array
from jigsawnet.types import Float32Array


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """Refined lays: pieces ``i < j (C,)``, ``pose (C, 3)`` = i_from_j (theta, x, y), ``features (C, len(FEATURES))``."""

    i: Int32Array
    j: Int32Array
    pose: Float32Array
    features: Float32Array

    def __len__(self) -> int:
        return len(self.i)

    def take(self, rows: NDArray[np.bool_] | Int64Array) -> Measured:
        """Some of the rows."""
        return Measured(self.i[rows], self.j[rows], self.pose[rows], self.features[rows])

    @staticmethod
    def join(parts: Sequence[Measured]) -> Measured:
        """All rows, pair by pair; the rows of one pair stay in order."""
        nothing = np.zeros(0, np.int32)
        i, j = (np.concatenate([nothing, *(getattr(part, name) for part in parts)]) for name in ("i", "j"))
        pose = np.concatenate([np.zeros((0, 3), np.float32), *(part.pose for part in parts)])
        features = np.concatenate([np.zeros((0, len(FEATURES)), np.float32), *(part.features for part in parts)])
        return Measured(i, j, pose, features).take(np.lexsort((j, i)))


@dataclass(frozen=True, slots=True, eq=False)
class Scales:
    """Lengths that hold for a whole puzzle; measurements can be compared only when they were made with the same."""

    contour_step_px: float
    """Step that contours were traced with."""
    bank_step_px: float
    """Step of the bank: the median of what fits around each piece a whole number of times."""
    perimeter_px: float
    """Median perimeter; window lengths are parts of it."""
    reference: Int64Array
    """Pieces whose windows say how telling a window is, in their order."""

    @property
    def steps(self) -> tuple[float, float]:
        """What the contours of a piece and its grid depend on."""
        return self.contour_step_px, self.bank_step_px


NEAR = 0.1
"""Scales that differ by less than this part are kept."""


def is_near(a: float, b: float) -> bool:
    """True when two lengths are so alike that the older one may be kept."""
    return abs(a - b) <= NEAR * b


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """What the dense matcher measured between ``pieces (K,)``: all pairs of these need not be looked at again.

    Holds only for the same pictures of these pieces and the same options.
    """

    pieces: Int64Array
    rows: Measured
    scales: Scales

    def renumbered(self, today: Sequence[int | None]) -> Known | None:
        """With ``today[k]`` for piece k, None for one that is gone; None when the order of the pieces has changed.

        A pose is measured from the earlier to the later piece, so what was measured in another order does not hold.
        """
        number = np.array([-1 if new is None else new for new in today], dtype=np.int64)
        there = number[number >= 0]
        if (np.diff(there) <= 0).any():
            return None
        pieces, reference = number[self.pieces], number[self.scales.reference]
        i, j = number[self.rows.i].astype(np.int32), number[self.rows.j].astype(np.int32)
        rows = Measured(i, j, self.rows.pose, self.rows.features).take((i >= 0) & (j >= 0))
        old = self.scales
        scales = Scales(old.contour_step_px, old.bank_step_px, old.perimeter_px, reference[reference >= 0])
        return Known(pieces[pieces >= 0], rows, scales)

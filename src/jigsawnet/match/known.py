"""What a matcher gives, and what it keeps so that later only pairs with a new piece are looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from jigsawnet.borders import Borders, Int64Array
from jigsawnet.candidates import Candidates


@dataclass(frozen=True, slots=True, eq=False)
class Scales:
    """Lengths that hold for a whole puzzle; measurements can be compared only when they were made with the same."""

    contour_step_px: float
    """Step that contours were traced with."""
    border_step_px: float
    """Step of the borders: the median of what fits around each piece a whole number of times."""
    perimeter_px: float
    """Median perimeter; window lengths are parts of it."""
    reference: Int64Array
    """Pieces whose windows say how telling a window is, in their order."""

    @staticmethod
    def of(borders: Borders) -> Scales:
        """The scales of a puzzle by itself."""
        perimeters = np.diff(borders.first) * borders.step_px
        median = float(np.median(perimeters[perimeters > 0])) if (perimeters > 0).any() else 0.0
        return Scales(borders.contour_step_px, borders.step_px, median, np.arange(len(borders)))

    @property
    def steps(self) -> tuple[float, float]:
        """What the contours of a piece and its grid depend on."""
        return self.contour_step_px, self.border_step_px

    def hold_for(self, other: Scales) -> bool:
        """True when measurements made with these scales still count in a puzzle that has the others."""
        near = abs(other.perimeter_px - self.perimeter_px) <= NEAR * self.perimeter_px
        return self.steps == other.steps and near


NEAR = 0.1
"""Median perimeters that differ by less than this part are kept."""


@dataclass(frozen=True, slots=True, eq=False)
class KnownPairs:
    """What the dense matcher measured between ``pieces (K,)``: these ``pairs (P, 2)``, None all, need not be looked at again.

    Holds only for the same pictures of these pieces and the same options.
    """

    pieces: Int64Array
    rows: Candidates
    scales: Scales
    pairs: Int64Array | None = None

    def every_pair(self) -> Int64Array:
        """The pairs ``(P, 2)``, i < j, that were measured."""
        if self.pairs is not None:
            return self.pairs
        i, j = np.triu_indices(len(self.pieces), 1)
        return np.column_stack([self.pieces[i], self.pieces[j]])

    def renumbered(self, today: Sequence[int | None]) -> KnownPairs | None:
        """With ``today[k]`` for piece k, None for one that is gone; None when the order of the pieces has changed.

        A pose is measured from the earlier to the later piece, so what was measured in another order does not hold.
        """
        number = np.array([-1 if new is None else new for new in today], dtype=np.int64)
        there = number[number >= 0]
        if (np.diff(there) <= 0).any():
            return None
        pieces, reference = number[self.pieces], number[self.scales.reference]
        i, j = number[self.rows.i].astype(np.int32), number[self.rows.j].astype(np.int32)
        rows = replace(self.rows, i=i, j=j).take((i >= 0) & (j >= 0))
        scales = replace(self.scales, reference=reference[reference >= 0])
        pairs = None if self.pairs is None else number[self.pairs]
        return KnownPairs(pieces[pieces >= 0], rows, scales, None if pairs is None else pairs[(pairs >= 0).all(axis=1)])


@dataclass(frozen=True, slots=True, eq=False)
class Matched:
    """Candidates, best fit first; what to keep for when pieces are added (None: nothing); how many pairs were to be matched."""

    candidates: Candidates
    kept: KnownPairs | None = None
    pairs: int = 0

"""Chads: how much speaks for each two lying side by side, or one below the other, by what is printed along all four sides.

Sides are described as those of strips are (`match.strips`); chads lie in rows and columns, so ends are nearly flush. What any
two sides have in common, paper and lines of print that lie level, is taken out: evidence is compared with what each of both
sides has with all others, in units of its spread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jigsawnet.context import Context
from jigsawnet.geometry import SE2
from jigsawnet.learned import Learned
from jigsawnet.match.strips import Sides, describe_sides, edge_points, side_pose
from jigsawnet.strips import Strip, laid_down, straighten, trimmed
from jigsawnet.types import Float32Array, FloatArray, Piece

_REACH_BESIDE, _REACH_BELOW = 2, 1
"""Slides that are tried along long sides and along ends, in rows of vectors, either way."""
_NONE = -99.0
_HALF_END_PX = 8.0
"""How a chad lies below another is said by points so far to both sides of the middle of its end."""
_LEAST_SPREAD = 1e-3

Pair = tuple[int, int]
"""Two chads, each upright (2 n) or turned (2 n + 1)."""


@dataclass(frozen=True, slots=True, eq=False)
class Sideways:
    """One direction: ``score (2 N, 2 N)`` for b after a, the best ``slide (2 N, 2 N)``, and chads with those sides upright."""

    score: Float32Array
    slide: NDArray[np.int8]
    strips: Sequence[Strip]

    def pose(self, a: int, b: int) -> SE2:
        """How b's piece lies relative to a's, in a's frame, when b comes after a."""
        slide = int(self.slide[a, b])
        theta, x, y = side_pose(self.strips, a, b, slide)
        return SE2(theta, x, y)


@dataclass(frozen=True, slots=True, eq=False)
class ChadSides:
    """What speaks for b lying right of a, and for b lying below a, in units of the spread among all others."""

    beside: Sideways
    below: Sideways

    def pose(self, a: int, b: int, is_below: bool) -> SE2:
        """a_from_b of the two pieces."""
        return (self.below if is_below else self.beside).pose(a, b)

    def end(self, b: int) -> FloatArray:
        """Two points ``(2, 2)`` on the upper end of a chad, near its middle, in its piece's frame."""
        strip = self.below.strips[b // 2]
        rows = len(strip.mask) / 2.0 + np.array([-_HALF_END_PX, _HALF_END_PX])
        return edge_points(strip, b % 2, rows)


def look_along_chads(pieces: Sequence[Piece], context: Context, learned: Learned) -> ChadSides | None:
    """Compare all sides of all chads; None when stopped early."""
    upright = straighten(pieces)
    weights, found = learned.network("strokes"), []
    for strips, reach in ((upright, _REACH_BESIDE), ([laid_down(strip) for strip in upright], _REACH_BELOW)):
        own = [trimmed(strip) for strip in strips]
        sides = describe_sides(own, weights, context, chads=True)
        if sides is None:
            return None
        found.append(Sideways(*compare_sides(sides, reach), own))
    return ChadSides(*found)


def compare_sides(sides: Sides, reach: int) -> tuple[Float32Array, NDArray[np.int8]]:
    """Scores and slides ``(2 N, 2 N)`` of all right sides beside all left ones, slid by at most ``reach`` rows."""
    evidence, slide = _best_slides(sides, reach)
    n = len(evidence)
    turned = np.arange(n) ^ 1
    evidence = (evidence + evidence[np.ix_(turned, turned)].T) / 2  # a join and the same upside down
    own = (np.arange(n) // 2)[:, None] == np.arange(n) // 2
    known = np.where(own, np.nan, evidence)
    usual = np.nanmedian(known, axis=1, keepdims=True), np.nanmedian(known, axis=0, keepdims=True)
    known = known - usual[0] - usual[1] + np.nanmedian(known)
    spread = np.nanstd(known, axis=1, keepdims=True) * np.nanstd(known, axis=0, keepdims=True)
    score = known / np.sqrt(np.maximum(spread, _LEAST_SPREAD**2))
    return np.where(own, _NONE, score).astype(np.float32), slide


def _best_slides(sides: Sides, reach: int) -> tuple[Float32Array, NDArray[np.int8]]:
    """Evidence at the best slide, and that slide: row r of a right side beside row ``r + slide`` of a left one."""
    rows = sides.right.shape[1]
    best, slide = np.full((2, len(sides.right), len(sides.right)), -np.inf, np.float32)
    for shift in range(-reach, reach + 1):
        low, high = max(0, -shift), min(rows, rows - shift)
        a = sides.right[:, low:high].reshape(len(best), -1)
        b = sides.left[:, low + shift : high + shift].reshape(len(best), -1)
        found = a @ b.T
        better = found > best
        best[better], slide[better] = found[better], shift
    return best, slide.astype(np.int8)

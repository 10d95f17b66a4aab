"""Rivals: candidates of other pairs that claim the same stretch of border. Only one of them can be right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jigsawnet.borders import Int64Array, njit
from jigsawnet.candidates import FEATURES, MIDDLE, Candidates
from jigsawnet.geometry import carry_rows, invert_rows
from jigsawnet.types import FloatArray

_SHARED = 0.35
"""Two seams rival for a border when their middles are nearer than this part of their lengths together."""


@dataclass(frozen=True, slots=True, eq=False)
class Claims:
    """Stretches of border that C candidates claim, two each: on ``piece (2 C,)``, for ``other (2 C,)``.

    Their ``middle (2 C, 2)`` is in that piece's frame, their ``length (2 C,)`` in px. The claims of i come first, then those
    of j.
    """

    piece: Int64Array
    other: Int64Array
    middle: FloatArray
    length: FloatArray

    @staticmethod
    def of(rows: Candidates) -> Claims:
        """What measured candidates claim."""
        middle = rows.features[:, MIDDLE].astype(np.float64)
        in_j = carry_rows(invert_rows(rows.pose.astype(np.float64)), middle)
        length = rows.features[:, FEATURES.index("length")].astype(np.float64)
        i, j = rows.i.astype(np.int64), rows.j.astype(np.int64)
        return Claims(np.concatenate([i, j]), np.concatenate([j, i]), np.concatenate([middle, in_j]), np.tile(length, 2))


def best_rivals(own: Claims, others: Claims, odds: FloatArray, lowest: float) -> FloatArray:
    """The highest of the ``odds (2 D,)`` of others that rival with each claim, on i's side and on j's: ``(C, 2)``.

    ``lowest`` where there is none.
    """
    order = np.argsort(others.piece, kind="stable")
    most = int(max(own.piece.max(initial=-1), others.piece.max(initial=-1))) + 1
    first = np.searchsorted(others.piece[order], np.arange(most + 1))
    best = np.full(len(own.piece), lowest)
    _find_best(
        own.piece, own.other, own.middle, own.length,
        (first, others.other[order], others.middle[order], others.length[order], odds[order]), best,
    )  # fmt: skip
    return np.asarray(best.reshape(2, -1).T)


@njit
def _find_best(piece, other, middle, length, rivals, best):  # type: ignore[no-untyped-def]
    """Raise ``best`` to the odds of the claims in ``rivals`` = (first of each piece, other, middle, length, odds)."""
    first, its_other, its_middle, its_length, odds = rivals
    for c in range(len(piece)):
        for q in range(first[piece[c]], first[piece[c] + 1]):
            dx, dy = middle[c, 0] - its_middle[q, 0], middle[c, 1] - its_middle[q, 1]
            limit = _SHARED * (length[c] + its_length[q])
            if its_other[q] != other[c] and dx * dx + dy * dy < limit * limit:
                best[c] = max(best[c], odds[q])

"""Rivals: candidates of other pairs that claim the same stretch of border. Only one of them can be right."""

from __future__ import annotations

import numpy as np

from jigsawnet.borders import njit
from jigsawnet.candidates import SHARED, Claims
from jigsawnet.types import FloatArray


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
            limit = SHARED * (length[c] + its_length[q])
            if its_other[q] != other[c] and dx * dx + dy * dy < limit * limit:
                best[c] = max(best[c], odds[q])

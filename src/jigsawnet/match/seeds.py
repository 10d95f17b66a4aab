"""Dense matcher, step 2: seeds, the rough poses worth a closer look.

One matrix product per piece compares its windows with those of all later pieces; the best cells of every pair become seeds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np
from numpy.typing import NDArray

from jigsawnet.match.windows import Windows
from jigsawnet.raster import njit_parallel
from jigsawnet.types import Float32Array, Progress, no_progress


@dataclass(frozen=True, slots=True, eq=False)
class Seeds:
    """Rough poses: piece ``j (S,)`` laid against piece ``i (S,)``, ``i_from_j = (theta, x, y)`` in ``pose (S, 3)``."""

    i: NDArray[np.int32]
    j: NDArray[np.int32]
    pose: Float32Array
    cost: Float32Array

    def __len__(self) -> int:
        return len(self.i)


def find_seeds(
    a: Windows, b: Windows, per_pair: int, floor: float, separation: tuple[int, int], progress: Progress = no_progress
) -> Seeds:
    """The ``per_pair`` best cells of every pair of pieces i < j.

    Args:
        a: windows compared forwards, as piece i.
        b: windows of the same pieces compared backwards, as piece j; may be spaced more finely.
        per_pair: seeds kept for a pair.
        floor: added to a window's chance cost, so that noise on plain windows does not look telling.
        separation: ``(across, along)`` in contour samples: two cells of a pair are one seed when they lie on nearly the same
            anti-diagonal (the same lay of one border on the other) and not far from each other along it.
        progress: told after every piece.
    """
    n = len(a.first) - 1
    weight_a = 1.0 / np.sqrt(a.forward_scale + floor)
    weight_b = 1.0 / np.sqrt(b.backward_scale + floor)
    norm_a, norm_b = (a.forward**2).sum(1), (b.backward**2).sum(1)
    found: list[tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], Float32Array]] = []
    for i in range(n - 1):
        rows = slice(int(a.first[i]), int(a.first[i + 1]))
        columns = slice(int(b.first[i + 1]), int(b.first[n]))
        if rows.stop > rows.start and columns.stop > columns.start:
            product = a.forward[rows] @ b.backward[columns].T
            cells = _best_cells(
                product, norm_a[rows], norm_b[columns], weight_a[rows], weight_b[columns],
                (b.first[i + 1 :] - b.first[i + 1]).astype(np.int64), per_pair, a.stride, b.stride, *separation,
            )  # fmt: skip
            j, row, column = np.nonzero(cells[1] >= 0)[0], cells[1][cells[1] >= 0], cells[2][cells[1] >= 0]
            found.append((
                np.full(len(j), i, np.int32), (row + rows.start).astype(np.int64),
                (column + columns.start).astype(np.int64), cells[0][cells[1] >= 0],
            ))  # fmt: skip
        progress("match", i + 1, n)
    if not found:
        return Seeds(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros((0, 3), np.float32), np.zeros(0, np.float32))
    piece_i, row, column, cost = (np.concatenate([part[k] for part in found]) for k in range(4))
    piece_j = (np.searchsorted(b.first, column, side="right") - 1).astype(np.int32)
    return Seeds(piece_i.astype(np.int32), piece_j, _poses(a, b, row, column), cost.astype(np.float32))


def _poses(a: Windows, b: Windows, row: NDArray[np.int64], column: NDArray[np.int64]) -> Float32Array:
    """i_from_j that lays window ``column`` of b, walked backwards, on window ``row`` of a."""
    theta = a.heading[row] - (b.heading[column] + np.float32(np.pi))
    cos, sin = np.cos(theta), np.sin(theta)
    x, y = b.center[column].T
    shift_x = a.center[row, 0] - (cos * x - sin * y)
    shift_y = a.center[row, 1] - (sin * x + cos * y)
    return np.column_stack([theta, shift_x, shift_y]).astype(np.float32)


@njit_parallel
def _best_cells(product, norm_a, norm_b, weight_a, weight_b, first, per_pair, stride_a, stride_b, across, along):  # type: ignore[no-untyped-def]
    """Per column block: the lowest weighted costs, no two ``across`` and ``along`` samples near each other."""
    pieces = len(first) - 1
    cost = np.full((pieces, per_pair), np.float32(np.inf), dtype=np.float32)
    row = np.full((pieces, per_pair), -1, dtype=np.int64)
    column = np.full((pieces, per_pair), -1, dtype=np.int64)
    for p in numba.prange(pieces):
        for r in range(product.shape[0]):
            for c in range(first[p], first[p + 1]):
                value = (norm_a[r] + norm_b[c] - 2.0 * product[r, c]) * weight_a[r] * weight_b[c]
                if value >= cost[p, per_pair - 1]:
                    continue
                slot = per_pair - 1
                for k in range(per_pair):
                    if row[p, k] < 0:
                        break
                    rows, columns = (row[p, k] - r) * stride_a, (column[p, k] - c) * stride_b
                    if abs(rows) < along and abs(rows + columns) < across:
                        slot = k if value < cost[p, k] else -1
                        break
                if slot < 0:
                    continue
                while slot > 0 and cost[p, slot - 1] > value:
                    cost[p, slot] = cost[p, slot - 1]
                    row[p, slot] = row[p, slot - 1]
                    column[p, slot] = column[p, slot - 1]
                    slot -= 1
                cost[p, slot] = value
                row[p, slot] = r
                column[p, slot] = c
    return cost, row, column

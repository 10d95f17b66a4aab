"""Dense matcher, step 2: seeds, the rough poses worth a closer look.

One matrix product compares all windows of one piece with all windows of another; the best cells become seeds. What is found
for a pair does not depend on the pairs that are looked at with it, to the bit: the products of a pair have their own shape.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jigsawnet.borders import Int64Array, njit
from jigsawnet.match.windows import Windows
from jigsawnet.types import Float32Array


def find_seeds(
    windows: Windows, i: int, others: Int64Array, per_pair: int, separation: tuple[int, int]
) -> tuple[NDArray[np.int32], Float32Array]:
    """The ``per_pair`` best cells of piece i with each of ``others``: pieces ``j (S,)`` and ``i_from_j (S, 3)`` (theta, x, y).

    Args:
        windows: windows of all pieces.
        i: the piece.
        others: the pieces it is laid against.
        per_pair: seeds kept for a pair.
        separation: ``(across, along)`` in contour samples: two cells of a pair are one seed when they lie on nearly the same
            anti-diagonal (the same placement of one border on the other) and not far from each other along it.
    """
    a, b = windows.front, windows.back
    rows = slice(int(a.first[i]), int(a.first[i + 1]))
    first = np.concatenate([[0], np.cumsum(b.first[others + 1] - b.first[others])]).astype(np.int64)
    if rows.stop == rows.start or not first[-1]:
        return np.zeros(0, np.int32), np.zeros((0, 3), np.float32)
    product = np.empty((rows.stop - rows.start, first[-1]), np.float32)
    columns = np.empty(first[-1], np.int64)
    for k, j in enumerate(others.tolist()):
        own, its = slice(first[k], first[k + 1]), slice(b.first[j], b.first[j + 1])
        np.matmul(a.descriptor[rows], b.descriptor[its].T, out=product[:, own])
        columns[own] = np.arange(its.start, its.stop)
    cells = np.full((2, len(others), per_pair), -1, np.int64)
    spacing = np.array([a.stride, b.stride, *separation], np.int64)
    _best_cells(product, a.norm[rows], b.norm[columns], a.weight[rows], b.weight[columns], first, spacing, cells)
    row, column = cells
    found = np.nonzero(row >= 0)
    j = others[found[0]].astype(np.int32)
    return j, _poses(windows, row[found] + rows.start, columns[column[found]])


def _poses(windows: Windows, row: NDArray[np.int64], column: NDArray[np.int64]) -> Float32Array:
    """i_from_j that lays back window ``column``, walked backwards, on front window ``row``."""
    a, b = windows.front, windows.back
    theta = a.heading[row] - b.heading[column]
    cos, sin = np.cos(theta), np.sin(theta)
    x, y = b.center[column].T
    shift_x = a.center[row, 0] - (cos * x - sin * y)
    shift_y = a.center[row, 1] - (sin * x + cos * y)
    return np.column_stack([theta, shift_x, shift_y]).astype(np.float32)


@njit
def _best_cells(product, norm_a, norm_b, weight_a, weight_b, first, spacing, cells):  # type: ignore[no-untyped-def]
    """Per column block p: fill ``cells[:, p]`` with row and column of the cells of lowest cost, the lowest first.

    ``cost = |a - b|^2 w_a w_b = (|a|^2 + |b|^2 - 2 a . b) w_a w_b``. ``spacing`` = (samples a row, samples a column, across,
    along): no two cells lie less than ``across`` and ``along`` samples from each other.
    """
    row, column = cells[0], cells[1]
    per_pair = cells.shape[2]
    cost = np.empty(per_pair, np.float32)
    for p in range(len(first) - 1):
        for k in range(per_pair):
            cost[k] = np.inf
        for r in range(product.shape[0]):
            for c in range(first[p], first[p + 1]):
                value = (norm_a[r] + norm_b[c] - 2.0 * product[r, c]) * weight_a[r] * weight_b[c]
                if value >= cost[per_pair - 1]:
                    continue
                slot = per_pair - 1
                for k in range(per_pair):
                    if row[p, k] < 0:
                        break
                    rows, columns = (row[p, k] - r) * spacing[0], (column[p, k] - c) * spacing[1]
                    if abs(rows) < spacing[3] and abs(rows + columns) < spacing[2]:
                        slot = k if value < cost[k] else -1
                        break
                if slot < 0:
                    continue
                while slot > 0 and cost[slot - 1] > value:
                    cost[slot] = cost[slot - 1]
                    row[p, slot] = row[p, slot - 1]
                    column[p, slot] = column[p, slot - 1]
                    slot -= 1
                cost[slot] = value
                row[p, slot] = r
                column[p, slot] = c

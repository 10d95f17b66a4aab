"""Retrieval: which partners of a piece are worth a closer look, from short descriptors of stretches of border.

Comparing all pairs closely costs the square of the pieces. Windows of border say cheaply how badly two pieces fit at their best
stretch; one product of matrices compares a piece with hundreds of others. Windows of all lengths, with and without colours, are
asked, since each kind of damage blinds another one: what is eroded has lost the shape of short windows, what is ragged that of
long ones, straight cuts say nothing by their shape, and haloes and noise little by their colours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jigsawnet.borders import Int64Array
from jigsawnet.context import Context
from jigsawnet.match.windows import WindowKind, Windows, WindowSet
from jigsawnet.types import Float32Array, FloatArray
from jigsawnet.workers import Shared

_DIMENSIONS = 20
"""Principal components of a window; they hold more than 98 % of its variance."""
_STRIDE_FRONT, _STRIDE_BACK = 2, 2
"""Every so many of the windows that seeds are found by."""
_COLUMN_PIECES = 16
"""Pieces compared with one at a time: the product of their windows stays in the cache."""
_PIECES_PER_BLOCK = 16
_SAMPLE = 20_000
"""Windows that the principal components are found from."""
_LEAST = 1e-3
_CLOSE = 10
"""A piece is as near to others in general as to so many that are nearest to it."""


@dataclass(frozen=True, slots=True, eq=False)
class Stretches:
    """Windows of one kind as two matrices whose product is their cost: ``front (F, E)`` and ``back (E, B)``.

    Those of piece p are rows and columns ``first[p]:first[p + 1]``. With descriptors a and b, their weights v and w:
    ``[v |a|^2, v, -2 v a] . [w, w |b|^2, w b] = |a - b|^2 v w``.
    """

    front_first: Int64Array
    front: Float32Array
    back_first: Int64Array
    back: Float32Array


def find_distances(kinds: Sequence[WindowKind], passes: Sequence[Windows], context: Context) -> Float32Array | None:
    """How unlikely partners each two of n pieces are, ``(n, n)``; only to be ranked; None when stopped early.

    The sum over kinds of windows of the logarithm of the lowest cost, less what either piece has with those nearest to it:
    plain pieces are near to everything.
    """
    material = tuple(_stretches(passes[k]) for k in telling_kinds(kinds))
    n = len(passes[0].front.first) - 1
    blocks = [range(k, min(k + _PIECES_PER_BLOCK, n)) for k in range(0, n, _PIECES_PER_BLOCK)]
    parts = context.run("match", _distances_of_block, Shared(material), blocks)
    if len(parts) < len(blocks):
        return None
    found = np.concatenate(parts)
    found = np.minimum(found, found.T)
    np.fill_diagonal(found, np.inf)
    near = _nearest_mean(found)
    found -= near + near[:, None]
    return found


def telling_kinds(kinds: Sequence[WindowKind]) -> list[int]:
    """Which kinds of windows are asked: all with colours, and of those without the one of the second length."""
    lengths = sorted({kind.length_px for kind in kinds}, reverse=True)
    shape = lengths[min(1, len(lengths) - 1)]
    chosen = [k for k, kind in enumerate(kinds) if kind.color_lab or kind.length_px == shape]
    return chosen or list(range(len(kinds)))


def nearest_partners(distance: Float32Array, count: int, pieces: Int64Array | None = None) -> Int64Array:
    """Pairs ``(P, 2)``, i < j, in order: those of ``pieces`` (None all) with the ``count`` pieces nearest to each."""
    n = len(distance)
    own = np.arange(n) if pieces is None else pieces
    count = min(count, n - 1)
    if count < 1 or not len(own):
        return np.zeros((0, 2), np.int64)
    order = np.argsort(distance[own], axis=1, kind="stable")[:, :count]
    i, j = np.repeat(own, count), order.ravel()
    met = np.isfinite(distance[i, j])
    low, high = np.minimum(i, j)[met], np.maximum(i, j)[met]
    code = np.unique(low * n + high)
    return np.column_stack([code // n, code % n])


def _nearest_mean(distance: Float32Array) -> Float32Array:
    """Half of the mean distance ``(n,)`` of a piece to those nearest to it."""
    count = min(_CLOSE, len(distance) - 1)
    nearest = np.partition(distance, count - 1, axis=1)[:, :count]
    mean = np.where(np.isfinite(nearest), nearest, 0.0).mean(1) / 2
    return np.asarray(mean, np.float32)


def _stretches(windows: Windows) -> Stretches:
    """Some of the windows, in their principal components."""
    front_at, front_first = _every(windows.front, _STRIDE_FRONT)
    back_at, back_first = _every(windows.back, _STRIDE_BACK)
    front, back = windows.front.descriptor[front_at], windows.back.descriptor[back_at]
    mean, axes = _principal_axes(back)
    a, b = ((part - mean) @ axes for part in (front, back))
    v, w = windows.front.weight[front_at, None], windows.back.weight[back_at, None]
    rows = np.column_stack([v * (a**2).sum(1, keepdims=True), v, -2 * v * a])
    columns = np.column_stack([w, w * (b**2).sum(1, keepdims=True), w * b])
    across = np.ascontiguousarray(columns.astype(np.float32).T)
    return Stretches(front_first, rows.astype(np.float32), back_first, across)


def _every(windows: WindowSet, stride: int) -> tuple[Int64Array, Int64Array]:
    """Numbers of every so many windows of each piece, and where those of a piece begin."""
    parts = [np.arange(a, b, stride) for a, b in zip(windows.first[:-1].tolist(), windows.first[1:].tolist(), strict=True)]
    first = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
    return np.concatenate([np.zeros(0, np.int64), *parts]), first


def _principal_axes(descriptors: Float32Array) -> tuple[Float32Array, Float32Array]:
    """Mean ``(D,)`` and the axes of largest variance ``(D, E)`` of an even sample of descriptors."""
    sample = descriptors[:: max(1, len(descriptors) // _SAMPLE)].astype(np.float64)
    mean: FloatArray = sample.mean(0) if len(sample) else np.zeros(descriptors.shape[1])
    _, axes = np.linalg.eigh((sample - mean).T @ (sample - mean))
    return mean.astype(np.float32), np.ascontiguousarray(axes[:, ::-1][:, :_DIMENSIONS]).astype(np.float32)


def _distances_of_block(material: Sequence[Stretches], block: range) -> Float32Array:
    """Rows ``(B, n)`` of the sum of logarithms of the lowest costs, infinite for pieces that come before."""
    n = len(material[0].front_first) - 1
    found = np.zeros((len(block), n), np.float32)
    for stretches in material:
        found += np.log(np.maximum(_lowest_costs(stretches, block), np.float32(_LEAST)))
    return found


def _lowest_costs(stretches: Stretches, block: range) -> Float32Array:
    """The lowest cost of a window of each piece of the block with one of each later piece, ``(B, n)``; infinite without."""
    first, n = stretches.back_first, len(stretches.front_first) - 1
    lowest = np.full((len(block), n), np.inf, np.float32)
    ends = stretches.front_first[block.start : block.stop + 1]
    room = np.empty(int(np.diff(ends).max(initial=0)) * stretches.back.shape[1], np.float32)
    column = np.empty(stretches.back.shape[1], np.float32)
    for row, i in enumerate(block):
        own = stretches.front[ends[row] : ends[row + 1]]
        if not len(own):
            continue
        for start in range(i + 1, n, _COLUMN_PIECES):
            low, high = int(first[start]), int(first[min(start + _COLUMN_PIECES, n)])
            cost = room[: len(own) * (high - low)].reshape(len(own), high - low)  # memory that is new each time costs most
            np.matmul(own, stretches.back[:, low:high], out=cost)
            np.min(cost, axis=0, out=column[low:high], initial=np.inf)
        later = i + 1 + np.flatnonzero(np.diff(first[i + 1 :]))
        if len(later):
            lowest[row, later] = np.minimum.reduceat(column, first[later])
    return lowest

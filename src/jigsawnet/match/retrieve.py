"""Retrieval: which partners of a piece are worth a closer look, from short descriptors of stretches of border.

Comparing all pairs closely costs the square of the pieces. Windows of border say cheaply how badly two pieces fit at their best
stretch; one product of matrices compares a piece with hundreds of others. Of thousands of pieces a rough look, at fewer windows
in fewer components, says first which ones are worth even that. Windows of all lengths, with and without colours, are
asked, since each kind of damage blinds another one: what is eroded has lost the shape of short windows, what is ragged that of
long ones, straight cuts say nothing by their shape, and haloes and noise little by their colours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from jigsawnet.borders import Int64Array
from jigsawnet.context import Context
from jigsawnet.match.windows import WindowKind, Windows, WindowSet
from jigsawnet.types import BoolArray, Float32Array, FloatArray, Progress
from jigsawnet.workers import Shared

_DIMENSIONS = 20
"""Principal components of a window; they hold more than 98 % of its variance."""
_STRIDE_FRONT, _STRIDE_BACK = 2, 2
"""Every so many of the windows that seeds are found by."""
_ROUGH_ABOVE = 2000
"""Pieces from which on a rough look comes first."""
_ROUGH_DIMENSIONS, _ROUGH_STRIDE_FRONT, _ROUGH_STRIDE_BACK = 12, 4, 6
_ROUGH_LEAST, _ROUGH_SHARE = 400, 0.04
"""Pieces nearest to a piece in the rough look that are looked at in full, and what part of all pieces is added to them."""
_COLUMN_PIECES, _ROUGH_COLUMN_PIECES = 16, 96
"""Pieces compared with one at a time: the product of their windows stays in the cache."""
_PIECES_PER_BLOCK = 16
_BLOCKS_AT_A_TIME = 64
"""Blocks that are done before their rows are written down: no more than these are held twice."""
_SAMPLE = 20_000
"""Windows that the principal components are found from."""
_LEAST = 1e-3
_SAMPLE_ROWS = 256
_CLOSE = 10
"""A piece is as near to others in general as to so many that are nearest to it."""


@dataclass(frozen=True, slots=True, eq=False)
class Stretches:
    """Windows of one kind as two matrices whose product is their cost: ``front (F, E)`` and ``back (B, E)``, turned.

    Those of piece p are the rows ``first[p]:first[p + 1]``. With descriptors a and b, their weights v and w:
    ``[v |a|^2, v, -2 v a] . [w, w |b|^2, w b] = |a - b|^2 v w``.
    """

    front_first: Int64Array
    front: Float32Array
    back_first: Int64Array
    back: Float32Array
    column_pieces: int = _COLUMN_PIECES


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Pieces that are to be compared with all later ones, or with those that ``worth (B, n)`` says."""

    pieces: range
    worth: BoolArray | None = None


def find_distances(kinds: Sequence[WindowKind], passes: Sequence[Windows], context: Context) -> Float32Array | None:
    """How unlikely partners each two of n pieces are, ``(n, n)``; only to be ranked; None when stopped early.

    The sum over kinds of windows of the logarithm of the lowest cost, less what either piece has with those nearest to it:
    plain pieces are near to everything. Infinite where a rough look has shown that it is not worth another.
    """
    told = [passes[k] for k in telling_kinds(kinds)]
    n, worth = len(told[0].front.first) - 1, None
    if n > _ROUGH_ABOVE:
        found = _all_distances([_rough_stretches(windows) for windows in told if not context.stop.is_over()], n, None, context)
        if found is None:
            return None
        worth = _worth_a_look(found, _ROUGH_LEAST + round(_ROUGH_SHARE * n))
    return _all_distances([_stretches(windows) for windows in told if not context.stop.is_over()], n, worth, context)


def _all_distances(material: Sequence[Stretches], n: int, worth: BoolArray | None, context: Context) -> Float32Array | None:
    """The distances ``(n, n)`` by some stretches; None when stopped early."""
    if context.stop.is_over():
        return None
    shared, found = Shared(tuple(material)), np.empty((n, n), np.float32)
    blocks = [range(k, min(k + _PIECES_PER_BLOCK, n)) for k in range(0, n, _PIECES_PER_BLOCK)]
    at_a_time = _BLOCKS_AT_A_TIME * context.workers.slots
    for done in range(0, len(blocks), at_a_time):
        own = [
            _Rows(rows, None if worth is None else worth[rows.start : rows.stop]) for rows in blocks[done : done + at_a_time]
        ]
        told = replace(context, progress=partial(_tell_after, context.progress, done, len(blocks)))
        parts = told.run("match", _distances_of_block, shared, own)
        if len(parts) < len(own):
            return None
        for rows, part in zip(own, parts, strict=True):
            found[rows.pieces.start : rows.pieces.stop] = part
    _mirror(found)
    near = _nearest_mean(found)
    for k, own in enumerate(near):
        found[k] -= near + own
    return found


def _tell_after(tell: Progress, before: int, total: int, stage: str, done: int, _: int) -> None:
    tell(stage, before + done, total)


def _mirror(found: Float32Array) -> None:
    """Both triangles the lower of the two, and nothing on the diagonal; a few rows at a time, since it may be large."""
    for start in range(0, len(found), _SAMPLE_ROWS):
        rows = slice(start, start + _SAMPLE_ROWS)
        lower = np.minimum(found[rows], found[:, rows].T)
        found[rows], found[:, rows] = lower, lower.T
    np.fill_diagonal(found, np.inf)


def _worth_a_look(distance: Float32Array, count: int) -> BoolArray:
    """``(n, n)``: pairs of which one piece is among the ``count`` nearest to the other."""
    count = min(count, len(distance) - 1)
    limit = np.array([np.partition(row, count - 1)[count - 1] for row in distance])
    worth = (distance <= limit[:, None]) & np.isfinite(distance)
    worth |= worth.T
    return np.asarray(worth)


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
    i, j = np.repeat(own, count), np.concatenate([_nearest(distance[k], count) for k in own.tolist()])
    met = np.isfinite(distance[i, j])
    low, high = np.minimum(i, j)[met], np.maximum(i, j)[met]
    code = np.unique(low * n + high)
    return np.column_stack([code // n, code % n])


def _nearest(row: Float32Array, count: int) -> Int64Array:
    """The ``count`` places of the lowest values, the lowest first, equal ones in order."""
    near = np.flatnonzero(row <= np.partition(row, count - 1)[count - 1])
    return np.asarray(near[np.argsort(row[near], kind="stable")[:count]], np.int64)


def _nearest_mean(distance: Float32Array) -> Float32Array:
    """Half of the mean distance ``(n,)`` of a piece to those nearest to it."""
    count = min(_CLOSE, len(distance) - 1)
    nearest = np.array([np.partition(row, count - 1)[:count] for row in distance])
    mean = np.where(np.isfinite(nearest), nearest, 0.0).mean(1) / 2
    return np.asarray(mean, np.float32)


def _stretches(windows: Windows) -> Stretches:
    """Some of the windows, in their principal components."""
    return _in_components(windows, _STRIDE_FRONT, _STRIDE_BACK, _DIMENSIONS, _COLUMN_PIECES)


def _rough_stretches(windows: Windows) -> Stretches:
    """Fewer of the windows, in fewer components."""
    return _in_components(windows, _ROUGH_STRIDE_FRONT, _ROUGH_STRIDE_BACK, _ROUGH_DIMENSIONS, _ROUGH_COLUMN_PIECES)


def _in_components(windows: Windows, front_stride: int, back_stride: int, dimensions: int, column_pieces: int) -> Stretches:
    front_at, front_first = _every(windows.front, front_stride)
    back_at, back_first = _every(windows.back, back_stride)
    front, back = windows.front.descriptor[front_at], windows.back.descriptor[back_at]
    mean, axes = _principal_axes(back, dimensions)
    a, b = ((part - mean) @ axes for part in (front, back))
    v, w = windows.front.weight[front_at, None], windows.back.weight[back_at, None]
    rows = np.column_stack([v * (a**2).sum(1, keepdims=True), v, -2 * v * a]).astype(np.float32)
    columns = np.column_stack([w, w * (b**2).sum(1, keepdims=True), w * b]).astype(np.float32)
    return Stretches(front_first, rows, back_first, columns, column_pieces)


def _every(windows: WindowSet, stride: int) -> tuple[Int64Array, Int64Array]:
    """Numbers of every so many windows of each piece, and where those of a piece begin."""
    parts = [np.arange(a, b, stride) for a, b in zip(windows.first[:-1].tolist(), windows.first[1:].tolist(), strict=True)]
    first = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
    return np.concatenate([np.zeros(0, np.int64), *parts]), first


def _principal_axes(descriptors: Float32Array, dimensions: int) -> tuple[Float32Array, Float32Array]:
    """Mean ``(D,)`` and the axes of largest variance ``(D, E)`` of an even sample of descriptors."""
    sample = descriptors[:: max(1, len(descriptors) // _SAMPLE)].astype(np.float64)
    mean: FloatArray = sample.mean(0) if len(sample) else np.zeros(descriptors.shape[1])
    _, axes = np.linalg.eigh((sample - mean).T @ (sample - mean))
    return mean.astype(np.float32), np.ascontiguousarray(axes[:, ::-1][:, :dimensions]).astype(np.float32)


def _distances_of_block(material: Sequence[Stretches], rows: _Rows) -> Float32Array:
    """Rows ``(B, n)`` of the sum of logarithms of the lowest costs, infinite for pieces before and those not worth it."""
    n = len(material[0].front_first) - 1
    found = np.zeros((len(rows.pieces), n), np.float32)
    for stretches in material:
        found += np.log(np.maximum(_lowest_costs(stretches, rows), np.float32(_LEAST)))
    return found


def _lowest_costs(stretches: Stretches, rows: _Rows) -> Float32Array:
    """The lowest cost of a window of each of some pieces with one of each piece it is compared with; infinite without."""
    first, n = stretches.back_first, len(stretches.front_first) - 1
    lowest = np.full((len(rows.pieces), n), np.inf, np.float32)
    has_windows = np.diff(first) > 0
    for row, i in enumerate(rows.pieces):
        own = stretches.front[stretches.front_first[i] : stretches.front_first[i + 1]]
        if not len(own):
            continue
        others = i + 1 + np.flatnonzero(has_windows[i + 1 :] & (True if rows.worth is None else rows.worth[row, i + 1 :]))
        if not len(others):
            continue
        back, starts = (stretches.back, first[others]) if rows.worth is None else _taken(stretches, others)
        lowest[row, others] = _lowest_of(own, back, starts, stretches.column_pieces)
    return lowest


def _taken(stretches: Stretches, pieces: Int64Array) -> tuple[Float32Array, Int64Array]:
    """The back windows of some pieces, and where those of each begin."""
    first = stretches.back_first
    size = first[pieces + 1] - first[pieces]
    starts = np.cumsum(size) - size
    at = np.repeat(first[pieces] - starts, size) + np.arange(int(size.sum()))
    return stretches.back[at], starts


def _lowest_of(own: Float32Array, back: Float32Array, starts: Int64Array, column_pieces: int) -> Float32Array:
    """The lowest product of any row of ``own`` with one of the rows of ``back`` that begin at each of ``starts``."""
    back, starts = back[starts[0] :], starts - starts[0]
    column, room = np.empty(len(back), np.float32), np.empty(0, np.float32)
    for k in range(0, len(starts), column_pieces):
        low = int(starts[k])
        high = int(starts[k + column_pieces]) if k + column_pieces < len(starts) else len(back)
        if room.size < len(own) * (high - low):
            room = np.empty(len(own) * (high - low), np.float32)
        cost = room[: len(own) * (high - low)].reshape(len(own), high - low)  # memory that is new each time costs most
        np.matmul(own, back[low:high].T, out=cost)
        np.min(cost, axis=0, out=column[low:high], initial=np.inf)
    return np.asarray(np.minimum.reduceat(column, starts))

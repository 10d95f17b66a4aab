"""Strips: which long sides belong together, from what is printed along them.

A network describes every row along a side by a vector, once as the right side of a cut and once as the left one; the product
of two vectors says how much more likely both rows are there when the strips are neighbours (log odds). Evidence adds up over
the rows: strokes that go on count for a join, those that do not against it. Blank paper has the vector 0: white margins say
nothing. All slides of one side along another are one correlation, done for all pairs at once in the frequency domain.

A strip turned by half a turn shows its left side as a right one. So there are 2 N strips, N upright and N turned, and a join is
looked at from both ways up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import scipy
from numpy.typing import NDArray

from jigsawnet.candidates import Candidates
from jigsawnet.context import Context
from jigsawnet.geometry import SE2, pose_row
from jigsawnet.learned import Learned, Logistic, Weights
from jigsawnet.strips import INSIDE_PX, OUTSIDE_PX, Strip, bands, blank_bands, chad_bands, laid_down, straighten
from jigsawnet.types import BoolArray, Float32Array, FloatArray, Piece
from jigsawnet.workers import Shared

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

ROW_PX = 2
"""Rows of a band that one vector stands for."""
PER_SIDE = 8
"""Candidates kept for a side."""
_FLUSH, _FARTHEST = 0.005, 6.0
"""Ends are mostly flush: a slide by this part of the length costs one unit of evidence, any slide at most so much."""
_BLANK_ROWS, _APRON_PX = 201, 48
"""Rows of blank paper: of a strip that says nothing, and before and after a chad, more than a network looks along."""
_BLOCK, _LARGEST_BLOCK = 8, 64
"""Strips that are described at a time, and right and left sides, at the least and at the most, that are compared."""
_HEAT, _NOBODY = 1.5, 9.0
"""Rows near each other see the same strokes, so so much evidence counts as one unit of log odds; that a side has no neighbour
is as likely as a join of this evidence."""
_SHAPED, _MOST_ALIKE = 0.75, 0.97
"""Edges of sure joins that correlate by this much tell of others, too; no more than the second is believed."""
_SURE, _FEWEST_SURE = 0.9, 3
_CURL_PX, _LEAST_WIGGLE_PX, _WIGGLE_ROWS = 40.0, 0.3, 12.0
_LIKELY, _FEWEST_ROWS, _NEAR_ROWS, _LEAST_NOISE = 0.05, 40, 12, 7.0
"""Of joins that get so much of their sides, and lie along each other by so many rows, it is asked how far they stand out of all
slides that differ by more than the third, in units of their spread, which is at least the last."""
_CLEAR, _LONG_ROWS = 1.5, 400
"""Joins of blocks must stand out by the first, and have the second: with less, chance stands out, too. Measured on rows of
chads: right joins stand out by 1.9 to 4.2, others by 0.6 at most."""
_TOUCHING = 0.2
"""Stretches of a side that share more than this part of the shorter one cannot both have a neighbour."""
_SCALINGS = 150
_LEAST = 1e-6
_LEAST_SHARE, _CLEAREST = 1e-3, 8.0
"""Shares nearer to 0 and 1 say no more than this one, and standing out no more than the last: joins with no rival left."""
_ROWS_FITTED = 200
"""Rows of two sides that a pose is fitted to."""


@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """2 N strips, number 2 n upright and 2 n + 1 turned: ``right`` and ``left`` ``(2 N, E, D)``, zero beyond a strip's end.

    ``rows (N,)`` is how many of the E vectors each strip has.
    """

    right: Float32Array
    left: Float32Array
    rows: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class SideJoins:
    """Candidates: the right side of ``a (C,)`` meets the left one of ``b (C,)``, both numbers of `Sides`.

    Row r of a lies beside row ``r + slide`` of b; ``evidence (C,)`` speaks for it, ``share (C,)`` is the part of both sides
    that it gets when all candidates contend for them, and ``clear (C,)`` how far it stands out (`_stand_out`).
    """

    a: NDArray[np.int64]
    b: NDArray[np.int64]
    slide: NDArray[np.int64]
    evidence: FloatArray
    share: FloatArray
    clear: FloatArray


def find_strip_joins(pieces: Sequence[Piece], context: Context, learned: Learned) -> Candidates:
    """The best joins of all long sides: ``fit`` is their probability, ``strokes`` the evidence; none when stopped early."""
    rows = _joins_of(straighten(pieces), context, learned) or Candidates.none()
    return rows.take(np.argsort(-rows.fit, kind="stable"))


def find_block_joins(blocks: Sequence[Strip], context: Context, learned: Learned) -> Candidates:
    """Joins of strips that already lie side by side, each block taken as one, along their ends.

    A long side may have several neighbours, one beside the other: only joins that want the same stretch contend for it.
    """
    return _joins_of([laid_down(block) for block in blocks], context, learned, stretches=True) or Candidates.none()


def _joins_of(strips: Sequence[Strip], context: Context, learned: Learned, stretches: bool = False) -> Candidates | None:
    """Candidates of right and left sides; None when stopped early."""
    sides = describe_sides(strips, learned.network("strokes"), context)
    joins = None if sides is None else best_joins(sides, context, 0.0 if stretches else _LIKELY)
    if sides is None or joins is None:
        return None
    shapes = shape_sides(strips, sides)
    alike = agreement(joins, shapes)
    if alike >= _SHAPED:
        joins = best_joins(with_shapes(sides, shapes, alike), context, 0.0 if stretches else _LIKELY) or joins
    if stretches:
        joins = _rows_of(joins, (joins.clear >= _CLEAR) & (_met(joins, sides.rows) >= _LONG_ROWS))
        joins = replace(joins, share=stretch_shares(joins, sides.rows))
    pose = np.array(
        [side_pose(strips, *row) for row in zip(joins.a.tolist(), joins.b.tolist(), joins.slide.tolist(), strict=True)]
    )
    fit = strip_fit(joins, learned.strips)
    return Candidates.make(joins.a // 2, joins.b // 2, pose.reshape(-1, 3), fit=fit, strokes=joins.evidence)


def shape_sides(strips: Sequence[Strip], sides: Sides) -> Sides:
    """How far the edges stand out to the right in each row, as vectors ``(2 N, E, 1)``, without slow bows, which are curls."""
    right, left = np.zeros((2, *sides.right.shape[:2], 1), np.float32)
    for n, strip in enumerate(strips):
        fine = strip.edges - scipy.ndimage.gaussian_filter1d(strip.edges, _CURL_PX, axis=1, mode="nearest")
        low, high = fine[:, ::ROW_PX][:, : sides.rows[n]]
        left[2 * n, : len(low), 0], right[2 * n, : len(high), 0] = low, high
        left[2 * n + 1, : len(high), 0], right[2 * n + 1, : len(low), 0] = -high[::-1], -low[::-1]
    size = max(float(np.sqrt((right**2).sum() / sides.rows.sum() / 2)), _LEAST_WIGGLE_PX)
    return Sides(right / np.float32(size), left / np.float32(size), sides.rows)


def agreement(joins: SideJoins, shapes: Sides) -> float:
    """How alike the edges of sure joins run, the median correlation; 0 where there are few, or edges are straight."""
    found = []
    for k in np.flatnonzero(joins.share > _SURE).tolist():
        slide = int(joins.slide[k])
        a, b = shapes.right[joins.a[k], max(0, -slide) :, 0], shapes.left[joins.b[k], max(0, slide) :, 0]
        rows = min(len(a), len(b))
        found.append(float(a[:rows] @ b[:rows]) / float(np.linalg.norm(a[:rows]) * np.linalg.norm(b[:rows]) + _LEAST * rows))
    return float(np.median(found)) if len(found) >= _FEWEST_SURE else 0.0


def with_shapes(sides: Sides, shapes: Sides, alike: float) -> Sides:
    """Sides whose vectors say, too, how the edges wiggle.

    Of two Gaussian profiles that correlate by r, a row speaks for a join by
    ``(r z z' - r^2 (z^2 + z'^2) / 2) / (1 - r^2) - log(1 - r^2) / 2``, divided by the rows over which a profile hardly changes.
    """
    r = min(alike, _MOST_ALIKE)
    cross, own, always = r / (1 - r * r), r * r / (1 - r * r) / 2, -np.log(1 - r * r) / 4
    inside = (np.arange(sides.right.shape[1]) < np.repeat(sides.rows, 2)[:, None])[..., None].astype(np.float32)
    a, b = (inside * (always - own * shape**2) for shape in (shapes.right, shapes.left))
    root, size = np.float32(np.sqrt(cross / _WIGGLE_ROWS)), np.float32(1.0 / _WIGGLE_ROWS)
    return Sides(
        np.concatenate([sides.right, root * shapes.right, size * a, inside], axis=2, dtype=np.float32),
        np.concatenate([sides.left, root * shapes.left, inside, size * b], axis=2, dtype=np.float32),
        sides.rows,
    )


def strip_terms(joins: SideJoins) -> FloatArray:
    """What is known of joins ``(C, 3)``: the log odds of their share, the share, and the share times how far they stand out."""
    share = np.clip(joins.share, _LEAST_SHARE, 1.0 - _LEAST_SHARE)
    clear = np.log1p(np.clip(joins.clear, 0.0, _CLEAREST))
    return np.column_stack([np.log(share / (1.0 - share)), joins.share, joins.share * clear])


def strip_fit(joins: SideJoins, weights: Logistic) -> FloatArray:
    """The probability ``(C,)`` that a join is right."""
    odds = strip_terms(joins) @ np.array(weights.weights) + weights.bias
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(odds, -30, 30))))


def describe_sides(strips: Sequence[Strip], weights: Weights, context: Context, chads: bool = False) -> Sides | None:
    """Have the networks look along all sides, both ways up; None when stopped early. Of ``chads`` the ends are blanked out."""
    height = max(len(strip.mask) for strip in strips) | 1  # odd: turned by half a turn, rows fall on rows
    blocks = [strips[k : k + _BLOCK] for k in range(0, len(strips), _BLOCK)]
    parts = context.run("match", _describe, Shared((weights, height, chads)), blocks)
    if len(parts) < len(blocks):
        return None
    return Sides(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _describe(
    material: tuple[Weights, int, bool], strips: Sequence[Strip]
) -> tuple[Float32Array, Float32Array, NDArray[np.int64]]:
    """Vectors of some strips. What was seen turned is laid beside what was seen upright, row by row.

    With f the network for right sides, g the one for left sides and T half a turn, a right side has ``[f(x), T g(T x)]``, a
    left one ``[g(x), T f(T x)]``, so their product is the mean over both ways up.
    """
    weights, height, chads = material
    look_right, look_left = weights.sessions
    seen = [chad_bands(strip) if chads else bands(strip) for strip in strips]
    before = _APRON_PX if chads else 0
    rows = np.array([(band.shape[2] + ROW_PX - 1) // ROW_PX for band in seen], np.int64)
    upright = np.stack([_padded(band, height, before) for band in seen])
    turned = np.stack([_padded(band[::-1, :, ::-1, ::-1], height, before) for band in seen])
    right = [_run(look_right, both[:, 1], rows, slice(INSIDE_PX, None), before) for both in (upright, turned)]
    left = [_run(look_left, both[:, 0], rows, slice(None, OUTSIDE_PX), before) for both in (upright, turned)]
    size = np.float32(np.sqrt(0.5))
    as_right = [np.concatenate([right[k], _turned(left[1 - k], rows)], axis=2) * size for k in (0, 1)]
    as_left = [np.concatenate([left[k], _turned(right[1 - k], rows)], axis=2) * size for k in (0, 1)]
    return _interleaved(as_right), _interleaved(as_left), rows


def _padded(band: Float32Array, height: int, before: int) -> Float32Array:
    """Both sides of a strip in ``height`` rows; with blank paper ``before`` and after it, if any is wanted."""
    if before:
        padded = blank_bands(height + 2 * before)
        padded[:, :, before : before + band.shape[2]] = band
        return padded
    return np.pad(band, ((0, 0), (0, 0), (0, height - band.shape[2]), (0, 0)))


def _run(session: InferenceSession, band: Float32Array, rows: NDArray[np.int64], outer: slice, before: int) -> Float32Array:
    """Vectors ``(B, E, D)`` of bands ``(B, 2, H, W)`` less that of blank paper, zero from row ``rows (B,)`` on.

    One at a time, so that each rounds alone. Columns ``outer`` lie outside; the first and the last rows, so many as
    ``before``, are left out.
    """
    blank = np.zeros((1, 2, _BLANK_ROWS, band.shape[3]), np.float32)
    blank[:, 1] = 1.0
    blank[:, 1, :, outer] = 0.0
    nothing = session.run(None, {"band": blank})[0][:, _BLANK_ROWS // ROW_PX // 2]
    found = np.concatenate([session.run(None, {"band": np.ascontiguousarray(one[None])})[0] for one in band]) - nothing
    found = found[:, before // ROW_PX : found.shape[1] - before // ROW_PX]
    found[np.arange(found.shape[1]) >= rows[:, None]] = 0.0
    return np.asarray(found, np.float32)


def _turned(vectors: Float32Array, rows: NDArray[np.int64]) -> Float32Array:
    """The same in reverse order, each strip within its own length."""
    back = rows[:, None] - 1 - np.arange(vectors.shape[1])
    return np.where((back >= 0)[..., None], np.take_along_axis(vectors, np.maximum(back, 0)[..., None], axis=1), np.float32(0))


def _interleaved(both: Sequence[Float32Array]) -> Float32Array:
    return np.stack(both, axis=1).reshape(-1, *both[0].shape[1:])


def best_joins(sides: Sides, context: Context, likely: float = _LIKELY) -> SideJoins | None:
    """The `PER_SIDE` best joins of every side, each once, with their shares; None when stopped early.

    How far they stand out is asked of those whose share is ``likely`` and more.
    """
    n = len(sides.right)
    step = max(_BLOCK, min(_LARGEST_BLOCK, n // 4))
    blocks = [range(k, min(k + step, n)) for k in range(0, n, step)]
    tiles = [(a, b) for a in blocks for b in blocks]
    parts = context.run("match", _correlate, Shared((sides.right, sides.left)), tiles)
    if len(parts) < len(tiles):
        return None
    evidence, slide = np.empty((n, n), np.float32), np.empty((n, n), np.int32)
    for (a, b), part in zip(tiles, parts, strict=True):
        evidence[a.start : a.stop, b.start : b.stop], slide[a.start : a.stop, b.start : b.stop] = part
    turned = np.arange(n) ^ 1
    evidence = (evidence + evidence[np.ix_(turned, turned)].T) / 2  # a join and the same upside down, equal to the last bit
    evidence[(np.arange(n) // 2)[:, None] == np.arange(n) // 2] = -np.inf
    joins = _chosen(evidence, slide)
    asked = np.flatnonzero((joins.share >= likely) & (_met(joins, sides.rows) >= _FEWEST_ROWS))
    lots = [_rows_of(joins, part) for part in np.array_split(asked, range(_BLOCK, len(asked), _BLOCK))]
    found = context.run("match", _stand_out, Shared(sides), lots)
    if len(found) < len(lots):
        return None
    clear = np.zeros(len(joins.a))
    clear[asked] = np.concatenate(found)
    return replace(joins, clear=clear)


def _rows_of(joins: SideJoins, rows: BoolArray | NDArray[np.int64]) -> SideJoins:
    return SideJoins(*(getattr(joins, name)[rows] for name in SideJoins.__slots__))


def _met(joins: SideJoins, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows along which two sides lie beside each other ``(C,)``."""
    low, high = np.maximum(0, -joins.slide), np.minimum(rows[joins.a // 2], rows[joins.b // 2] - joins.slide)
    return np.asarray(np.maximum(0, high - low), np.int64)


def _correlate(
    material: tuple[Float32Array, Float32Array], tile: tuple[range, range]
) -> tuple[Float32Array, NDArray[np.int32]]:
    """For some right sides and some left ones the evidence at the best slide, and that slide: ``(A, B)`` each.

    ``c(d) = sum_r right(r) . left(r + d)``, less what a slide costs.
    """
    right, left = (sides[part.start : part.stop] for sides, part in zip(material, tile, strict=True))
    rows = right.shape[1]
    length = scipy.fft.next_fast_len(2 * rows, real=True)
    mine = scipy.fft.rfft(right, length, axis=1).transpose(1, 0, 2)
    product = np.matmul(mine, np.conj(scipy.fft.rfft(left, length, axis=1)).transpose(1, 2, 0))
    found = scipy.fft.irfft(np.conj(product), length, axis=0)
    slides = np.fft.fftfreq(length, 1.0 / length).round().astype(np.int32)
    found -= np.minimum(np.abs(slides) / (_FLUSH * rows), _FARTHEST).astype(np.float32)[:, None, None]
    best = found.argmax(axis=0)
    return np.take_along_axis(found, best[None], axis=0)[0].astype(np.float32), slides[best]


def _chosen(evidence: Float32Array, slide: NDArray[np.int32]) -> SideJoins:
    """From the table ``(2 N, 2 N)`` of all joins those that get the most of a side; a join and its twin, turned, are one."""
    n = len(evidence)
    between = evidence[:, np.arange(n) ^ 1].astype(np.float64)  # the left side of b is the right one of b turned
    share = shares(between)
    best = np.argsort(-share, axis=1, kind="stable")[:, :PER_SIDE]
    a, b = np.repeat(np.arange(n), best.shape[1]), best.ravel() ^ 1
    both = np.concatenate([np.column_stack([a, b]), np.column_stack([b ^ 1, a ^ 1])])
    a, b = np.unique(both[both[:, 0] // 2 < both[:, 1] // 2], axis=0).T
    return SideJoins(a, b, slide[a, b].astype(np.int64), between[a, b ^ 1], share[a, b ^ 1], np.zeros(len(a)))


def shares(evidence: FloatArray) -> FloatArray:
    """How S sides divide themselves among each other, ``(S, S)``, by the evidence ``(S, S)`` for each two.

    The result is symmetric, and rows sum to less than 1: the rest is that a side has no neighbour.
    ``p[s, t] = r[s] r[t] exp(e[s, t] / T)`` with r such that ``sum_t p[s, t] + r[s] exp(n / T) = 1`` (Sinkhorn's scaling).
    """
    heat = evidence / _HEAT
    r = np.zeros(len(evidence))
    for _ in range(_SCALINGS):
        r = (r - np.logaddexp(scipy.special.logsumexp(heat + r, axis=1), _NOBODY / _HEAT)) / 2
    return np.asarray(np.exp(np.minimum(heat + r[:, None] + r, 0.0)))


def _stand_out(sides: Sides, joins: SideJoins) -> FloatArray:
    """By how much a join is better ``(C,)`` than the same two sides slid elsewhere.

    Lines of print that lie level speak for every two strips of a page, and blocks are few and have no rivals; but at every
    other slide two sides are as wrong as can be. In units of the spread over all slides at which the shorter side lies along
    the other by half of its length and more; 0 where there are few of these.
    """
    found = np.zeros(len(joins.a))
    length = scipy.fft.next_fast_len(2 * sides.right.shape[1], real=True)
    slides = np.fft.fftfreq(length, 1.0 / length).round().astype(np.int64)
    for k, (a, b) in enumerate(zip(joins.a.tolist(), joins.b.tolist(), strict=True)):
        right, left = (scipy.fft.rfft(side, length, axis=0) for side in (sides.right[a], sides.left[b]))
        along = scipy.fft.irfft((np.conj(right) * left).sum(axis=1), length)
        rows_a, rows_b = int(sides.rows[a // 2]), int(sides.rows[b // 2])
        met = np.minimum(rows_a, rows_b - slides) - np.maximum(0, -slides)
        other = (met >= min(rows_a, rows_b) / 2) & (np.abs(slides - joins.slide[k]) > _NEAR_ROWS)
        if other.sum() > _NEAR_ROWS:
            here = float(along[slides == joins.slide[k]][0])
            found[k] = (here - along[other].max()) / max(float(along[other].std()), _LEAST_NOISE)
    return found


def stretch_shares(joins: SideJoins, rows: NDArray[np.int64]) -> FloatArray:
    """The part ``(C,)`` that each join gets of the two stretches it takes, among all joins that take some of them.

    ``p = exp(e / T) / (exp(e / T) + sum exp(e' / T) + exp(n / T))`` with the evidence e' of the others.
    """
    a, b, slide = joins.a, joins.b, joins.slide
    low = np.maximum(0, -slide)
    high = np.maximum(low + 1, np.minimum(rows[a // 2], rows[b // 2] - slide))
    first = _stretch(rows[a // 2], low, high, a % 2 == 1)
    second = _stretch(rows[b // 2], low + slide, high + slide, b % 2 == 1)
    side = np.concatenate([a, b ^ 1])  # the left side of b is the right one of b turned
    low, high = (np.concatenate(ends) for ends in zip(first, second, strict=True))
    e = np.tile(joins.evidence / _HEAT, 2)
    rivals = np.full(len(a), _NOBODY / _HEAT)
    for one in np.unique(side):
        at = np.flatnonzero(side == one)
        met = np.minimum(high[at, None], high[at]) - np.maximum(low[at, None], low[at])
        wants = met > _TOUCHING * np.minimum((high - low)[at, None], (high - low)[at])
        np.fill_diagonal(wants, False)
        against = scipy.special.logsumexp(np.where(wants, e[at], -np.inf), axis=1) if len(at) > 1 else np.full(len(at), -np.inf)
        np.logaddexp.at(rivals, at % len(a), against)
    return np.asarray(scipy.special.expit(joins.evidence / _HEAT - rivals))


def _stretch(
    rows: NDArray[np.int64], low: NDArray[np.int64], high: NDArray[np.int64], turned: BoolArray
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows from ``low`` to ``high`` of a side, counted from the same end whichever way the strip is turned."""
    return np.where(turned, rows - high, low), np.where(turned, rows - low, high)


def side_pose(strips: Sequence[Strip], a: int, b: int, slide: int) -> tuple[float, float, float]:
    """i_from_j as a row, for i = a // 2 and j = b // 2: b's left edge is laid along a's right one, in the least squares."""
    first, second = strips[a // 2], strips[b // 2]
    rows_a, rows_b = len(first.mask), len(second.mask)
    start, stop = max(0, -ROW_PX * slide), min(rows_a, rows_b - ROW_PX * slide)
    rows = np.linspace(start, max(start, stop - 1), _ROWS_FITTED).round()
    target = edge_points(first, 1 - a % 2, rows if a % 2 == 0 else rows_a - 1 - rows)
    there = rows + ROW_PX * slide
    source = edge_points(second, b % 2, there if b % 2 == 0 else rows_b - 1 - there)
    return pose_row(_rigid(target, source))


def edge_points(strip: Strip, side: int, rows: FloatArray) -> FloatArray:
    """Points ``(R, 2)`` of the left (0) or right (1) edge in the piece's own frame."""
    at = np.clip(rows, 0, len(strip.mask) - 1)
    x = np.interp(at, np.arange(len(strip.mask)), strip.edges[side]) + (0.5 if side else -0.5)
    return strip.upright_from_piece.inverse() @ (np.column_stack([x, rows]) / strip.scale)


def _rigid(target: FloatArray, source: FloatArray) -> SE2:
    """The rigid ``target_from_source`` with the least squared distances between points ``(R, 2)`` (Kabsch)."""
    t, s = target - target.mean(axis=0), source - source.mean(axis=0)
    theta = float(np.arctan2((s[:, 0] * t[:, 1] - s[:, 1] * t[:, 0]).sum(), (s * t).sum()))
    x, y = target.mean(axis=0) - SE2(theta, 0.0, 0.0) @ source.mean(axis=0)
    return SE2(theta, float(x), float(y))

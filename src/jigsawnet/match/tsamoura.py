"""The colour matcher of Tsamoura and Pitas (2010), a baseline: common subsequences of border colours, nothing of shape.

E. Tsamoura, I. Pitas: Automatic color based reassembly of fragmented images and paintings. IEEE TIP 19(3), 2010. Steps:

1. `quantise_colors`: the border colours of all pieces are reduced to a small palette by a self-organising map (Kohonen); each
   contour becomes a cyclic string.
2. `retrieve_pairs`: pairs of pieces with alike colour histograms are likely neighbours; only these are compared.
3. `align_strings`: the best common subsequences of one string and the other reversed (Smith-Waterman); the weighted length of
   a subsequence is its score.
4. `_poses`, then `verify`: least-squares pose from the matched border points, refined by ICP.
5. Poses with a noticeable overlap are dropped.

How the pieces are then put together is the composer `tsamoura`. Not known, and chosen here: the size of the map (`palette`),
how many pairs are retrieved (`retrieved`) and by which likeness of histograms (their intersection), costs and limits. The
histograms are of border colours, since a matcher sees no more of a piece. The map is taught in batches, so no order matters.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from jigsawnet.borders import Borders, Int32Array, Int64Array, njit, njit_part
from jigsawnet.candidates import Candidates
from jigsawnet.context import Context
from jigsawnet.learned import Learned
from jigsawnet.match.config import MatchConfig, TsamouraConfig
from jigsawnet.match.known import KnownPairs, Matched
from jigsawnet.match.select import chosen
from jigsawnet.match.verify import verify
from jigsawnet.types import BoolArray, Float32Array, FloatArray
from jigsawnet.workers import Shared

_APART = 6
"""Two runs of a pair that lay one border on the other with less than this shift, in samples, are one run."""
_LESSONS = 30
"""Times that the map sees all colours, while what a cell learns reaches fewer and fewer of its neighbours."""
_FEWEST_RETRIEVED = 8
"""Pieces that each piece is compared with at least, however few are alike."""
_MATCH, _SKIP_A, _SKIP_B = 1, 2, 3


def find_tsamoura(
    borders: Borders, config: MatchConfig, context: Context, learned: Learned, known: KnownPairs | None
) -> Matched:
    """Find candidates between the pairs of pieces that are retrieved, best first.

    ``fit`` is the weighted length of the common subsequence over the largest among the accepted candidates.
    """
    own = config.tsamoura
    material = prepare(borders, own)
    i, j, score, rough_pose = common_runs(material, context)
    pose, features = verify(borders, i, j, rough_pose, own.verify)
    rows = Candidates.make(i, j, pose, features, fit=score)
    touching = (rows.feature("length") > 0) & (rows.feature("overlap_depth") <= own.max_overlap_px * borders.unit_px)
    accepted = np.where(touching & np.isfinite(pose).all(1), score, 0.0)
    rows = replace(rows, fit=accepted / accepted.max(initial=1e-9))
    return Matched(chosen(rows, config.per_piece, len(borders)), pairs=int(material.retrieved.sum()) // 2)


def quantise_colors(colors: Float32Array, size: int) -> tuple[Int32Array, FloatArray]:
    """Reduce ``colors (M, 3)`` to at most ``size``: a label for each, and the palette ``(K, 3)``.

    A self-organising map of cells in a row. Each lesson moves cell k to ``sum_l h(k - l) S_l / sum_l h(k - l) N_l``, where
    ``N_l`` colours of sum ``S_l`` are nearest to cell l and ``h`` is a bell curve that narrows from lesson to lesson. It begins
    with equal shares along the colours' main axis, so that the same colours give the same palette.
    """
    size = min(size, len(np.unique(np.rint(colors), axis=0)))
    if size < 2:
        return np.zeros(len(colors), np.int32), colors[:1].astype(np.float64)
    offsets = colors.astype(np.float64) - colors.mean(0)
    main_axis = np.linalg.eigh(offsets.T @ offsets)[1][:, -1]
    rank = np.argsort(np.argsort(offsets @ main_axis, kind="stable"), kind="stable")
    labels = rank * size // len(colors)
    cells = np.arange(size)
    palette = np.zeros((size, 3))
    for reach in np.geomspace(size / 4, 0.2, _LESSONS):
        bell = np.exp(-0.5 * ((cells[:, None] - cells[None]) / reach) ** 2)
        sums = np.stack([np.bincount(labels, colors[:, ch], size) for ch in range(3)], axis=1)
        heard = bell @ np.bincount(labels, minlength=size)
        palette = np.where(heard[:, None] > 1e-6, bell @ sums / np.maximum(heard, 1e-6)[:, None], palette)
        labels = _nearest_cells(colors, palette)
    return labels.astype(np.int32), palette


def _nearest_cells(colors: Float32Array, palette: FloatArray) -> NDArray[np.intp]:
    """``(M,)``: the palette colour nearest to each of ``colors (M, 3)``; ``|c - p|^2 = |c|^2 - 2 c . p + |p|^2``."""
    return np.asarray(((palette**2).sum(1)[None] - 2.0 * colors.astype(np.float64) @ palette.T).argmin(1))


def retrieve_pairs(labels: Int32Array, first: Int64Array, size: int, share: float) -> BoolArray:
    """``(n, n)``, symmetric: pairs of which one is among the ``share`` of pieces whose histogram is most like the other's.

    Histograms of the ``size`` palette colours are alike by their intersection, ``sum_k min(h_i[k], h_j[k])``.
    """
    n = len(first) - 1
    counts = np.array([np.bincount(labels[first[p] : first[p + 1]], minlength=size) for p in range(n)], float).reshape(n, size)
    counts /= np.maximum(counts.sum(1, keepdims=True), 1.0)
    most = max(_FEWEST_RETRIEVED, math.ceil(share * (n - 1)))
    retrieved = np.zeros((n, n), bool)
    for p in range(n):
        alike = np.minimum(counts, counts[p]).sum(1)
        alike[p] = -1.0
        retrieved[p, np.argsort(-alike, kind="stable")[:most]] = True
    return retrieved | retrieved.T


def match_weights(labels: Int32Array, palette: FloatArray, alike_lab: float) -> Float32Array:
    """What pairing a sample of colour p with one of colour q earns: ``(K, K)``, symmetric.

    Likeness times rarity. Likeness falls from 1 for one colour through 0 at ``alike_lab`` to -1. Rarity is the information
    of a colour, ``-log(share)``, over its mean: a common sky says little, so a sample of it earns less than 1.
    """
    distance = np.linalg.norm(palette[:, None] - palette[None], axis=-1)
    likeness = np.clip(1.0 - distance / alike_lab, -1.0, 1.0)
    share = np.bincount(labels, minlength=len(palette)) / max(1, len(labels))
    information = -np.log(np.maximum(share, 1e-9))
    mean = float(share @ information)
    rarity = information / mean if mean > 1e-9 else np.ones(len(palette))
    return np.asarray(likeness * np.sqrt(rarity[:, None] * rarity[None]), dtype=np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """What all pieces look at: border colours as ``labels (M,)`` of a palette, what pairing two of these earns, which pairs."""

    borders: Borders
    labels: Int32Array
    weight: Float32Array
    retrieved: BoolArray
    config: TsamouraConfig


_Runs = tuple[Int32Array, Int32Array, FloatArray, Float32Array]


def prepare(borders: Borders, config: TsamouraConfig) -> Material:
    """Steps 1 and 2."""
    labels, palette = quantise_colors(borders.colors, config.palette)
    retrieved = retrieve_pairs(labels, borders.first, len(palette), config.retrieved)
    return Material(borders, labels, match_weights(labels, palette, config.alike_lab), retrieved, config)


def common_runs(material: Material, context: Context) -> _Runs:
    """Steps 3 and 4 up to the rough pose: pieces ``i < j (R,)``, weighted lengths ``(R,)``, poses i_from_j ``(R, 3)``."""
    borders = material.borders
    owners = [i for i in range(len(borders) - 1) if borders.first[i + 1] > borders.first[i]]
    grain = context.workers.grain
    blocks = [owners[k : k + grain] for k in range(0, len(owners), grain)]
    nothing = (np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0), np.zeros((0, 3), np.float32))
    found = context.run("match", _runs_of_block, Shared(material), blocks)
    parts = [nothing, *(runs for block in found for runs in block)]
    piece_i, piece_j, scores, poses = (np.concatenate([part[k] for part in parts]) for k in range(4))
    return piece_i, piece_j, scores, poses


def _runs_of_block(material: Material, block: Sequence[int]) -> list[_Runs]:
    return [_runs_of_piece(material, i) for i in block]


def _runs_of_piece(material: Material, i: int) -> _Runs:
    """Runs of piece i with all later ones that are retrieved."""
    borders, labels, weight, config = material.borders, material.labels, material.weight, material.config
    gap, wanted = np.float32(config.gap), material.retrieved[i, i + 1 :]
    score, sample_i, sample_j = _runs_with_later(i, wanted, labels, borders.first, weight, gap, config.runs_per_pair)
    later, run = np.nonzero((sample_i >= 0).sum(2) >= config.min_matches)
    at_i, at_j = sample_i[later, run], sample_j[later, run]
    pose = _poses(borders.points, at_i, at_j, np.where(at_i >= 0, weight[labels[at_i], labels[at_j]], 0.0))
    piece_j = (later + i + 1).astype(np.int32)
    return np.full_like(piece_j, i), piece_j, score[later, run].astype(np.float64), pose


def _poses(points: Float32Array, at_i: Int64Array, at_j: Int64Array, weight: NDArray[np.floating]) -> Float32Array:
    """Weighted least-squares i_from_j ``(R, 3)`` for paired samples ``(R, L)``; planar points are complex numbers here."""
    z_i, z_j = (points[at, 0].astype(np.float64) + 1j * points[at, 1] for at in (at_i, at_j))
    total = weight.sum(1)
    mean_i, mean_j = (weight * z_i).sum(1) / total, (weight * z_j).sum(1) / total
    theta = np.angle((weight * (z_i - mean_i[:, None]) * np.conj(z_j - mean_j[:, None])).sum(1))
    shift = mean_i - np.exp(1j * theta) * mean_j
    return np.column_stack([theta, shift.real, shift.imag]).astype(np.float32)


@njit
def _runs_with_later(i, wanted, labels, first, weight, gap, keep):  # type: ignore[no-untyped-def]
    """Runs of piece i with ``wanted`` later ones: ``score (P, keep)``, paired samples ``(P, keep, L)``, -1 beyond the end."""
    pieces = len(first) - 2 - i
    turn_i = first[i + 1] - first[i]
    own = labels[first[i] : first[i + 1]]
    twice_own = np.concatenate((own, own))
    score = np.zeros((pieces, keep), np.float32)
    sample_i = np.full((pieces, keep, turn_i), -1, np.int64)
    sample_j = np.full((pieces, keep, turn_i), -1, np.int64)
    for p in range(pieces):
        if not wanted[p]:
            continue
        j = i + 1 + p
        turn_j = first[j + 1] - first[j]
        backwards = labels[first[j] : first[j + 1]][::-1]
        runs = align_strings(twice_own, np.concatenate((backwards, backwards)), weight, gap, turn_i, turn_j, keep, _APART)
        score[p] = runs[0]
        for k in range(keep):
            for s in range(turn_i):
                if runs[1][k, s] >= 0:
                    sample_i[p, k, s] = first[i] + runs[1][k, s] % turn_i
                    sample_j[p, k, s] = first[j + 1] - 1 - runs[2][k, s] % turn_j
    return score, sample_i, sample_j


@njit
def align_strings(a, b, weight, gap, turn_a, turn_b, keep, apart):  # type: ignore[no-untyped-def]
    """Find the ``keep`` best common subsequences of strings ``a`` and ``b``, by local alignment.

    A run earns ``weight[a[r], b[c]]`` for each pair and pays ``gap`` for each letter left out, in table
    ``H[r, c] = max(0, H[r-1, c-1] + weight, H[r-1, c] - gap, H[r, c-1] - gap)``. A cyclic string is given twice over, with the
    length of one turn; no run is longer than a turn. Runs less than ``apart`` diagonals from each other are one run.

    Returns:
        ``score (keep,)`` descending, 0 where there are fewer runs; the paired positions in a and in b, ``(keep, turn_a)``
        each, from the end of the run to its start, -1 beyond it.
    """
    moves = np.zeros((len(a), len(b)), np.uint8)
    above = np.zeros(len(b) + 1, np.float32)
    start_a, start_b = np.zeros(len(b) + 1, np.int64), np.zeros(len(b) + 1, np.int64)
    score = np.zeros(keep, np.float32)
    span = np.full((keep, 4), -1, np.int64)
    for r in range(len(a)):
        corner, corner_a, corner_b = np.float32(0.0), 0, 0
        for c in range(len(b)):
            earned = weight[a[r], b[c]]
            best, move, from_a, from_b = corner + earned, _MATCH, corner_a, corner_b
            if corner <= 0 or r - corner_a >= turn_a or c - corner_b >= turn_b:
                best, from_a, from_b = earned, r, c
            corner, corner_a, corner_b = above[c + 1], start_a[c + 1], start_b[c + 1]
            if corner - gap > best and r - corner_a < turn_a:
                best, move, from_a, from_b = corner - gap, _SKIP_A, corner_a, corner_b
            if above[c] - gap > best and c - start_b[c] < turn_b:
                best, move, from_a, from_b = above[c] - gap, _SKIP_B, start_a[c], start_b[c]
            above[c + 1], start_a[c + 1], start_b[c + 1] = max(best, np.float32(0.0)), from_a, from_b
            moves[r, c] = move
            if move == _MATCH and earned > 0 and best > score[keep - 1]:
                _enter_run(best, (from_a, from_b, r, c), score, span, turn_a, turn_b, apart)
    at_a, at_b = np.full((keep, turn_a), -1, np.int64), np.full((keep, turn_a), -1, np.int64)
    for k in range(keep):
        if score[k] > 0:
            _trace_back(a, b, weight, moves, span[k], at_a[k], at_b[k])
    return score, at_a, at_b


@njit_part
def _enter_run(value, new, score, span, turn_a, turn_b, apart):  # type: ignore[no-untyped-def]
    """Put a run into the sorted list of the best, in place of the same run where that is listed with a lower score."""
    slot = len(score) - 1
    for k in range(len(score)):
        if score[k] <= 0:
            break
        if _same_run(new, span[k], turn_a, turn_b, apart):
            if value <= score[k]:
                return
            slot = k
            break
    while slot > 0 and score[slot - 1] < value:
        score[slot] = score[slot - 1]
        span[slot] = span[slot - 1]
        slot -= 1
    score[slot] = value
    span[slot, 0], span[slot, 1], span[slot, 2], span[slot, 3] = new


@njit_part
def _same_run(new, old, turn_a, turn_b, apart):  # type: ignore[no-untyped-def]
    """True for one start, or for overlapping runs on nearly the same diagonal; positions a whole turn apart are equal."""
    if (new[0] - old[0]) % turn_a == 0 and (new[1] - old[1]) % turn_b == 0:
        return True
    along_a = 0.5 * (new[0] + new[2] - old[0] - old[2])
    along_b = 0.5 * (new[1] + new[3] - old[1] - old[3])
    along_a -= turn_a * np.rint(along_a / turn_a)
    along_b -= turn_b * np.rint(along_b / turn_b)
    return abs(along_a - along_b) < apart and 2 * abs(along_a) < new[2] - new[0] + old[2] - old[0]


@njit_part
def _trace_back(a, b, weight, moves, span, at_a, at_b):  # type: ignore[no-untyped-def]
    """List the pairs of a run that earned something, from its end to its start."""
    r, c = span[2], span[3]
    size = 0
    while r >= span[0] and c >= span[1]:
        move = moves[r, c]
        if move == _MATCH and weight[a[r], b[c]] > 0:
            at_a[size], at_b[size] = r, c
            size += 1
        if move != _SKIP_B:
            r -= 1
        if move != _SKIP_A:
            c -= 1

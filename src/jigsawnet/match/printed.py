"""Torn pages: poses at which lines of print run on, found over all shifts at once.

Where the print is torn off with the paper's upper layer, outlines agree only roughly and windows of border find no seed. But on
pieces whose lines of print are clear only two turns are possible, and then every shift can be tried: with

    c(d) = sum ring_i(x) ring_j(x - d) - o sum core_i(x) core_j(x - d)
           + p sum (lines_i(x) ahead_j(x - d) + ahead_i(x) lines_j(x - d))

pieces lie well where their outlines run along each other, their insides do not lie on each other, and the lines of one are
those that the other's would go on as. Each sum is one product of spectra.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
import scipy
from numpy.typing import NDArray

from jigsawnet.borders import Borders
from jigsawnet.candidates import Candidates
from jigsawnet.context import Context
from jigsawnet.geometry import wrap_angles
from jigsawnet.learned import Learned, Logistic
from jigsawnet.match.config import DenseConfig, MatchConfig
from jigsawnet.match.contact import bends, settle
from jigsawnet.match.pairs import PairRow, cut_pairs
from jigsawnet.match.select import chosen, select_candidates
from jigsawnet.match.verify import verify
from jigsawnet.print_lines import find_lines, reduced_ink, shows_lines
from jigsawnet.seam_fit import contact_fit
from jigsawnet.strips import are_printed
from jigsawnet.types import Float32Array, FloatArray, Piece
from jigsawnet.workers import Shared

_SIDE_PX = 130.0
"""The median piece is looked at at this size; the lengths below are px of that picture."""
_LARGEST = 3.0
"""Pieces so many times larger than the median one are left out."""
_RING_PX, _CORE_PX, _NEAR_PX, _AHEAD_PX = 2.5, 6.0, 30.0, 22.0
_ALONG_PX, _ACROSS_PX, _AROUND_PX = 10.0, 1.2, 12.0
_OVERLAP, _PRINT = 0.3, 0.1
_PEAKS, _PEAK_PX = 3, 8
"""Shifts that are tried of each pair, either way up, and how far apart they are."""
_LEAST_SAMPLES = 4
_MOST_PIECES = 150
_LEAST_FIT = 2e-4
"""No fit is lower: what print has found is looked at."""

Spectrum = NDArray[np.complex64]


@dataclass(frozen=True, slots=True, eq=False)
class _Page:
    """Spectra ``(4, N, N // 2 + 1)`` of ring, core, lines and ahead of each piece, its lines level, amid N x N px."""

    spectra: tuple[Spectrum | None, ...]
    angle: FloatArray
    middle: FloatArray
    scale: float
    side: int


def add_printed(
    borders: Borders, pieces: Sequence[Piece], found: Candidates, config: MatchConfig, context: Context, learned: Learned
) -> Candidates:
    """The candidates of a ragged puzzle: those ``found`` before and, on a page, the best by their print.

    Outlines and print rarely agree on which are the best, so each piece keeps as many of the one as of the other.
    """
    angle = find_lines(pieces) if len(pieces) <= _MOST_PIECES and are_printed(pieces) else np.zeros(0)
    if not shows_lines(angle):
        return found
    printed = find_printed(borders, pieces, angle, config.dense, learned.contact, context)
    best = select_candidates(replace(printed, fit=printed.score), config.per_piece, len(borders))
    printed = replace(printed, fit=np.maximum(printed.fit, _LEAST_FIT), score=np.full(len(printed), np.nan)).take(best)
    return chosen(Candidates.concat([found, printed]), 2 * config.per_piece, len(borders))


def find_printed(
    borders: Borders, pieces: Sequence[Piece], angle: FloatArray, config: DenseConfig, weights: Logistic, context: Context
) -> Candidates:
    """Candidates of pairs of pieces whose lines of print run at ``angle (P,)``, settled where they touch, with their contact.

    ``fit`` is that of the contact, ``score`` how well they lie by c(d).
    """
    page = _draw(pieces, angle)
    known = [k for k, spectra in enumerate(page.spectra) if spectra is not None]
    pairs = [(i, np.array([j for j in known if j > i], np.int64)) for i in known]
    blocks = cut_pairs([row for row in pairs if len(row[1])], context.workers)
    parts = context.run("match", _best_shifts, Shared(page), blocks)
    if not parts:
        return Candidates.none()
    i, j, pose, worth = (np.concatenate(column) for column in zip(*parts, strict=True))
    bend = bends(borders)
    settled, as_found = (settle(borders, i, j, pose, bend, refine) for refine in (True, False))  # outlines may pull it askew
    i, j, worth = np.tile(i, 2), np.tile(j, 2), np.tile(worth, 2)
    poses, contact = np.concatenate([settled[0], as_found[0]]), np.concatenate([settled[1], as_found[1]])
    features = verify(borders, i, j, poses, replace(config.verify, radii_px=()))[1]
    rows = Candidates.make(i, j, poses, features, contact=contact, score=worth)
    rows = rows.take((worth > 0) & (rows.feature("length") > 0) & (contact[:, 0] >= _LEAST_SAMPLES * borders.step_px))
    return replace(rows, fit=contact_fit(rows, borders.step_px, weights))


def _draw(pieces: Sequence[Piece], angle: FloatArray) -> _Page:
    boxes = [cv2.boundingRect(piece.mask.astype(np.uint8)) for piece in pieces]
    middle = np.array([(x + (w - 1) / 2, y + (h - 1) / 2) for x, y, w, h in boxes])
    across = np.array([np.hypot(w, h) for _, _, w, h in boxes])
    usable = np.isfinite(angle) & (across < _LARGEST * np.median(across))
    scale = min(1.0, _SIDE_PX * np.sqrt(2.0) / float(np.median(across)))
    largest = float(across[usable].max(initial=1.0)) * scale
    side = scipy.fft.next_fast_len(int(2 * largest + _AHEAD_PX) // 2 * 2, real=True)
    side += side % 2
    spectra = [_spectra(piece, angle[k], middle[k], scale, side) if usable[k] else None for k, piece in enumerate(pieces)]
    return _Page(tuple(spectra), angle, middle, scale, side)


def _spectra(piece: Piece, angle: float, middle: FloatArray, scale: float, side: int) -> Spectrum:
    """What `_Page` has of one piece; its ``middle`` comes to the middle of the picture, which is ``scale`` times as large."""
    cos, sin = scale * np.cos(angle), scale * np.sin(angle)
    turn = np.array([[cos, sin], [-sin, cos]])
    move, size = np.column_stack([turn, side / 2 - turn @ middle]), (side, side)
    inside = cv2.warpAffine(piece.mask.astype(np.float32), move, size) > 0.5
    small, shrunk, corner = reduced_ink(piece)
    from_small = np.column_stack([turn / shrunk, move[:, 2] + turn @ (np.array(corner) + 0.5 / shrunk - 0.5)])
    ink = np.asarray(cv2.warpAffine(small, from_small, size), np.float32)
    depth = cv2.distanceTransform(inside.astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    away = cv2.distanceTransform((~inside).astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    ring = np.exp(-np.square(away - depth) / (2 * _RING_PX**2))
    lines = _lines(ink, depth > 2)
    rasters = [ring, depth > _CORE_PX, lines * ((depth > 2) & (depth < _NEAR_PX)), _ahead(lines, depth > 2)]
    return np.asarray(scipy.fft.rfft2(np.array(rasters, np.float32)), np.complex64)


def _lines(ink: Float32Array, inside: NDArray[np.bool_]) -> Float32Array:
    """Dark and light bands along x, 0 in the mean, of spread 1."""
    weight = inside.astype(np.float32)

    def mean(along: float, across: float) -> Float32Array:
        total = cv2.GaussianBlur(ink * weight, (0, 0), sigmaX=along, sigmaY=across)
        return np.asarray(total / np.maximum(cv2.GaussianBlur(weight, (0, 0), sigmaX=along, sigmaY=across), 0.05), np.float32)

    bands = mean(_ALONG_PX, _ACROSS_PX) - mean(_AROUND_PX, _AROUND_PX)
    return np.asarray(bands / (np.sqrt(np.mean(bands[inside] ** 2)) + 1e-3) if inside.any() else bands, np.float32)


def _ahead(lines: Float32Array, inside: NDArray[np.bool_]) -> Float32Array:
    """What the lines go on as, along x, beyond both ends of every row."""
    out = np.zeros_like(lines)
    for flip in (np.s_[:, ::1], np.s_[:, ::-1]):
        own, there = lines[flip], inside[flip]
        x: NDArray[np.int64] = np.arange(own.shape[1])
        last = np.maximum.accumulate(np.where(there, x, -1), axis=1)
        near = ~there & (last >= 0) & (x - last <= _AHEAD_PX)
        out[flip] += np.where(near, np.take_along_axis(own, np.maximum(last, 0), axis=1), 0.0)
    return out


def _best_shifts(page: _Page, block: Sequence[PairRow]) -> tuple[NDArray[np.int32], NDArray[np.int32], FloatArray, FloatArray]:
    """The best poses of each pair of a block: i, j, ``pose (C, 3)`` and how well each lies."""
    found = [_shifts(page, i, int(j)) for i, others in block for j in others]
    pairs = np.array([(i, j) for i, others in block for j in others], np.int32).repeat(2 * _PEAKS, axis=0)
    return pairs[:, 0], pairs[:, 1], np.concatenate([pose for pose, _ in found]), np.concatenate([peak for _, peak in found])


def _shifts(page: _Page, i: int, j: int) -> tuple[FloatArray, FloatArray]:
    """Poses i_from_j and their worth, the best few either way up."""
    a, b = page.spectra[i], page.spectra[j]
    assert a is not None
    assert b is not None
    rows, worth = [], []
    for turned in (0.0, np.pi):
        other = np.conj(b) if not turned else b  # a picture turned by half about the middle has the conjugate spectrum
        product = a[0] * other[0] - _OVERLAP * a[1] * other[1] + _PRINT * (a[2] * other[3] + a[3] * other[2])
        plane = scipy.fft.irfft2(product, (page.side, page.side))
        turn = page.angle[i] - page.angle[j] - turned
        for _ in range(_PEAKS):
            y, x = np.unravel_index(int(plane.argmax()), plane.shape)
            worth.append(float(plane[y, x]))
            shift = (np.array([x, y]) + page.side // 2) % page.side - page.side // 2
            rows.append(_pose(turn, page.angle[i], shift / page.scale, page.middle[i], page.middle[j]))
            around = np.arange(-_PEAK_PX, _PEAK_PX + 1)
            plane[np.ix_((y + around) % page.side, (x + around) % page.side)] = -np.inf
    return np.array(rows), np.array(worth)


def _pose(
    turn: float, angle: float, shift: FloatArray, middle_i: FloatArray, middle_j: FloatArray
) -> tuple[float, float, float]:
    """``p_i = middle_i + R(turn) (p_j - middle_j) + R(angle) shift``."""
    cos, sin = np.cos(angle), np.sin(angle)
    x, y = middle_i[0] + cos * shift[0] - sin * shift[1], middle_i[1] + sin * shift[0] + cos * shift[1]
    cos, sin = np.cos(turn), np.sin(turn)
    return (
        float(wrap_angles(np.array([turn]))[0]),
        float(x - cos * middle_j[0] + sin * middle_j[1]),
        float(y - sin * middle_j[0] - cos * middle_j[1]),
    )

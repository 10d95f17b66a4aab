"""How well the pieces of a scan were found: share of pieces found, and how far their borders are off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from jigsawnet.fragments.scan import ScanResult
from jigsawnet.types import BoolArray, FloatArray
from jigsawnet_bench.scans.lay import LaidPiece

_FOUND_OVERLAP = 0.8
_HOLDS = 0.3
"""Part of a piece's area that an object holds when several pieces are merged in it, and of an object's that lies in a piece
when the piece was split."""
_EMPTY_PX = 4


@dataclass(frozen=True, slots=True, eq=False)
class ScanScore:
    """``found`` of ``true`` pieces, ``extra`` objects that are no piece, and the border error of each piece found in px."""

    true: int
    found: int
    extra: int
    border_px: FloatArray
    merged: int = 0
    """Objects that hold several pieces."""
    split: int = 0
    """Pieces that came in several objects."""


def score_scan(result: ScanResult, laid: Sequence[LaidPiece]) -> ScanScore:
    """Compare the pieces found on one page with the ones that lie there.

    A piece is found when one object shares at least 0.8 of the union of both.
    """
    errors: list[float] = []
    used: set[int] = set()
    held = np.zeros(len(result.pieces), int)
    split = 0
    for truth in laid:
        height, width = truth.mask.shape
        is_found, parts = False, 0
        for k, piece in enumerate(result.pieces):
            if not _boxes_meet(piece.box, (*truth.corner, width, height)):
                continue
            found, true = _common_frame(piece.mask, piece.corner, truth.mask, truth.corner)
            common = np.count_nonzero(found & true)
            held[k] += common >= _HOLDS * np.count_nonzero(true)
            parts += int(common >= _HOLDS * np.count_nonzero(found))
            if not is_found and k not in used and common >= _FOUND_OVERLAP * np.count_nonzero(found | true):
                is_found = True
                used.add(k)
                errors.append(border_error(true, found))
        split += parts > 1
    extra = len(result.pieces) - len(used)
    return ScanScore(len(laid), len(errors), extra, np.array(errors), int(np.count_nonzero(held > 1)), split)


def border_error(true: BoolArray, found: BoolArray) -> float:
    """Mean distance in px between the border pixels of two masks ``(H, W)``, taken both ways."""
    borders = [mask & ~cv2.erode(mask.astype(np.uint8), np.ones((3, 3), np.uint8)).astype(np.bool_) for mask in (true, found)]
    away = [cv2.distanceTransform((~border).astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE) for border in borders]
    return 0.5 * float(away[0][borders[1]].mean() + away[1][borders[0]].mean())


def _boxes_meet(a: tuple[int, int, int, int], b: tuple[int, int, int, int]) -> bool:
    return a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and a[1] < b[1] + b[3] and b[1] < a[1] + a[3]


def _common_frame(
    a: BoolArray, a_corner: tuple[int, int], b: BoolArray, b_corner: tuple[int, int]
) -> tuple[BoolArray, BoolArray]:
    """Both masks on one canvas with an empty rim."""
    corners = np.array([a_corner, b_corner])
    sizes = np.array([a.shape[::-1], b.shape[::-1]])
    origin = corners.min(axis=0) - _EMPTY_PX
    width, height = (corners + sizes).max(axis=0) - origin + _EMPTY_PX
    canvas = np.zeros((2, height, width), np.bool_)
    for layer, mask, (x, y) in zip(canvas, (a, b), corners - origin, strict=True):
        layer[y : y + mask.shape[0], x : x + mask.shape[1]] = mask
    return canvas[0], canvas[1]

"""Which pieces are neighbours in the true picture, and where they touch."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import scipy

from jigsawnet.types import Assembly, BoolArray, FloatArray, Piece, Puzzle

MIN_BORDER_SHARE = 0.04
"""Neighbours share more than this part of the shorter contour; less is a corner that touches."""


@dataclass(frozen=True, slots=True)
class CommonBorder:
    """Where the true neighbours ``i < j`` touch."""

    i: int
    j: int
    pixels: int
    """Contour pixels of i that lie near the contour of j."""
    share: float
    """``pixels`` over the pixel count of the shorter of the two contours."""
    middle_in_j: tuple[float, float]
    """Mean of these pixels, (x, y) in the frame of j."""


def common_borders(
    puzzle: Puzzle, truth: Assembly, gap_px: float = 5.0, min_share: float = MIN_BORDER_SHARE
) -> tuple[CommonBorder, ...]:
    """All pairs whose true contours run closer than ``gap_px`` for more than ``min_share`` of the shorter one.

    Ordered by (i, j). Only pieces of the same component of the truth can be neighbours. Raise ``gap_px`` for eroded pieces.
    """
    borders = []
    for component in truth.components:
        members = sorted(component)
        contours = [truth.poses[idx] @ outer_contour(puzzle.pieces[idx]) for idx in members]
        trees = [scipy.spatial.cKDTree(contour) for contour in contours]
        for a, b in _near_boxes(contours, gap_px):
            touching = _touching(contours[a], contours[b], trees[b], gap_px)
            share = len(touching) / max(1, min(len(contours[a]), len(contours[b])))
            if len(touching) and share > min_share:
                x, y = truth.poses[members[b]].inverse() @ touching.mean(0)
                borders.append(CommonBorder(members[a], members[b], len(touching), share, (float(x), float(y))))
    return tuple(sorted(borders, key=lambda border: (border.i, border.j)))


def true_neighbors(puzzle: Puzzle, truth: Assembly, gap_px: float = 5.0) -> frozenset[tuple[int, int]]:
    """The pairs ``(i, j)``, ``i < j``, of `common_borders`."""
    return frozenset((border.i, border.j) for border in common_borders(puzzle, truth, gap_px))


def outer_contour(piece: Piece) -> FloatArray:
    """Pixels ``(N, 2)`` of the outer border of the piece's largest part, (x, y) in its frame; N = 0 for an empty piece."""
    found, _ = cv2.findContours(piece.mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    if not found:
        return np.empty((0, 2))
    return max(found, key=cv2.contourArea).reshape(-1, 2).astype(np.float64)


def _near_boxes(contours: list[FloatArray], gap_px: float) -> list[tuple[int, int]]:
    """Pairs ``a < b`` of contours whose bounding boxes come within ``gap_px``."""
    low = np.array([c.min(0) if len(c) else (np.inf, np.inf) for c in contours])
    high = np.array([c.max(0) if len(c) else (-np.inf, -np.inf) for c in contours])
    apart = (low[:, None] > high[None] + gap_px).any(2)
    near = np.triu(~(apart | apart.T), k=1)
    return [(int(a), int(b)) for a, b in np.argwhere(near)]


def _touching(points: FloatArray, others: FloatArray, tree_of_others: scipy.spatial.cKDTree, gap_px: float) -> FloatArray:
    """Those of ``points (N, 2)`` that have one of ``others`` closer than ``gap_px``."""
    in_box: BoolArray = ((points >= others.min(0) - gap_px) & (points <= others.max(0) + gap_px)).all(1)
    candidates = points[in_box]
    distance, _ = tree_of_others.query(candidates, distance_upper_bound=gap_px)
    return candidates[np.isfinite(distance)]

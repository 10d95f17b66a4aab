"""Cells of the cuts → a partition of the picture into connected regions, one per piece."""

from __future__ import annotations

import cv2
import numpy as np
import scipy

from jigsawnet.shred.cuts import Int32Array, number_densely
from jigsawnet.types import BoolArray

CRUMB_AREA = 0.05
"""A region smaller than this part of the mean cell is no piece of its own."""


def find_regions(cells: Int32Array) -> Int32Array:
    """Number the pieces ``0 .. n-1`` in an array ``(H, W)``; each is connected, and every pixel belongs to one.

    Curves that cross more than once split a cell: its largest part is the piece, the others are crumbs and go to the
    neighbour with which they share the longest border.
    """
    parts, is_crumb = _split_cells(cells)
    while is_crumb.any():
        merged_into = _longest_border(parts, is_crumb)
        parts = merged_into[parts]
        is_crumb &= merged_into == np.arange(len(merged_into))
    return number_densely(parts)


def _split_cells(cells: Int32Array) -> tuple[Int32Array, BoolArray]:
    """Connected parts of the cells ``(H, W)``, and for each part whether it is a crumb."""
    parts = np.zeros(cells.shape, np.int32)
    boxes = [(cell, box) for cell, box in enumerate(scipy.ndimage.find_objects(cells + 1)) if box]
    smallest = CRUMB_AREA * cells.size / len(boxes)
    is_crumb: list[bool] = []
    for cell, box in boxes:
        inside = cells[box] == cell
        _, local, stats, _ = cv2.connectedComponentsWithStats(inside.astype(np.uint8), connectivity=4)
        areas = stats[1:, cv2.CC_STAT_AREA]
        parts[box][inside] = local[inside] - 1 + len(is_crumb)
        is_crumb.extend((areas < max(float(areas.max()), smallest)).tolist())
    return parts, np.array(is_crumb)


def _longest_border(parts: Int32Array, is_crumb: BoolArray) -> Int32Array:
    """For each part the part it merges into: itself, or for a crumb beside a piece the piece with most common border."""
    pairs = np.concatenate(
        [np.stack([a[a != b], b[a != b]], axis=1) for a, b in ((parts[:, :-1], parts[:, 1:]), (parts[:-1], parts[1:]))]
    )
    pairs = np.concatenate([pairs, pairs[:, ::-1]])
    pairs = pairs[is_crumb[pairs[:, 0]] & ~is_crumb[pairs[:, 1]]]
    borders, lengths = np.unique(pairs, axis=0, return_counts=True)
    by_length = borders[np.argsort(lengths, kind="stable")]
    merged_into = np.arange(len(is_crumb), dtype=np.int32)
    merged_into[by_length[:, 0]] = by_length[:, 1]
    return merged_into

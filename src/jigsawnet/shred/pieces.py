"""Cut a region out of a picture and turn it, with its exact pose."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from jigsawnet.geometry import SE2
from jigsawnet.types import BoolArray, Float32Array, UInt8Array

PAD_PX = 4
"""Room around a region for the interpolation kernels."""
MARGIN_PX = 10
"""Empty border around a finished piece."""
EDGE_BLUR_PX = 0.7
"""The staircase of pixels along a cut is smoothed by this much before it is turned."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A region cut out: ``image (H, W, 3)`` filled beyond the ``mask (H, W)``, and where it lay in the picture."""

    image: UInt8Array
    mask: BoolArray
    picture_from_piece: SE2


def cut_out(picture: UInt8Array, region: BoolArray, x: int, y: int, theta: float | None) -> Piece:
    """Cut ``region (h, w)``, whose top-left pixel is ``(x, y)`` of the picture, and turn it by ``-theta``.

    Beyond the cut the colours are continued from the piece's own edge, so that nothing of the neighbours leaks in.
    """
    height, width = region.shape
    mask = np.pad(region, PAD_PX)
    colors = np.zeros((*mask.shape, 3), np.uint8)
    colors[PAD_PX:-PAD_PX, PAD_PX:-PAD_PX] = picture[y : y + height, x : x + width]
    filled = colors.reshape(-1, 3)[nearest_pixels(mask)[0]]
    picture_from_crop = SE2(0.0, x - PAD_PX, y - PAD_PX)
    if theta is None:
        return Piece(filled, mask, picture_from_crop)
    return _turn(Piece(filled, mask, picture_from_crop), theta)


def _turn(piece: Piece, theta: float) -> Piece:
    """Resample a piece on a canvas whose x axis points along ``theta`` in the old frame."""
    height, width = piece.mask.shape
    cos, sin = abs(math.cos(theta)), abs(math.sin(theta))
    size = math.ceil(width * cos + height * sin), math.ceil(width * sin + height * cos)
    center = SE2(0.0, -(size[0] - 1) / 2.0, -(size[1] - 1) / 2.0)
    old_from_new = SE2(theta, (width - 1) / 2.0, (height - 1) / 2.0) @ center
    matrix = old_from_new.matrix()[:2]
    cubic = cv2.INTER_CUBIC | cv2.WARP_INVERSE_MAP
    linear = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    image = cv2.warpAffine(piece.image, matrix, size, flags=cubic, borderMode=cv2.BORDER_REPLICATE)
    coverage = cv2.GaussianBlur(piece.mask.astype(np.float32), (0, 0), EDGE_BLUR_PX, borderType=cv2.BORDER_CONSTANT)
    mask = cv2.warpAffine(coverage, matrix, size, flags=linear) > 0.5
    return Piece(np.asarray(image, np.uint8), keep_largest(mask), piece.picture_from_piece @ old_from_new)


def crop_to_mask(piece: Piece) -> Piece:
    """Trim a piece to its mask, which must not be empty, with a margin of `MARGIN_PX`."""
    x, y, width, height = cv2.boundingRect(piece.mask.astype(np.uint8))
    window = np.s_[y : y + height, x : x + width]
    image = np.pad(piece.image[window], ((MARGIN_PX, MARGIN_PX), (MARGIN_PX, MARGIN_PX), (0, 0)), mode="edge")
    shift = SE2(0.0, x - MARGIN_PX, y - MARGIN_PX)
    return Piece(image, np.pad(piece.mask[window], MARGIN_PX), piece.picture_from_piece @ shift)


def keep_largest(mask: NDArray[Any]) -> BoolArray:
    """Keep only the largest connected part of a mask ``(H, W)``."""
    n, labels, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=4)
    if n <= 2:
        return np.asarray(mask, np.bool_)
    return np.asarray(labels == 1 + int(np.argmax(stats[1:, cv2.CC_STAT_AREA])), np.bool_)


def nearest_pixels(source: BoolArray) -> tuple[NDArray[np.intp], Float32Array]:
    """For each pixel the flat index of the nearest pixel of ``source`` and the distance to it in px, both ``(H, W)``."""
    away = (~source).astype(np.uint8)
    distance, seed = cv2.distanceTransformWithLabels(away, cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL)
    index_of_seed = np.zeros(int(seed.max()) + 1, np.intp)
    index_of_seed[seed[source]] = np.flatnonzero(source)
    return index_of_seed[seed], np.asarray(distance, np.float32)

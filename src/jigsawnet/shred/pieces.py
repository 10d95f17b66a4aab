"""Cut a region out of a picture and turn it, with its exact pose; and what real pieces suffer.

That is a torn rim, lost edges, colours that differ from piece to piece, noise, JPEG.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
import scipy
from numpy.typing import NDArray

from jigsawnet.geometry import SE2
from jigsawnet.nearest import nearest_pixels
from jigsawnet.shred.config import ShredConfig
from jigsawnet.shred.cuts import Int32Array
from jigsawnet.types import BoolArray, Float32Array, FloatArray, UInt8Array

PAD_PX = 4
"""Room around a region for the interpolation kernels."""
MARGIN_PX = 10
"""Empty border around a finished piece."""
EDGE_BLUR_PX = 0.7
"""The staircase of pixels along a cut is smoothed by this much before it is turned."""
PAPER_WHITE = 243.0
PAPER_GRAIN = 4.0
"""Standard deviation of the bare paper's brightness, in grey levels."""


@dataclass(frozen=True, slots=True)
class CutPiece:
    """A region cut out: ``image (H, W, 3)`` filled beyond the ``mask (H, W)``, and where it lay in the picture."""

    image: UInt8Array
    mask: BoolArray
    picture_from_piece: SE2


def cut_out(picture: UInt8Array, region: BoolArray, x: int, y: int, theta: float | None) -> CutPiece:
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
        return CutPiece(filled, mask, picture_from_crop)
    return _turn(CutPiece(filled, mask, picture_from_crop), theta)


def _turn(piece: CutPiece, theta: float) -> CutPiece:
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
    return CutPiece(np.asarray(image, np.uint8), keep_largest(mask), piece.picture_from_piece @ old_from_new)


def crop_to_mask(piece: CutPiece) -> CutPiece:
    """Trim a piece to its mask, which must not be empty, with a margin of `MARGIN_PX`."""
    x, y, width, height = cv2.boundingRect(piece.mask.astype(np.uint8))
    window = np.s_[y : y + height, x : x + width]
    image = np.pad(piece.image[window], ((MARGIN_PX, MARGIN_PX), (MARGIN_PX, MARGIN_PX), (0, 0)), mode="edge")
    shift = SE2(0.0, x - MARGIN_PX, y - MARGIN_PX)
    return CutPiece(image, np.pad(piece.mask[window], MARGIN_PX), piece.picture_from_piece @ shift)


def keep_largest(mask: NDArray[Any]) -> BoolArray:
    """Keep only the largest connected part of a mask ``(H, W)``."""
    n, labels, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=4)
    if n <= 2:
        return np.asarray(mask, np.bool_)
    return np.asarray(labels == 1 + int(np.argmax(stats[1:, cv2.CC_STAT_AREA])), np.bool_)


def tear_rims(picture: UInt8Array, regions: Int32Array, rim_px: float, rng: np.random.Generator) -> UInt8Array:
    """Bare the paper along each cut, on one of its two sides, in a band of irregular width up to ``rim_px``.

    ``picture (H, W, 3)``; ``regions (H, W)`` is the piece number of each pixel. The picture's own border stays as it is.
    """
    widths = rim_px * np.clip(0.55 + 0.3 * _smooth_noise(regions.shape, max(4.0, rim_px), rng), 0.0, 1.0)
    lies_on_top = rng.permutation(int(regions.max()) + 1)
    reach = math.ceil(rim_px) + 1
    bare = np.zeros(regions.shape, np.bool_)
    for region, (rows, cols) in enumerate(scipy.ndimage.find_objects(regions + 1)):
        window = (
            slice(max(0, rows.start - reach), rows.stop + reach),
            slice(max(0, cols.start - reach), cols.stop + reach),
        )
        numbers = regions[window]
        nearest, distance = nearest_pixels(numbers != region)
        is_below = lies_on_top[numbers.ravel()[nearest]] < lies_on_top[region]
        bare[window] |= (numbers == region) & is_below & (distance - 0.5 < widths[window])
    torn = picture.copy()
    paper = PAPER_WHITE + PAPER_GRAIN * rng.standard_normal((np.count_nonzero(bare), 1))
    torn[bare] = to_uint8(paper)
    return torn


def erode(mask: BoolArray, erosion_px: float) -> BoolArray:
    """Take ``erosion_px`` off all around a mask ``(H, W)`` with an empty border; the largest part remains, or nothing."""
    if erosion_px == 0:
        return mask
    from_outside = cv2.distanceTransform(mask.astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    return keep_largest(from_outside - 0.5 > erosion_px)


def spoil_colors(image: UInt8Array, mask: BoolArray, config: ShredConfig, rng: np.random.Generator) -> UInt8Array:
    """Change the colours ``(H, W, 3)`` of a piece as camera and file do; outside the mask the result is black."""
    colors = image.astype(np.float32)
    if config.color_shift > 0:
        gain = max(0.1, 1.0 + config.color_shift / 128.0 * rng.standard_normal())
        colors = colors * np.float32(gain) + rng.normal(0.0, config.color_shift, 3).astype(np.float32)
    if config.noise > 0:
        colors += config.noise * rng.standard_normal(colors.shape, np.float32)
    spoilt = to_uint8(colors)
    if config.jpeg_quality is not None:
        spoilt = pass_through_jpeg(np.where(mask[..., None], spoilt, np.uint8(255)), config.jpeg_quality)
    return np.where(mask[..., None], spoilt, np.uint8(0))


def pass_through_jpeg(image: UInt8Array, quality: int) -> UInt8Array:
    """Store an RGB picture ``(H, W, 3)`` as JPEG and read it again."""
    _, data = cv2.imencode(".jpg", image[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, quality])
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)[..., ::-1]


def _smooth_noise(shape: tuple[int, ...], wave_px: float, rng: np.random.Generator) -> Float32Array:
    """Random smooth field of the given ``(H, W)``, of standard deviation near 1, with bumps about ``wave_px`` wide."""
    height, width = shape
    coarse = rng.standard_normal((math.ceil(height / wave_px) + 3, math.ceil(width / wave_px) + 3), np.float32)
    return np.asarray(cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC), np.float32)


def to_uint8(values: FloatArray | Float32Array) -> UInt8Array:
    """Round and clip to 0 .. 255."""
    return np.clip(np.rint(values), 0, 255).astype(np.uint8)

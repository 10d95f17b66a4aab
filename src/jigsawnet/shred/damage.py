"""What real pieces suffer: a torn rim, lost edges, colours that differ from piece to piece, noise, JPEG."""

from __future__ import annotations

import math

import cv2
import numpy as np
import scipy

from jigsawnet.shred.config import ShredConfig
from jigsawnet.shred.cuts import Int32Array
from jigsawnet.shred.pieces import keep_largest, nearest_pixels
from jigsawnet.types import BoolArray, Float32Array, FloatArray, UInt8Array

PAPER_WHITE = 243.0
PAPER_GRAIN = 4.0
"""Standard deviation of the bare paper's brightness, in grey levels."""


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
    torn[bare] = _to_uint8(paper)
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
    spoilt = _to_uint8(colors)
    if config.jpeg_quality is not None:
        spoilt = _pass_through_jpeg(np.where(mask[..., None], spoilt, np.uint8(255)), config.jpeg_quality)
    return np.where(mask[..., None], spoilt, np.uint8(0))


def _pass_through_jpeg(image: UInt8Array, quality: int) -> UInt8Array:
    _, data = cv2.imencode(".jpg", image[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, quality])
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)[..., ::-1]


def _smooth_noise(shape: tuple[int, ...], wave_px: float, rng: np.random.Generator) -> Float32Array:
    """Random smooth field of the given ``(H, W)``, of standard deviation near 1, with bumps about ``wave_px`` wide."""
    height, width = shape
    coarse = rng.standard_normal((math.ceil(height / wave_px) + 3, math.ceil(width / wave_px) + 3), np.float32)
    return np.asarray(cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC), np.float32)


def _to_uint8(values: FloatArray | Float32Array) -> UInt8Array:
    return np.clip(np.rint(values), 0, 255).astype(np.uint8)

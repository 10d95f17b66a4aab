"""What paper and plaster lose along a seam, and what a tear leaves; in the picture's frame, each side for itself."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

import cv2
import numpy as np

from jigsawnet.nearest import nearest_pixels
from jigsawnet.shred.cuts import Int32Array
from jigsawnet.shred.damage import Damage
from jigsawnet.shred.noise import rough_noise, smooth_noise
from jigsawnet.types import BoolArray, Float32Array, FloatArray, UInt8Array

PAPER_WHITE = 238.0
PAPER_GRAIN = 6.0
_BITE_LENGTH = 4.0
"""A bite is about this many times as long as it is deep at most."""
_FULL_BITE = 0.8
"""Standard deviations above the threshold at which a bite is as deep as it gets."""
_CORNER_REACH = 2.5
"""A crumbled corner begins at this many times its depth from the corner."""


@dataclass(frozen=True, slots=True)
class Tears:
    """All tears of a picture: ``width (H, W)`` in px of the rim that a keeps under b where ``side[a, b] = 1``."""

    width: Float32Array
    side: Int32Array

    @staticmethod
    def draw(regions: Int32Array, tear_px: float, rng: np.random.Generator) -> Tears:
        """Widths change along the tear, are 0 in parts, and now and then the other side keeps the rim."""
        n = int(regions.max()) + 1
        above = np.triu(rng.choice(np.array([-1, 1], np.int32), (n, n)), 1)
        field = smooth_noise(regions.shape, max(12.0, 4.0 * tear_px), rng)
        width = tear_px * np.clip(0.5 + 0.42 * field, -0.4, 1.0)
        return Tears(np.asarray(width, np.float32), above - above.T)

    def rim(self, regions: Int32Array, window: tuple[slice, slice], region: int, rng: np.random.Generator) -> BoolArray:
        """Pixels of ``window`` beyond ``region`` that its bare paper reaches to, with a frayed end."""
        numbers = regions[window]
        own = numbers == region
        nearest, distance = nearest_pixels(own)
        width = self.width[window].ravel()[nearest] * self.side[region][numbers]
        fray = np.clip(0.5 * np.abs(rough_noise(own.shape, 3.0, rng)), 0.0, 0.7)
        return np.asarray(~own & (distance - 0.5 < width * (1.0 - fray)), np.bool_)


def paint_paper(image: UInt8Array, bare: BoolArray, rng: np.random.Generator) -> None:
    """Paint ``bare`` pixels of ``image (H, W, 3)`` as fibrous paper."""
    grain = PAPER_GRAIN * (rng.standard_normal(bare.shape, np.float32) + smooth_noise(bare.shape, 2.5, rng))
    paper = PAPER_WHITE + grain[bare][:, None] - np.array([0.0, 1.0, 5.0], np.float32)
    image[bare] = np.clip(np.rint(paper), 0, 255).astype(np.uint8)


def bite(paper: BoolArray, corners: FloatArray, damage: Damage, rng: np.random.Generator) -> BoolArray:
    """What remains of ``paper (H, W)`` after ragged losses along its seams; the window's own edge is no seam.

    A pixel at distance d from the outside is lost when ``d - 0.5`` is less than the larger of three depths: of bites, of
    roughness, and of the crumbled ``corners (N, 2)``.
    """
    inside = cv2.distanceTransform(paper.astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    depth = np.zeros(paper.shape, np.float32)
    if damage.loss_px > 0 and damage.loss_share > 0:
        field = rough_noise(paper.shape, max(6.0, _BITE_LENGTH * damage.loss_px), rng)
        start = -statistics.NormalDist().inv_cdf(min(damage.loss_share, 1.0 - 1e-9))
        rise = np.clip((field - start) / _FULL_BITE, 0.0, 1.0)
        deepest = np.clip(
            0.55 + 0.35 * smooth_noise(paper.shape, max(12.0, 2.0 * _BITE_LENGTH * damage.loss_px), rng), 0.15, 1.0
        )
        depth = np.asarray(damage.loss_px * rise * deepest, np.float32)
    if damage.rough_px > 0:
        rough = np.abs(smooth_noise(paper.shape, 1.0, rng) + smooth_noise(paper.shape, 2.5, rng)) / 1.4
        depth = np.maximum(depth, 0.5 + damage.rough_px * np.clip(rough - 1.0, -0.5, 1.0))
    if damage.crumble_px > 0 and len(corners):
        depth = np.maximum(depth, _crumbled(paper.shape, corners, damage.crumble_px, rng))
    return np.asarray(paper & (inside - 0.5 >= depth), np.bool_)


def frayed(paper: BoolArray, fray_px: float, rng: np.random.Generator) -> BoolArray:
    """Pixels of ``paper (H, W)``, which has an empty border, that lost their print: to a depth of its own at each pixel.

    The depth is ``fray_px`` times a smooth part along the edge times a random part.
    """
    inside = cv2.distanceTransform(paper.astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    along = np.clip(0.6 + 0.4 * smooth_noise(paper.shape, 12.0, rng), 0.0, 1.0)
    depth = fray_px * along * rng.random(paper.shape, np.float32)
    return np.asarray(paper & (inside - 0.5 < depth), np.bool_)


def find_corners(regions: Int32Array) -> FloatArray:
    """Points ``(N, 2)`` where three or more pieces meet, or two at the picture's border."""
    framed = np.pad(regions, 1, constant_values=-1)
    quads = np.stack([framed[:-1, :-1], framed[1:, :-1], framed[:-1, 1:], framed[1:, 1:]])
    quads.sort(axis=0)
    y, x = np.nonzero((np.diff(quads, axis=0) > 0).sum(axis=0) >= 2)
    return np.asarray(np.stack([x, y], axis=1) - 0.5, np.float64)


def _crumbled(shape: tuple[int, ...], corners: FloatArray, crumble_px: float, rng: np.random.Generator) -> Float32Array:
    """Depth ``(H, W)`` lost around corners: ``r * (1 - distance / (2.5 r))``, with a radius r and roughness of its own."""
    depth = np.zeros(shape, np.float32)
    y, x = np.mgrid[: shape[0], : shape[1]].astype(np.float32)
    rough = 1.0 + 0.3 * rough_noise(shape, max(3.0, crumble_px), rng)
    for corner_x, corner_y in corners.astype(np.float32):
        radius = np.float32(crumble_px * rng.uniform(0.0, 1.0))
        distance = np.sqrt((x - corner_x) ** 2 + (y - corner_y) ** 2)
        depth = np.maximum(depth, radius - distance / np.float32(_CORNER_REACH))
    return np.asarray(np.minimum(depth * rough, crumble_px), np.float32)


def corners_in(corners: FloatArray, window: tuple[slice, slice], reach_px: float) -> FloatArray:
    """Corners ``(N, 2)`` near a window of the picture, in the window's frame."""
    local = corners - np.array([window[1].start, window[0].start])
    size = np.array([window[1].stop - window[1].start, window[0].stop - window[0].start])
    near: FloatArray = local[((local > -reach_px) & (local < size + reach_px)).all(axis=1)]
    return near


def widen(box: tuple[slice, slice], shape: tuple[int, ...], reach_px: float) -> tuple[slice, slice]:
    """A window of the picture ``shape`` around a region's box, larger by ``reach_px`` on all sides that have room."""
    reach = math.ceil(reach_px)
    rows, cols = box
    return (
        slice(max(0, rows.start - reach), min(shape[0], rows.stop + reach)),
        slice(max(0, cols.start - reach), min(shape[1], cols.stop + reach)),
    )

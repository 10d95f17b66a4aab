"""The scan of a piece: laid on one backdrop with a soft edge and a shadow, blurred, stored, and cut out again."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

from jigsawnet.shred.config import ShredConfig
from jigsawnet.shred.noise import smooth_noise
from jigsawnet.shred.pieces import keep_largest, pass_through_jpeg, to_uint8
from jigsawnet.types import BoolArray, Float32Array, UInt8Array

_SHADOW_PX = (2.0, 7.0)
_SHADOW_TAKEN_PX = 1.5
"""So much of a black shadow is taken for paper when a piece is cut out."""
_SHARPEN_PX = 1.0
"""Blur of the picture from which sharpening leads away."""
_WOBBLE = 0.35
"""Cutting out is uneven by this part of its offset."""
_WHISKER_PX = (3.0, 9.0)


@dataclass(frozen=True, slots=True)
class Scan:
    """What all pieces of a scan have in common: where their shadows fall, in px."""

    shadow_x: float
    shadow_y: float

    @staticmethod
    def draw(rng: np.random.Generator) -> Scan:
        """Light from any side."""
        angle, length = rng.uniform(0.0, 2.0 * math.pi), rng.uniform(*_SHADOW_PX)
        return Scan(length * math.cos(angle), length * math.sin(angle))


def signed_distance(paper: BoolArray) -> Float32Array:
    """Distance ``(H, W)`` from the outline of a mask with an empty border, in px, positive inside, its staircase smoothed."""
    inside = paper.astype(np.uint8)
    within = cv2.distanceTransform(inside, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    beyond = cv2.distanceTransform(1 - inside, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    distance = np.where(paper, within - 0.5, 0.5 - beyond).astype(np.float32)
    return np.asarray(cv2.GaussianBlur(distance, (0, 0), 0.7), np.float32)


def lay_on_backdrop(colors: Float32Array, distance: Float32Array, config: ShredConfig, scan: Scan) -> Float32Array:
    """Mix a piece's colours ``(H, W, 3)`` with the backdrop, by its distance ``(H, W)`` from the outline.

    Paper's share rises smoothly from 0 at ``halo_px`` (at least 0.5 px) outside of the outline to 1 at ``halo_px`` inside.
    """
    damage = config.damage
    ground = np.broadcast_to(np.array(damage.backdrop, np.float32), colors.shape)
    if damage.shadow > 0:
        cover = np.clip(0.5 + _shifted(distance, scan.shadow_x, scan.shadow_y), 0.0, 1.0)
        cover = cv2.GaussianBlur(cover, (0, 0), 0.4 * math.hypot(scan.shadow_x, scan.shadow_y))
        ground = ground * (1.0 - damage.shadow * cover[..., None])
    outside_px = max(0.5, damage.halo_px)
    ramp = np.clip((distance + outside_px) / (outside_px + damage.halo_px), 0.0, 1.0)
    share = (ramp * ramp * (3.0 - 2.0 * ramp))[..., None]
    return np.asarray(ground + share * (colors - ground), np.float32)


def record(scene: Float32Array, config: ShredConfig, rng: np.random.Generator) -> UInt8Array:
    """What scanner and file make of a scene ``(H, W, 3)``: blur, sharpening, noise, JPEG."""
    seen = scene
    if config.damage.blur_px > 0:
        seen = np.asarray(cv2.GaussianBlur(seen, (0, 0), config.damage.blur_px), np.float32)
    if config.damage.sharpen > 0:
        seen = seen + config.damage.sharpen * (seen - cv2.GaussianBlur(seen, (0, 0), _SHARPEN_PX))
    if config.noise > 0:
        seen = seen + config.noise * rng.standard_normal(seen.shape, np.float32)
    stored = to_uint8(np.asarray(seen, np.float32))
    return stored if config.jpeg_quality is None else pass_through_jpeg(stored, config.jpeg_quality)


def cut_mask(distance: Float32Array, config: ShredConfig, scan: Scan, rng: np.random.Generator) -> BoolArray:
    """The mask ``(H, W)`` as it was cut out: ``mask_px`` outside of the true outline, unevenly, with part of the shadow."""
    damage = config.damage
    reach = distance
    if damage.shadow > 0:
        part = damage.shadow * _SHADOW_TAKEN_PX / math.hypot(scan.shadow_x, scan.shadow_y)
        reach = np.maximum(reach, _shifted(distance, part * scan.shadow_x, part * scan.shadow_y))
    uneven = 1.0 + _WOBBLE * np.clip(smooth_noise(distance.shape, 12.0, rng), -1.5, 1.0) if damage.mask_px else 1.0
    return keep_largest(reach > -damage.mask_px * uneven)


def add_whiskers(scene: Float32Array, mask: BoolArray, config: ShredConfig, rng: np.random.Generator) -> BoolArray:
    """Draw hairs into the scene ``(H, W, 3)`` that stand out from the mask, and return the mask with them."""
    count = int(rng.poisson(config.damage.whiskers)) if config.damage.whiskers > 0 else 0
    contours = cv2.findContours(mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)[0]
    if count == 0 or not contours:
        return mask
    outline = max(contours, key=len)[:, 0].astype(np.float64)
    grown = mask.astype(np.uint8)
    hairs = np.zeros_like(grown)
    for start in rng.integers(len(outline), size=count):
        along = outline[(start + 3) % len(outline)] - outline[start - 3]
        outward = np.array([along[1], -along[0]]) / max(1.0, float(np.linalg.norm(along)))
        if mask[tuple(np.clip(np.rint(outline[start] + 3 * outward).astype(int)[::-1], 0, np.array(mask.shape) - 1))]:
            outward = -outward
        lean = outward + rng.normal(0.0, 0.5, 2)
        tip = outline[start] + rng.uniform(*_WHISKER_PX) * lean / max(0.3, float(np.linalg.norm(lean)))
        ends = [tuple(int(v) for v in np.rint(point)) for point in (outline[start], tip)]
        cv2.line(hairs, ends[0], ends[1], 1, thickness=1, lineType=cv2.LINE_4)
    new = hairs.astype(np.bool_) & ~mask
    scene[new] *= np.float32(rng.uniform(0.55, 1.0))
    return keep_largest(grown.astype(np.bool_) | new)


def _shifted(distance: Float32Array, x: float, y: float) -> Float32Array:
    """The field moved by ``(x, y)`` px."""
    matrix = np.array([[1.0, 0.0, x], [0.0, 1.0, y]])
    size = distance.shape[::-1]
    return np.asarray(cv2.warpAffine(distance, matrix, (size[0], size[1]), borderMode=cv2.BORDER_REPLICATE), np.float32)

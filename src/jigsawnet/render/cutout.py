"""One piece ready to be drawn: cropped, its colours carried on past its border, and the distance to that border."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from jigsawnet.types import BoolArray, Float32Array, Fragment, UInt8Array

_KERNEL_PX = 3
"""How far an interpolation looks around."""


@dataclass(frozen=True, slots=True, eq=False)
class Cutout:
    """A crop of a fragment whose top-left pixel is at ``(left, top)`` in the fragment's frame.

    ``image (H, W, 3)`` uint8: around ``mask (H, W)`` each pixel has the colour of the nearest pixel inside, so that no
    interpolation sees the background; far off it is black. ``depth (H, W)`` px: distance to the border, positive inside, half
    a pixel at the outermost pixels of the mask and minus half a pixel at the first ones outside.
    """

    left: int
    top: int
    image: UInt8Array
    mask: BoolArray
    depth: Float32Array


def mask_box(mask: BoolArray) -> tuple[int, int, int, int]:
    """``(left, top, width, height)`` of the true pixels; zero width and height when there are none."""
    left, top, width, height = cv2.boundingRect(mask.astype(np.uint8))
    return left, top, width, height


def cut_out(fragment: Fragment, pad_px: int) -> Cutout:
    """Crop a piece that has at least one pixel to its mask, with ``pad_px`` pixels around it."""
    left, top, width, height = mask_box(fragment.mask)
    rows, cols = slice(top, top + height), slice(left, left + width)
    image = np.pad(fragment.image[rows, cols], ((pad_px, pad_px), (pad_px, pad_px), (0, 0)))
    mask = np.pad(fragment.mask[rows, cols], pad_px)
    inside = mask.astype(np.uint8)
    outward, nearest = cv2.distanceTransformWithLabels(1 - inside, cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL)
    inward = cv2.distanceTransform(inside, cv2.DIST_L2, 5)
    depth = np.where(mask, inward - np.float32(0.5), np.float32(0.5) - outward).astype(np.float32)
    image[~mask] = 0
    rim = ~mask & (depth > -(pad_px + _KERNEL_PX))
    border = mask & (depth < 1.5)  # the nearest pixel of the piece is always one of these
    colors = np.zeros((int(nearest.max()) + 1, 3), dtype=np.uint8)
    colors[nearest[border]] = image[border]
    image[rim] = colors[nearest[rim]]
    return Cutout(left - pad_px, top - pad_px, image, mask, depth)

"""One piece ready to be drawn: cropped, its colours carried on past its border, and the distance to that border."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from jigsawnet.types import BoolArray, Float32Array, Piece, UInt8Array

_KERNEL_PX = 3
"""How far an interpolation looks around."""


@dataclass(frozen=True, slots=True, eq=False)
class Cutout:
    """A crop of a piece whose top-left pixel is at ``(left, top)`` in the piece's frame.

    ``image (H, W, 3)`` uint8: around ``mask (H, W)`` each pixel has the colour of the nearest pixel inside, so that no
    interpolation sees the background; far off it is black. ``outward (H, W)`` px: distance from the mask.
    """

    left: int
    top: int
    image: UInt8Array
    mask: BoolArray
    outward: Float32Array

    def depth(self) -> Float32Array:
        """Px to the border ``(H, W)``, positive inside: 1/2 at the outermost pixels of the mask, -1/2 at the first outside."""
        inward = cv2.distanceTransform(self.mask.astype(np.uint8), cv2.DIST_L2, 5)
        return np.where(self.mask, inward - np.float32(0.5), np.float32(0.5) - self.outward)


def mask_box(mask: BoolArray) -> tuple[int, int, int, int]:
    """``(left, top, width, height)`` of the true pixels; zero width and height when there are none."""
    left, top, width, height = cv2.boundingRect(mask.astype(np.uint8))
    return left, top, width, height


def cut_out(piece: Piece, pad_px: int) -> Cutout:
    """Crop a piece that has at least one pixel to its mask, with ``pad_px`` pixels around it."""
    left, top, width, height = mask_box(piece.mask)
    rows, cols = slice(top, top + height), slice(left, left + width)
    image = np.pad(piece.image[rows, cols], ((pad_px, pad_px), (pad_px, pad_px), (0, 0)))
    mask = np.pad(piece.mask[rows, cols], pad_px)
    inside = mask.astype(np.uint8)
    outward, label = cv2.distanceTransformWithLabels(1 - inside, cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL)
    image = np.asarray(cv2.copyTo(image, inside, np.zeros_like(image)), np.uint8)
    colors, label = image.reshape(-1, 3), label.ravel()
    border = np.flatnonzero(inside - cv2.erode(inside, np.ones((3, 3), np.uint8)))  # the nearest pixel is one of these
    rim = np.flatnonzero(~mask & (outward < pad_px + _KERNEL_PX + 0.5))
    color_of_label = np.zeros((int(label.max()) + 1, 3), dtype=np.uint8)
    color_of_label[label[border]] = colors[border]
    colors[rim] = color_of_label[label[rim]]
    return Cutout(left - pad_px, top - pad_px, image, mask, np.asarray(outward, np.float32))

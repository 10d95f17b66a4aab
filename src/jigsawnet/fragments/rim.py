"""The rim of a piece cut from a scan: its outermost pixels are mixed with the background by the scanner's blur and by JPEG."""

from __future__ import annotations

import cv2
import numpy as np

from jigsawnet.types import BoolArray, UInt8Array

_RIM_PX = 2.5
"""Depth from which on a pixel shows paper alone; the outermost pixels have a depth of one."""


def clean_rim(image: UInt8Array, mask: BoolArray) -> UInt8Array:
    """Replace the colours of the outermost two pixels of a piece ``image (H, W, 3)``, ``mask (H, W)`` by those just inside.

    Otherwise a line of background colour shows along every seam. Parts too thin to have an inside stay as they are.
    """
    depth = cv2.distanceTransform(np.pad(mask, 1).astype(np.uint8), cv2.DIST_L2, 5)[1:-1, 1:-1]
    core = depth >= _RIM_PX
    if not core.any():
        return image
    away, label = cv2.distanceTransformWithLabels((~core).astype(np.uint8), cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL)
    rim = mask & ~core & (away < 2 * _RIM_PX)
    color_of_label = np.zeros((int(label.max()) + 1, 3), np.uint8)
    color_of_label[label[core]] = image[core]
    cleaned = image.copy()
    cleaned[rim] = color_of_label[label[rim]]
    return cleaned

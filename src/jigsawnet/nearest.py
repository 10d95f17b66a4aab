"""Ground floor: the nearest pixel of a mask, for colours and numbers that are carried on beyond it."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from jigsawnet.types import BoolArray, Float32Array


def nearest_pixels(source: BoolArray, at: BoolArray | None = None, *, mask: int = 5) -> tuple[NDArray[np.intp], Float32Array]:
    """Flat index of the nearest pixel of ``source (H, W)``, not empty, and the distance to it in px.

    Both for every pixel, ``(H, W)``, or for the pixels of ``at (H, W)`` in their order, ``(N,)``. ``mask`` is the size of
    OpenCV's distance mask, 3 or 5.
    """
    distance, label = cv2.distanceTransformWithLabels(
        (~source).astype(np.uint8), cv2.DIST_L2, mask, labelType=cv2.DIST_LABEL_PIXEL
    )
    if at is not None:
        places = np.flatnonzero(at)
        distance, label = distance.ravel()[places], label.ravel()[places]
    nearest: NDArray[np.intp] = np.flatnonzero(source)[label - 1]  # the pixels of the source are numbered from 1, row by row
    return nearest, np.asarray(distance, np.float32)

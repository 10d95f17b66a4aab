"""What a camera does to a page: keystone and the bending of a lens, as one map from the picture back to the page."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from jigsawnet.types import Float32Array


@dataclass(frozen=True, slots=True, eq=False)
class Bend:
    """For each pixel ``(H, W)`` of the picture, the place ``x, y`` of the page that it shows."""

    x: Float32Array
    y: Float32Array

    def apply(self, page: Float32Array) -> Float32Array:
        """The page ``(H, W[, 3])`` as the camera sees it; beyond its border it is mirrored."""
        return np.asarray(cv2.remap(page, self.x, self.y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT), np.float32)

    def box(self, x: int, y: int, width: int, height: int) -> tuple[slice, slice]:
        """Rows and columns of the picture that show a box of the page, with a rim."""
        inside = (self.x > x - 2) & (self.x < x + width + 1) & (self.y > y - 2) & (self.y < y + height + 1)
        rows, cols = np.flatnonzero(inside.any(axis=1)), np.flatnonzero(inside.any(axis=0))
        return slice(int(rows[0]), int(rows[-1]) + 1), slice(int(cols[0]), int(cols[-1]) + 1)

    def part(self, cover: Float32Array, corner: tuple[int, int], window: tuple[slice, slice]) -> Float32Array:
        """A window of the picture of something ``(h, w)`` that lies at ``corner`` on the page, 0 beyond it."""
        x, y = self.x[window] - corner[0], self.y[window] - corner[1]
        return np.asarray(cv2.remap(cover, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT), np.float32)


def make_bend(size: tuple[int, int], keystone: float, lens: float) -> Bend:
    """Bend of a picture of ``size`` (width, height).

    ``keystone``: by which part the upper edge of the page is shown shorter than the lower one. ``lens``: by which part a corner
    is drawn towards the middle (a barrel; negative: a cushion).
    """
    width, height = size
    inset = 0.5 * keystone * width
    page = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    seen = np.array([[inset, 0.5 * keystone * height], [width - inset, 0.5 * keystone * height], [width, height], [0, height]])
    page_from_seen = cv2.getPerspectiveTransform(seen.astype(np.float32), page)
    x, y = np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32))
    middle_x, middle_y = (width - 1) / 2, (height - 1) / 2
    far = ((x - middle_x) ** 2 + (y - middle_y) ** 2) / (middle_x**2 + middle_y**2)
    stretch = 1.0 + lens * far
    points = np.stack([(x - middle_x) * stretch + middle_x, (y - middle_y) * stretch + middle_y], axis=-1)
    shown = cv2.perspectiveTransform(points.reshape(-1, 1, 2).astype(np.float32), page_from_seen).reshape(height, width, 2)
    return Bend(np.ascontiguousarray(shown[..., 0], np.float32), np.ascontiguousarray(shown[..., 1], np.float32))

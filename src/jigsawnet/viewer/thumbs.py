"""Small pictures of pages, drawn from the small pictures of their pieces."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import cv2
import numpy as np

from jigsawnet.edits import PieceSizes
from jigsawnet.geometry import SE2
from jigsawnet.types import Float32Array, FloatArray, UInt8Array
from jigsawnet.viewer.pictures import PiecePictures, encode_png

SIDE_PX = 168
_LEAST_PX = 16


def page_png(pictures: PiecePictures, pieces: PieceSizes, poses: Mapping[int, SE2], page: Collection[int]) -> bytes:
    """A page as it lies, as PNG of at most `SIDE_PX` each way."""
    corners = {idx: _corners(pieces, poses, idx) for idx in page}
    every = np.concatenate(list(corners.values()))
    low, high = every.min(0), every.max(0)
    scale = SIDE_PX / max(float((high - low).max()), 1.0)
    width, height = (max(1, round(float(v))) for v in scale * (high - low))
    canvas = np.zeros((height, width, 4), np.float32)
    for idx in sorted(page):
        _draw(canvas, pictures, pieces, poses[idx], idx, low, scale)
    alpha = canvas[..., 3:]
    rgba = np.concatenate([canvas[..., :3] / np.maximum(alpha, 1e-6), 255.0 * alpha], axis=2)
    left, top, width, height = cv2.boundingRect((alpha > 0).astype(np.uint8))
    shown = rgba[top : top + max(height, 1), left : left + max(width, 1)]
    return encode_png(np.asarray(np.rint(np.clip(shown, 0, 255)), np.uint8))


def _corners(pieces: PieceSizes, poses: Mapping[int, SE2], idx: int) -> FloatArray:
    width, height = pieces.sizes[idx]
    return np.asarray(poses[idx] @ np.array([(0.0, 0.0), (width, 0.0), (0.0, height), (width, height)]))


def _draw(
    canvas: Float32Array, pictures: PiecePictures, pieces: PieceSizes, pose: SE2, idx: int, low: FloatArray, scale: float
) -> None:
    """Lay one piece over ``canvas (H, W, 4)``, colours multiplied by alpha."""
    longest = max(pieces.sizes[idx])
    small: UInt8Array = pictures.rgba(idx, max(_LEAST_PX, round(2 * scale * longest)))
    alpha = small[..., 3:].astype(np.float32) / 255.0
    own = np.concatenate([small[..., :3] * alpha, alpha], axis=2)
    ratio = longest / max(small.shape[:2])
    matrix = np.diag([scale, scale, 1.0]) @ SE2(0.0, -float(low[0]), -float(low[1])).matrix() @ pose.matrix()
    matrix = matrix @ np.diag([ratio, ratio, 1.0])
    height, width = canvas.shape[:2]
    laid = cv2.warpAffine(own, matrix[:2], (width, height), flags=cv2.INTER_AREA)
    canvas *= 1.0 - laid[..., 3:]
    canvas += laid

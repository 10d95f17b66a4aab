"""Pictures of single pieces for the browser: PNG in a few sizes, kept within a bound."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence

import cv2
import numpy as np

from jigsawnet.types import Piece, Puzzle, UInt8Array

SMALLEST, LARGEST = 16, 4096
MAX_KEPT_BYTES = 64 * 2**20


class PiecePictures:
    """RGBA pictures of the pieces as PNG."""

    def __init__(self, puzzle: Puzzle, kept_bytes: int = MAX_KEPT_BYTES) -> None:
        self._puzzle = puzzle
        self._most = kept_bytes
        self._kept: OrderedDict[tuple[int, int | None], bytes] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()
        digest = hashlib.blake2b(digest_size=12)
        for piece in puzzle.pieces:
            digest.update(repr((piece.name, piece.mask.shape)).encode("utf-8", "backslashreplace"))
            digest.update(piece.mask.tobytes())
            digest.update(piece.image.tobytes())
        self.key = digest.hexdigest()
        """Changes with any pixel of any piece."""

    def rgba(self, idx: int, size: int) -> UInt8Array:
        """A piece with its longest side at most ``size`` px, as pixels ``(H, W, 4)``."""
        bgra = cv2.imdecode(np.frombuffer(self.png(idx, size), np.uint8), cv2.IMREAD_UNCHANGED)
        assert bgra is not None
        return np.asarray(cv2.cvtColor(bgra, cv2.COLOR_BGRA2RGBA), np.uint8)

    def png(self, idx: int, size: int | None) -> bytes:
        """A piece with its longest side at most ``size`` px, at the next power of two; None: full resolution."""
        level = None if size is None else 1 << max(SMALLEST, min(size, LARGEST)).bit_length() - 1
        key = (idx, level)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        data = encode_png(_rgba(self._puzzle.pieces[idx], level), (cv2.IMWRITE_PNG_COMPRESSION, 3))
        with self._lock:
            if key not in self._kept:
                self._kept[key] = data
                self._size += len(data)
            while self._size > self._most and len(self._kept) > 1:
                self._size -= len(self._kept.popitem(last=False)[1])
        return data


def _rgba(piece: Piece, level: int | None) -> UInt8Array:
    """The whole picture of the piece, smaller by area; colours from outside the mask do not mix in."""
    height, width = piece.mask.shape
    alpha = np.where(piece.mask, np.uint8(255), np.uint8(0))
    if level is None or max(height, width) <= level:
        return np.dstack([piece.image, alpha])
    scale = level / max(height, width)
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    inside = piece.mask.astype(np.float32)
    weight = cv2.resize(inside, size, interpolation=cv2.INTER_AREA)
    color = cv2.resize(piece.image * inside[..., None], size, interpolation=cv2.INTER_AREA)
    color = color / np.maximum(weight, 1e-6)[..., None]
    rgba = np.dstack([color, 255.0 * weight])
    return np.asarray(np.rint(np.clip(rgba, 0, 255)), dtype=np.uint8)


def encode_png(rgba: UInt8Array, options: Sequence[int] = ()) -> bytes:
    """A picture ``(H, W, 4)`` as PNG, with options of OpenCV's writer."""
    done, png = cv2.imencode(".png", np.ascontiguousarray(rgba[..., [2, 1, 0, 3]]), options)
    if not done:
        raise ValueError("a picture could not be encoded")
    return png.tobytes()

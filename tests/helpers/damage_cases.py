"""Pictures and puzzles for the tests of the shredder's damage."""

from __future__ import annotations

import cv2
import numpy as np

from jigsawnet.shred import Damage, ShredConfig, shred_images
from jigsawnet.types import Assembly, BoolArray, Float32Array, Piece, Puzzle, UInt8Array

SIZE = (240, 200)


def plain_picture(level: int = 40) -> UInt8Array:
    return np.full((SIZE[1], SIZE[0], 3), level, np.uint8)


def ramp_picture() -> UInt8Array:
    """Red tells x, green tells y."""
    picture = np.full((SIZE[1], SIZE[0], 3), 90, np.uint8)
    picture[..., 0] = np.arange(SIZE[0]) + 8
    picture[..., 1] = (np.arange(SIZE[1]) + 20)[:, None]
    return picture


def damaged(
    damage: Damage, seed: int = 0, picture: UInt8Array | None = None, **options: float | bool | None
) -> tuple[Puzzle, Assembly]:
    """A puzzle of four pieces."""
    config = ShredConfig(**({"pieces": 4, "perturbation": 0.05} | options), damage=damage)  # type: ignore[arg-type]
    return shred_images([plain_picture() if picture is None else picture], config, np.random.default_rng(seed))


def in_picture(piece: Piece, truth: Assembly) -> BoolArray:
    """The mask of a piece, put back by the truth."""
    matrix = truth.poses[piece.idx].matrix()[:2]
    put: BoolArray = cv2.warpAffine(piece.mask.astype(np.float32), matrix, SIZE) > 0.5
    return put


def depth(piece: Piece) -> Float32Array:
    """Distance of each pixel from the outside, 1 at the mask's outermost pixels."""
    return np.asarray(cv2.distanceTransform(piece.mask.astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE), np.float32)

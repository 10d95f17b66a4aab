"""A picture cut by wavy lines into 3 x 3 pieces, each turned by an angle of its own; the true poses are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np
import pytest

from jigsawnet.geometry import SE2
from jigsawnet.types import Assembly, BoolArray, Piece, Puzzle, UInt8Array

KEY_COLOR = (255, 0, 255)
SIZE = (240, 180)


@dataclass(frozen=True)
class Cut:
    picture: UInt8Array
    labels: UInt8Array
    puzzle: Puzzle
    truth: Assembly

    def moved(self, shift: Callable[[int], tuple[float, float]], members: tuple[int, ...] = tuple(range(9))) -> Assembly:
        """The truth of some pieces, each moved by ``shift(idx)``."""
        poses = {i: SE2(0.0, *shift(i)) @ self.truth.poses[i] for i in members}
        return Assembly(len(self.puzzle), poses, (members,))


def smooth_picture() -> UInt8Array:
    """Soft colours, every channel well away from black and from the key colour; (H, W, 3)."""
    noise = np.random.default_rng(5).normal(size=(SIZE[1], SIZE[0], 3)).astype(np.float32)
    blurred = cv2.GaussianBlur(noise, (0, 0), 6.0)
    return np.clip(150.0 + 25.0 * blurred / blurred.std(), 90, 210).astype(np.uint8)


def wavy_labels() -> UInt8Array:
    """Piece numbers 0 .. 8, row by row; (H, W)."""
    y, x = np.mgrid[0 : SIZE[1], 0 : SIZE[0]].astype(float)
    bent_x, bent_y = x + 6 * np.sin(y / 11), y + 5 * np.sin(x / 13)
    col = (bent_x > 80).astype(np.uint8) + (bent_x > 160)
    row = (bent_y > 60).astype(np.uint8) + (bent_y > 120)
    return (3 * row + col).astype(np.uint8)


def cut_piece(idx: int, picture: UInt8Array, shape: BoolArray, theta: float) -> tuple[Piece, SE2]:
    """One piece turned by ``-theta`` on a key colour, and its true ``world_from_piece``."""
    x, y, w, h = cv2.boundingRect(shape.astype(np.uint8))
    side = int(np.hypot(w, h)) + 6
    to_centre = SE2(0.0, x + w // 2, y + h // 2) @ SE2(theta, 0.0, 0.0)
    world_from_piece = to_centre @ SE2(0.0, -(side // 2), -(side // 2))
    matrix = world_from_piece.inverse().matrix()[:2]
    image = cv2.warpAffine(picture, matrix, (side, side), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    mask = cv2.warpAffine(shape.astype(np.uint8), matrix, (side, side), flags=cv2.INTER_NEAREST) > 0
    image[~mask] = KEY_COLOR
    return Piece(idx, f"piece {idx}.png", image, mask), world_from_piece


def cut_picture(angles: np.ndarray) -> Cut:
    picture, labels = smooth_picture(), wavy_labels()
    pieces = [cut_piece(idx, picture, labels == idx, float(angles[idx])) for idx in range(9)]
    puzzle = Puzzle("wavy", tuple(piece for piece, _ in pieces))
    return Cut(picture, labels, puzzle, Assembly(9, {f.idx: pose for f, pose in pieces}, (tuple(range(9)),)))


@pytest.fixture(scope="session")
def turned() -> Cut:
    """Nine pieces, each turned by a random angle."""
    return cut_picture(np.random.default_rng(7).uniform(-np.pi, np.pi, size=9))


@pytest.fixture(scope="session")
def upright() -> Cut:
    """Nine pieces that need no turning: whole pixels all the way."""
    return cut_picture(np.zeros(9))

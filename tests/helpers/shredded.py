"""Pages of print cut into strips, with the truth, small and quick to make."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.shred.documents import Typefaces, make_document
from jigsawnet.types import Piece, Puzzle, UInt8Array


def page(seed: int = 0, width: int = 600, height: int = 1100) -> UInt8Array:
    """A part of a page, full of print."""
    sheet = make_document(np.random.default_rng(seed), Typefaces({}), 150.0)
    return np.ascontiguousarray(sheet[200 : 200 + height, 250 : 250 + width])


def clouds(seed: int = 0, width: int = 600, height: int = 1100) -> UInt8Array:
    """Dark and light clouds, which go on across every cut."""
    noise = np.random.default_rng(seed).normal(128, 90, (height, width)).astype(np.float32)
    soft = cv2.GaussianBlur(noise, (0, 0), 7.0)
    grey = np.clip(128 + (soft - soft.mean()) * (60 / soft.std()), 0, 255).astype(np.uint8)
    return np.repeat(grey[..., None], 3, axis=2)


def strips_of(sheet: UInt8Array, count: int, *, turned: tuple[int, ...] = (), seed: int = 0) -> Puzzle:
    """Strips cut straight, from left to right; those ``turned`` are upside down."""
    config = ShredConfig(pieces=count, strips=True, perturbation=0.0, tilt_deg=0.0, rotate=False)
    puzzle, truth = shred_images([sheet], config, np.random.default_rng(seed))
    order = sorted(truth.poses, key=lambda idx: float((truth.poses[idx] @ np.array([20.0, 20.0]))[0]))
    pieces = tuple(
        upside_down(replace(puzzle.pieces[old], idx=new)) if new in turned else replace(puzzle.pieces[old], idx=new)
        for new, old in enumerate(order)
    )
    return replace(puzzle, pieces=tuple(replace(piece, name=f"strip_{piece.idx:02d}.png") for piece in pieces))


def upside_down(piece: Piece) -> Piece:
    """Turned by half a turn."""
    image, mask = np.ascontiguousarray(piece.image[::-1, ::-1]), np.ascontiguousarray(piece.mask[::-1, ::-1])
    return replace(piece, image=image, mask=mask)

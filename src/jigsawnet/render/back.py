"""The other side of the picture: the backs of the pieces, laid as their fronts lie and seen from behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from jigsawnet.render.image import MAX_PIXELS, render_assembly
from jigsawnet.render.layout import MARGIN_PX
from jigsawnet.types import Assembly, Fragment, Puzzle, UInt8Array

_UNKNOWN = np.uint8(200)
"""Grey of pieces whose back is not known."""


def render_back(
    puzzle: Puzzle,
    backs: Mapping[int, Fragment],
    assembly: Assembly,
    *,
    margin_px: int = MARGIN_PX,
    max_pixels: int = MAX_PIXELS,
) -> UInt8Array:
    """Paint the back of an assembly, RGBA ``(H, W, 4)``: the mirror image of `render_assembly`, with the backs' colours.

    ``backs[idx]`` is as large as the piece and, flipped from left to right, lies on it. A piece without a back is grey.
    """
    flipped = [_flip(front, backs[front.idx]) if front.idx in backs else _bare(front) for front in puzzle.fragments]
    picture = render_assembly(replace(puzzle, fragments=tuple(flipped)), assembly, margin_px=margin_px, max_pixels=max_pixels)
    return np.ascontiguousarray(picture[:, ::-1])


def _flip(front: Fragment, back: Fragment) -> Fragment:
    """The back seen through the paper, in the frame of its front."""
    return replace(front, image=back.image[:, ::-1].copy(), mask=back.mask[:, ::-1].copy())


def _bare(front: Fragment) -> Fragment:
    return replace(front, image=np.full_like(front.image, _UNKNOWN))

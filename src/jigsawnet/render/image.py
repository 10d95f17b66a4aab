"""The picture: all placed pieces warped once, blended where they overlap, and closed where they do not quite touch.

Each piece adds ``weight * color`` to the canvas; the picture is ``sum(weight * color) / sum(weight)``. The weight grows with
the depth inside the piece over a few pixels, so overlaps fade from one piece into the other, and goes on outside with a tiny
value, so that narrow gaps take their colours from the pieces on both sides. Coverage is kept apart from weight: it says which
pixels are paper, and is closed morphologically between neighbouring pieces only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

from jigsawnet.errors import InputError
from jigsawnet.geometry import SE2
from jigsawnet.render.cutout import Cutout, cut_out, mask_box
from jigsawnet.render.layout import MARGIN_PX, Layout, lay_out
from jigsawnet.types import Assembly, Float32Array, Fragment, Puzzle, UInt8Array

MAX_PIXELS = 400_000_000
"""Default limit of the canvas; a larger one comes from poses gone wrong."""
_FEATHER_PX = 3.0
"""Depth inside a piece at which it has full weight."""
_OUTSIDE_WEIGHT = 1e-3
"""Weight of colours carried on past the border: nothing beside paper, everything in a gap."""
_BAND_PIXELS = 1 << 24
"""Pixels blended at once; the float canvases take 25 bytes for each."""


@dataclass(frozen=True, slots=True, eq=False)
class _Band:
    """Running sums over a window of the canvas whose top-left pixel is ``(left, top)``; all of one height and width."""

    left: int
    top: int
    color: Float32Array
    weight: Float32Array
    coverage: Float32Array
    n_near: UInt8Array
    """How many pieces are near enough to lend a colour."""


def render_assembly(
    puzzle: Puzzle,
    assembly: Assembly,
    *,
    with_unplaced: bool = False,
    margin_px: int = MARGIN_PX,
    max_gap_px: int = 3,
    max_pixels: int = MAX_PIXELS,
) -> UInt8Array:
    """Paint an assembly at full resolution.

    Args:
        puzzle: The pieces.
        assembly: Their poses. Components are drawn as they stand (see `straighten_components`), side by side.
        with_unplaced: Also draw the unplaced pieces, in rows below the picture.
        margin_px: Distance between components.
        max_gap_px: Gaps of up to this width between neighbouring pieces are filled; 0 leaves all as they are.
        max_pixels: Larger pictures are refused.

    Returns:
        RGBA ``(H, W, 4)`` uint8, transparent where there is no paper; one transparent pixel when nothing is placed.

    Raises:
        InputError: The picture would have more than ``max_pixels`` pixels.
    """
    layout = lay_out(puzzle, assembly, with_unplaced=with_unplaced, margin_px=margin_px)
    if layout.width * layout.height > max_pixels:
        raise InputError(
            f"The assembled picture would be {layout.width} x {layout.height} pixels, more than the {max_pixels:,} allowed; "
            "use smaller pictures of the pieces, or raise the limit if this size is right."
        )
    # Half the gap, and one pixel more for soft edges and for corners, where gaps meet and are wider.
    radius = math.ceil(max_gap_px / 2) + 1 if max_gap_px > 0 else 0
    halo = 2 * radius + 1  # closing looks this far around
    n_rows = max(1, _BAND_PIXELS // layout.width)
    picture = np.zeros((layout.height, layout.width, 4), dtype=np.uint8)
    for top in range(0, layout.height, n_rows):
        bottom = min(top + n_rows, layout.height)
        band = _new_band(-halo, top - halo, layout.width + 2 * halo, bottom - top + 2 * halo)
        _add_pieces(band, puzzle, layout, reach_px=2 * radius + 1)
        picture[top:bottom] = _finish(band, radius)[halo:-halo, halo:-halo]
    return picture


def _new_band(left: int, top: int, width: int, height: int) -> _Band:
    size = (height, width)
    return _Band(
        left,
        top,
        np.zeros((*size, 3), dtype=np.float32),
        np.zeros(size, dtype=np.float32),
        np.zeros(size, dtype=np.float32),
        np.zeros(size, dtype=np.uint8),
    )


def _add_pieces(band: _Band, puzzle: Puzzle, layout: Layout, reach_px: int) -> None:
    """Blend every piece of the layout that touches the band, in order of idx."""
    for idx, canvas_from_fragment in sorted(layout.canvas_from_fragment.items()):
        fragment = puzzle.fragments[idx]
        window = _window(band, fragment, canvas_from_fragment, reach_px)
        if window is not None:
            _blend(band, cut_out(fragment, reach_px + 1), canvas_from_fragment, window, reach_px)


def _window(band: _Band, fragment: Fragment, canvas_from_fragment: SE2, reach_px: int) -> tuple[slice, slice] | None:
    """Rows and columns of the band that a piece can touch, None when it lies elsewhere or has no paper."""
    left, top, width, height = mask_box(fragment.mask)
    x, y = np.array([left - reach_px, left + width - 1 + reach_px]), np.array([top - reach_px, top + height - 1 + reach_px])
    corners = canvas_from_fragment @ np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2).astype(np.float64)
    low = np.floor(corners.min(axis=0)).astype(int) - (band.left, band.top)
    high = np.ceil(corners.max(axis=0)).astype(int) - (band.left, band.top) + 1
    low = np.maximum(low, 0)
    high = np.minimum(high, band.weight.shape[::-1])
    if width == 0 or (low >= high).any():
        return None
    return slice(int(low[1]), int(high[1])), slice(int(low[0]), int(high[0]))


def _blend(band: _Band, cutout: Cutout, canvas_from_fragment: SE2, window: tuple[slice, slice], reach_px: int) -> None:
    """Add one piece to the running sums within ``window``."""
    rows, cols = window
    size = (cols.stop - cols.start, rows.stop - rows.start)
    window_from_canvas = SE2(0.0, -float(band.left + cols.start), -float(band.top + rows.start))
    window_from_cutout = window_from_canvas @ canvas_from_fragment @ SE2(0.0, float(cutout.left), float(cutout.top))
    matrix = window_from_cutout.matrix()[:2]
    color = cv2.warpAffine(cutout.image, matrix, size, flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    far = -float(reach_px + 1)
    depth = cv2.warpAffine(
        cutout.depth, matrix, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=(far,)
    )
    coverage = np.clip(depth + 0.5, 0.0, 1.0)
    weight = np.clip((depth + 0.5) / _FEATHER_PX, 0.0, 1.0) + _OUTSIDE_WEIGHT * np.clip(1.0 + depth / reach_px, 0.0, 1.0)
    band.color[window] += color * weight[..., None]
    band.weight[window] += weight
    band.coverage[window] += coverage
    near = band.n_near[window]
    np.add(near, 1, out=near, where=(depth > -reach_px) & (near < 255))


def _finish(band: _Band, radius: int) -> UInt8Array:
    """Close gaps between pieces and divide by the weights; RGBA as large as the band."""
    alpha = np.minimum(band.coverage, 1.0)
    if radius:
        disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * radius + 1, 2 * radius + 1))
        closed = cv2.morphologyEx(alpha, cv2.MORPH_CLOSE, disc)
        np.copyto(alpha, closed, where=band.n_near >= 2)  # one piece alone keeps its own notches and holes
    rgba = np.zeros((*alpha.shape, 4), dtype=np.uint8)
    rgba[..., 3] = np.rint(255.0 * alpha)
    rgb = band.color / np.maximum(band.weight, 1e-9)[..., None]
    np.copyto(rgba[..., :3], np.rint(rgb).astype(np.uint8), where=rgba[..., 3:] > 0)
    return rgba

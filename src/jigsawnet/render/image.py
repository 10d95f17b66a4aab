"""The picture: all placed pieces warped once, blended where they overlap, and closed where they do not quite touch.

Each piece adds ``weight * color`` to the canvas; the picture is ``sum(weight * color) / sum(weight)``. The weight grows with
the depth inside the piece over a few pixels, so overlaps fade from one piece into the other, and goes on outside with a tiny
value, so that narrow gaps take their colours from the pieces on both sides. Coverage is kept apart from weight: it says which
pixels are paper, and is closed morphologically between neighbouring pieces only.
"""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

import cv2
import numpy as np

from jigsawnet.borders import njit
from jigsawnet.errors import InputError
from jigsawnet.geometry import SE2
from jigsawnet.render.cutout import cut_out, mask_box
from jigsawnet.render.layout import MARGIN_PX, Layout, lay_out
from jigsawnet.types import Assembly, Float32Array, Piece, Puzzle, UInt8Array

MAX_PIXELS = 400_000_000
"""Default limit of the canvas; larger ones take much memory, or come from poses gone wrong."""
PREVIEW_PIXELS = 100_000_000
"""Pixels of a preview, about, that is drawn in place of a larger picture."""
_FEATHER_PX = np.float32(3.0)
"""Depth inside a piece at which it has full weight."""
_OUTSIDE_WEIGHT = np.float32(1e-3)
"""Weight of colours carried on past the border: nothing beside paper, everything in a gap."""
_BAND_PIXELS = 1 << 24
"""Pixels blended at once; the float canvases take 25 bytes for each."""
_THREADS = min(8, os.cpu_count() or 1)
_UNKNOWN = np.uint8(200)
"""Grey of pieces whose back is not known."""


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
    picture = np.empty((layout.height, layout.width, 4), dtype=np.uint8)
    with ThreadPoolExecutor(_THREADS) as pool:
        for top in range(0, layout.height, n_rows):
            bottom = min(top + n_rows, layout.height)
            band = _new_band(-halo, top - halo, layout.width + 2 * halo, bottom - top + 2 * halo)
            for piece in _warped_pieces(pool, band, puzzle, layout, reach_px=2 * radius + 1):
                _add(band.color, band.weight, band.coverage, band.n_near, *piece, np.float32(2 * radius + 1))
            _finish(band.color, band.weight, _close_gaps(band, radius), picture[top:bottom], halo)
    return picture


def shrink_to_preview(puzzle: Puzzle, assembly: Assembly, max_pixels: int = MAX_PIXELS) -> tuple[Puzzle, Assembly, int]:
    """Pieces and places to be drawn, and how many times smaller they are than those given: 1 unless the picture is too large.

    Pieces are shrunk by area, ``shrink x shrink`` pixels to one. A point p of ours is then ``(p - h) / shrink`` with
    ``h = (shrink - 1) / 2``, so for a pose (R, t) the new one is ``(R, (R h + t - h) / shrink)``.
    """
    layout = lay_out(puzzle, assembly)
    size = layout.width * layout.height
    if size <= max_pixels:
        return puzzle, assembly, 1
    shrink = math.ceil(math.sqrt(size / min(max_pixels, PREVIEW_PIXELS)))
    middle = np.full(2, (shrink - 1) / 2.0)
    poses = {}
    for idx, pose in assembly.poses.items():
        x, y = (pose @ middle - middle) / shrink
        poses[idx] = SE2(pose.theta, float(x), float(y))
    with ThreadPoolExecutor(_THREADS) as pool:
        pieces = tuple(pool.map(lambda piece: shrink_piece(piece, shrink), puzzle.pieces))
    return replace(puzzle, pieces=pieces), replace(assembly, poses=poses), shrink


def shrink_piece(piece: Piece, shrink: int) -> Piece:
    """A piece ``shrink`` times smaller; what is half paper stays paper."""
    height, width = piece.mask.shape
    padding = (0, -height % shrink), (0, -width % shrink)
    mask = np.pad(piece.mask, padding).astype(np.float32)
    paper = np.pad(piece.image, (*padding, (0, 0))) * mask[..., None]
    size = (mask.shape[1] // shrink, mask.shape[0] // shrink)
    coverage, color = (cv2.resize(layer, size, interpolation=cv2.INTER_AREA) for layer in (mask, paper))
    image = np.rint(color / np.maximum(coverage, 1e-6)[..., None])
    return replace(piece, image=np.clip(image, 0, 255).astype(np.uint8), mask=np.asarray(coverage >= 0.5))


def render_back(
    puzzle: Puzzle,
    backs: Mapping[int, Piece],
    assembly: Assembly,
    *,
    margin_px: int = MARGIN_PX,
    max_pixels: int = MAX_PIXELS,
) -> UInt8Array:
    """Paint the back of an assembly, RGBA ``(H, W, 4)``: the mirror image of `render_assembly`, with the backs' colours.

    ``backs[idx]`` is as large as the piece and, flipped from left to right, lies on it. A piece without a back is grey.
    """
    flipped = [_flip(front, backs[front.idx]) if front.idx in backs else _bare(front) for front in puzzle.pieces]
    picture = render_assembly(replace(puzzle, pieces=tuple(flipped)), assembly, margin_px=margin_px, max_pixels=max_pixels)
    return np.ascontiguousarray(picture[:, ::-1])


def _flip(front: Piece, back: Piece) -> Piece:
    """The back seen through the paper, in the frame of its front."""
    return replace(front, image=back.image[:, ::-1].copy(), mask=back.mask[:, ::-1].copy())


def _bare(front: Piece) -> Piece:
    return replace(front, image=np.full_like(front.image, _UNKNOWN))


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


def _warped_pieces(
    pool: ThreadPoolExecutor, band: _Band, puzzle: Puzzle, layout: Layout, reach_px: int
) -> Iterator[tuple[int, int, UInt8Array, Float32Array]]:
    """Left, top, colours and depths, in the band, of every piece that touches it; in order of idx, a few worked on ahead."""
    ahead: deque[Future[tuple[int, int, UInt8Array, Float32Array]]] = deque()
    for idx, canvas_from_piece in sorted(layout.canvas_from_piece.items()):
        piece = puzzle.pieces[idx]
        window = _window(band, piece, canvas_from_piece, reach_px)
        if window is not None:
            ahead.append(pool.submit(_warp, band, piece, canvas_from_piece, window, reach_px))
        if len(ahead) > 2 * _THREADS:
            yield ahead.popleft().result()
    while ahead:
        yield ahead.popleft().result()


def _window(band: _Band, piece: Piece, canvas_from_piece: SE2, reach_px: int) -> tuple[slice, slice] | None:
    """Rows and columns of the band that a piece can touch, None when it lies elsewhere or has no paper."""
    left, top, width, height = mask_box(piece.mask)
    x, y = np.array([left - reach_px, left + width - 1 + reach_px]), np.array([top - reach_px, top + height - 1 + reach_px])
    corners = canvas_from_piece @ np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2).astype(np.float64)
    low = np.floor(corners.min(axis=0)).astype(int) - (band.left, band.top)
    high = np.ceil(corners.max(axis=0)).astype(int) - (band.left, band.top) + 1
    low = np.maximum(low, 0)
    high = np.minimum(high, band.weight.shape[::-1])
    if width == 0 or (low >= high).any():
        return None
    return slice(int(low[1]), int(high[1])), slice(int(low[0]), int(high[0]))


def _warp(
    band: _Band, piece: Piece, canvas_from_piece: SE2, window: tuple[slice, slice], reach_px: int
) -> tuple[int, int, UInt8Array, Float32Array]:
    """Left and top of the window, and in it the colours ``(H, W, 3)`` and depths ``(H, W)`` px of one piece."""
    rows, cols = window
    cutout = cut_out(piece, reach_px + 1)
    size = (cols.stop - cols.start, rows.stop - rows.start)
    window_from_canvas = SE2(0.0, -float(band.left + cols.start), -float(band.top + rows.start))
    window_from_cutout = window_from_canvas @ canvas_from_piece @ SE2(0.0, float(cutout.left), float(cutout.top))
    matrix = window_from_cutout.matrix()[:2]
    color = cv2.warpAffine(cutout.image, matrix, size, flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    far = -float(reach_px + 1)
    depth = cv2.warpAffine(
        cutout.depth(), matrix, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=(far,)
    )
    return cols.start, rows.start, np.asarray(color, np.uint8), np.asarray(depth, np.float32)


@njit  # type: ignore[untyped-decorator]
def _add(
    color: Float32Array, weight: Float32Array, coverage: Float32Array, n_near: UInt8Array,
    left: int, top: int, piece_color: UInt8Array, depth: Float32Array, reach_px: np.float32,
) -> None:  # fmt: skip
    """Add one piece at (left, top) of the band to the running sums, in single precision.

    For the depth d: ``weight = clip01((d + 1/2) / feather) + tiny * clip01(1 + d / reach)``, ``coverage = clip01(d + 1/2)``.
    """
    zero, half, one = np.float32(0.0), np.float32(0.5), np.float32(1.0)
    for row in range(depth.shape[0]):
        y = top + row
        for column in range(depth.shape[1]):
            d = depth[row, column]
            if d > -reach_px:  # farther off, both are 0
                x = left + column
                inside = min(max((d + half) / _FEATHER_PX, zero), one)
                w = inside + _OUTSIDE_WEIGHT * min(max(one + d / reach_px, zero), one)
                for c in range(3):
                    color[y, x, c] += np.float32(piece_color[row, column, c]) * w
                weight[y, x] += w
                coverage[y, x] += min(max(d + half, zero), one)
                if n_near[y, x] < 255:
                    n_near[y, x] += 1


def _close_gaps(band: _Band, radius: int) -> Float32Array:
    """Coverage in [0, 1], closed between pieces; one piece alone keeps its own notches and holes."""
    alpha = np.minimum(band.coverage, np.float32(1.0))
    if radius:
        disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * radius + 1, 2 * radius + 1))
        np.copyto(alpha, cv2.morphologyEx(alpha, cv2.MORPH_CLOSE, disc), where=band.n_near >= 2)
    return alpha


@njit  # type: ignore[untyped-decorator]
def _finish(color: Float32Array, weight: Float32Array, alpha: Float32Array, rgba: UInt8Array, halo: int) -> None:
    """Divide by the weights; ``rgba (H, W, 4)`` is the band without its halo."""
    least = np.float32(1e-9)
    for row in range(rgba.shape[0]):
        for column in range(rgba.shape[1]):
            y, x = row + halo, column + halo
            opacity = np.uint8(np.rint(np.float32(255.0) * alpha[y, x]))
            rgba[row, column, 3] = opacity
            for c in range(3):
                value = np.rint(color[y, x, c] / max(weight[y, x], least))
                rgba[row, column, c] = np.uint8(value) if opacity > 0 else np.uint8(0)

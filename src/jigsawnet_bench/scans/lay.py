"""Scans of many pieces with their truth: pieces laid at random on pages of any background, with shadow, noise and JPEG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import cv2
import numpy as np

from jigsawnet.errors import ConfigError, InputError
from jigsawnet.geometry import SE2
from jigsawnet.nearest import nearest_pixels
from jigsawnet.types import BoolArray, Float32Array, Piece, UInt8Array
from jigsawnet_bench.scans.camera import Bend, make_bend
from jigsawnet_bench.scans.grounds import PAINTERS, smooth_noise

Ground = Literal["plain", "shaded", "textured", "noisy", "card", "white", "wood", "lid", "fabric", "mat"]

_COARSE = 4
"""Places are looked for on a page reduced by this factor."""
_EDGE_PX = 0.7
_NOISY = 4.0


@dataclass(frozen=True, slots=True)
class SheetConfig:
    """How the pages look on which pieces are laid."""

    width: int = 1600
    """Width of a page, in px."""
    height: int = 2200
    """Height of a page, in px."""
    ground: Ground = "plain"
    """Background: of one colour, shaded across the page, textured like cloth, noisy like a poor camera; or what `grounds`
    paints."""
    color: tuple[float, float, float] = (250, 250, 250)
    """Colour of the background."""
    gap_px: int = 16
    """Least distance between two pieces, and of pieces from the page's border."""
    touching: int = 0
    """How many pieces are pushed against the piece laid before them."""
    shadow: float = 0.3
    """Part of the light that the shadow beside a piece takes."""
    shadow_px: float = 5.0
    """How far the shadow reaches and how soft it is."""
    scale: float = 1.0
    """Resolution of the scan, as a factor on the pieces."""
    blur_px: float = 0.5
    """Blur of the optics."""
    jpeg_quality: int | None = None
    """Quality, 1 to 100, at which the pages are stored as JPEG."""
    noise: float = 0.7
    """Standard deviation of the sensor's noise, in grey levels."""
    glare: float = 0.0
    """Part of the way to white in the middle of a patch of glare."""
    uneven: float = 0.0
    """Part of the light that is lost from one corner to the other."""
    frame_px: int = 0
    """Width of a dark frame around the page, as where a sheet lies on a table."""
    edge_px: int = 0
    """Width of a strip at a side of the page, as where a scanner sees past its lid."""
    keystone: float = 0.0
    """By which part the upper edge is shown shorter than the lower one."""
    lens: float = 0.0
    """By which part the lens draws the corners towards the middle."""

    def __post_init__(self) -> None:
        if min(self.width, self.height) < 64:
            raise ConfigError("A page must be at least 64 px wide and high.")
        if not 0 <= self.shadow < 1 or self.shadow_px < 0 or self.blur_px < 0 or self.gap_px < 0 or self.touching < 0:
            raise ConfigError("shadow must lie between 0 and 1, and shadow_px, blur_px, gap_px and touching be 0 or more.")
        if not 0.05 <= self.scale <= 20:
            raise ConfigError(f"scale is {self.scale}; it must lie between 0.05 and 20.")


@dataclass(frozen=True, slots=True, eq=False)
class LaidPiece:
    """Where a piece lies: ``page_from_piece @ (scale * point)``; ``mask (h, w)`` with its top-left pixel at ``corner`` xy."""

    idx: int
    page: int
    page_from_piece: SE2
    corner: tuple[int, int]
    mask: BoolArray
    image: UInt8Array
    cover: Float32Array


def make_scans(
    pieces: Sequence[Piece], config: SheetConfig, rng: np.random.Generator
) -> tuple[list[UInt8Array], list[LaidPiece]]:
    """Lay pieces on as many pages ``(H, W, 3)`` as they need; gives the pages and the truth in order of ``pieces``.

    Raises:
        InputError: a piece is larger than a page.
    """
    laid: list[LaidPiece] = []
    taken = _empty_page(config)
    page, tries = 0, 0
    order = iter(range(len(pieces)))
    k = next(order, None)
    while k is not None:
        turned = _turn(pieces[k], config.scale, rng)
        pushed = 0 < k <= config.touching and bool(laid) and laid[-1].page == page
        corner = _find_place(taken, turned.mask, config.gap_px, rng, laid[-1] if pushed else None)
        if corner is None:
            page, tries, taken = page + 1, tries + 1, _empty_page(config)
            if tries > 1:
                raise InputError(f"{pieces[k].name} is larger than a page of {config.width} x {config.height} px.")
            continue
        tries = 0
        shift = SE2(0.0, *corner)
        piece = LaidPiece(k, page, shift @ turned.page_from_piece, corner, turned.mask, turned.image, turned.cover)
        _mark(taken, piece)
        laid.append(piece)
        k = next(order, None)
    pages = [_paint([piece for piece in laid if piece.page == p], config, rng) for p in range(page + 1)]
    if config.keystone or config.lens:
        bend = make_bend((config.width, config.height), config.keystone, config.lens)
        laid = [_bent(piece, bend) for piece in laid]
    return pages, laid


def _bent(piece: LaidPiece, bend: Bend) -> LaidPiece:
    """A piece as the camera sees it; the pose stays that on the page."""
    window = bend.box(*piece.corner, piece.cover.shape[1], piece.cover.shape[0])
    cover = bend.part(piece.cover, piece.corner, window)
    corner = int(window[1].start), int(window[0].start)
    return replace(piece, corner=corner, mask=cover > 0.5, cover=cover)


def _empty_page(config: SheetConfig) -> UInt8Array:
    """What is taken of a page, reduced; the border is."""
    taken = np.ones((config.height // _COARSE, config.width // _COARSE), np.uint8)
    inner = 1 + (config.gap_px + max(config.frame_px, config.edge_px)) // _COARSE
    taken[inner:-inner, inner:-inner] = 0
    return taken


def _turn(piece: Piece, scale: float, rng: np.random.Generator) -> LaidPiece:
    """A piece scaled and turned by a random angle, on a canvas of its own, with soft edges."""
    theta = rng.uniform(-math.pi, math.pi)
    height, width = piece.mask.shape
    side = math.ceil(scale * math.hypot(height, width)) + 4
    turn = SE2(theta, 0.0, 0.0)
    middle = turn @ (scale * np.array([(width - 1) / 2, (height - 1) / 2]))
    canvas_from_piece = SE2(theta, *((side - 1) / 2 - middle + rng.uniform(-0.5, 0.5, 2)))
    matrix = canvas_from_piece.matrix()[:2] @ np.diag([scale, scale, 1.0])
    filled = piece.image.reshape(-1, 3)[nearest_pixels(piece.mask)[0]]
    soft = cv2.GaussianBlur(piece.mask.astype(np.float32), (0, 0), _EDGE_PX)
    image = cv2.warpAffine(filled, matrix, (side, side), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    cover = np.asarray(cv2.warpAffine(soft, matrix, (side, side), flags=cv2.INTER_LINEAR), np.float32)
    x, y, w, h = cv2.boundingRect((cover > 0.01).astype(np.uint8))
    box = np.s_[y : y + h, x : x + w]
    moved = SE2(0.0, -x, -y) @ canvas_from_piece
    return LaidPiece(piece.idx, 0, moved, (0, 0), cover[box] > 0.5, np.asarray(image[box], np.uint8), cover[box])


def _find_place(
    taken: UInt8Array, mask: BoolArray, gap_px: int, rng: np.random.Generator, beside: LaidPiece | None
) -> tuple[int, int] | None:
    """A random page position ``(x, y)`` where the piece keeps its distance; or where it just touches ``beside``."""
    others = taken.copy()
    if beside is not None:
        _mark(others, beside, 0)
    gap = 2 * math.ceil(gap_px / _COARSE) + 1
    others = np.asarray(cv2.dilate(others, np.ones((gap, gap), np.uint8)), np.uint8)
    free = _free_places(others, mask)
    if beside is None:
        choices = np.argwhere(free)
        if not len(choices):
            return None
        row, col = choices[rng.integers(len(choices))]
        return int(col) * _COARSE, int(row) * _COARSE
    near = np.zeros_like(taken)
    _mark(near, beside)
    apart = _free_places(near, mask)
    touching = free & apart & ~(cv2.erode(apart.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0)
    choices = np.argwhere(touching)
    if not len(choices):
        return None
    row, col = choices[rng.integers(len(choices))]
    return _push((int(col) * _COARSE, int(row) * _COARSE), mask, beside)


def _push(corner: tuple[int, int], mask: BoolArray, beside: LaidPiece) -> tuple[int, int]:
    """Move a piece towards another, px by px, until the two touch."""
    size = max(*mask.shape, *beside.mask.shape)
    other = np.pad(beside.mask, 2 * size)
    height, width = mask.shape
    at = np.array(corner, np.float64) - beside.corner + 2 * size
    middle = 2 * size + np.array(beside.mask.shape[::-1]) / 2
    step = middle - at - np.array([width, height]) / 2
    step /= max(1.0, float(np.abs(step).max()))
    for _ in range(12 * _COARSE):
        x, y = np.rint(at).astype(int)
        if (other[y : y + height, x : x + width] & mask).sum() > 3:
            break
        at += step
    x, y = np.rint(at).astype(int) - 2 * size + beside.corner
    return int(x), int(y)


def _free_places(taken: UInt8Array, mask: BoolArray) -> BoolArray:
    """Top-left positions on a reduced page where a piece lies on nothing taken."""
    small = cv2.resize(mask.astype(np.float32), None, fx=1 / _COARSE, fy=1 / _COARSE, interpolation=cv2.INTER_AREA) > 0
    rows, cols = taken.shape[0] - small.shape[0], taken.shape[1] - small.shape[1]
    if rows <= 0 or cols <= 0:
        return np.zeros((0, 0), np.bool_)
    hits = cv2.matchTemplate(taken.astype(np.float32), small.astype(np.float32), cv2.TM_CCORR)
    return np.asarray(hits < 0.5, np.bool_)


def _mark(taken: UInt8Array, piece: LaidPiece, value: int = 1) -> None:
    y, x = np.nonzero(piece.mask)
    rows, cols = (y + piece.corner[1]) // _COARSE, (x + piece.corner[0]) // _COARSE
    inside = (rows >= 0) & (cols >= 0) & (rows < taken.shape[0]) & (cols < taken.shape[1])
    taken[rows[inside], cols[inside]] = value


def _paint(laid: Sequence[LaidPiece], config: SheetConfig, rng: np.random.Generator) -> UInt8Array:
    """Picture of a page: background, shadows, pieces, then optics, noise and JPEG."""
    cover = np.zeros((config.height, config.width), np.float32)
    colors = np.zeros((config.height, config.width, 3), np.float32)
    for piece in laid:
        x, y = piece.corner
        h, w = piece.cover.shape
        on_top = piece.cover[..., None]
        colors[y : y + h, x : x + w] = colors[y : y + h, x : x + w] * (1 - on_top) + piece.image * on_top
        cover[y : y + h, x : x + w] = np.maximum(cover[y : y + h, x : x + w], piece.cover)
    page = _ground(config, rng)
    if config.shadow > 0 and config.shadow_px > 0:
        direction = rng.uniform(-math.pi, math.pi)
        away = SE2(0.0, config.shadow_px * math.cos(direction), config.shadow_px * math.sin(direction)).matrix()[:2]
        shade = cv2.GaussianBlur(cv2.warpAffine(cover, away, (config.width, config.height)), (0, 0), 0.6 * config.shadow_px)
        page *= 1.0 - config.shadow * shade[..., None]
    page = page * (1.0 - cover[..., None]) + colors
    page = _lit(page, config, rng)
    if config.keystone or config.lens:
        page = make_bend((config.width, config.height), config.keystone, config.lens).apply(page)
    if config.blur_px > 0:
        page = np.asarray(cv2.GaussianBlur(page, (0, 0), config.blur_px), np.float32)
    page += (_NOISY if config.ground == "noisy" else config.noise) * rng.standard_normal(page.shape, np.float32)
    pixels = np.clip(np.rint(page), 0, 255).astype(np.uint8)
    if config.jpeg_quality is None:
        return pixels
    _, data = cv2.imencode(".jpg", pixels[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, config.jpeg_quality])
    return np.ascontiguousarray(np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)[..., ::-1])


def _lit(page: Float32Array, config: SheetConfig, rng: np.random.Generator) -> Float32Array:
    """Uneven light, glare, and what lies around the page."""
    height, width = page.shape[:2]
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    if config.uneven > 0:
        page = page * (1.0 - 0.5 * config.uneven * (x / width + y / height))[..., None]
    if config.glare > 0:
        at_x, at_y, size = rng.uniform(0.2, 0.8) * width, rng.uniform(0.2, 0.8) * height, rng.uniform(0.05, 0.12) * height
        glare = config.glare * np.exp(-((x - at_x) ** 2 + (y - at_y) ** 2) / (2 * size * size))
        page = page + (255.0 - page) * glare[..., None]
    if config.frame_px > 0:
        inside = np.minimum(np.minimum(x, width - 1 - x), np.minimum(y, height - 1 - y))
        around = np.clip(config.frame_px - inside + 0.02 * (x - y) * config.frame_px / width, 0, 1)[..., None]
        dark = 22.0 + 3.0 * smooth_noise((height, width), (2.0, 20.0), rng)[..., None]
        page = page * (1.0 - around) + dark * around
    if config.edge_px > 0:
        side = (x, y, width - 1 - x, height - 1 - y)[int(rng.integers(4))]
        strip = np.clip(config.edge_px - side + 0.002 * (y if side is x else x), 0, 1)[..., None]
        page = page * (1.0 - strip) + float(rng.choice([15.0, 120.0, 253.0])) * strip
    return np.asarray(page, np.float32)


def _ground(config: SheetConfig, rng: np.random.Generator) -> Float32Array:
    if config.ground in PAINTERS:
        return PAINTERS[config.ground]((config.height, config.width), config.color, max(1.0, config.width / 1240), rng)
    page = np.broadcast_to(np.array(config.color, np.float32), (config.height, config.width, 3)).copy()
    if config.ground in ("shaded", "textured"):
        y, x = np.linspace(-1, 1, config.height, dtype=np.float32)[:, None], np.linspace(-1, 1, config.width, dtype=np.float32)
        slope_x, slope_y = rng.uniform(-0.06, 0.06, 2)
        page *= (0.94 + slope_x * x + slope_y * y - 0.05 * (x * x + y * y))[..., None]
    if config.ground == "textured":
        grain = cv2.GaussianBlur(rng.standard_normal(page.shape[:2], np.float32), (0, 0), 1.5)
        page *= 1.0 + 0.02 * (grain / grain.std())[..., None]
    return np.asarray(page, np.float32)

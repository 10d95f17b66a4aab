"""Pages drawn at random: pictures cut into pieces in several ways, laid on a ground under some light, seen by some camera."""

from __future__ import annotations

import cv2
import numpy as np

from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.types import Piece, UInt8Array
from jigsawnet_bench.scans.grounds import COLORS
from jigsawnet_bench.scans.lay import Ground, LaidPiece, SheetConfig, make_scans

KINDS: tuple[str, ...] = ("card", "white", "white on white", "wood", "lid", "fabric", "mat")
"""What pages are made of; "white on white": pieces of a printed page on white, on all others pieces of a photograph."""
_WIDTH_PX, _HEIGHT_PX = 1240, 1754


def draw_page(
    photo: UInt8Array, kind: str, rng: np.random.Generator, *, unit: float = 1.0
) -> tuple[UInt8Array, list[LaidPiece]]:
    """One page ``(H, W, 3)`` of a kind with what lies on it; ``unit`` is its resolution over 150 dpi."""
    picture = printed_page((700, 900), rng) if kind == "white on white" else photo
    pieces = draw_pieces(picture, rng)
    pages, laid = make_scans(pieces, draw_config(kind, rng, unit), rng)
    return pages[0], [piece for piece in laid if piece.page == 0]


def draw_config(kind: str, rng: np.random.Generator, unit: float = 1.0) -> SheetConfig:
    """A page as a person might make it: with a scanner, half of the time, or with a phone."""
    ground: Ground = "white" if kind == "white on white" else kind  # type: ignore[assignment]
    colors = COLORS[ground]
    is_scan = bool(rng.random() < 0.5)
    around = int(rng.integers(3)) if is_scan else 0
    return SheetConfig(
        width=round(_WIDTH_PX * unit),
        height=round(_HEIGHT_PX * unit),
        ground=ground,
        color=colors[int(rng.integers(len(colors)))],
        gap_px=round(18 * unit),
        shadow=float(rng.uniform(0.0, 0.35)),
        shadow_px=float(rng.uniform(2, 8)) * unit,
        scale=unit,
        blur_px=float(rng.uniform(0.4, 0.9)),
        jpeg_quality=int(rng.integers(60, 96)),
        noise=float(rng.uniform(0.5, 1.5) if is_scan else rng.uniform(1.0, 3.0)),
        glare=0.0 if is_scan or rng.random() < 0.5 else float(rng.uniform(0.15, 0.45)),
        uneven=float(rng.uniform(0.0, 0.05) if is_scan else rng.uniform(0.0, 0.25)),
        frame_px=round(rng.uniform(15, 45) * unit) if around == 1 else 0,
        edge_px=round(rng.uniform(3, 12) * unit) if around == 2 else 0,
        keystone=0.0 if is_scan else float(rng.uniform(0.0, 0.06)),
        lens=0.0 if is_scan else float(rng.uniform(-0.01, 0.02)),
    )


def draw_pieces(picture: UInt8Array, rng: np.random.Generator) -> tuple[Piece, ...]:
    """A picture cut into some 12 to 30 pieces: by wiggly cuts, torn with white rims, or die-cut with tabs."""
    height, width = picture.shape[:2]
    scale = np.sqrt(800_000 / (height * width))
    small = np.asarray(cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8)
    n = int(rng.integers(12, 31))
    how = int(rng.integers(3))
    if how == 2:
        return die_cut(small, n, rng)
    config = ShredConfig(pieces=n, rotate=False, perturbation=float(rng.uniform(0.02, 0.08)), rim_px=6.0 if how else 0.0)
    return shred_images([small], config, rng)[0].pieces


def die_cut(picture: UInt8Array, n_pieces: int, rng: np.random.Generator) -> tuple[Piece, ...]:
    """A picture ``(H, W, 3)`` cut into about ``n_pieces`` squares with round tabs and sockets."""
    height, width = picture.shape[:2]
    side = np.sqrt(height * width / n_pieces)
    rows, cols = max(2, round(height / side)), max(2, round(width / side))
    y, x = np.mgrid[0:height, 0:width]
    tall, wide = height / rows, width / cols
    cells = (np.minimum(y // tall, rows - 1) * cols + np.minimum(x // wide, cols - 1)).astype(np.int32)
    label = cells.copy()
    radius = 0.16 * min(tall, wide)
    for row in range(rows):
        for col in range(cols):
            for down, across in ((0, 1), (1, 0)):
                if row + down == rows or col + across == cols:
                    continue
                out = 1 if rng.random() < 0.5 else -1
                owner = row * cols + col if out > 0 else (row + down) * cols + col + across
                at_x = (col + 0.5 + 0.5 * across) * wide + across * out * 0.8 * radius + down * rng.uniform(-0.1, 0.1) * wide
                at_y = (row + 0.5 + 0.5 * down) * tall + down * out * 0.8 * radius + across * rng.uniform(-0.1, 0.1) * tall
                label[(x - at_x) ** 2 + (y - at_y) ** 2 < radius**2] = owner
    pieces = []
    for k in range(rows * cols):
        mask = label == k
        left, top, w, h = cv2.boundingRect(mask.astype(np.uint8))
        box = np.s_[top : top + h, left : left + w]
        pieces.append(Piece(k, f"piece-{k + 1:02d}.png", np.where(mask[box][..., None], picture[box], np.uint8(0)), mask[box]))
    return tuple(pieces)


def printed_page(size: tuple[int, int], rng: np.random.Generator) -> UInt8Array:
    """A white page ``(H, W, 3)`` with lines of print, a rule and a stamp; ``size`` is its height and width."""
    height, width = size
    paper = np.array([rng.uniform(228, 242)] * 3) - (0, 0, rng.uniform(0, 8))
    page = np.broadcast_to(paper, (height, width, 3)).astype(np.uint8).copy()
    letters = np.array(list("abcdefghiklmnoprstu    ABDEKMNRSTW.,"))
    for y in range(40, height - 20, 26):
        text = "".join(rng.choice(letters, int(rng.integers(8, 48))))
        cv2.putText(page, text, (30, y), cv2.FONT_HERSHEY_SIMPLEX, 0.6, (50, 50, 55), 1, cv2.LINE_AA)
    cv2.circle(page, (int(rng.uniform(0.3, 0.8) * width), int(0.7 * height)), 60, (160, 60, 60), 3, cv2.LINE_AA)
    return page

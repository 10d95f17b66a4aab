"""Makes the pictures of scanning.md from a page of pieces with known faults.

PYTHONPATH=tests/helpers python docs/images/make_scanning.py
"""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np

from jigsawnet.fragments.check import check_scan, draw_findings
from jigsawnet.fragments.scan import clean_rim, find_pieces
from jigsawnet.io.images import read_image, write_png
from jigsawnet.render.image import render_assembly
from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.types import Assembly, Piece, Puzzle, UInt8Array
from jigsawnet_bench.scans.lay import SheetConfig, make_scans

HERE = Path(__file__).resolve().parent
COLOR = (52, 74, 120)


def main() -> None:
    """Cut the example, lay it on a page, and show the check and the rim."""
    photo = read_image(HERE.parents[1] / "examples" / "photo.jpg")[..., :3]
    photo = cv2.resize(photo, (480, round(480 * photo.shape[0] / photo.shape[1])), interpolation=cv2.INTER_AREA).astype(
        np.uint8
    )
    puzzle, truth = shred_images([photo], ShredConfig(pieces=12), np.random.default_rng(5))
    show_check(puzzle)
    show_rim(puzzle, truth)


def show_check(puzzle: Puzzle) -> None:
    """A page on which two pieces touch, one is cut off, and one is out of focus."""
    config = SheetConfig(width=900, height=700, color=COLOR, touching=1, shadow=0.25)
    (page, *_), _ = make_scans(puzzle.pieces[:9], config, np.random.default_rng(3))
    result = find_pieces(page)
    rightmost = max(result.pieces, key=lambda piece: piece.box[0] + piece.box[2])
    page = np.ascontiguousarray(page[:, : rightmost.box[0] + rightmost.box[2] - 18])
    lowest = max(find_pieces(page).pieces, key=lambda piece: piece.box[1])
    x, y, width, height = lowest.box
    window = np.s_[max(0, y - 8) : y + height + 8, max(0, x - 8) : x + width + 8]
    page[window] = cv2.GaussianBlur(page, (0, 0), 3.0)[window]
    result = find_pieces(page)
    write_png(HERE / "scanning-check.png", draw_findings(page, result, check_scan(result)))


def show_rim(puzzle: Puzzle, truth: Assembly) -> None:
    """Part of the picture with the rims as they were scanned, and with clean ones."""
    pieces = [blurred_on_ground(piece) for piece in puzzle.pieces]
    halves = [render_assembly(Puzzle("rim", tuple(side)), truth) for side in (pieces, [cleaned(f) for f in pieces])]
    shown = [half[20:260, 20:300, :3] for half in halves]
    write_png(HERE / "scanning-rim.png", np.hstack([shown[0], np.full((240, 12, 3), 255, np.uint8), shown[1]]))


def blurred_on_ground(piece: Piece) -> Piece:
    """A piece as a scanner sees it: its outermost pixels are mixed with the background."""
    on_ground = np.where(piece.mask[..., None], piece.image, np.array(COLOR, np.uint8))
    image: UInt8Array = np.asarray(cv2.GaussianBlur(on_ground, (0, 0), 0.9), np.uint8)
    return Piece(piece.idx, piece.name, image, piece.mask)


def cleaned(piece: Piece) -> Piece:
    """The piece without its mixed rim."""
    return Piece(piece.idx, piece.name, clean_rim(piece.image, piece.mask), piece.mask)


if __name__ == "__main__":
    main()

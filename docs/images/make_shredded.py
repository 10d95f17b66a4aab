"""Makes the picture of shredded.md: a made-up page as strips, and put together by `solve`.

PYTHONPATH=src python docs/images/make_shredded.py
"""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np

from jigsawnet.pipeline import solve_puzzle
from jigsawnet.render.image import render_assembly
from jigsawnet.shred import preset, shred_images
from jigsawnet.shred.documents import Typefaces, make_document

HERE = Path(__file__).resolve().parent
CARD, HEIGHT = (60, 90, 150), 620


def main() -> None:
    """Shred, solve, and show both side by side."""
    page = make_document(np.random.default_rng(4), Typefaces({}), 150.0)
    config = preset("strip-cut", 0.5, np.random.default_rng(1), 27, rotate=False)
    puzzle, _ = shred_images([page], config, np.random.default_rng(2))
    sheet = np.full(
        (max(p.mask.shape[0] for p in puzzle.pieces), sum(p.mask.shape[1] for p in puzzle.pieces), 3), CARD, np.uint8
    )
    x = 0
    for piece in puzzle.pieces:
        height, width = piece.mask.shape
        sheet[:height, x : x + width][piece.mask] = piece.image[piece.mask]
        x += width
    whole = render_assembly(puzzle, solve_puzzle(puzzle).assembly, margin_px=10)
    solved = np.where(whole[..., 3:] > 127, whole[..., :3], np.array(CARD, np.uint8)).astype(np.uint8)
    shown = [
        cv2.resize(p, (round(p.shape[1] * HEIGHT / p.shape[0]), HEIGHT), interpolation=cv2.INTER_AREA) for p in (sheet, solved)
    ]
    picture = np.hstack([shown[0], np.full((HEIGHT, 20, 3), 255, np.uint8), shown[1]])
    cv2.imwrite(str(HERE / "shredded.jpg"), picture[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, 85])


if __name__ == "__main__":
    main()

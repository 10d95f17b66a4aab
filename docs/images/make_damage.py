"""Makes the contact sheet of damage.md from a made-up picture: a row per damage, then one per preset.

python docs/images/make_damage.py
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np

from jigsawnet.shred import PRESETS, Damage, ShredConfig, preset, shred_images
from jigsawnet.shred.pages import make_page
from jigsawnet.types import Assembly, FloatArray, Puzzle, UInt8Array
from jigsawnet_bench.cases import make_picture

HERE = Path(__file__).resolve().parent
GROUND = (196, 202, 210)
CELL = (190, 138)
LABEL_PX = 104
PIECES = 6
SEED = 5

ROWS: tuple[tuple[str, ShredConfig], ...] = (
    ("none", ShredConfig(damage=Damage(blur_px=0.01))),
    ("halo, white", ShredConfig(damage=Damage(halo_px=1.5, mask_px=0.5))),
    ("halo, black", ShredConfig(damage=Damage(halo_px=2.5, mask_px=0.5, backdrop=(0, 0, 0)))),
    ("ragged loss", ShredConfig(damage=Damage(loss_px=20, loss_share=0.3, rough_px=0.8))),
    ("crumbled", ShredConfig(damage=Damage(crumble_px=26, rough_px=0.8))),
    ("tear", ShredConfig(damage=Damage(tear_px=16, rough_px=0.4))),
    ("bending", ShredConfig(damage=Damage(bend=0.03))),
    ("keystone, lens", ShredConfig(damage=Damage(keystone=0.12, lens=0.06, scale=0.02))),
    ("light", ShredConfig(damage=Damage(light=14, shade=35))),
    ("yellow, stains", ShredConfig(damage=Damage(yellow=0.9, stains=0.8))),
    ("folds", ShredConfig(damage=Damage(folds=4))),
    ("blur, JPEG", ShredConfig(damage=Damage(blur_px=1.5, sharpen=0.5), noise=5, jpeg_quality=25)),
    ("60 px a piece", ShredConfig(damage=Damage(piece_px=60))),
    ("mask too wide", ShredConfig(damage=Damage(mask_px=3, shadow=0.7, whiskers=5))),
    ("mask too tight", ShredConfig(damage=Damage(mask_px=-3))),
)


def main() -> None:
    """Write ``damage.jpg``."""
    gaudy, page = make_picture(np.random.default_rng(3), 900, 640), make_page(np.random.default_rng(4), 900, 640)
    picture = np.asarray(0.45 * gaudy + 0.55 * gaudy.mean(axis=2, keepdims=True), np.uint8)
    rows = [row(name, picture, ShredConfig(**(config.record() | SHAPE | {"damage": config.damage}))) for name, config in ROWS]
    for name in PRESETS:
        paper = page if name == "torn-page" else picture
        rows.append(row(name, paper, preset(name, 0.8, np.random.default_rng(SEED), pieces=PIECES)))
    half = (len(rows) + 1) // 2
    rows += [np.full_like(rows[0], 255)] * (2 * half - len(rows))
    sheet = np.hstack([np.vstack(rows[:half]), np.vstack(rows[half:])])
    cv2.imwrite(str(HERE / "damage.jpg"), sheet[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, 58])


SHAPE = {"pieces": PIECES, "perturbation": 0.06}


def row(name: str, picture: UInt8Array, config: ShredConfig) -> UInt8Array:
    """A label, one piece, two laid together by the truth, and a part of their seam, three times as large."""
    puzzle, truth = shred_images([picture], config, np.random.default_rng(SEED))
    order = sorted(truth.poses, key=lambda idx: float(center(puzzle, truth, idx).sum()))
    first = order[0]
    near = [float(np.linalg.norm(center(puzzle, truth, idx) - center(puzzle, truth, first))) for idx in order[1:]]
    second = order[1 + int(np.argmin(near))]
    middle = (center(puzzle, truth, first) + center(puzzle, truth, second)) / 2.0
    pair = lay(puzzle, truth, (first, second))
    alone = fit(np.where(puzzle.pieces[first].mask[..., None], puzzle.pieces[first].image, np.array(GROUND, np.uint8)))
    close = lay(puzzle, truth, (first, second), middle)[: CELL[1], : CELL[0]]
    label = np.full((CELL[1], LABEL_PX, 3), 255, np.uint8)
    cv2.putText(label, name, (4, CELL[1] // 2), cv2.FONT_HERSHEY_SIMPLEX, 0.4, (20, 20, 20), 1, cv2.LINE_AA)
    whole = np.hstack([label, alone, fit(pair), close])
    whole[-2:] = 255
    return whole


def center(puzzle: Puzzle, truth: Assembly, idx: int) -> FloatArray:
    """Middle of a piece in the picture."""
    y, x = np.nonzero(puzzle.pieces[idx].mask)
    return truth.poses[idx] @ np.array([x.mean(), y.mean()])


def lay(puzzle: Puzzle, truth: Assembly, pieces: Sequence[int], middle: FloatArray | None = None) -> UInt8Array:
    """Pieces in their true places: all of them, or a cell around ``middle``, each pixel three times as large."""
    paper = [truth.poses[k] @ np.argwhere(puzzle.pieces[k].mask)[:, ::-1].astype(np.float64) for k in pieces]
    scale = 1.0 if middle is None else 3.0
    low, high = np.concatenate(paper).min(axis=0) - 4, np.concatenate(paper).max(axis=0) + 4
    if middle is not None:
        low, high = middle - np.array(CELL) / 2 / scale, middle + (np.array(CELL) + 1) / 2 / scale
    width, height = np.ceil((high - low) * scale).astype(int).tolist()
    canvas = np.full((height, width, 3), GROUND, np.uint8)
    for k in pieces:
        matrix = truth.poses[k].matrix()[:2]
        matrix = np.column_stack([matrix[:, :2], matrix[:, 2] - low]) * scale
        shown = cv2.warpAffine(puzzle.pieces[k].image, matrix, (width, height), flags=cv2.INTER_NEAREST)
        mask = cv2.warpAffine(puzzle.pieces[k].mask.astype(np.uint8), matrix, (width, height), flags=cv2.INTER_NEAREST) > 0
        canvas[mask] = shown[mask]
    return canvas


def fit(image: UInt8Array) -> UInt8Array:
    """Scale a picture into a cell; small ones are made larger pixel by pixel."""
    scale = min(CELL[0] / image.shape[1], CELL[1] / image.shape[0])
    size = int(image.shape[1] * scale), int(image.shape[0] * scale)
    cell = np.full((CELL[1], CELL[0], 3), GROUND, np.uint8)
    x, y = (CELL[0] - size[0]) // 2, (CELL[1] - size[1]) // 2
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_NEAREST
    cell[y : y + size[1], x : x + size[0]] = cv2.resize(image, size, interpolation=how)
    return cell


if __name__ == "__main__":
    main()

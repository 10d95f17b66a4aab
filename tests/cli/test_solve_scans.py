"""The whole way from a scanner: pieces laid on pages of different resolution, solved from there, judged by the truth."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image

from jigsawnet.cli import main_code
from jigsawnet.evaluation.metrics import evaluate
from jigsawnet.io.assembly_json import read_assembly
from jigsawnet.io.images import read_image
from jigsawnet.io.scans import read_dpi
from jigsawnet.loading import ScanInput, cut_scans, find_scale, load_input
from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.types import Assembly, Piece, Puzzle, UInt8Array
from jigsawnet_bench.scans.lay import LaidPiece, SheetConfig, make_scans
from jigsawnet_bench.scans.truth import true_assembly

DPIS, FINE = (150, 300), 2.0
COLOR = (40, 60, 120)


@dataclass(frozen=True)
class Bench:
    """Files of two scans and their backs, and everything that is true about them."""

    fronts: tuple[Path, ...]
    backs: tuple[Path, ...]
    laid: tuple[list[LaidPiece], ...]
    truth: Assembly
    back_picture: UInt8Array
    """As seen through the paper, in the frame of the front."""


def smooth_picture(seed: int) -> UInt8Array:
    rng = np.random.default_rng(seed)
    picture = np.full((300, 400, 3), 150.0, np.float32)
    for sigma, strength in ((40.0, 30.0), (8.0, 22.0)):
        noise = cv2.GaussianBlur(rng.normal(size=picture.shape).astype(np.float32), (0, 0), sigma)
        picture += strength * noise / noise.std()
    return np.clip(picture, 60, 255).astype(np.uint8)


def seen_through(piece: Piece, truth: Assembly, back: UInt8Array) -> Piece:
    """The piece with the colours of the other side, in the frame of the front."""
    matrix = truth.poses[piece.idx].inverse().matrix()[:2]
    size = piece.mask.shape[1], piece.mask.shape[0]
    image = cv2.warpAffine(back, matrix, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return Piece(piece.idx, piece.name, np.asarray(image, np.uint8), piece.mask)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    folder = tmp_path_factory.mktemp("scans")
    puzzle, truth = shred_images([smooth_picture(1)], ShredConfig(pieces=8), np.random.default_rng(2))
    back = smooth_picture(7)
    fronts, backs, laid = [], [], []
    for k, (chosen, scale) in enumerate(((puzzle.pieces[:4], 1.0), (puzzle.pieces[4:], FINE))):
        config = SheetConfig(width=round(600 * scale), height=round(600 * scale), color=COLOR, scale=scale, shadow=0.1)
        here = [seen_through(piece, truth, back) for piece in chosen]
        for side, fragments, paths in (("front", chosen, fronts), ("back", here, backs)):
            (page,), pieces = make_scans(fragments, config, np.random.default_rng(k))
            path = folder / f"{side}{k + 1}{'.png' if k == 0 else '.jpg'}"
            pixels = page if side == "front" else np.ascontiguousarray(page[:, ::-1])
            Image.fromarray(pixels).save(path, dpi=(DPIS[k], DPIS[k]), **({} if k == 0 else {"quality": 92}))
            paths.append(path)
            if side == "front":
                laid.append(
                    [LaidPiece(chosen[p.idx].idx, 0, p.page_from_piece, p.corner, p.mask, p.image, p.cover) for p in pieces]
                )
    return Bench(tuple(fronts), tuple(backs), tuple(laid), truth, back)


def true_poses(bench: Bench, paths: tuple[Path, ...]) -> Assembly:
    options = ScanInput()
    cuts = list(cut_scans(paths, find_scale(paths, options), (), options))
    return true_assembly(cuts, bench.laid, bench.truth, 1.0)


@pytest.mark.slow
def test_two_scans_of_different_resolution_become_one_picture_with_its_back(bench: Bench, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ["solve", *map(str, bench.fronts), "-o", str(out), "--back", *map(str, bench.backs)]
    assert main_code(arguments) == 0
    assembly, _ = read_assembly(out / "assembly.json")
    puzzle, truth = load_input(bench.fronts).puzzle, true_poses(bench, bench.fronts)
    metrics = evaluate(puzzle, assembly, truth)
    assert (metrics.pcr, metrics.pcr_tight) == (1.0, 1.0)
    assert sorted(path.name for path in (out / "check").iterdir()) == [
        "front1 back.png", "front1.png", "front2 back.png", "front2.png",
    ]  # fmt: skip
    assert read_dpi(out / "assembly.png") == pytest.approx(150, abs=0.1)
    assert back_error(out, puzzle, assembly, truth, bench.back_picture) < 6.0


def back_error(out: Path, puzzle: Puzzle, assembly: Assembly, truth: Assembly, back: UInt8Array) -> float:
    """Mean difference in levels between the rendered back and the true one, laid where the solution has it."""
    rendered = read_image(out / "assembly-back.png")[:, ::-1]
    assert rendered.shape == read_image(out / "assembly.png").shape
    anchor = max(range(len(puzzle)), key=lambda k: np.count_nonzero(puzzle.pieces[k].mask))
    rendered_from_true = assembly.poses[anchor] @ truth.poses[anchor].inverse()
    size = rendered.shape[1], rendered.shape[0]
    true = cv2.warpAffine(back, rendered_from_true.matrix()[:2], size, borderMode=cv2.BORDER_REPLICATE)
    inside = cv2.erode((rendered[..., 3] == 255).astype(np.uint8), np.ones((9, 9), np.uint8)) > 0
    assert np.count_nonzero(inside) > 0.8 * back.shape[0] * back.shape[1], "the picture should be whole, without cracks"
    return float(np.abs(rendered[..., :3].astype(float) - true)[inside].mean())

"""Scans that we make: the truth says where every piece lies, and the score notices what is missing, extra or shifted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jigsawnet.errors import ConfigError, InputError
from jigsawnet.fragments.background import fit_background
from jigsawnet.fragments.scan import ScanPiece, ScanResult
from jigsawnet.types import Assembly, BoolArray, Puzzle
from jigsawnet_bench.scans.lay import SheetConfig, make_scans
from jigsawnet_bench.scans.score import border_error, score_scan

PLAIN = SheetConfig(width=400, height=400, color=(10, 200, 10), shadow=0.0)
Pieces = tuple[Puzzle, Assembly]


def page_masks(pieces: Pieces, config: SheetConfig, seed: int = 0) -> list[BoolArray]:
    """Each piece's true mask on its page."""
    _, laid = make_scans(pieces[0].pieces, config, np.random.default_rng(seed))
    masks = []
    for piece in laid:
        mask = np.zeros((config.height, config.width), bool)
        x, y = piece.corner
        mask[y : y + piece.mask.shape[0], x : x + piece.mask.shape[1]] = piece.mask
        masks.append(mask)
    return masks


def test_every_piece_lies_once_on_some_page_and_none_overlap(nine_pieces: Pieces) -> None:
    pages, laid = make_scans(nine_pieces[0].pieces, PLAIN, np.random.default_rng(1))
    assert [piece.idx for piece in laid] == list(range(9))
    assert len(pages) == laid[-1].page + 1 > 1
    masks = page_masks(nine_pieces, PLAIN, 1)
    for page in range(len(pages)):
        assert np.sum([mask for mask, piece in zip(masks, laid, strict=True) if piece.page == page], axis=0).max() == 1


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_the_pose_carries_the_piece_to_its_mask(nine_pieces: Pieces, scale: float) -> None:
    _, laid = make_scans(nine_pieces[0].pieces, replace(PLAIN, scale=scale), np.random.default_rng(2))
    for piece, fragment in zip(laid, nine_pieces[0].pieces, strict=True):
        y, x = np.nonzero(fragment.mask)
        carried = piece.page_from_piece @ (scale * np.column_stack([x, y]).astype(np.float64))
        y, x = np.nonzero(piece.mask)
        true = np.column_stack([x, y]) + np.array(piece.corner)
        assert carried.mean(axis=0) == pytest.approx(true.mean(axis=0), abs=0.3)
        assert np.count_nonzero(piece.mask) == pytest.approx(scale**2 * np.count_nonzero(fragment.mask), rel=0.03)


def test_the_page_shows_pieces_where_the_truth_says(nine_pieces: Pieces) -> None:
    pages, laid = make_scans(nine_pieces[0].pieces, PLAIN, np.random.default_rng(1))
    covered = np.zeros(pages[0].shape[:2], bool)
    for mask, piece in zip(page_masks(nine_pieces, PLAIN, 1), laid, strict=True):
        covered |= mask & (piece.page == 0)
    differs = np.abs(pages[0].astype(int) - PLAIN.color).max(axis=2) > 60
    assert np.count_nonzero(differs & ~covered) < 0.02 * covered.sum()


def test_pieces_touch_on_request(nine_pieces: Pieces) -> None:
    config = replace(PLAIN, width=600, height=600, touching=1)
    first, second, *others = page_masks(nine_pieces, config)
    assert border_gap(first, second) < 3
    assert all(border_gap(first | second, other) > 8 for other in others if (other & ~first).any())


def border_gap(a: BoolArray, b: BoolArray) -> float:
    """Least distance of two masks."""
    a_points, b_points = (np.argwhere(mask)[::3].astype(float) for mask in (a, b))
    return float(np.sqrt(((a_points[:, None] - b_points[None, ::5]) ** 2).sum(-1).min()))


@pytest.mark.parametrize("ground", ["plain", "shaded", "textured", "noisy"])
def test_grounds_differ_in_shading_and_noise(nine_pieces: Pieces, ground: str) -> None:
    config = SheetConfig(width=300, height=300, color=(200, 200, 200), ground=ground, jpeg_quality=95)  # type: ignore[arg-type]
    page = make_scans(nine_pieces[0].pieces[:1], config, np.random.default_rng(0))[0][0]
    strip = page[:8].astype(float).mean(axis=2)
    assert (strip.std() > 2.0) == (ground != "plain")


def test_score_counts_found_missing_and_extra(nine_pieces: Pieces) -> None:
    pages, laid = make_scans(nine_pieces[0].pieces[:3], PLAIN, np.random.default_rng(3))
    here = [piece for piece in laid if piece.page == 0]
    found = [ScanPiece(np.zeros((*p.mask.shape, 3), np.uint8), p.mask, (p.corner[0] + 1, p.corner[1])) for p in here]
    astray = ScanPiece(found[0].image, found[0].mask, (390, 390))
    score = score_scan(ScanResult((*found[1:], astray), fit_background(pages[0]), 3.0), here)
    assert (score.true, score.found, score.extra) == (len(here), len(here) - 1, 1)
    assert (score.border_px > 0.3).all()
    assert (score.border_px <= 1.0).all()


def test_border_error_is_the_distance_of_the_borders() -> None:
    a, b = np.zeros((2, 60, 60), bool)
    a[10:50, 10:50] = True
    b[13:47, 13:47] = True
    assert border_error(a, a) == 0.0
    assert border_error(a, b) == pytest.approx(3.0, abs=0.15)


def test_bad_pages_are_refused(nine_pieces: Pieces) -> None:
    with pytest.raises(InputError, match="larger than a page"):
        make_scans(nine_pieces[0].pieces, replace(PLAIN, width=100, height=100), np.random.default_rng(0))
    for bad in ({"width": 10}, {"shadow": 1.0}, {"scale": 0.0}):
        with pytest.raises(ConfigError):
            replace(PLAIN, **bad)  # type: ignore[arg-type]

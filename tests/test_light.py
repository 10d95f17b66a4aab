"""Uneven light: taken out of the paper of pages, and of nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jigsawnet.config import SolveConfig
from jigsawnet.light import even_light
from jigsawnet.pipeline import Corridor
from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.shred.pages import make_page
from jigsawnet.types import Assembly, Piece, Puzzle


@pytest.fixture(scope="module")
def page() -> Puzzle:
    rng = np.random.default_rng(1)
    return shred_images([make_page(rng, 660, 900)], ShredConfig(pieces=6), rng)[0]


def shaded(puzzle: Puzzle, depth: float = 0.08) -> Puzzle:
    """Every piece in less light than the one before, and darker towards one side by up to ``depth``."""

    def dim(piece: Piece) -> Piece:
        high, wide = piece.mask.shape
        ramp = np.linspace(0, 1, wide)[None] if piece.idx % 2 else np.linspace(0, 1, high)[:, None]
        light = (1 - depth * ramp) * (1 - 0.05 * piece.idx)
        return replace(piece, image=(piece.image * light[..., None]).astype(np.uint8))

    return replace(puzzle, pieces=tuple(dim(piece) for piece in puzzle.pieces))


def paper_levels(puzzle: Puzzle) -> list[float]:
    """The grey level of the paper in the four quarters of each piece: its upper quartile there."""
    levels = []
    for piece in puzzle.pieces:
        high, wide = (side // 2 for side in piece.mask.shape)
        for rows in (np.s_[:high], np.s_[high:]):
            for cols in (np.s_[:wide], np.s_[wide:]):
                seen = piece.image[rows, cols].mean(2)[piece.mask[rows, cols]]
                levels.append(float(np.percentile(seen, 75)))
    return levels


def test_shaded_paper_becomes_alike_and_print_stays_dark(page: Puzzle) -> None:
    dim = shaded(page)
    dim = replace(dim, pieces=tuple(replace(p, image=np.where(p.mask[..., None], p.image, np.uint8(90))) for p in dim.pieces))
    assert np.ptp(paper_levels(dim)) > 50
    even = even_light(dim)
    assert np.ptp(paper_levels(even)) < 8
    assert np.mean(paper_levels(even)) == pytest.approx(235, abs=4)
    for piece, before in zip(even.pieces, dim.pieces, strict=True):
        np.testing.assert_array_equal(piece.image[~piece.mask], before.image[~piece.mask])
        print_dark = before.image.mean(2) < 60
        assert piece.image.mean(2)[print_dark & piece.mask].mean() < 110


def test_an_evenly_lit_page_is_left_alone(page: Puzzle) -> None:
    assert even_light(page) is page


def test_pictures_are_left_alone(nine_pieces: tuple[Puzzle, Assembly]) -> None:
    puzzle = shaded(nine_pieces[0])
    assert even_light(puzzle) is puzzle


def test_no_pieces_and_empty_masks_are_left_alone(page: Puzzle) -> None:
    none = replace(page, pieces=())
    assert even_light(none) is none
    first, *others = shaded(page).pieces
    hidden = replace(first, mask=np.zeros_like(first.mask))
    assert even_light(replace(page, pieces=(hidden, *others))).pieces[0] is hidden


def test_the_corridor_looks_at_even_light_and_shows_the_pictures_as_they_were(page: Puzzle) -> None:
    dim = shaded(page)
    walk = Corridor(dim)
    assert walk.get("seen").evened
    assert np.ptp(paper_levels(walk.get("seen").puzzle)) < 8
    assert walk.get("puzzle") is dim
    assert not Corridor(dim, SolveConfig(light=False)).get("seen").evened

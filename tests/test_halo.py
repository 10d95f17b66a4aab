"""The halo: found when most pieces have it, taken out of the colours and not of the outline, and none where there is none."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from jigsawnet.halo import Seen, find_halo, without_halo
from jigsawnet.pipeline import Corridor, SolveConfig
from jigsawnet.types import Assembly, Float32Array, Piece, Puzzle


def depth(piece: Piece) -> Float32Array:
    """How many px a pixel lies inside the outline, 1 for the outermost."""
    mask = np.pad(piece.mask, 1).astype(np.uint8)
    return np.asarray(cv2.distanceTransform(mask, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)[1:-1, 1:-1], np.float32)


def with_halo(piece: Piece, depth_px: int, color: tuple[int, int, int], share: float = 0.5) -> Piece:
    """The outermost ``depth_px`` rings mixed with a colour."""
    rim = piece.mask & (depth(piece) < depth_px + 0.5)
    mixed = np.rint((1 - share) * piece.image + share * np.array(color)).astype(np.uint8)
    return replace(piece, image=np.where(rim[..., None], mixed, piece.image))


def all_with_halo(puzzle: Puzzle, depth_px: int, color: tuple[int, int, int]) -> Puzzle:
    return replace(puzzle, pieces=tuple(with_halo(piece, depth_px, color) for piece in puzzle.pieces))


@pytest.fixture(scope="module")
def puzzle(nine_pieces: tuple[Puzzle, Assembly]) -> Puzzle:
    return nine_pieces[0]


def test_clean_pieces_have_none(puzzle: Puzzle, tiny_puzzle: tuple[Puzzle, Assembly]) -> None:
    assert find_halo(puzzle) == 0
    assert find_halo(tiny_puzzle[0]) == 0


@pytest.mark.parametrize("color", [(255, 255, 255), (0, 0, 0), (0, 220, 20)])
@pytest.mark.parametrize("depth_px", [1, 2, 3])
def test_its_depth_is_found_whatever_its_colour(puzzle: Puzzle, depth_px: int, color: tuple[int, int, int]) -> None:
    assert find_halo(all_with_halo(puzzle, depth_px, color)) == depth_px


def test_what_goes_deeper_than_any_halo_is_the_picture(puzzle: Puzzle) -> None:
    assert find_halo(all_with_halo(puzzle, 7, (255, 255, 255))) == 0


def test_what_only_one_piece_has_is_no_halo(puzzle: Puzzle) -> None:
    one = (with_halo(puzzle.pieces[0], 2, (255, 255, 255)), *puzzle.pieces[1:])
    assert find_halo(replace(puzzle, pieces=one)) == 0


def test_what_is_lighter_here_and_darker_there_is_no_halo(puzzle: Puzzle) -> None:
    colors = [(255, 255, 255), (25, 25, 25)]
    both = tuple(with_halo(piece, 2, colors[piece.idx % 2], 0.2) for piece in puzzle.pieces[:8])
    assert find_halo(replace(puzzle, pieces=both)) == 0


def test_taken_out_the_rim_has_the_colours_behind_it(puzzle: Puzzle) -> None:
    spoiled = all_with_halo(puzzle, 2, (255, 255, 255))
    clean = without_halo(spoiled, 2)
    for was, piece, true in zip(spoiled.pieces, clean.pieces, puzzle.pieces, strict=True):
        assert (piece.idx, piece.name) == (was.idx, was.name)
        np.testing.assert_array_equal(piece.mask, was.mask)
        rim = was.mask & (depth(was) < 2.5)
        np.testing.assert_array_equal(piece.image[~rim], was.image[~rim])
        before, after = (np.abs(p.image[rim].astype(int) - true.image[rim]).mean() for p in (was, piece))
        assert before > 40
        assert after < 12
        inside = {tuple(color) for color in was.image[was.mask & ~rim].tolist()}
        assert {tuple(color) for color in piece.image[rim].tolist()} <= inside, "no new colours"
    assert find_halo(clean) == 0


def test_the_pictures_given_are_not_changed(puzzle: Puzzle) -> None:
    spoiled = all_with_halo(puzzle, 2, (255, 255, 255))
    copies = [piece.image.copy() for piece in spoiled.pieces]
    without_halo(spoiled, 2)
    for piece, copy in zip(spoiled.pieces, copies, strict=True):
        np.testing.assert_array_equal(piece.image, copy)


def test_pieces_too_thin_to_have_an_inside_stay(puzzle: Puzzle) -> None:
    sizes = [(3, 90), (1, 1), (4, 4), (5, 60)]
    images = [puzzle.pieces[0].image[40 : 40 + h, 20 : 20 + w].copy() for h, w in sizes]
    thin = tuple(Piece(k, str(k), image, np.ones(image.shape[:2], bool)) for k, image in enumerate(images))
    empty = Piece(4, "empty", np.zeros((5, 5, 3), np.uint8), np.zeros((5, 5), bool))
    given = Puzzle("thin", (*thin, empty))
    assert find_halo(given) == 0, "nothing to compare a rim with"
    for piece, was in zip(without_halo(given, 3).pieces, given.pieces, strict=True):
        np.testing.assert_array_equal(piece.image, was.image)


def test_thin_pieces_do_not_hide_the_halo_of_the_others(puzzle: Puzzle) -> None:
    spoiled = all_with_halo(puzzle, 2, (255, 255, 255))
    crumb = Piece(9, "crumb", np.full((4, 4, 3), 255, np.uint8), np.ones((4, 4), bool))
    assert find_halo(replace(spoiled, pieces=(*spoiled.pieces, crumb))) == 2


def test_none_taken_out_is_the_same_puzzle(puzzle: Puzzle) -> None:
    assert without_halo(puzzle, 0) is puzzle
    assert find_halo(Puzzle("none", ())) == 0
    assert find_halo(replace(puzzle, pieces=puzzle.pieces[:1])) == 0, "one piece does not tell"


def test_it_is_the_same_every_time(puzzle: Puzzle) -> None:
    spoiled = all_with_halo(puzzle, 2, (0, 0, 0))
    first, second = (without_halo(spoiled, find_halo(spoiled)) for _ in range(2))
    for one, two in zip(first.pieces, second.pieces, strict=True):
        np.testing.assert_array_equal(one.image, two.image)


def test_the_corridor_looks_at_pieces_without_it_and_shows_them_with_it(tiny_puzzle: tuple[Puzzle, Assembly]) -> None:
    spoiled = all_with_halo(tiny_puzzle[0], 2, (255, 255, 255))
    walk = Corridor(spoiled)
    seen: Seen = walk.get("seen")
    assert seen.halo_px == 2
    assert walk.stages[0].counts == {"halo_px": 2, "evened": 0}
    assert walk.get("scene").puzzle is seen.puzzle
    assert walk.puzzle is spoiled
    plain = Corridor(spoiled, SolveConfig(halo=False))
    assert plain.get("seen").halo_px == 0
    assert plain.get("seen").puzzle is spoiled
    both = [np.abs(w.get("borders").colors - Corridor(tiny_puzzle[0]).get("borders").colors).mean() for w in (walk, plain)]
    assert both[0] < 0.5 * both[1], "borders have the colours behind the halo"

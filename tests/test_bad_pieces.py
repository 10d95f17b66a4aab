"""Pieces that are hardly there, full of whiskers, or of very different sizes: an end, and nothing claimed that is not so.

The largest piece here has 1,500 px, where 4,000 would do as well, to be quick.
"""

from __future__ import annotations

import math
from dataclasses import replace

import cv2
import numpy as np
import pytest

from jigsawnet.errors import InputError
from jigsawnet.evaluation.metrics import right_joins
from jigsawnet.pipeline import Solution, solve_puzzle
from jigsawnet.shred import Damage, ShredConfig, shred_images
from jigsawnet.types import Assembly, Piece, Puzzle, UInt8Array


def numbered(*pieces: Piece) -> Puzzle:
    return Puzzle("bad", tuple(replace(piece, idx=k, name=f"{k}.png") for k, piece in enumerate(pieces)))


def eaten(piece: Piece, left_px: int) -> Piece:
    """All but the innermost so many pixels lost."""
    depth = cv2.distanceTransform(np.pad(piece.mask, 1).astype(np.uint8), cv2.DIST_L2, 5)[1:-1, 1:-1].ravel()
    mask = np.zeros(piece.mask.size, bool)
    mask[np.argsort(-depth, kind="stable")[:left_px]] = True
    return replace(piece, mask=mask.reshape(piece.mask.shape))


def whiskered(piece: Piece, count: int) -> Piece:
    """So many hairs of one pixel, 10 to 50 px long, standing out all around."""
    rng, pad = np.random.default_rng(0), 60
    mask, image = np.pad(piece.mask, pad).astype(np.uint8), np.pad(piece.image, ((pad, pad), (pad, pad), (0, 0)))
    rings, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    ring = max(rings, key=len)[:, 0]
    for k in range(count):
        root = ring[k * len(ring) // count]
        away = root - ring.mean(0)
        tip = np.rint(root + away / np.linalg.norm(away) * rng.uniform(10, 50)).astype(int)
        cv2.line(mask, root.tolist(), tip.tolist(), 1)
        cv2.line(image, root.tolist(), tip.tolist(), (200, 200, 200))
    return replace(piece, image=image, mask=mask.astype(bool))


def assert_sound(solution: Solution, n: int) -> None:
    """Every piece is placed once or not at all, by finite numbers, and no piece has more candidates than it may."""
    assembly, rows = solution.assembly, solution.candidates
    assert len(assembly.poses) + len(assembly.unplaced) == n
    assert sorted(idx for component in assembly.components for idx in component) == sorted(assembly.poses)
    assert all(math.isfinite(v) for pose in assembly.poses.values() for v in (pose.theta, pose.x, pose.y))
    assert all(0 <= sure <= 1 for sure in assembly.confidence.values())
    assert np.isfinite(rows.pose).all()
    assert ((rows.score >= 0) & (rows.score <= 1)).all()
    assert np.bincount(np.concatenate([rows.i, rows.j]), minlength=1).max() <= 40


@pytest.fixture(scope="module")
def nine(nine_pieces: tuple[Puzzle, Assembly]) -> tuple[Puzzle, Assembly]:
    return nine_pieces


def test_pieces_eaten_to_less_than_ten_pixels_are_left_out_and_named(nine: tuple[Puzzle, Assembly]) -> None:
    crumbs = numbered(*(eaten(piece, left) for piece, left in zip(nine[0].pieces, range(1, 10), strict=True)))
    assert max(int(piece.mask.sum()) for piece in crumbs.pieces) < 10
    solution = solve_puzzle(crumbs)
    assert_sound(solution, 9)
    assert solution.assembly.unplaced == tuple(range(9))
    for piece in crumbs.pieces:
        assert any(warning.startswith(f"{piece.name} is too small") for warning in solution.report.warnings)


def test_crumbs_among_them_do_not_hinder_the_others(nine: tuple[Puzzle, Assembly]) -> None:
    puzzle, truth = nine
    crumbs = [replace(eaten(piece, 9), idx=9 + k, name=f"crumb {k}") for k, piece in enumerate(puzzle.pieces[:4])]
    solution = solve_puzzle(Puzzle("mixed", (*puzzle.pieces, *crumbs)))
    assert_sound(solution, 13)
    assert solution.assembly.unplaced == (9, 10, 11, 12)
    assert sum("too small" in warning for warning in solution.report.warnings) == 4
    assert len(solution.assembly.components) == 1
    lost = Assembly(
        13, {**truth.poses, **dict.fromkeys(range(9, 13), truth.poses[0])}, (*truth.components, *((k,) for k in range(9, 13)))
    )
    assert all(right_joins(Puzzle("mixed", (*puzzle.pieces, *crumbs)), solution.assembly, lost))


@pytest.mark.parametrize("left_px", [30, 200])
def test_what_is_left_of_pieces_is_looked_at_without_harm(nine: tuple[Puzzle, Assembly], left_px: int) -> None:
    assert_sound(solve_puzzle(numbered(*(eaten(piece, left_px) for piece in nine[0].pieces))), 9)


def test_losses_nearly_as_large_as_the_pieces_have_an_end(picture: UInt8Array) -> None:
    damage = Damage(loss_px=40.0, loss_share=0.9, crumble_px=40.0)
    puzzle, _ = shred_images([picture], ShredConfig(pieces=9, damage=damage), np.random.default_rng(9))
    whole = sum(int(piece.mask.sum()) for piece in puzzle.pieces) / picture[..., 0].size
    assert whole < 0.6, "much is lost"
    assert_sound(solve_puzzle(puzzle), len(puzzle))


def test_losses_larger_than_the_pieces_are_refused_in_one_sentence(picture: UInt8Array) -> None:
    damage = Damage(loss_px=150.0, loss_share=0.9, crumble_px=150.0)
    with pytest.raises(InputError, match="remain, and a puzzle needs two; use larger pictures"):
        shred_images([picture], ShredConfig(pieces=9, damage=damage), np.random.default_rng(9))


def test_a_piece_with_five_hundred_whiskers_does_not_hinder_the_others(nine: tuple[Puzzle, Assembly]) -> None:
    puzzle, truth = nine
    hairy = whiskered(puzzle.pieces[0], 500)
    assert hairy.mask.sum() > 1.5 * puzzle.pieces[0].mask.sum()
    mixed = replace(puzzle, pieces=(hairy, *puzzle.pieces[1:]))
    solution = solve_puzzle(mixed)
    assert_sound(solution, 9)
    assert set(range(1, 9)) <= set(solution.assembly.poses)
    among_others = [k for k, e in enumerate(solution.assembly.joins) if 0 not in (e.alignment.i, e.alignment.j)]
    right = right_joins(mixed, solution.assembly, truth)
    assert len(among_others) >= 7
    assert all(right[k] for k in among_others)


def test_whiskers_on_all_pieces_have_an_end(nine: tuple[Puzzle, Assembly]) -> None:
    assert_sound(solve_puzzle(numbered(*(whiskered(piece, 500) for piece in nine[0].pieces))), 9)


@pytest.mark.parametrize("others", [0, 9])
def test_pieces_of_four_and_of_many_pixels_together(nine: tuple[Puzzle, Assembly], others: int) -> None:
    picture = cv2.resize(np.random.default_rng(0).integers(40, 255, (30, 40, 3), np.uint8), (1500, 1100))
    huge = Piece(0, "huge", np.asarray(picture, np.uint8), np.ones(picture.shape[:2], bool))
    tiny = [Piece(0, "tiny", np.full((4, 4, 3), 60 * k, np.uint8), np.ones((4, 4), bool)) for k in range(4)]
    puzzle = numbered(*nine[0].pieces[:others], huge, *tiny)
    solution = solve_puzzle(puzzle)
    assert_sound(solution, others + 5)
    again = solve_puzzle(puzzle)
    assert again.assembly == solution.assembly

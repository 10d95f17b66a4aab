from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jigsawnet.borders import Borders, build_borders
from jigsawnet.contours import ContourConfig, trace_contours
from jigsawnet.geometry import SE2, fit_rigid
from jigsawnet.refine.seams import align_seams
from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.types import Assembly, Piece, Puzzle, UInt8Array

Cut = tuple[Borders, Mapping[int, SE2]]
"""Pieces and their true poses."""


@pytest.fixture(scope="module")
def nine(nine_pieces: tuple[Puzzle, Assembly]) -> Cut:
    puzzle, truth = nine_pieces
    return build_borders(trace_contours(puzzle, ContourConfig())), truth.poses


def shake(poses: Mapping[int, SE2], borders: Borders, px: float, seed: int = 0) -> dict[int, SE2]:
    """Turn and shift every piece about its centre, all but the first."""
    rng = np.random.default_rng(seed)
    shaken = {}
    for idx, pose in poses.items():
        x, y = borders.center[idx].astype(float).tolist()
        turn = SE2(0.0, x, y) @ SE2(0.005 * px * rng.normal(), *(px * rng.normal(size=2)).tolist()) @ SE2(0.0, -x, -y)
        shaken[idx] = pose if idx == min(poses) else pose @ turn
    return shaken


def worst_error(borders: Borders, poses: Mapping[int, SE2], truth: Mapping[int, SE2]) -> float:
    """Largest distance of a piece's centre from the truth, px, after the best motion of the whole."""
    found, true = (np.array([p[idx] @ borders.center[idx].astype(np.float64) for idx in sorted(truth)]) for p in (poses, truth))
    motion = fit_rigid(found, true)
    assert motion is not None
    return float(np.linalg.norm((motion @ found) - true, axis=1).max())


def test_shaken_pieces_come_back(nine: Cut) -> None:
    borders, truth = nine
    shaken = shake(truth, borders, px=1.0)
    aligned, stats = align_seams(borders, shaken)
    assert worst_error(borders, shaken, truth) > 1.0
    assert worst_error(borders, aligned, truth) < 0.35
    assert stats.pairs == 12
    assert stats.residual_after_px < 0.3 < stats.residual_before_px
    assert stats.gap_px == 0.0


def test_pieces_in_their_place_stay_there(nine: Cut) -> None:
    borders, truth = nine
    aligned, stats = align_seams(borders, truth)
    assert worst_error(borders, aligned, truth) < 0.35
    assert stats.residual_after_px <= stats.residual_before_px


@settings(deadline=None, max_examples=10)
@given(theta=st.floats(-3, 3), x=st.floats(-1000, 1000), y=st.floats(-1000, 1000))
def test_a_motion_of_the_whole_moves_the_answer_alike(nine: Cut, theta: float, x: float, y: float) -> None:
    borders, truth = nine
    shaken, motion = shake(truth, borders, px=0.7), SE2(theta, x, y)
    aligned, stats = align_seams(borders, shaken)
    moved, moved_stats = align_seams(borders, {idx: motion @ pose for idx, pose in shaken.items()})
    assert all((motion @ aligned[idx]).distance(moved[idx], borders.center[idx])[1] < 0.05 for idx in truth)
    assert moved_stats.residual_after_px == pytest.approx(stats.residual_after_px, abs=1e-2)


def test_fixed_pieces_do_not_move_and_none_given_holds_the_first(nine: Cut) -> None:
    borders, truth = nine
    shaken = shake(truth, borders, px=0.7)
    held, _ = align_seams(borders, shaken, fixed=(3, 5))
    assert [held[idx].distance(shaken[idx]) for idx in (3, 5)] == [(0.0, 0.0)] * 2
    assert held[0].distance(shaken[0])[1] > 0.0
    free, _ = align_seams(borders, shaken)
    assert free[0].distance(shaken[0]) == (0.0, 0.0)


def test_straight_seams_close_without_sliding(square_tiles: Callable[[int], Borders], tile_pose: Callable[..., SE2]) -> None:
    borders = square_tiles(2)
    aligned, stats = align_seams(borders, {0: tile_pose(0, 0), 1: SE2(0.0, 1.5, 7.0) @ tile_pose(1, 0)})
    moved = aligned[1] @ borders.center[1].astype(np.float64) - (aligned[0] @ borders.center[0].astype(np.float64))
    assert moved == pytest.approx((60.0, 7.0), abs=0.1)
    assert stats.residual_after_px < 0.05


def test_straight_seams_show_no_gap(square_tiles: Callable[[int], Borders], tile_pose: Callable[..., SE2]) -> None:
    places = {k: tile_pose(k % 3, k // 3) for k in range(9)}
    aligned, stats = align_seams(square_tiles(9), places, find_gap=True)
    assert stats.gap_px == 0.0
    assert worst_error(square_tiles(9), aligned, places) < 0.1


@pytest.fixture(scope="module")
def large_picture(picture: UInt8Array) -> UInt8Array:
    return np.repeat(np.repeat(picture, 3, axis=0), 3, axis=1)


def test_the_gap_of_worn_pieces_is_found(large_picture: UInt8Array) -> None:
    puzzle, truth = shred_images([large_picture], ShredConfig(pieces=25, erosion_px=2.0), np.random.default_rng(5))
    borders = build_borders(trace_contours(puzzle, ContourConfig()))
    shut, shut_stats = align_seams(borders, align_seams(borders, _pulled_together(borders, truth.poses, 4.3))[0])
    opened, stats = align_seams(borders, shut, find_gap=True)
    assert 3.4 < stats.gap_px < 4.8
    assert worst_error(borders, shut, truth.poses) > 8.0
    assert worst_error(borders, opened, truth.poses) < 2.5
    assert stats.residual_after_px < shut_stats.residual_after_px


def _pulled_together(borders: Borders, poses: Mapping[int, SE2], gap_px: float) -> dict[int, SE2]:
    """Shrink the distances of the pieces' centres as if the gap were closed."""
    centers = np.array([poses[idx] @ borders.center[idx].astype(np.float64) for idx in sorted(poses)])
    pitch = np.sqrt(np.ptp(centers, axis=0).prod() / (np.sqrt(len(poses)) - 1) ** 2)
    moves = -gap_px / pitch * (centers - centers.mean(0))
    return {idx: SE2(0.0, float(x), float(y)) @ poses[idx] for idx, (x, y) in zip(sorted(poses), moves, strict=True)}


def test_unworn_pieces_show_no_gap(large_picture: UInt8Array) -> None:
    puzzle, truth = shred_images([large_picture], ShredConfig(pieces=25), np.random.default_rng(5))
    borders = build_borders(trace_contours(puzzle, ContourConfig()))
    aligned, stats = align_seams(borders, truth.poses, find_gap=True)
    assert stats.gap_px == 0.0
    assert worst_error(borders, aligned, truth.poses) < 0.3


def test_no_pieces_one_piece_and_pieces_far_apart(square_tiles: Callable[[int], Borders]) -> None:
    borders = square_tiles(3)
    assert align_seams(borders, {})[0] == {}
    alone, stats = align_seams(borders, {2: SE2(0.5, 3.0, 4.0)}, find_gap=True)
    assert alone[2] == SE2(0.5, 3.0, 4.0)
    assert (stats.pairs, stats.samples, stats.residual_after_px) == (0, 0, 0.0)
    apart = {0: SE2.identity(), 1: SE2(0.0, 900.0, 0.0)}
    assert align_seams(borders, apart)[0] == apart


def test_ragged_pieces_are_not_pulled_into_their_losses() -> None:
    """A square whose side has lost 3 px along its upper half turns into the loss, unless it is known to be ragged."""
    mask = np.ones((120, 120), bool)
    bitten = mask.copy()
    bitten[:60, :3] = False
    pieces = tuple(Piece(k, str(k), np.full((120, 120, 3), 128, np.uint8), own) for k, own in enumerate((mask, bitten)))
    borders = build_borders(trace_contours(Puzzle("bitten", pieces), ContourConfig()))
    truth = {0: SE2.identity(), 1: SE2(0.0, 120.0, 0.0)}
    turned = {ragged: align_seams(borders, truth, ragged=ragged)[0][1].theta for ragged in (False, True)}
    assert abs(turned[False]) > 0.015
    assert abs(turned[True]) < 0.005

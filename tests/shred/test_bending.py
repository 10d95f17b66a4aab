from __future__ import annotations

import numpy as np
import pytest
from damage_cases import damaged, depth, in_picture, ramp_picture
from hypothesis import given, settings
from hypothesis import strategies as st

from jigsawnet.geometry import SE2
from jigsawnet.shred import Damage
from jigsawnet.shred.bending import Sheet, best_pose, unbend
from jigsawnet.types import FloatArray

seeds = st.integers(0, 2**32 - 1)


def grid(size: int = 120) -> FloatArray:
    """Points of a square, px from its middle."""
    line = np.arange(size) - (size - 1) / 2.0
    return np.stack(np.meshgrid(line, line), axis=-1)


def sheet(damage: Damage, n: int = 9) -> Sheet:
    return Sheet.draw(np.full(n, 150.0), damage, np.random.default_rng(0))


@given(seed=seeds, bend=st.floats(0.001, 0.01))
@settings(max_examples=15, deadline=None)
def test_bending_is_smooth_and_no_larger_than_asked(seed: int, bend: float) -> None:
    damage = Damage(bend=bend)
    shift = unbend(grid(), 100.0, sheet(damage), 0, damage, np.random.default_rng(seed)) - grid()
    far = np.linalg.norm(shift, axis=-1)
    assert 0.4 * bend * 100 - 1e-9 <= far.max() <= bend * 100 + 1e-9
    assert np.abs(np.diff(shift, axis=0)).max() < 0.1 * bend * 100


@given(seed=seeds)
@settings(max_examples=10, deadline=None)
def test_scales_differ_by_no_more_than_asked(seed: int) -> None:
    damage = Damage(scale=0.02)
    flat = unbend(grid(), 100.0, sheet(damage), 0, damage, np.random.default_rng(seed))
    ratio = np.ptp(flat[..., 0]) / np.ptp(grid()[..., 0])
    assert 0.98 <= ratio <= 1.02
    assert ratio != 1.0


def test_keystone_is_the_difference_between_the_top_and_the_bottom_of_the_photograph() -> None:
    photo = sheet(Damage(keystone=0.04))
    ends = np.array([[[-0.5, y], [0.5, y]] for y in (-photo.half_px, photo.half_px)])
    top, bottom = (float(np.linalg.norm(np.diff(photo.straighten(pair), axis=0))) for pair in ends)
    assert top / bottom == pytest.approx(1.04)


def test_lens_moves_the_edge_and_not_the_middle() -> None:
    photo = sheet(Damage(lens=0.01))
    edge = photo.straighten(np.array([photo.half_px, 0.0]))[0] / photo.zoom
    assert edge == pytest.approx(1.01 * photo.half_px)
    assert np.abs(photo.straighten(np.zeros(2))).max() == 0


@pytest.mark.parametrize("damage", [Damage(keystone=0.04), Damage(lens=0.02), Damage(keystone=0.04, lens=0.02)])
def test_pieces_of_one_photograph_have_several_scales_with_mean_one(damage: Damage) -> None:
    photo = sheet(damage, n=16)
    ratios = []
    for idx in range(16):
        flat = unbend(grid(20), 20.0, photo, idx, damage, np.random.default_rng(0))
        along, down = flat[10, 11] - flat[10, 10], flat[11, 10] - flat[10, 10]
        ratios.append(np.sqrt(along[0] * down[1] - along[1] * down[0]))
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.001)
    assert np.ptp(ratios) > 0.01


@given(theta=st.floats(-3, 3), x=st.floats(-50, 50), y=st.floats(-50, 50), seed=seeds)
@settings(max_examples=20, deadline=None)
def test_best_pose_finds_a_motion_and_has_no_better_neighbour(theta: float, x: float, y: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    source, pose = rng.uniform(0, 100, (50, 2)), SE2(theta, x, y)
    found = best_pose(pose @ source, source)
    assert found.distance(pose, (50, 50)) == pytest.approx((0.0, 0.0), abs=1e-6)
    noisy = pose @ source + rng.normal(0, 1, source.shape)
    best = best_pose(noisy, source)

    def error(tried: SE2) -> float:
        return float(((tried @ source - noisy) ** 2).sum())

    for nudge in (SE2(1e-3, 0, 0), SE2(-1e-3, 0, 0), SE2(0, 0.05, 0), SE2(0, 0, -0.05)):
        assert error(best) < error(nudge @ best)


@given(seed=seeds)
@settings(max_examples=6, deadline=None)
def test_truth_of_bent_pieces_is_the_best_rigid_pose_of_their_content(seed: int) -> None:
    damage = Damage(bend=0.01, scale=0.02, keystone=0.04, lens=0.01)
    puzzle, truth = damaged(damage, seed, picture=ramp_picture())
    for piece in puzzle.pieces:
        inside = depth(piece) > 3
        y, x = np.nonzero(inside)
        points = np.stack([x, y], axis=1).astype(np.float64)
        seen = piece.image[inside][:, :2].astype(float) - (8, 20)
        pose = truth.poses[piece.idx]
        off = np.linalg.norm(seen - pose @ points, axis=1)
        assert off.max() < 5.0
        turned, moved = best_pose(seen, points).distance(pose, points.mean(axis=0))
        assert moved < 0.15
        assert turned < 0.003


def test_bent_pieces_still_cover_the_picture_nearly() -> None:
    puzzle, truth = damaged(Damage(bend=0.01, keystone=0.04), 3)
    count = sum(in_picture(piece, truth).astype(int) for piece in puzzle.pieces)
    assert (count == 1).mean() > 0.95
    assert (count != 1).any()

from __future__ import annotations

import numpy as np
import pytest
from damage_cases import damaged, plain_picture, ramp_picture
from hypothesis import given, settings
from hypothesis import strategies as st

from jigsawnet.errors import ConfigError
from jigsawnet.geometry import SE2
from jigsawnet.shred import Damage, ShredConfig, shred_images
from jigsawnet.shred.light import age_picture, light_piece
from jigsawnet.types import UInt8Array

seeds = st.integers(0, 2**32 - 1)


def aged(damage: Damage, seed: int = 0, picture: UInt8Array | None = None) -> UInt8Array:
    return age_picture(plain_picture(200) if picture is None else picture, damage, np.random.default_rng(seed))


@given(seed=seeds, yellow=st.floats(0.1, 1.0))
@settings(max_examples=10, deadline=None)
def test_yellow_takes_most_from_blue_and_more_where_more_is_asked(seed: int, yellow: float) -> None:
    red, green, blue = aged(Damage(yellow=yellow), seed).reshape(-1, 3).mean(axis=0)
    assert red > green > blue
    assert blue > aged(Damage(yellow=1.0), seed)[..., 2].mean() - 0.5


def test_yellow_makes_pale() -> None:
    before, after = ramp_picture(), aged(Damage(yellow=1.0), picture=ramp_picture())
    assert np.ptp(after[..., 0].astype(int)) < 0.85 * np.ptp(before[..., 0].astype(int))


@given(seed=seeds)
@settings(max_examples=10, deadline=None)
def test_stains_darken_parts_and_nothing_is_lighter(seed: int) -> None:
    few, many = aged(Damage(stains=0.2), seed), aged(Damage(stains=1.0), seed)
    assert many.max() <= 200
    assert (many < 195).mean() > (few < 195).mean()
    assert 0.05 < (many < 195).any(axis=2).mean() < 0.9


def test_a_fold_is_a_thin_pale_line_across_the_picture() -> None:
    folded = aged(Damage(folds=1), 2, plain_picture(90)).astype(int)[..., 0]
    bright = folded > 110
    assert 0.002 < bright.mean() < 0.05
    rows, cols = bright.any(axis=1).mean(), bright.any(axis=0).mean()
    assert max(rows, cols) > 0.6


@given(seed=seeds, light=st.floats(1, 12))
@settings(max_examples=10, deadline=None)
def test_light_is_even_on_a_piece_and_shade_is_a_gradient(seed: int, light: float) -> None:
    image = np.full((60, 80, 3), 120, np.uint8)
    even = light_piece(image, Damage(light=light), 0.0, np.random.default_rng(seed))
    assert np.ptp(even.reshape(-1, 3), axis=0).max() < 1e-3
    shaded = light_piece(image, Damage(shade=light), 0.0, np.random.default_rng(seed))
    assert 0.2 * light < np.abs(shaded - 120).max() <= light
    assert np.abs(shaded + shaded[::-1, ::-1] - 240).max() < 0.01
    assert np.abs(np.diff(shaded, axis=1)).max() < 0.1 * light


def test_light_differs_from_piece_to_piece_and_leaves_the_backdrop() -> None:
    puzzle, _ = damaged(Damage(light=10.0, mask_px=4.0), picture=plain_picture(120), pieces=9)
    middles = [piece.image[piece.mask & (piece.image[..., 0] < 200)].mean() for piece in puzzle.pieces]
    assert np.std(middles) > 3
    assert all(piece.image.max() == 255 for piece in puzzle.pieces)


def test_small_scans_have_no_moire_and_a_truth_in_their_own_pixels() -> None:
    stripes = np.zeros((400, 600, 3), np.uint8)
    stripes[:, ::2] = 255
    config = ShredConfig(pieces=6, rotate=False, damage=Damage(piece_px=60))
    puzzle, truth = shred_images([stripes], config, np.random.default_rng(0))
    inner = [piece.image[piece.mask] for piece in puzzle.pieces]
    assert np.ptp(np.concatenate(inner).astype(int)) < 25  # 255 without averaging
    sides = [np.sqrt(piece.mask.sum()) for piece in puzzle.pieces]
    assert np.mean(sides) == pytest.approx(60, abs=3)
    corners = [truth.poses[k] @ np.array(puzzle.pieces[k].mask.shape[::-1], float) for k in range(6)]
    assert np.max(corners) < 200
    large, _ = shred_images([stripes], ShredConfig(damage=Damage(piece_px=500), pieces=6), np.random.default_rng(0))
    assert sum(int(piece.mask.sum()) for piece in large.pieces) == pytest.approx(400 * 600, rel=0.01)
    assert all(pose == SE2(0.0, pose.x, pose.y) for pose in truth.poses.values())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("loss_px", -1.0),
        ("loss_share", 1.5),
        ("bend", 0.5),
        ("keystone", float("nan")),
        ("halo_px", 50.0),
        ("mask_px", -30.0),
        ("mask_px", float("nan")),
        ("piece_px", 5),
        ("folds", -1),
        ("backdrop", (0, 0, 300)),
        ("sharpen", 3.0),
    ],
)
def test_damage_out_of_range_is_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(ConfigError, match=name):
        Damage(**{name: value})  # type: ignore[arg-type]

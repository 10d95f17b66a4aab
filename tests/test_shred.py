from __future__ import annotations

from dataclasses import replace
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from jigsawnet.errors import ConfigError, InputError
from jigsawnet.geometry import SE2
from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.shred.cuts import config_shape, cut_cells, find_regions, grid_shape, wiggle
from jigsawnet.shred.pieces import cut_out
from jigsawnet.types import Assembly, BoolArray, FloatArray, Puzzle, UInt8Array

RED, GREEN = 0, 1
RAMP = 1.0
"""Grey levels per px, along x in red and along y in green."""


def ramp_picture(width: int = 200, height: int = 150) -> UInt8Array:
    """A picture whose colours tell where a pixel was: red is x + 20, green is y + 20, blue is plain."""
    picture = np.full((height, width, 3), 90, np.uint8)
    picture[..., RED] = np.arange(width) * RAMP + 20
    picture[..., GREEN] = (np.arange(height) * RAMP + 20)[:, None]
    return picture


def shred(config: ShredConfig, seed: int = 0, picture: UInt8Array | None = None) -> tuple[Puzzle, Assembly]:
    return shred_images([ramp_picture() if picture is None else picture], config, np.random.default_rng(seed))


def cover(puzzle: Puzzle, truth: Assembly, width: int, height: int) -> FloatArray:
    """How many pieces cover each pixel of the picture, when put back by the truth."""
    count = np.zeros((height, width))
    for piece in puzzle.pieces:
        matrix = truth.poses[piece.idx].matrix()[:2]
        count += cv2.warpAffine(piece.mask.astype(np.float32), matrix, (width, height)) > 0.5
    return count


def points_in_picture(pose: SE2, mask: BoolArray) -> FloatArray:
    y, x = np.nonzero(mask)
    return pose @ np.stack([x, y], axis=1).astype(np.float64)


def total_area(puzzle: Puzzle) -> int:
    return sum(int(piece.mask.sum()) for piece in puzzle.pieces)


SHAPES: list[dict[str, Any]] = [{"pieces": 9}, {"pieces": 24}, {"cuts": 4}, {"pieces": 6, "strips": True}]


@given(
    seed=st.integers(0, 2**32 - 1),
    width=st.integers(160, 260),
    height=st.integers(160, 220),
    shape=st.sampled_from(SHAPES),
    perturbation=st.floats(0.0, 0.12),
)
@settings(max_examples=25, deadline=None)
def test_put_back_by_the_truth_the_pieces_tile_the_picture(
    seed: int, width: int, height: int, shape: dict[str, Any], perturbation: float
) -> None:
    config = ShredConfig(perturbation=perturbation, **shape)
    puzzle, truth = shred(config, seed, ramp_picture(width, height))
    count = cover(puzzle, truth, width, height)
    assert (count >= 1).mean() > 0.98
    assert (count > 1).mean() < 0.01
    assert total_area(puzzle) == pytest.approx(width * height, rel=0.01)


@given(seed=st.integers(0, 2**32 - 1), shape=st.sampled_from(SHAPES), perturbation=st.floats(0.0, 0.3))
@settings(max_examples=25, deadline=None)
def test_unturned_pieces_tile_the_picture_to_the_pixel(seed: int, shape: dict[str, Any], perturbation: float) -> None:
    config = ShredConfig(perturbation=perturbation, rotate=False, **shape)
    puzzle, truth = shred(config, seed)
    assert (cover(puzzle, truth, 200, 150) == 1).all()
    assert all(ndimage.label(piece.mask)[1] == 1 for piece in puzzle.pieces)


def test_truth_says_to_a_part_of_a_pixel_where_the_content_came_from() -> None:
    puzzle, truth = shred(ShredConfig(pieces=9), seed=3)
    for piece in puzzle.pieces:
        inside = ndimage.binary_erosion(piece.mask, iterations=3)
        points = points_in_picture(truth.poses[piece.idx], inside)
        seen = (piece.image[inside][:, :2].astype(np.float64) - 20) / RAMP
        assert np.abs(seen - points).max() < 1.0
        np.testing.assert_allclose((seen - points).mean(axis=0), 0.0, atol=0.05)


def test_nothing_of_the_neighbours_leaks_across_the_cut() -> None:
    picture = np.zeros((200, 200, 3), np.uint8)
    picture[:, 100:] = 255
    regions = (np.arange(200) >= 100)[None].repeat(200, axis=0)
    black = cut_out(picture, ~regions[:, :100], 0, 0, theta=0.7)
    white = cut_out(picture, regions[:, 100:], 100, 0, theta=0.7)
    assert black.image.max() == 0
    assert white.image.min() == 255


def test_same_seed_same_puzzle_and_another_seed_another() -> None:
    config = ShredConfig(pieces=9, noise=3, color_shift=4, rim_px=3, erosion_px=1, jpeg_quality=70, missing=0.2)
    (first, first_truth), (again, again_truth), (other, _) = (shred(config, seed) for seed in (5, 5, 6))
    assert first_truth == again_truth
    for a, b in zip(first.pieces, again.pieces, strict=True):
        np.testing.assert_array_equal(a.image, b.image)
        np.testing.assert_array_equal(a.mask, b.mask)
    assert [f.mask.sum() for f in first.pieces] != [f.mask.sum() for f in other.pieces]


@pytest.mark.parametrize("pieces", [2, 9, 36, 100, 400])
@pytest.mark.parametrize(("width", "height"), [(800, 533), (800, 450), (600, 800)])
def test_number_of_pieces_is_the_one_wanted(pieces: int, width: int, height: int) -> None:
    regions = find_regions(cut_cells(height, width, ShredConfig(pieces=pieces), np.random.default_rng(1)))
    assert len(np.unique(regions)) == pieces


def test_in_a_stack_the_rows_are_parted_alike_and_else_not() -> None:
    config = ShredConfig(pieces=12, perturbation=0.05, tilt_deg=0.0)
    apart = []
    for stacked in (True, False):
        cells = cut_cells(800, 600, replace(config, stacked=stacked), np.random.default_rng(3))
        tops = [round(np.mean(np.argmax(cells // 3 == row, axis=0))) for row in range(4)]
        first = [np.array([np.argmax(cells[y] % 3 == 1) for y in range(top + 25, top + 150)]) for top in tops]
        level = [curve - curve.mean() for curve in first]
        apart.append(np.mean([np.abs(level[0] - other).mean() for other in level[1:]]))
    assert apart[0] < 0.3 * apart[1]
    with pytest.raises(ConfigError, match="stacked"):
        ShredConfig(strips=True, stacked=True)


def test_a_prime_number_gives_the_nearest_grid_and_not_slivers() -> None:
    assert grid_shape(600, 800, 37) == (6, 6)
    assert grid_shape(600, 800, 12) == (3, 4)
    assert grid_shape(800, 600, 12) == (4, 3)


def test_pieces_are_named_trimmed_and_black_outside() -> None:
    puzzle, truth = shred(ShredConfig(pieces=9, noise=5, jpeg_quality=40))
    assert puzzle.names()[0] == "fragment_0001.png"
    assert puzzle.names()[8] == "fragment_0009.png"
    assert truth.complete
    for piece in puzzle.pieces:
        assert not piece.image[~piece.mask].any()
        assert cv2.boundingRect(piece.mask.astype(np.uint8))[:2] == (10, 10)


def test_pieces_are_shuffled_and_turned() -> None:
    _, truth = shred(ShredConfig(pieces=36), picture=ramp_picture(235, 200))
    angles = np.array([truth.poses[idx].theta for idx in range(36)])
    assert angles.min() < -2
    assert angles.max() > 2
    _, unturned = shred(ShredConfig(pieces=36, rotate=False), picture=ramp_picture(235, 200))
    rows = [unturned.poses[idx].y for idx in range(36)]
    assert {unturned.poses[idx].theta for idx in range(36)} == {0.0}
    assert rows != sorted(rows)


def test_straight_cuts_are_straight_and_perturbed_ones_are_not() -> None:
    def solidity(perturbation: float) -> float:
        puzzle, _ = shred(ShredConfig(pieces=9, perturbation=perturbation, rotate=False))
        hulls = [cv2.convexHull(np.argwhere(piece.mask).astype(np.int32)) for piece in puzzle.pieces]
        return total_area(puzzle) / sum(cv2.contourArea(hull) for hull in hulls)

    assert solidity(0.0) > 1.0  # the hull through pixel centres is half a pixel smaller all around
    assert solidity(0.1) < 0.97


def test_wiggle_has_the_amplitude_asked_for_and_no_jumps() -> None:
    curves = np.array([wiggle(2000, 100.0, np.random.default_rng(seed)) for seed in range(20)])
    assert np.sqrt((curves**2).mean()) == pytest.approx(1.0, abs=0.1)
    assert np.abs(np.diff(curves)).max() < 0.5  # white noise of this strength jumps by 4 and more


def test_strips_run_along_the_longer_side() -> None:
    puzzle, truth = shred(ShredConfig(pieces=6, strips=True, rotate=False))
    assert len(puzzle) == 6
    assert all(piece.mask.shape[1] == 200 + 20 for piece in puzzle.pieces)
    assert {truth.poses[idx].x for idx in range(6)} == {-10.0}


def test_free_cuts_cross_the_picture_in_any_direction() -> None:
    numbers = [len(shred(ShredConfig(cuts=3), seed)[0]) for seed in range(5)]
    assert min(numbers) >= 4
    assert max(numbers) <= 7
    assert all(len(shred(ShredConfig(cuts=1), seed)[0]) == 2 for seed in range(10))


def test_crumbs_join_the_neighbour_with_the_longest_border() -> None:
    cells = np.zeros((40, 40), np.int32)
    cells[:, 20:] = 1
    cells[10:14, 18:20] = 1  # grows from its own cell: stays
    cells[30:33, 17:20] = 2  # a crumb: three sides on cell 0, one on cell 1
    cells[5:8, 5:8] = 1  # cut off from its cell, inside cell 0
    regions = find_regions(cells)
    expected = cells.copy()
    expected[30:33, 17:20] = expected[5:8, 5:8] = 0
    np.testing.assert_array_equal(regions, expected)


def test_erosion_opens_a_gap_of_twice_its_width() -> None:
    whole = ShredConfig(pieces=2, perturbation=0.0, tilt_deg=0.0, rotate=False)
    puzzle, truth = shred(replace(whole, erosion_px=3.0))
    row = cover(puzzle, truth, 200, 150)[75]
    inner = np.flatnonzero(row)
    assert inner[0] == 3
    assert inner[-1] == 196
    assert np.count_nonzero(row[inner[0] : inner[-1] + 1] == 0) == 6
    assert total_area(puzzle) == (200 - 12) * (150 - 6)


def test_eroded_pieces_stay_in_one_part_and_vanished_ones_are_left_out() -> None:
    puzzle, truth = shred(ShredConfig(pieces=24, erosion_px=9.0, perturbation=0.12), seed=1)
    assert 2 <= len(puzzle) < 24
    assert truth.n_pieces == len(puzzle)
    assert puzzle.warnings == (f"Left out {24 - len(puzzle)} pieces of which less than 25 px remained.",)
    assert all(ndimage.label(piece.mask)[1] == 1 for piece in puzzle.pieces)


def test_noise_has_the_strength_asked_for() -> None:
    plain = np.full((150, 200, 3), 120, np.uint8)
    puzzle, _ = shred(ShredConfig(pieces=4, noise=6.0), picture=plain)
    colors = np.concatenate([piece.image[piece.mask] for piece in puzzle.pieces]).astype(float)
    assert colors.mean() == pytest.approx(120, abs=0.5)
    assert colors.std() == pytest.approx(6.0, abs=0.3)


def test_color_shift_is_one_per_piece() -> None:
    plain = np.full((150, 200, 3), 120, np.uint8)
    puzzle, _ = shred(ShredConfig(pieces=9, color_shift=8.0), picture=plain)
    means = np.array([piece.image[piece.mask].mean(axis=0) for piece in puzzle.pieces])
    assert all(np.ptp(piece.image[piece.mask], axis=0).max() == 0 for piece in puzzle.pieces)
    assert 4 < means.std() < 16


def test_jpeg_changes_colours_and_not_the_mask() -> None:
    clean, _ = shred(ShredConfig(pieces=4))
    stored, _ = shred(ShredConfig(pieces=4, jpeg_quality=30))
    for a, b in zip(clean.pieces, stored.pieces, strict=True):
        np.testing.assert_array_equal(a.mask, b.mask)
        error = np.abs(a.image[a.mask].astype(float) - b.image[a.mask])
        assert 0.2 < error.mean() < 12


def test_torn_rim_is_white_along_cuts_on_one_side_only() -> None:
    dark = np.full((150, 200, 3), 40, np.uint8)
    config = ShredConfig(pieces=2, perturbation=0.0, tilt_deg=0.0, rim_px=6.0, rotate=False)
    puzzle, _ = shred(config, picture=dark)
    is_white = [(piece.image[..., 0] > 200) & piece.mask for piece in puzzle.pieces]
    assert sorted(bool(white.any()) for white in is_white) == [False, True]
    torn = max(is_white, key=np.count_nonzero)
    widths = torn.sum(axis=1)[10:-10]
    assert widths.max() <= 6
    assert 1 < widths.mean() < 5
    assert widths.std() > 0.5


def test_missing_pieces_are_gone_and_two_remain() -> None:
    assert len(shred(ShredConfig(pieces=24, missing=0.25))[0]) == 18
    assert len(shred(ShredConfig(pieces=24, missing=1.0))[0]) == 2


def test_several_pictures_give_one_component_each() -> None:
    small, large = np.full((100, 100, 3), 10, np.uint8), np.full((150, 200, 3), 200, np.uint8)
    puzzle, truth = shred_images([small, large], ShredConfig(pieces=4, missing=0.0), np.random.default_rng(2))
    assert [len(component) for component in truth.components] == [4, 4]
    for component in truth.components:
        assert len({int(puzzle.pieces[idx].image.max()) for idx in component}) == 1
    assert truth.components != ((0, 1, 2, 3), (4, 5, 6, 7))


@pytest.mark.parametrize(
    "bad",
    [
        {"pieces": 1},
        {"cuts": 0},
        {"cuts": 3, "strips": True},
        {"tilt_deg": -1.0},
        {"perturbation": 0.6},
        {"missing": 1.5},
        {"erosion_px": -1.0},
        {"rim_px": float("nan")},
        {"noise": float("inf")},
        {"color_shift": 300.0},
        {"jpeg_quality": 0},
    ],
)
def test_options_out_of_range_are_refused_by_name(bad: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(bad))):
        ShredConfig(**bad)


def test_pictures_that_cannot_be_cut_are_refused() -> None:
    with pytest.raises(InputError, match=r"200 x 150 px is too small for 400 pieces: .* use a larger picture or fewer pieces"):
        shred(ShredConfig(pieces=400))
    with pytest.raises(InputError, match="too small for 60 cuts"):
        shred(ShredConfig(cuts=60))
    with pytest.raises(InputError, match="less erosion"):
        shred(ShredConfig(pieces=9, erosion_px=60))
    with pytest.raises(InputError, match="RGB"):
        shred(ShredConfig(), picture=np.zeros((150, 200), np.uint8))
    with pytest.raises(InputError, match="no picture"):
        shred_images([], ShredConfig(), np.random.default_rng(0))


@pytest.mark.parametrize(("pieces", "longer"), [(100, 6.0), (200, 10.0), (400, 10.0)])
def test_chads_of_a_page_are_as_long_as_asked(pieces: int, longer: float) -> None:
    rows, cols = config_shape(1414, 1000, ShredConfig(pieces=pieces, chads=longer))
    assert rows * cols == pytest.approx(pieces, rel=0.05)
    assert (1414 / rows) / (1000 / cols) == pytest.approx(longer, rel=0.25)


@pytest.mark.parametrize("wrong", [{"chads": 0.5}, {"chads": 51.0}, {"chads": 5.0, "strips": True}, {"chads": 5.0, "cuts": 3}])
def test_chads_are_refused_where_they_make_no_sense(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="chads"):
        ShredConfig(**wrong)


def test_options_at_their_defaults_leave_keys_as_they_were() -> None:
    assert "chads" not in ShredConfig().record()
    assert ShredConfig(chads=5.0).record()["chads"] == 5.0

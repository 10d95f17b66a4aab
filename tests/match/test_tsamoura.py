"""The colour matcher: palette, common subsequences, and whole candidates on pieces made by hand."""

from __future__ import annotations

import math
from functools import partial
from time import perf_counter

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jigsawnet.borders import Borders, build_borders
from jigsawnet.context import Context
from jigsawnet.contours import ContourConfig, trace_contours
from jigsawnet.errors import ConfigError
from jigsawnet.geometry import SE2
from jigsawnet.match import TsamouraConfig
from jigsawnet.match.tsamoura import align_strings, common_runs, match_weights, prepare, quantise_colors, retrieve_pairs
from jigsawnet.types import Piece, Puzzle

from .conftest import find

LETTERS = 4
letters = st.lists(st.integers(0, LETTERS - 1), min_size=1, max_size=14)


def as_string(values: list[int]) -> np.ndarray:
    return np.array(values, np.int32)


def align(a: list[int], b: list[int], gap: float = 0.0, turns: tuple[int, int] | None = None, keep: int = 3):
    turn_a, turn_b = turns or (len(a), len(b))
    weight = np.eye(LETTERS, dtype=np.float32) * (1 + gap) - np.float32(gap)  # an unequal pair costs one gap
    return align_strings(as_string(a), as_string(b), weight, np.float32(gap), turn_a, turn_b, keep, 2)


def plain_lcs(a: list[int], b: list[int]) -> int:
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for r, x in enumerate(a):
        for c, y in enumerate(b):
            table[r + 1][c + 1] = table[r][c] + 1 if x == y else max(table[r][c + 1], table[r + 1][c])
    return table[-1][-1]


@settings(deadline=None, max_examples=150)
@given(letters, letters)
def test_without_gap_cost_the_score_is_the_length_of_the_longest_common_subsequence(a: list[int], b: list[int]) -> None:
    score, at_a, at_b = align(a, b)
    assert score[0] == plain_lcs(a, b)
    assert (at_a[0] >= 0).sum() == (at_b[0] >= 0).sum() == score[0]


@settings(deadline=None, max_examples=80)
@given(letters, letters, st.sampled_from([0.0, 0.5, 1.5]))
def test_every_run_pairs_equal_letters_in_order_and_adds_up(a: list[int], b: list[int], gap: float) -> None:
    for score, at_a, at_b in zip(*align(a, b, gap), strict=True):
        rows, columns = at_a[at_a >= 0][::-1], at_b[at_b >= 0][::-1]
        assert len(rows) == len(columns)
        assert (np.diff(rows) > 0).all()
        assert (np.diff(columns) > 0).all()
        assert (as_string(a)[rows] == as_string(b)[columns]).all()
        left_out = np.maximum(np.diff(rows), np.diff(columns)).sum() - max(0, len(rows) - 1)
        assert score <= len(rows) - gap * left_out + 1e-4


@settings(deadline=None, max_examples=80)
@given(letters, letters, st.sampled_from([0.5, 1.5]))
def test_gap_cost_gives_the_best_local_alignment(a: list[int], b: list[int], gap: float) -> None:
    table = np.zeros((len(a) + 1, len(b) + 1))
    for r, x in enumerate(a):
        for c, y in enumerate(b):
            pair = table[r, c] + (1.0 if x == y else -gap)
            table[r + 1, c + 1] = max(0.0, pair, table[r, c + 1] - gap, table[r + 1, c] - gap)
    assert align(a, b, gap)[0][0] == pytest.approx(table.max())


def test_a_run_over_the_end_of_a_cyclic_string_is_found_whole() -> None:
    common = [0, 1, 2, 0, 1, 1]
    a, b = [*common[3:], 3, 3, 3, *common[:3]], [3, 3, *common, 3]
    b = [2 if letter == 3 else letter for letter in b]
    score, at_a, _ = align(a * 2, b * 2, gap=2.0, turns=(len(a), len(b)))
    assert score[0] == len(common)
    assert sorted(at_a[0][at_a[0] >= 0] % len(a)) == [0, 1, 2, 6, 7, 8]
    assert score[1] < len(common), "the same run a turn further is not another run"


def test_equal_letters_all_round_give_a_run_of_one_turn() -> None:
    score, at_a, _ = align([1] * 18, [1] * 14, gap=1.0, turns=(9, 7))
    assert score[0] == (at_a[0] >= 0).sum() == 7


def test_quantisation_is_deterministic_and_near() -> None:
    rng = np.random.default_rng(0)
    true_palette = rng.uniform(-80, 80, (8, 3))
    true_labels = rng.integers(0, 8, 900)
    colors = (true_palette[true_labels] + rng.normal(0, 0.5, (900, 3))).astype(np.float32)
    labels, palette = quantise_colors(colors, 16)
    again, palette_again = quantise_colors(colors.copy(), 16)
    np.testing.assert_array_equal(labels, again)
    np.testing.assert_array_equal(palette, palette_again)
    assert np.linalg.norm(palette[labels] - colors, axis=1).max() < 8


@pytest.mark.parametrize("count", [0, 1, 50])
def test_one_colour_makes_one_label(count: int) -> None:
    labels, palette = quantise_colors(np.full((count, 3), 20, np.float32), 8)
    assert labels.tolist() == [0] * count
    assert np.isfinite(match_weights(labels, palette, 5.0)).all()


def test_cells_of_the_map_that_are_neighbours_hold_colours_that_are_alike() -> None:
    """What a map has and k-means has not: its cells lie in an order."""
    colors = np.random.default_rng(2).uniform(0, 100, (2000, 1)) @ np.array([[0.6, 0.3, -0.2]])
    _, palette = quantise_colors(colors.astype(np.float32), 16)
    steps = np.diff(palette[:, 0])
    assert (steps > 0).all() or (steps < 0).all()


def test_pieces_alike_in_colour_are_retrieved_and_others_are_not() -> None:
    """Twenty pieces of one half of the colours, twenty of the other: half as many as there are pieces find their own kind."""
    rng = np.random.default_rng(0)
    labels = np.concatenate([rng.integers(4 * (p >= 20), 4 + 4 * (p >= 20), 60) for p in range(40)]).astype(np.int32)
    first = np.arange(0, 41 * 60, 60)
    pairs = retrieve_pairs(labels, first, 8, 19 / 39)
    kind = np.arange(40) >= 20
    assert (pairs == (kind[:, None] == kind[None]) & ~np.eye(40, dtype=bool)).all()
    assert retrieve_pairs(labels, first, 8, 1.0).sum() == 40 * 39
    assert (retrieve_pairs(labels, first, 8, 0.0).sum(1) >= 8).all(), "a few are always compared"


def test_rare_colours_earn_more_and_unlike_ones_cost() -> None:
    labels = np.array([0] * 90 + [1] * 10, np.int32)
    weight = match_weights(labels, np.array([[0.0, 0, 0], [50.0, 0, 0]]), 5.0)
    assert weight[1, 1] > 1 > weight[0, 0] > 0 > weight[0, 1]
    np.testing.assert_array_equal(weight, weight.T)


def borders_of(*pieces: tuple[np.ndarray, np.ndarray]) -> Borders:
    fragments = tuple(Piece(k, f"{k}.png", image, mask) for k, (image, mask) in enumerate(pieces))
    return build_borders(trace_contours(Puzzle("hand-made", fragments), ContourConfig()))


def disc(radius: int, color: int = 120) -> tuple[np.ndarray, np.ndarray]:
    mask = cv2.circle(np.zeros((2 * radius + 9, 2 * radius + 9), np.uint8), (radius + 4, radius + 4), radius, 1, -1) > 0
    return np.full((*mask.shape, 3), color, np.uint8), mask


def cut_picture() -> tuple[Borders, SE2]:
    """Blocks of colour cut along a wave, bands of colour running across the cut; the right piece turned by 90 degrees."""
    height, width = 240, 260
    rng = np.random.default_rng(3)
    picture = cv2.resize(rng.integers(0, 255, (24, 26, 3), np.uint8), (width, height), interpolation=cv2.INTER_NEAREST)
    bands = cv2.resize(rng.integers(0, 255, (20, 1, 3), np.uint8), (80, height), interpolation=cv2.INTER_NEAREST)
    picture[:, 90:170] = bands
    rows, columns = np.mgrid[:height, :width]
    left = columns < 130 + 12 * np.sin(rows / 25.0)
    right = np.ascontiguousarray(np.rot90(~left)), np.ascontiguousarray(np.rot90(picture))
    j_from_picture = SE2(-math.pi / 2, 0.0, width - 1.0)
    return borders_of((picture, left), (right[1], right[0])), j_from_picture.inverse()


def test_a_colourful_seam_is_found_and_aligned() -> None:
    borders, true_i_from_j = cut_picture()
    best = find(borders, 10, TsamouraConfig())[0]
    angle, distance = best.i_from_j.distance(true_i_from_j, true_i_from_j.inverse() @ np.array([130.0, 120.0]))
    assert math.degrees(angle) < 3
    assert distance < 3
    assert best.seam is not None
    assert best.seam.length_px > 150


def test_candidates_are_sorted_bounded_finite_and_repeatable() -> None:
    borders, _ = cut_picture()
    found = find(borders, 3, TsamouraConfig())
    assert found == find(borders, 3, TsamouraConfig())
    assert 0 < len(found) <= 3
    fits = [a.fit for a in found]
    assert fits == sorted(fits, reverse=True)
    assert fits[0] == 1
    assert min(fits) > 0
    assert all(np.isfinite(a.i_from_j.matrix()).all() for a in found)


def test_pairs_that_are_not_retrieved_are_not_compared() -> None:
    """Twelve dark discs and twelve light ones, and a matcher to which all colours are alike."""
    borders = borders_of(*(disc(12, 60 if k % 2 else 200) for k in range(24)))
    for share, expected in ((0.0, {0}), (1.0, {0, 1})):
        material = prepare(borders, TsamouraConfig(alike_lab=500.0, retrieved=share))
        i, j, _, _ = common_runs(material, Context())
        assert set((np.abs(i - j) % 2).tolist()) == expected


def test_noticeable_overlaps_are_dropped() -> None:
    borders, _ = cut_picture()
    careless = partial(TsamouraConfig, alike_lab=60.0, gap=0.5, runs_per_pair=30)  # nearly all colours match
    strict, lax = (find(borders, 50, careless(max_overlap_px=limit)) for limit in (6.0, 500.0))
    assert max(a.seam.overlap_px for a in lax if a.seam) > 12
    assert max(a.seam.overlap_px for a in strict if a.seam) < 12


def test_pieces_without_border_or_with_a_tiny_one_are_harmless() -> None:
    nothing = np.zeros((12, 12, 3), np.uint8), np.zeros((12, 12), np.bool_)
    pieces = [disc(40), nothing, disc(3), disc(4), nothing]
    for a in find(borders_of(*pieces), 10, TsamouraConfig(min_matches=2)):
        assert {a.i, a.j} <= {0, 2, 3}
        assert np.isfinite(a.i_from_j.matrix()).all()


@pytest.mark.parametrize("count", [0, 1, 2])
def test_no_border_at_all_gives_no_candidates(count: int) -> None:
    assert find(build_borders([None] * count), 10, TsamouraConfig()) == ()


def test_pieces_of_one_colour_take_bounded_time() -> None:
    borders = borders_of(*[disc(60 + k) for k in range(8)])
    told: list[tuple[int, int]] = []
    find(borders, 2, TsamouraConfig())  # compiles
    start = perf_counter()
    found = find(borders, 5, TsamouraConfig(), progress=lambda _, done, total: told.append((done, total)))
    assert perf_counter() - start < 5
    assert max(np.bincount([p for a in found for p in (a.i, a.j)], minlength=1)) <= 5
    assert told == [(k, 7) for k in range(1, 8)]


@pytest.mark.parametrize(
    "wrong", [{"palette": 0}, {"palette": 999}, {"alike_lab": 0.0}, {"gap": -1.0}, {"min_matches": 1}, {"retrieved": 1.5}]
)
def test_options_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=r"match\.tsamoura"):
        TsamouraConfig(**wrong)

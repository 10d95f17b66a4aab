"""Contours are true to the shape below the pixel, the same from both sides of a cut, and coloured from inside only."""

from __future__ import annotations

import math

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import KDTree

from jigsawnet.contours import ContourConfig, level_ring, sample, trace_contours
from jigsawnet.errors import ConfigError
from jigsawnet.types import Assembly, BoolArray, Contour, FloatArray, Piece, Puzzle, UInt8Array

RED = (200, 30, 30)
Y, X = np.mgrid[0:160, 0:240].astype(float)


def puzzle_of(*masks: BoolArray, color: tuple[int, int, int] = RED) -> Puzzle:
    """Pieces of one colour on black."""
    images = [(mask[..., None] * np.array(color)).astype(np.uint8) for mask in masks]
    pairs = enumerate(zip(images, masks, strict=True))
    return Puzzle("shapes", tuple(Piece(idx, f"p{idx}", image, mask.copy()) for idx, (image, mask) in pairs))


def contours_of(*masks: BoolArray, config: ContourConfig | None = None) -> list[Contour]:
    traced = trace_contours(puzzle_of(*masks), config or ContourConfig())
    contours = [contour for contour in traced if contour is not None]
    assert len(contours) == len(masks)
    return contours


def disc(radius: float, x: float = 120.0, y: float = 80.0) -> BoolArray:
    return np.asarray(np.hypot(X - x, Y - y) <= radius)


def turned_box(width: float, height: float, theta: float) -> BoolArray:
    """A box about (120, 80), its corners on pixel borders when it is not turned."""
    dx, dy = X - 119.5, Y - 79.5
    along, across = dx * math.cos(theta) + dy * math.sin(theta), dy * math.cos(theta) - dx * math.sin(theta)
    return np.asarray((np.abs(along) <= width / 2) & (np.abs(across) <= height / 2))


def signed_area(points: FloatArray) -> float:
    """Positive when the interior lies to the right, y down."""
    x, y = points.T
    return float((x * np.roll(y, -1) - np.roll(x, -1) * y).sum() / 2)


def chords(points: FloatArray) -> FloatArray:
    """Lengths from each point to the next, the last one back to the first."""
    return np.asarray(np.linalg.norm(np.roll(points, -1, 0) - points, axis=1))


def distance_to_curve(points: FloatArray, curve: FloatArray) -> FloatArray:
    """From each point to a closed polygon."""
    parts = np.linspace(0, 1, 24, endpoint=False)[:, None, None]
    dense = ((1 - parts) * curve + parts * np.roll(curve, -1, 0)).reshape(-1, 2)
    return np.asarray(KDTree(dense).query(points)[0])


def rms(values: FloatArray) -> float:
    return float(np.sqrt((values**2).mean()))


SHAPES = {
    "disc": (disc(50.2, 119.7, 80.4), 2 * math.pi * 50.2, math.pi * 50.2**2),
    "square": (turned_box(100, 100, 0.0), 400.0, 10_000.0),
    "turned rectangle": (turned_box(120, 80, 0.4), 400.0, 9_600.0),
}


@pytest.mark.parametrize(("mask", "perimeter", "area"), SHAPES.values(), ids=SHAPES.keys())
def test_length_and_area_are_those_of_the_shape(mask: BoolArray, perimeter: float, area: float) -> None:
    (contour,) = contours_of(mask)
    assert contour.perimeter_px == pytest.approx(perimeter, rel=0.02)
    assert signed_area(contour.points) == pytest.approx(area, rel=0.01)


@pytest.mark.parametrize("mask", [shape[0] for shape in SHAPES.values()], ids=SHAPES.keys())
def test_samples_are_even_all_the_way_round(mask: BoolArray) -> None:
    (contour,) = contours_of(mask)
    steps = chords(contour.points)
    assert steps.max() <= contour.step_px + 1e-9
    assert steps.min() > 0.7 * contour.step_px  # a chord across a corner is shorter than the way round it
    assert np.median(steps) == pytest.approx(contour.step_px, rel=0.01)


@pytest.mark.parametrize("mask", [shape[0] for shape in SHAPES.values()], ids=SHAPES.keys())
def test_normals_are_unit_and_point_into_the_piece_on_the_right(mask: BoolArray) -> None:
    (contour,) = contours_of(mask)
    np.testing.assert_allclose(np.linalg.norm(contour.normals, axis=1), 1.0, atol=1e-9)
    ahead = np.roll(contour.points, -1, 0) - np.roll(contour.points, 1, 0)
    assert (ahead[:, 0] * contour.normals[:, 1] - ahead[:, 1] * contour.normals[:, 0] > 0).all()
    inside, outside = (sample(mask.astype(np.float32), contour.points + side * 3 * contour.normals) for side in (1, -1))
    assert (inside == 1).all()
    assert (outside == 0).all()


@pytest.mark.parametrize("radius", [20.0, 50.2, 77.7])
def test_a_disc_is_traced_below_the_pixel(radius: float) -> None:
    (contour,) = contours_of(disc(radius, 119.7, 80.4))
    error = np.linalg.norm(contour.points - (119.7, 80.4), axis=1) - radius
    assert rms(error) < 0.15
    assert abs(error.mean()) < 0.1
    to_middle = ((119.7, 80.4) - contour.points) / np.linalg.norm(contour.points - (119.7, 80.4), axis=1, keepdims=True)
    angle = np.arcsin(np.cross(np.pad(to_middle, ((0, 0), (0, 1))), np.pad(contour.normals, ((0, 0), (0, 1))))[:, 2])
    assert rms(angle) < 0.06


def test_straight_edges_lie_on_the_border_of_their_pixels() -> None:
    mask = np.zeros((160, 240), bool)
    mask[30:130, 40:160] = True
    (contour,) = contours_of(mask)
    np.testing.assert_allclose(contour.points.min(0), (39.5, 29.5), atol=0.05)
    np.testing.assert_allclose(contour.points.max(0), (159.5, 129.5), atol=0.05)


@pytest.mark.parametrize(("amplitude", "wave"), [(0.0, 17.0), (14.0, 17.0), (6.0, 5.3), (25.0, 30.0)])
def test_both_sides_of_a_cut_get_the_same_curve(amplitude: float, wave: float) -> None:
    left = amplitude * np.sin(Y / wave) + 0.3 * Y + X < 140
    contours = contours_of(left, ~left)
    for here, there in (contours, contours[::-1]):
        y = here.points[:, 1]
        along_cut = (y > 12) & (y < 147) & (here.points[:, 0] > 12) & (here.points[:, 0] < 227)
        assert along_cut.sum() > 40
        assert rms(distance_to_curve(here.points[along_cut], there.points)) < 0.3


def test_a_piece_and_the_hole_it_left_have_one_border() -> None:
    piece = np.asarray(np.hypot(X - 120, Y - 80) <= 45 + 8 * np.sin(5 * np.arctan2(Y - 80, X - 120)))
    ring = level_ring(piece, 1.5)
    opened = ~piece
    opened[:, 119:122] &= Y[:, 119:122] > 80  # a slit makes the hole part of the outer border
    around = level_ring(opened, 1.5)
    assert ring is not None
    assert around is not None
    away_from_slit = (np.abs(ring[:, 0] - 120) > 8) | (ring[:, 1] > 80)
    assert rms(distance_to_curve(ring[away_from_slit], around)) < 0.1


def test_holes_do_not_change_the_contour() -> None:
    holed = disc(50)
    holed[70:90, 110:130] = False
    holed[60, 100] = False
    whole, with_hole = contours_of(disc(50), holed)
    np.testing.assert_array_equal(whole.points, with_hole.points)


def test_hair_thin_spikes_and_slits_hardly_change_the_contour() -> None:
    spiky = disc(50)
    spiky[80, 165:210] = True
    spiky[0:40, 120] = True
    spiky[100:140, 100] = False
    whole, with_spikes = contours_of(disc(50), spiky)
    distance = distance_to_curve(with_spikes.points, whole.points)
    assert rms(distance) < 0.3
    assert distance.max() < 1.5


def test_only_the_largest_part_of_a_mask_counts() -> None:
    crumbs = disc(40) | disc(8, 20, 20) | disc(5, 220, 140)
    whole, with_crumbs = contours_of(disc(40), crumbs)
    np.testing.assert_array_equal(whole.points, with_crumbs.points)


def lab_of(color: tuple[int, int, int]) -> FloatArray:
    pixel = np.array([[color]], np.float32) / 255
    return np.asarray(cv2.cvtColor(pixel, cv2.COLOR_RGB2LAB)[0, 0], dtype=np.float64)


SPIKY = np.asarray(np.hypot(X - 120, Y - 80) <= 45 + 25 * np.abs(np.sin(6 * np.arctan2(Y - 80, X - 120))))


@pytest.mark.parametrize(
    "mask",
    [disc(50), turned_box(120, 80, 0.4), turned_box(150, 4, 0.3), SPIKY, np.ones((60, 80), bool), disc(4)],
    ids=["disc", "turned rectangle", "narrow strip", "spiky", "whole picture", "tiny disc"],
)
@pytest.mark.parametrize("samples", [16, 240])
def test_a_plain_piece_has_its_colour_everywhere_and_no_black_from_outside(mask: BoolArray, samples: int) -> None:
    (contour,) = contours_of(mask, config=ContourConfig(samples=samples))
    np.testing.assert_allclose(contour.colors, np.broadcast_to(lab_of(RED), contour.colors.shape), atol=0.5)


def test_each_side_has_the_colour_just_inside_it() -> None:
    mask = np.zeros((100, 160), bool)
    mask[10:90, 10:150] = True
    image = np.zeros((100, 160, 3), np.uint8)
    image[:, :80], image[:, 80:] = RED, (20, 60, 220)
    image[30:70, 30:130] = 255  # the middle is out of reach
    (contour,) = trace_contours(Puzzle("two", (Piece(0, "two", image, mask),)), ContourConfig())
    assert contour is not None
    left, right = contour.points[:, 0] < 75, contour.points[:, 0] > 85
    assert left.sum() + right.sum() > 100
    np.testing.assert_allclose(contour.colors[left], np.tile(lab_of(RED), (left.sum(), 1)), atol=0.5)
    np.testing.assert_allclose(contour.colors[right], np.tile(lab_of((20, 60, 220)), (right.sum(), 1)), atol=0.5)


NOTHING = {
    "empty": np.zeros((20, 30), bool),
    "no pixels": np.zeros((0, 0), bool),
    "one pixel": np.ones((1, 1), bool),
    "three pixels square": np.ones((3, 3), bool),
    "row": np.ones((1, 200), bool),
    "column": np.ones((200, 1), bool),
    "checkers": (X[:20, :30] + Y[:20, :30]) % 3 == 0,
}


@pytest.mark.parametrize("mask", NOTHING.values(), ids=NOTHING.keys())
def test_what_is_too_small_or_too_thin_has_no_contour_and_disturbs_no_other(mask: BoolArray) -> None:
    assert trace_contours(puzzle_of(mask), ContourConfig()) == (None,)
    first, second = trace_contours(puzzle_of(mask, disc(50)), ContourConfig())
    (alone,) = contours_of(disc(50))
    assert first is None
    assert second is not None
    assert second.piece_idx == 1
    np.testing.assert_array_equal(second.points, alone.points)


def test_no_pieces_give_no_contours() -> None:
    assert trace_contours(Puzzle("none", ()), ContourConfig()) == ()


def test_pieces_may_touch_the_border_of_their_picture() -> None:
    (contour,) = contours_of(np.ones((60, 80), bool))
    assert contour.perimeter_px == pytest.approx(280, rel=0.03)
    assert signed_area(contour.points) == pytest.approx(4800, rel=0.01)
    np.testing.assert_allclose(contour.points.min(0), (-0.5, -0.5), atol=0.1)
    np.testing.assert_allclose(contour.points.max(0), (79.5, 59.5), atol=0.1)


def test_all_pieces_share_one_step_set_by_the_median_piece() -> None:
    config = ContourConfig(samples=100)
    small, middle, large = contours_of(disc(35), disc(50), disc(70), config=config)
    assert len(middle) == 100
    assert [c.step_px for c in (small, large)] == pytest.approx([middle.step_px] * 2, rel=0.01)
    (fine,) = contours_of(disc(50), config=ContourConfig(samples=10_000, min_step_px=2.5))
    assert fine.step_px == pytest.approx(2.5, rel=0.01)


@pytest.mark.parametrize("wrong", [{"samples": 15}, {"min_step_px": 0.0}, {"smooth_px": -1.0}, {"color_depth_px": -0.1}])
def test_options_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="contours options"):
        ContourConfig(**wrong)  # type: ignore[arg-type]


def test_sampling_is_bilinear_repeats_the_border_and_takes_many_points() -> None:
    image = np.array([[0.0, 10.0], [20.0, 30.0]], np.float32)
    points = np.array([[0.0, 0.0], [0.5, 0.0], [0.5, 0.5], [-9.0, 0.0], [9.0, 9.0]])
    np.testing.assert_allclose(sample(image, points)[:, 0], [0, 5, 15, 0, 30], atol=1e-3)
    many = np.tile(points, (14_000, 1))
    np.testing.assert_allclose(sample(np.stack([image, -image], -1), many), np.tile(sample(image, many), 2) * (1, -1))


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.floats(1.5, 9.0), st.floats(0.2, 0.8))
def test_any_blob_gives_a_finite_ordered_even_contour(seed: int, blur: float, part: float) -> None:
    noise = cv2.GaussianBlur(np.random.default_rng(seed).normal(size=(80, 100)).astype(np.float32), (0, 0), blur)
    mask = np.asarray(noise > np.quantile(noise, part))
    (contour,) = trace_contours(puzzle_of(mask), ContourConfig())
    if contour is None:
        return
    for array in (contour.points, contour.normals, contour.colors):
        assert np.isfinite(array).all()
    steps = chords(contour.points)
    assert signed_area(contour.points) > 0
    assert steps.max() <= contour.step_px + 1e-9
    assert (steps > 0.75 * contour.step_px).mean() > 0.8
    np.testing.assert_allclose(np.linalg.norm(contour.normals, axis=1), 1.0, atol=1e-6)
    np.testing.assert_allclose(contour.colors, np.broadcast_to(lab_of(RED), contour.colors.shape), atol=0.5)


def test_the_borders_of_cut_pieces_fall_together_in_the_picture(
    nine_pieces: tuple[Puzzle, Assembly], picture: UInt8Array
) -> None:
    puzzle, truth = nine_pieces
    contours = trace_contours(puzzle, ContourConfig())
    rings = [truth.poses[c.piece_idx] @ c.points for c in contours if c is not None]
    assert len(rings) == len(puzzle)
    size = np.array([picture.shape[1], picture.shape[0]])
    for k, ring in enumerate(rings):
        within = ((ring > 6) & (ring < size - 7)).all(1)
        others = np.stack([distance_to_curve(ring[within], other) for m, other in enumerate(rings) if m != k])
        assert np.median(others.min(0)) < 0.4
        assert np.quantile(others.min(0), 0.9) < 1.0


def test_slender_pieces_are_sampled_as_finely_as_compact_ones_of_their_area() -> None:
    """A strip has much border and little inside; the step that its perimeter asks for would be too coarse for it."""
    strip, square = (np.zeros(shape, bool) for shape in ((1610, 50), (298, 298)))
    strip[5:-5, 5:-5] = square[5:-5, 5:-5] = True
    steps = [contours_of(mask)[0].step_px for mask in (strip, square)]
    assert steps[1] == pytest.approx(4 * 288 / 240, rel=0.05)
    assert steps[0] == pytest.approx(6 * math.sqrt(1600 * 40) / 240, rel=0.05)

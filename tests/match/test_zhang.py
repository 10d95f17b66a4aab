import itertools
import math
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jigsawnet.borders import build_borders
from jigsawnet.contours import ContourConfig, trace_contours
from jigsawnet.errors import ConfigError
from jigsawnet.evaluation.metrics import candidate_recall
from jigsawnet.geometry import SE2
from jigsawnet.io.authors import read_ground_truth
from jigsawnet.loading import load_puzzle
from jigsawnet.match import ZhangConfig
from jigsawnet.match.zhang import _score_all
from jigsawnet.match.zhang_polygon import approximate_polygon, split_contours
from jigsawnet.types import Alignment, BoolArray, Contour, FloatArray, Piece, Puzzle

from .conftest import find

PER_PIECE = 40
MIT_EX = Path(__file__).resolve().parents[2].parent / "shared" / "examples" / "MIT_ex"


def blob(seed: int, n: int = 200) -> FloatArray:
    """A closed wobbly curve about a circle of radius 60."""
    angle = np.arange(n) * 2 * np.pi / n
    waves = np.random.default_rng(seed).normal(0, 6, (5, 2))
    radius = 60 + sum(a * np.cos(k * angle) + b * np.sin(k * angle) for k, (a, b) in enumerate(waves, start=2))
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def distance_to_chord(points: FloatArray, start: FloatArray, end: FloatArray) -> FloatArray:
    chord = end - start
    along = np.clip((points - start) @ chord / (chord @ chord), 0, 1)
    return np.asarray(np.linalg.norm(points - start - along[:, None] * chord, axis=1))


def ring_of(points: FloatArray, idx: int = 0, color: FloatArray | None = None) -> Contour:
    tangents = np.roll(points, -1, 0) - np.roll(points, 1, 0)
    tangents /= np.maximum(np.linalg.norm(tangents, axis=1, keepdims=True), 1e-9)
    normals = np.column_stack([-tangents[:, 1], tangents[:, 0]])
    step = float(np.linalg.norm(np.roll(points, -1, 0) - points, axis=1).mean())
    return Contour(idx, points, normals, np.full((len(points), 3), 50.0) if color is None else color, step)


def regular_polygon(sides: int, n: int = 200, radius: float = 80.0) -> FloatArray:
    """Evenly spaced points on a regular polygon."""
    corners = radius * np.exp(2j * np.pi * np.arange(sides + 1) / sides)
    at = np.arange(n) * sides / n
    whole = at.astype(int)
    z = corners[whole] + (at - whole) * (corners[whole + 1] - corners[whole])
    return np.column_stack([z.real, z.imag])


def along_corners(corners: Sequence[tuple[float, float]], step: float = 2.0) -> FloatArray:
    """Points every ``step`` px along a closed polygon whose sides are multiples of it."""
    closed = np.array([*corners, corners[0]], dtype=float)
    sides = itertools.pairwise(closed)
    return np.concatenate([np.linspace(a, b, round(np.linalg.norm(b - a) / step), endpoint=False) for a, b in sides])


def rectangle(width: float, height: float) -> FloatArray:
    return along_corners([(0, 0), (width, 0), (width, height), (0, height)])


def c_shape() -> FloatArray:
    return along_corners([(0, 0), (100, 0), (100, 30), (40, 30), (40, 70), (100, 70), (100, 100), (0, 100)])


def moved(contour: Contour, idx: int, pose: SE2) -> Contour:
    turn = SE2(pose.theta, 0.0, 0.0)
    return Contour(idx, pose @ contour.points, turn @ contour.normals, contour.colors.copy(), contour.step_px)


def torn_sheet() -> tuple[Contour, Contour]:
    """A sheet with colour gradients, torn from top to bottom along a jagged line: left and right part, in the sheet's frame."""
    y, x = np.mgrid[:240, :320]
    jag = [0, 20, 45, 70, 95, 120, 150, 180, 205, 239], [160, 178, 150, 165, 135, 172, 166, 190, 148, 160]
    left: BoolArray = x < np.interp(y, *jag)
    image = np.stack([x / 2 + 40, y / 2 + 60, 128 + 60 * np.sin(y / 25)], -1).astype(np.uint8)
    inside = (x > 0) & (x < 319) & (y > 0) & (y < 239)
    masks = left & inside, ~left & inside
    puzzle = Puzzle("sheet", tuple(Piece(k, f"{k}.png", image.copy(), mask) for k, mask in enumerate(masks)))
    one, two = trace_contours(puzzle, ContourConfig())
    assert one is not None
    assert two is not None
    return one, two


def numbers(alignments: Sequence[Alignment]) -> list[tuple[float, ...]]:
    rows = []
    for a in alignments:
        assert a.seam is not None
        pose, seam = a.i_from_j, a.seam
        rows.append((a.i, a.j, pose.theta, pose.x, pose.y, a.fit, seam.length_px, seam.residual_px, seam.gap_px,
                     seam.overlap_px, seam.color_step))  # fmt: skip
    return rows


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10_000), tolerance=st.floats(0.5, 12.0))
def test_no_contour_point_leaves_its_segment_by_more_than_the_tolerance(seed: int, tolerance: float) -> None:
    points = blob(seed)
    vertices = approximate_polygon(points, np.full((len(points), 3), 50.0), tolerance, 20.0, 4)
    assert (np.diff(vertices) > 0).all()
    assert 0 <= vertices[0] < vertices[-1] < len(points)
    for a, b in zip(vertices, [*vertices[1:], vertices[0] + len(points)], strict=True):
        part = points[np.arange(a, b + 1) % len(points)]
        assert distance_to_chord(part, part[0], part[-1]).max() <= tolerance + 1e-9


def test_a_square_of_one_colour_has_its_four_corners() -> None:
    points = regular_polygon(4)
    assert approximate_polygon(points, np.full((200, 3), 50.0), 2.0, 20.0, 4).tolist() == [0, 50, 100, 150]


def test_a_straight_side_is_split_where_its_colour_changes() -> None:
    colors = np.full((200, 3), 50.0)
    colors[70:80] += 40.0
    assert approximate_polygon(regular_polygon(4), colors, 2.0, 20.0, 4).tolist() == [0, 50, 70, 80, 100, 150]


def test_colours_within_the_limit_do_not_split() -> None:
    colors = np.full((200, 3), 50.0)
    colors[70:80, 0] += 15.0
    assert len(approximate_polygon(regular_polygon(4), colors, 2.0, 20.0, 4)) == 4


def test_segments_are_described_in_the_frame_of_the_piece() -> None:
    square = rectangle(100, 100)
    segments = split_contours(build_borders([ring_of(square)]), 1.0, 20.0, 12.0)
    assert segments.first.tolist() == [0, 4]
    np.testing.assert_allclose(segments.length, 100)
    np.testing.assert_allclose(segments.center, [(50, 0), (100, 50), (50, 100), (0, 50)])
    np.testing.assert_allclose(np.cos(segments.heading), [1, 0, -1, 0], atol=1e-6)
    np.testing.assert_allclose(np.sin(segments.heading), [0, 1, 0, -1], atol=1e-6)
    np.testing.assert_allclose(segments.color, 50.0)


@pytest.mark.parametrize("turn_deg", [0.0, 37.0, 90.0, 200.0])
def test_the_two_parts_of_a_torn_sheet_are_laid_together(turn_deg: float) -> None:
    left, right = torn_sheet()
    right_from_sheet = SE2(math.radians(turn_deg), 55.0, -30.0)
    best = find(build_borders([left, moved(right, 1, right_from_sheet)]), PER_PIECE, ZhangConfig())[0]
    angle, distance = best.i_from_j.distance(right_from_sheet.inverse(), at=right_from_sheet @ np.array([160.0, 120.0]))
    assert math.degrees(angle) < 2
    assert distance < 2
    assert best.fit == 1.0
    assert best.seam is not None
    assert best.seam.length_px > 150
    assert best.seam.residual_px < 1.5


def test_what_segments_lay_roughly_together_is_refined_to_a_fraction_of_a_pixel() -> None:
    """Step 3, ICP: laid by their segments alone, the parts of this sheet are 0.6 degrees and 1.5 px off."""
    left, right = torn_sheet()
    best = find(build_borders([left, right]), PER_PIECE, ZhangConfig())[0]
    angle, distance = best.i_from_j.distance(SE2.identity(), at=(160.0, 120.0))
    assert math.degrees(angle) < 0.2
    assert distance < 0.5


def test_pixels_of_another_colour_do_not_count() -> None:
    left, right = torn_sheet()
    repainted = right.colors + np.where(right.points[:, 1:] > 120, 60.0, 0.0)
    half = Contour(2, right.points.copy(), right.normals.copy(), repainted, right.step_px)
    fits = {(a.i, a.j): a.fit for a in reversed(find(build_borders([left, right, half]), PER_PIECE, ZhangConfig()))}
    assert fits[0, 1] == 1.0
    assert 0.3 < fits[0, 2] < 0.7


def test_only_facing_borders_of_pieces_that_do_not_overlap_count() -> None:
    plug = rectangle(60, 40)  # fits the mouth of the C on three sides
    borders = build_borders([ring_of(c_shape()), ring_of(plug, idx=1), ring_of(c_shape(), idx=2)])
    j = np.array([1, 1, 2], np.int32)
    poses = np.array([(0, 40, 30), (0, 10, 30), (0, 0, 0)], np.float32)  # in the mouth; pushed too deep; on top of itself
    strict, lenient = np.zeros(3), np.zeros(3)
    _score_all(borders.kernel, 0, j, poses, 1.5, 25.0, (2.5, 0.03), strict)
    _score_all(borders.kernel, 0, j, poses, 1.5, 25.0, (2.5, 1.0), lenient)
    assert strict[0] == pytest.approx(160, abs=8)
    assert strict[1] == 0
    assert lenient[1] > 50
    assert lenient[2] == 0


def test_segments_of_different_length_are_laid_flush_at_both_ends() -> None:
    wall, brick = rectangle(80, 200), rectangle(80, 120)
    alignments = find(build_borders([ring_of(wall), ring_of(brick, idx=1)]), PER_PIECE, ZhangConfig())
    for top in (0.0, 80.0):
        flush = SE2(0.0, 80.0, top)
        assert (
            min(max(math.degrees(angle), px) for angle, px in (a.i_from_j.distance(flush, (0, 60)) for a in alignments)) < 2.5
        )


@pytest.mark.parametrize(("max_overlap", "covered"), [(0.0, False), (1.0, True)])
def test_candidates_that_overlap_noticeably_are_dropped(max_overlap: float, covered: bool) -> None:
    borders = build_borders([ring_of(c_shape(), idx=k) for k in range(2)])
    alignments = find(borders, PER_PIECE, ZhangConfig(max_overlap=max_overlap))
    assert alignments
    assert (max(a.seam.overlap_px for a in alignments if a.seam) > 10) == covered


def test_the_best_come_first_and_no_piece_has_more_than_its_share() -> None:
    borders = build_borders([moved(part, k, SE2(k, 0.0, 0.0)) for k, part in enumerate(torn_sheet() * 3)])
    alignments = find(borders, 5, ZhangConfig())
    fits = [a.fit for a in alignments]
    assert fits == sorted(fits, reverse=True)
    assert fits[0] == 1.0
    assert min(fits) > 0
    pieces = [piece for a in alignments for piece in (a.i, a.j)]
    assert max(np.bincount(pieces)) == 5


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_pieces_without_or_with_a_tiny_contour_do_no_harm(n: int) -> None:
    left, right = torn_sheet()
    speck = ring_of(5 + 0.5 * regular_polygon(4, n=4, radius=1.0)[[0, 1, 2, 3, 0][:n]], idx=3)
    borders = build_borders([None, left, None, speck, moved(right, 4, SE2.identity()), None])
    alignments = find(borders, PER_PIECE, ZhangConfig())
    assert (alignments[0].i, alignments[0].j) == (1, 4)
    assert np.isfinite(numbers(alignments)).all()


@pytest.mark.parametrize("contours", [[], [None], [None, None], [ring_of(regular_polygon(4))]])
def test_nothing_to_match_gives_no_candidates(contours: list[Contour | None]) -> None:
    assert find(build_borders(contours), PER_PIECE, ZhangConfig()) == ()


@pytest.mark.parametrize("sides", [3, 4, 60])
def test_pieces_that_are_all_alike_stay_within_bounds(sides: int) -> None:
    borders = build_borders([ring_of(regular_polygon(sides), idx=k) for k in range(12)])
    find(borders, 1, ZhangConfig())  # compile
    start = time.perf_counter()
    alignments = find(borders, PER_PIECE, ZhangConfig(matches_per_pair=6))
    assert time.perf_counter() - start < 5
    pairs = [(a.i, a.j) for a in alignments]
    assert max(pairs.count(pair) for pair in set(pairs)) <= 6
    assert np.isfinite(numbers(alignments)).all()


def test_the_same_input_gives_the_same_candidates() -> None:
    borders = build_borders([moved(part, k, SE2(0.3 * k, 0.0, 0.0)) for k, part in enumerate(torn_sheet() * 2)])
    first, second = (numbers(find(borders, PER_PIECE, ZhangConfig())) for _ in range(2))
    assert first == second


def test_progress_reaches_its_end() -> None:
    calls: list[tuple[str, int, int]] = []
    find(build_borders((*torn_sheet(), None)), PER_PIECE, ZhangConfig(), progress=lambda *call: calls.append(call))
    assert calls
    assert calls == [("match", k + 1, len(calls)) for k in range(len(calls))]


@pytest.mark.parametrize(
    "options",
    [{"tolerance_px": 0.0}, {"length_ratio": 1.5}, {"max_overlap": -0.1}, {"matches_per_pair": 0}, {"aligned_lab": 0.0}],
)
def test_options_out_of_range_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=r"match\.zhang"):
        ZhangConfig(**options)  # type: ignore[arg-type]


@pytest.mark.skipif(not MIT_EX.is_dir(), reason="the authors' example puzzles are not here")
def test_most_true_neighbours_of_the_authors_puzzle_are_found() -> None:
    puzzle = load_puzzle(MIT_EX)
    truth = read_ground_truth(MIT_EX / "groundTruth.txt", puzzle.names())
    borders = build_borders(trace_contours(puzzle, ContourConfig()))
    assert candidate_recall(puzzle, find(borders, PER_PIECE, ZhangConfig()), truth) >= 10 / 12

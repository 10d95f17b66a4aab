"""The dense matcher: finds neighbours to a fraction of a pixel, and is not upset by odd pieces."""

from __future__ import annotations

import math

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jigsawnet.borders import Borders, build_borders
from jigsawnet.contours import ContourConfig, trace_contours
from jigsawnet.errors import ConfigError
from jigsawnet.evaluation.metrics import candidate_recall, right_candidates
from jigsawnet.match import DenseConfig, RaggedConfig
from jigsawnet.types import Alignment, Assembly, Piece, Puzzle

from .conftest import find


def borders_of(*masks: np.ndarray, color: int | None = None) -> Borders:
    rng = np.random.default_rng(0)
    images = [
        np.full((*m.shape, 3), color, np.uint8) if color else rng.integers(0, 255, (*m.shape, 3), np.uint8) for m in masks
    ]
    pieces = [Piece(k, f"{k}.png", image, mask) for k, (image, mask) in enumerate(zip(images, masks, strict=True))]
    return build_borders(trace_contours(Puzzle("masks", tuple(pieces)), ContourConfig()))


def disc(radius: int) -> np.ndarray:
    canvas = np.zeros((2 * radius + 9, 2 * radius + 9), np.uint8)
    cv2.circle(canvas, (radius + 4, radius + 4), radius, 1, -1)
    return canvas.astype(bool)


def block(height: int, width: int) -> np.ndarray:
    return np.pad(np.ones((height, width), bool), 4)


def assert_sound(found: tuple[Alignment, ...], n: int, per_piece: int) -> None:
    """Finite, in range, best first, and within the cap."""
    degree = np.zeros(n, int)
    for a in found:
        assert 0 <= a.i < a.j < n
        assert all(math.isfinite(v) for v in (a.i_from_j.theta, a.i_from_j.x, a.i_from_j.y, a.fit))
        assert 0 < a.fit <= 1
        assert a.seam is not None
        assert a.seam.length_px > 0
        degree[[a.i, a.j]] += 1
    assert degree.max(initial=0) <= per_piece
    assert [a.fit for a in found] == sorted((a.fit for a in found), reverse=True)


def test_every_neighbour_of_nine_pieces_is_found(nine_pieces: tuple[Puzzle, Assembly]) -> None:
    puzzle, truth = nine_pieces
    borders = build_borders(trace_contours(puzzle, ContourConfig()))
    found = find(borders, 40, DenseConfig())
    assert candidate_recall(puzzle, found, truth, gap_px=2.5) == 1.0
    right = right_candidates(puzzle, found, truth, gap_px=2.5)
    best_wrong = max((a.fit for a, good in zip(found, right, strict=True) if not good), default=0.0)
    best_right = [a for a, good in zip(found, right, strict=True) if good and a.fit > best_wrong]
    assert len(best_right) >= 8, "most right joins score above every wrong one"
    assert np.median([a.seam.residual_px for a in best_right if a.seam]) < 0.5


def test_poses_are_exact_to_a_fraction_of_a_pixel(nine_pieces: tuple[Puzzle, Assembly]) -> None:
    puzzle, truth = nine_pieces
    borders = build_borders(trace_contours(puzzle, ContourConfig()))
    found = find(borders, 40, DenseConfig())
    errors = []
    for a, good in zip(found, right_candidates(puzzle, found, truth, gap_px=2.5), strict=True):
        if good:
            true_pose = truth.poses[a.i].inverse() @ truth.poses[a.j]
            errors.append(a.i_from_j.distance(true_pose, at=borders.center[a.j])[1])
    assert np.median(errors) < 1.0


def test_candidates_do_not_depend_on_the_run(tiny_puzzle: tuple[Puzzle, Assembly]) -> None:
    borders = build_borders(trace_contours(tiny_puzzle[0], ContourConfig()))
    assert find(borders, 40, DenseConfig()) == find(borders, 40, DenseConfig())


def test_no_piece_has_more_than_its_share(nine_pieces: tuple[Puzzle, Assembly]) -> None:
    borders = build_borders(trace_contours(nine_pieces[0], ContourConfig()))
    assert_sound(find(borders, 5, DenseConfig()), 9, 5)


@pytest.mark.parametrize(
    "masks",
    [
        [disc(30)] * 5,
        [block(60, 60)] * 6,
        [block(40, 200), block(40, 200), block(12, 300)],
        [disc(2), disc(3), disc(40), block(3, 3), block(2, 30)],
        [disc(400), *[disc(6)] * 12],
        [np.zeros((9, 9), bool), disc(20), disc(20)],
    ],
    ids=["discs", "squares alike", "bars", "crumbs", "one huge among tiny ones", "one empty"],
)
@pytest.mark.parametrize("color", [None, 200])
def test_odd_pieces_do_no_harm(masks: list[np.ndarray], color: int | None) -> None:
    borders = borders_of(*masks, color=color)
    assert_sound(find(borders, 20, DenseConfig()), len(masks), 20)


@pytest.mark.parametrize(("pieces", "ragged"), [(1000, False), (200, True)])
def test_many_tiny_pieces_stay_within_bounds(pieces: int, ragged: bool) -> None:
    rng = np.random.default_rng(1)
    masks = []
    for _ in range(pieces):
        mask = np.zeros((16, 16), np.uint8)
        cv2.fillPoly(mask, [rng.integers(2, 14, (5, 1, 2)).astype(np.int32)], 1)
        masks.append(mask.astype(bool))
    config = DenseConfig(ragged=RaggedConfig(enabled=ragged))
    assert_sound(find(borders_of(*masks), 40, config), pieces, 40)


@pytest.mark.parametrize("n", [0, 1])
def test_too_few_pieces_give_no_candidates(n: int) -> None:
    assert find(borders_of(*[disc(20)] * n), 40, DenseConfig()) == ()


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(2, 6), corners=st.integers(3, 12), size=st.integers(6, 120))
def test_random_shapes_do_no_harm(seed: int, n: int, corners: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    masks = []
    for _ in range(n):
        mask = np.zeros((size + 8, size + 8), np.uint8)
        cv2.fillPoly(mask, [rng.integers(4, size + 4, (corners, 1, 2)).astype(np.int32)], 1)
        masks.append(mask.astype(bool))
    assert_sound(find(borders_of(*masks), 20, DenseConfig()), n, 20)


@pytest.mark.parametrize("kind", [DenseConfig, RaggedConfig])
@pytest.mark.parametrize(
    "options",
    [{"windows": ()}, {"windows": (1.5,)}, {"windows": (0.0, 0.2)}, {"seeds_per_pair": 0}, {"per_pair": 0}],
)
def test_options_out_of_range_are_refused(kind: type[DenseConfig] | type[RaggedConfig], options: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        kind(**options)  # type: ignore[arg-type]


def test_a_colour_below_nothing_is_refused() -> None:
    with pytest.raises(ConfigError):
        DenseConfig(color_lab=(-1.0,))

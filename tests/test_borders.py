"""The flat arrays of all pieces fit together, and one look-up tells distance and depth."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import typeof
from numpy.typing import NDArray
from scipy.spatial import KDTree

from jigsawnet import borders as module
from jigsawnet.borders import (
    MARGIN_CELLS,
    OPPOSITE,
    BorderArrays,
    Borders,
    Insides,
    build_borders,
    facing,
    is_compiled,
    lies_inside,
    longest_run,
    look_up,
    mark_compiled,
    pair_samples,
    solve_symmetric,
)
from jigsawnet.contours import ContourConfig, trace_contours
from jigsawnet.match.contact import _settle_all, bends, settle
from jigsawnet.match.gap import _votes, gap_step
from jigsawnet.match.verify import VerifyConfig, _verify_all, verify
from jigsawnet.score.seam_path import _trace_all, trace_seams
from jigsawnet.types import Contour, FloatArray, Piece, Puzzle

SPECK = np.ones((2, 2), bool)


def blob(radius: float, waves: int = 5) -> NDArray[np.bool_]:
    half = int(1.4 * radius) + 3
    y, x = np.mgrid[-half : half + 1, -half : half + 1].astype(float)
    return np.asarray(np.hypot(x, y) <= radius * (1 + 0.2 * np.sin(waves * np.arctan2(y, x))))


def contours_of(*masks: NDArray[np.bool_]) -> tuple[Contour | None, ...]:
    def piece(idx: int, mask: NDArray[np.bool_]) -> Piece:
        return Piece(idx, str(idx), np.full((*mask.shape, 3), 50 * idx, np.uint8), mask.copy())

    return trace_contours(Puzzle("blobs", tuple(piece(*pair) for pair in enumerate(masks))), ContourConfig())


def contour_of(mask: NDArray[np.bool_]) -> Contour:
    (contour,) = contours_of(mask)
    assert contour is not None
    return contour


def cell_centers(borders: Borders, piece: int) -> FloatArray:
    rows, cols = borders.grid_size[piece]
    row, col = np.divmod(np.arange(rows * cols), cols)
    return np.asarray(np.column_stack([col, row]) * borders.cell_px + borders.grid_origin[piece], dtype=np.float64)


def depth_in_polygon(points: FloatArray, ring: FloatArray) -> FloatArray:
    """Signed distance to the border, positive inside."""
    polygon = ring.astype(np.float32)[:, None]
    return np.array([cv2.pointPolygonTest(polygon, (float(x), float(y)), measureDist=True) for x, y in points])


def find(borders: Borders, piece: int, x: float, y: float) -> int:
    return int(look_up(borders.kernel, piece, x, y))


def test_every_piece_owns_its_part_of_the_arrays() -> None:
    contours = contours_of(blob(30), SPECK, blob(40, 3), blob(36, 7))
    borders = build_borders(contours)
    assert len(borders) == 4
    assert borders.first[0] == borders.grid_first[0] == borders.core_first[0] == 0
    assert borders.first[-1] == len(borders.points) == len(borders.normals) == len(borders.colors)
    assert borders.grid_first[-1] == len(borders.nearest) == len(borders.depth)
    assert borders.core_first[-1] == len(borders.core)
    np.testing.assert_array_equal(np.diff(borders.grid_first), borders.grid_size.prod(1))
    for piece, contour in enumerate(contours):
        if contour is None:
            continue
        for name in ("points", "normals", "colors"):
            np.testing.assert_allclose(getattr(borders, name)[borders.samples(piece)], getattr(contour, name), atol=1e-4)
        cells = slice(*borders.grid_first[piece : piece + 2])
        assert borders.nearest[cells].min() >= 0
        assert borders.nearest[cells].max() < len(contour)
        np.testing.assert_allclose(borders.center[piece], contour.points.mean(0), atol=1e-3)
        assert np.linalg.norm(contour.points - borders.center[piece], axis=1).max() <= borders.radius[piece] + 1e-3


def test_a_piece_without_contour_owns_nothing() -> None:
    borders = build_borders(contours_of(blob(30), SPECK, blob(40)))
    for starts in (borders.first, borders.grid_first, borders.core_first):
        assert starts[1] == starts[2]
    assert borders.radius[1] == 0
    assert find(borders, 1, 0.0, 0.0) == -1


@pytest.mark.parametrize("contours", [(), (None,), (None, None)])
def test_borders_of_nothing_are_empty(contours: tuple[None, ...]) -> None:
    borders = build_borders(contours)
    assert len(borders) == len(contours)
    assert all(len(array) == 0 for array in (borders.points, borders.nearest, borders.depth, borders.core))


@pytest.mark.parametrize("radius", [25.0, 60.0, 200.0])
def test_the_nearest_sample_is_nearly_the_nearest(radius: float) -> None:
    contour = contour_of(blob(radius))
    borders = build_borders([contour])
    centers = cell_centers(borders, 0)
    nearest = KDTree(contour.points).query(centers)[0]
    found = np.linalg.norm(contour.points[borders.nearest] - centers, axis=1)
    near = np.asarray(nearest < MARGIN_CELLS * borders.cell_px)
    assert near.sum() > 1000
    excess = (found - nearest)[near] / borders.cell_px
    assert excess.max() < 1.5
    assert excess.mean() < 0.25


@pytest.mark.parametrize("radius", [25.0, 60.0, 200.0])
def test_depth_is_the_distance_to_the_border_inside_and_nothing_outside(radius: float) -> None:
    contour = contour_of(blob(radius))
    borders = build_borders([contour])
    true = depth_in_polygon(cell_centers(borders, 0), contour.points)
    assert (borders.depth[true < -1.25 * borders.cell_px] == 0).all()
    assert (borders.depth[true > 0.25 * borders.cell_px] > 0).all()
    error = (borders.depth - true)[true > 0]
    shallow = true[true > 0] < MARGIN_CELLS * borders.cell_px
    assert error[shallow].min() > -0.5 * borders.cell_px
    assert error[shallow].max() < 1.75 * borders.cell_px
    assert np.abs(error).max() < 1.75 * borders.cell_px + 0.03 * true.max()


def test_the_grid_reaches_a_margin_around_the_piece() -> None:
    contour = contour_of(blob(60))
    borders = build_borders([contour])
    low, high = contour.points.min(0), contour.points.max(0)
    reach = (MARGIN_CELLS - 1) * borders.cell_px
    for x, y in [(low[0] - reach, low[1] - reach), (high[0] + reach, high[1] + reach)]:
        assert find(borders, 0, x, y) >= 0
    too_far = (MARGIN_CELLS + 3) * borders.cell_px
    for x, y in [(low[0] - too_far, 0.0), (high[0] + too_far, 0.0), (0.0, low[1] - too_far), (0.0, high[1] + too_far)]:
        assert find(borders, 0, x, y) == -1


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 1), st.floats(-300, 300), st.floats(-300, 300))
def test_look_up_finds_the_cell_that_holds_the_point(piece: int, x: float, y: float) -> None:
    borders = TWO
    at = find(borders, piece, x, y)
    centers = cell_centers(borders, piece)
    away = np.abs(centers - (x, y)).max(1)
    if at < 0:
        assert away.min() > 0.49 * borders.cell_px
    else:
        assert borders.grid_first[piece] <= at < borders.grid_first[piece + 1]
        assert away[at - borders.grid_first[piece]] < 0.51 * borders.cell_px


TWO = build_borders(contours_of(blob(30), blob(100, 3)))


def test_core_points_lie_inside_in_proportion_to_the_area() -> None:
    contours = contours_of(blob(30), blob(60), blob(60, 3))
    borders = build_borders(contours, core_points=150)
    counts = np.diff(borders.core_first)
    assert 100 < np.median(counts) < 250
    assert counts[0] == pytest.approx(counts[1] / 4, rel=0.3)
    for piece, contour in enumerate(contours):
        assert contour is not None
        own = borders.core[borders.core_first[piece] : borders.core_first[piece + 1]].astype(np.float64)
        depth = depth_in_polygon(own, contour.points)
        assert depth.min() > -borders.cell_px
        assert (depth > 0).mean() > 0.9


def test_even_the_smallest_piece_has_a_core() -> None:
    borders = build_borders(contours_of(blob(100), blob(100), blob(3)))
    assert borders.core_first[3] - borders.core_first[2] >= 1


def test_compiled_loops_see_every_array_of_the_borders(square_tiles: Callable[[int], Borders]) -> None:
    borders = square_tiles(2)
    for name in set(BorderArrays._fields) - {"longest"}:
        np.testing.assert_array_equal(
            getattr(borders.kernel, name), np.asarray(getattr(borders, name), np.asarray(getattr(borders.kernel, name)).dtype)
        )
    for name in set(Insides._fields) - {"circle", "unit_px"}:
        assert getattr(borders.insides, name) is getattr(borders.kernel, name)
    np.testing.assert_array_equal(borders.insides.circle, np.column_stack([borders.center, borders.radius, borders.deepest]))
    assert borders.insides.unit_px == np.float32(borders.unit_px)
    assert borders.kernel.longest == np.diff(borders.first).max()


def test_one_signature_for_each_kernel() -> None:
    """Every further one is compiled by every user; poses of matching are float32, those of refinement float64."""
    borders = build_borders(contours_of(blob(30), blob(30)))
    for contours in ((), (None,), contours_of(blob(30), SPECK)):
        other = build_borders(contours)
        assert (typeof(other.kernel), typeof(other.insides)) == (typeof(borders.kernel), typeof(borders.insides))
    kernels = (_verify_all, _trace_all, _votes, _settle_all)
    before = [len(kernel.signatures) for kernel in kernels]
    for kind, order in ((np.int32, "C"), (np.int64, "F")):
        i, j = np.zeros(2, kind), np.ones(2, kind)
        pose = np.array([(0, 60, 0), (1, 0, 60)], np.float32 if kind is np.int32 else np.float64, order=order)
        pose.setflags(write=False)
        verify(borders, i, j, pose, VerifyConfig())
        trace_seams(borders, i, j, pose, np.zeros(2, np.float32), np.full(2, 2.5, np.float32))
        for refine in (True, False):
            settle(borders, i, j, pose, bends(borders), refine)
        gap_step(borders, i, j, pose, 0.0, 2.5)
    after = [len(kernel.signatures) for kernel in kernels]
    assert [max(1, count) for count in before] == after == [1, 1, 1, 1]


def square_ring(side: float = 60.0, step: float = 3.0) -> Contour:
    """A square from (0, 0), walked so that the inward normals are known."""
    t = np.arange(0, side, step)
    zero, full, one = np.zeros_like(t), np.full_like(t, side), np.ones_like(t)
    points = np.concatenate([np.stack(xy, 1) for xy in ((t, zero), (full, t), (side - t, full), (zero, side - t))])
    normals = np.concatenate([np.stack(xy, 1) for xy in ((zero, one), (-one, zero), (zero, -one), (one, zero))])
    return Contour(0, points, normals, np.zeros((len(points), 3)), step)


@pytest.mark.parametrize("theta", [0.0, 0.3, np.pi])
def test_facing_gives_the_nearest_sample_that_looks_the_other_way(theta: float) -> None:
    """A square to the right of a square, both turned the same way: right side of i, left side of j."""
    borders = build_borders([square_ring(), square_ring()])
    cos, sin = np.cos(0.0), np.sin(0.0)
    move = (cos, sin, 61.0, 1.0)
    start = int(borders.first[1])
    left = [start + s for s in range(62, 79)]  # samples along j's left side, away from the corners
    for s in left:
        k, x, y, nx, ny, across, along = facing(borders.kernel, 0, s, move, OPPOSITE)
        assert (x, y) == pytest.approx((borders.points[s, 0] + 61.0, borders.points[s, 1] + 1.0))
        assert (nx, ny) == pytest.approx((-1.0, 0.0))
        assert across == pytest.approx(-1.0)  # a pixel outside
        assert abs(along) <= 1.5 + 0.5  # at most half a step, and half a cell of the grid
        assert borders.points[k] == pytest.approx((60.0, y + along if borders.points[k, 1] > y else y - abs(along)), abs=1e-3)
    top = start + 10
    assert facing(borders.kernel, 0, top, (cos, sin, 0.0, 0.0), OPPOSITE)[0] == -1  # same border, same normal
    assert facing(borders.kernel, 0, left[0], (cos, sin, 1e4, 0.0), OPPOSITE)[0] == -1  # off the grid
    turned = (np.cos(theta), np.sin(theta), 61.0, 1.0)
    found = facing(borders.kernel, 0, left[4], turned, OPPOSITE)
    normal = np.array([[turned[0], -turned[1]], [turned[1], turned[0]]]) @ (1.0, 0.0)
    if found[0] >= 0:
        assert borders.normals[found[0]] @ normal <= OPPOSITE


def test_samples_meet_within_reach_of_the_gap() -> None:
    borders = build_borders([square_ring(), square_ring()])
    partner = np.empty(borders.kernel.longest, np.int64)
    move = (np.float32(1.0), np.float32(0.0), np.float32(62.0), np.float32(0.0))
    met = {}
    for gap in (0.0, 2.0):
        pair_samples(borders.kernel, 0, 1, move, np.float32(gap), 1.0, partner)
        met[gap] = np.flatnonzero(partner >= 0)
    assert len(met[0.0]) == 0  # they lie 2 px apart
    assert set(range(62, 79)) <= set(met[2.0].tolist()) <= set(range(59, 81))
    assert longest_run(partner, borders.kernel.longest) == (met[2.0][0], met[2.0][-1] + 1)


@pytest.mark.parametrize(
    ("met", "run"),
    [
        ("0000", (0, 0)),
        ("0110", (1, 3)),
        ("1001", (3, 5)),
        ("1101000100", (0, 4)),
        ("1111", (0, 4)),
        ("1100000000011111", (11, 18)),
    ],
)
def test_the_longest_run_may_pass_the_end_and_bridge_gaps(met: str, run: tuple[int, int]) -> None:
    partner = np.array([7 if c == "1" else -1 for c in met], np.int64)
    assert longest_run(partner, len(partner)) == run


def test_core_points_deep_inside_are_counted() -> None:
    borders = build_borders([square_ring(), square_ring()])
    cores = int(borders.core_first[2] - borders.core_first[1])
    for shift, least in ((0.0, 0.7), (30.0, 0.35), (58.0, 0.0)):
        move = (1.0, 0.0, shift, 0.0)
        assert not least or lies_inside(borders.insides, 0, 1, move, 3.0, least * cores)
        assert not lies_inside(borders.insides, 0, 1, move, 3.0, (1 - shift / 60) * cores)


def test_the_symmetric_system_is_solved() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        a = rng.normal(size=(5, 3))
        h, g = a.T @ a, rng.normal(size=3)
        det, *z = solve_symmetric(*h[np.triu_indices(3)], *g)
        assert det == pytest.approx(np.linalg.det(h))
        np.testing.assert_allclose(z, np.linalg.solve(h, g), rtol=1e-6)


def test_the_first_solve_is_known_as_such(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "_marker", lambda: tmp_path / "marker")
    assert not is_compiled()
    mark_compiled()
    assert is_compiled()
    os.utime(tmp_path / "marker", (1.0, 1.0))  # the program was installed again since
    assert not is_compiled()


def test_where_nothing_can_be_written_every_solve_is_the_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "_marker", lambda: tmp_path / "no folder" / "marker")
    mark_compiled()
    assert not is_compiled()


def test_the_step_does_not_depend_on_which_piece_comes_first() -> None:
    tiny, large = blob(6), np.ones((300, 400), bool)
    first, last = build_borders(contours_of(tiny, large, large)), build_borders(contours_of(large, large, tiny))
    assert first.step_px == pytest.approx(last.step_px, rel=0.05)

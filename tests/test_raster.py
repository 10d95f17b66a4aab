"""The flat arrays of all pieces fit together, and one look-up tells distance and depth."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.spatial import KDTree

from jigsawnet.contours import ContourConfig, trace_contours
from jigsawnet.raster import MARGIN_CELLS, ShapeBank, build_bank, look_up
from jigsawnet.types import Contour, FloatArray, Fragment, Puzzle

SPECK = np.ones((2, 2), bool)


def blob(radius: float, waves: int = 5) -> NDArray[np.bool_]:
    half = int(1.4 * radius) + 3
    y, x = np.mgrid[-half : half + 1, -half : half + 1].astype(float)
    return np.asarray(np.hypot(x, y) <= radius * (1 + 0.2 * np.sin(waves * np.arctan2(y, x))))


def contours_of(*masks: NDArray[np.bool_]) -> tuple[Contour | None, ...]:
    def fragment(idx: int, mask: NDArray[np.bool_]) -> Fragment:
        return Fragment(idx, str(idx), np.full((*mask.shape, 3), 50 * idx, np.uint8), mask.copy())

    return trace_contours(Puzzle("blobs", tuple(fragment(*pair) for pair in enumerate(masks))), ContourConfig())


def contour_of(mask: NDArray[np.bool_]) -> Contour:
    (contour,) = contours_of(mask)
    assert contour is not None
    return contour


def cell_centers(bank: ShapeBank, piece: int) -> FloatArray:
    rows, cols = bank.grid_size[piece]
    row, col = np.divmod(np.arange(rows * cols), cols)
    return np.asarray(np.column_stack([col, row]) * bank.cell_px + bank.grid_origin[piece], dtype=np.float64)


def depth_in_polygon(points: FloatArray, ring: FloatArray) -> FloatArray:
    """Signed distance to the border, positive inside."""
    polygon = ring.astype(np.float32)[:, None]
    return np.array([cv2.pointPolygonTest(polygon, (float(x), float(y)), measureDist=True) for x, y in points])


def find(bank: ShapeBank, piece: int, x: float, y: float) -> int:
    return int(look_up(piece, x, y, bank.grid_first, bank.grid_size, bank.grid_origin, bank.cell_px))


def test_every_piece_owns_its_part_of_the_arrays() -> None:
    contours = contours_of(blob(30), SPECK, blob(40, 3), blob(36, 7))
    bank = build_bank(contours)
    assert len(bank) == 4
    assert bank.first[0] == bank.grid_first[0] == bank.core_first[0] == 0
    assert bank.first[-1] == len(bank.points) == len(bank.normals) == len(bank.colors)
    assert bank.grid_first[-1] == len(bank.nearest) == len(bank.depth)
    assert bank.core_first[-1] == len(bank.core)
    np.testing.assert_array_equal(np.diff(bank.grid_first), bank.grid_size.prod(1))
    for piece, contour in enumerate(contours):
        if contour is None:
            continue
        for name in ("points", "normals", "colors"):
            np.testing.assert_allclose(getattr(bank, name)[bank.samples(piece)], getattr(contour, name), atol=1e-4)
        cells = slice(*bank.grid_first[piece : piece + 2])
        assert bank.nearest[cells].min() >= 0
        assert bank.nearest[cells].max() < len(contour)
        np.testing.assert_allclose(bank.center[piece], contour.points.mean(0), atol=1e-3)
        assert np.linalg.norm(contour.points - bank.center[piece], axis=1).max() <= bank.radius[piece] + 1e-3


def test_a_piece_without_contour_owns_nothing() -> None:
    bank = build_bank(contours_of(blob(30), SPECK, blob(40)))
    for starts in (bank.first, bank.grid_first, bank.core_first):
        assert starts[1] == starts[2]
    assert bank.radius[1] == 0
    assert find(bank, 1, 0.0, 0.0) == -1


@pytest.mark.parametrize("contours", [(), (None,), (None, None)])
def test_a_bank_of_nothing_is_empty(contours: tuple[None, ...]) -> None:
    bank = build_bank(contours)
    assert len(bank) == len(contours)
    assert all(len(array) == 0 for array in (bank.points, bank.nearest, bank.depth, bank.core))


@pytest.mark.parametrize("radius", [25.0, 60.0, 200.0])
def test_the_nearest_sample_is_nearly_the_nearest(radius: float) -> None:
    contour = contour_of(blob(radius))
    bank = build_bank([contour])
    centers = cell_centers(bank, 0)
    nearest = KDTree(contour.points).query(centers)[0]
    found = np.linalg.norm(contour.points[bank.nearest] - centers, axis=1)
    near = np.asarray(nearest < MARGIN_CELLS * bank.cell_px)
    assert near.sum() > 1000
    excess = (found - nearest)[near] / bank.cell_px
    assert excess.max() < 1.5
    assert excess.mean() < 0.25


@pytest.mark.parametrize("radius", [25.0, 60.0, 200.0])
def test_depth_is_the_distance_to_the_border_inside_and_nothing_outside(radius: float) -> None:
    contour = contour_of(blob(radius))
    bank = build_bank([contour])
    true = depth_in_polygon(cell_centers(bank, 0), contour.points)
    assert (bank.depth[true < -1.25 * bank.cell_px] == 0).all()
    assert (bank.depth[true > 0.25 * bank.cell_px] > 0).all()
    error = (bank.depth - true)[true > 0]
    shallow = true[true > 0] < MARGIN_CELLS * bank.cell_px
    assert error[shallow].min() > -0.5 * bank.cell_px
    assert error[shallow].max() < 1.75 * bank.cell_px
    assert np.abs(error).max() < 1.75 * bank.cell_px + 0.03 * true.max()


def test_the_grid_reaches_a_margin_around_the_piece() -> None:
    contour = contour_of(blob(60))
    bank = build_bank([contour])
    low, high = contour.points.min(0), contour.points.max(0)
    reach = (MARGIN_CELLS - 1) * bank.cell_px
    for x, y in [(low[0] - reach, low[1] - reach), (high[0] + reach, high[1] + reach)]:
        assert find(bank, 0, x, y) >= 0
    too_far = (MARGIN_CELLS + 3) * bank.cell_px
    for x, y in [(low[0] - too_far, 0.0), (high[0] + too_far, 0.0), (0.0, low[1] - too_far), (0.0, high[1] + too_far)]:
        assert find(bank, 0, x, y) == -1


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 1), st.floats(-300, 300), st.floats(-300, 300))
def test_look_up_finds_the_cell_that_holds_the_point(piece: int, x: float, y: float) -> None:
    bank = TWO
    at = find(bank, piece, x, y)
    centers = cell_centers(bank, piece)
    away = np.abs(centers - (x, y)).max(1)
    if at < 0:
        assert away.min() > 0.49 * bank.cell_px
    else:
        assert bank.grid_first[piece] <= at < bank.grid_first[piece + 1]
        assert away[at - bank.grid_first[piece]] < 0.51 * bank.cell_px


TWO = build_bank(contours_of(blob(30), blob(100, 3)))


def test_core_points_lie_inside_in_proportion_to_the_area() -> None:
    contours = contours_of(blob(30), blob(60), blob(60, 3))
    bank = build_bank(contours, core_points=150)
    counts = np.diff(bank.core_first)
    assert 100 < np.median(counts) < 250
    assert counts[0] == pytest.approx(counts[1] / 4, rel=0.3)
    for piece, contour in enumerate(contours):
        assert contour is not None
        own = bank.core[bank.core_first[piece] : bank.core_first[piece + 1]].astype(np.float64)
        depth = depth_in_polygon(own, contour.points)
        assert depth.min() > -bank.cell_px
        assert (depth > 0).mean() > 0.9


def test_even_the_smallest_piece_has_a_core() -> None:
    bank = build_bank(contours_of(blob(100), blob(100), blob(3)))
    assert bank.core_first[3] - bank.core_first[2] >= 1


def test_arrays_come_in_the_order_of_the_compiled_loops(square_tiles: Callable[[int], ShapeBank]) -> None:
    bank = square_tiles(2)
    arrays = bank.arrays()
    names = "first points normals colors grid_first grid_size grid_origin nearest depth cell_px core_first core center radius"
    names += " deepest"
    assert len(arrays) == len(names.split())
    for name, array in zip(names.split(), arrays, strict=True):
        np.testing.assert_array_equal(array, getattr(bank, name))


def test_the_step_does_not_depend_on_which_piece_comes_first() -> None:
    tiny, large = blob(6), np.ones((300, 400), bool)
    first, last = build_bank(contours_of(tiny, large, large)), build_bank(contours_of(large, large, tiny))
    assert first.step_px == pytest.approx(last.step_px, rel=0.05)

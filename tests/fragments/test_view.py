"""Views of a flat sheet: there and back, whatever perspective and lens; nothing straightened means nothing changed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jigsawnet.fragments.view import Lens, View
from jigsawnet_bench.scans.photographs import Camera, camera_view

SIZE = 400, 300
part = st.floats(-1.0, 1.0, allow_nan=False)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(keystone=st.floats(0.0, 0.3), toward=st.floats(0.0, 360.0), turn=st.floats(-180.0, 180.0), k1=st.floats(-0.1, 0.1))
def test_points_come_back(keystone: float, toward: float, turn: float, k1: float) -> None:
    matrix, picture = camera_view(*SIZE, Camera(keystone, toward, turn, k1, frame=0.2))
    view = View("sheet", matrix, Lens.of(picture, k1), SIZE, 0.0)
    points = np.random.default_rng(0).uniform(0, 1, (50, 2)) * SIZE
    assert np.abs(view.to_flat(view.to_picture(points)) - points).max() < 1e-6


@pytest.mark.parametrize(("toward", "side"), [(90.0, "lower"), (270.0, "upper"), (0.0, "right"), (180.0, "left")])
@pytest.mark.parametrize("turn", [0.0, 90.0, 180.0])
def test_the_nearer_side_is_named_as_it_is_in_the_photograph(toward: float, turn: float, side: str) -> None:
    matrix, picture = camera_view(400, 400, Camera(0.1, toward, turn, 0.0, focal=0.65))
    view = View("sheet", matrix, Lens.of(picture), (400, 400), 0.0)
    named, larger = view.larger_side()
    assert named == side
    assert larger == pytest.approx(0.15, abs=0.06)
    assert view.tilt_deg(picture) == pytest.approx(camera_tilt_deg(matrix, picture), rel=0.35)


def camera_tilt_deg(matrix: np.ndarray, picture: tuple[int, int]) -> float:
    """The angle between the sheet's normal and the line of sight, by the focal length that is known."""
    focal = 0.65 * np.hypot(*picture)
    inner = np.array([[focal, 0, (picture[0] - 1) / 2], [0, focal, (picture[1] - 1) / 2], [0, 0, 1.0]])
    first, second = (np.linalg.inv(inner) @ matrix)[:, :2].T
    normal = np.cross(first, second)
    return float(np.degrees(np.arccos(abs(normal[2]) / np.linalg.norm(normal))))


def test_a_part_cut_out_is_the_same_to_the_bit() -> None:
    picture = np.random.default_rng(1).integers(0, 256, (90, 120, 3), dtype=np.uint8)
    view = View("sheet", np.eye(3), Lens.of((120, 90)), (120, 90), 0.0).cut((7, 11), (50, 40))
    assert np.array_equal(view.straighten(picture), picture[11:51, 7:57])


def test_a_sheet_is_resampled_where_it_is_seen() -> None:
    matrix, size = camera_view(*SIZE, Camera(0.2, 30.0, 20.0, frame=0.2))
    view = View("sheet", matrix, Lens.of(size, -0.06), (SIZE[0] - 3, SIZE[1] - 5), 0.0)
    ys, xs = np.mgrid[: size[1], : size[0]]
    picture = np.stack([xs * 0.4, ys * 0.4, xs * 0.2 + ys * 0.2], axis=-1).round().astype(np.uint8)
    flat = view.straighten(picture)
    assert flat.shape == (SIZE[1] - 5, SIZE[0] - 3, 3)
    points = np.argwhere(np.ones(flat.shape[:2]))[:, ::-1]
    at = view.to_picture(points.astype(np.float64))
    seen = flat[points[:, 1], points[:, 0], :2]
    inside = ((at > 2) & (at < np.array(size) - 3)).all(axis=1)
    assert inside.mean() > 0.9
    assert np.abs(seen - 0.4 * at)[inside].max() < 1.0


def test_boxes_follow_the_sheet() -> None:
    view = View("sheet", np.array([[2.0, 0.0, 100.0], [0.0, 2.0, 50.0], [0.0, 0.0, 1.0]]), Lens.of((400, 300)), (100, 80), 0.0)
    assert view.box_to_flat((120, 70, 21, 41)) == (10, 10, 11, 21)
    assert view.box_to_flat((0, 0, 200, 61)) == (0, 0, 51, 6)
    assert view.box_to_flat((0, 0, 50, 20)) is None

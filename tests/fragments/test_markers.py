"""The printed sheet: found in photographs, exact whatever the view, also when markers are hidden; strays and twins refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jigsawnet.errors import InputError
from jigsawnet.fragments.markers import PAPERS, PaperName, find_markers, marker_cells, view_of_markers
from jigsawnet.fragments.straighten import find_straightening
from jigsawnet.fragments.view import View
from jigsawnet.types import UInt8Array
from jigsawnet_bench.scans.photographs import Camera, Photograph, blank_sheet, distortion_left, photograph

DPI = 72


def shot_of(camera: Camera, sheet: UInt8Array | None = None, seed: int = 0) -> Photograph:
    return photograph(blank_sheet("a4", DPI) if sheet is None else sheet, camera, np.random.default_rng(seed))


def view_of(shot: Photograph) -> View:
    markers = find_markers(shot.picture)
    assert markers is not None
    view = view_of_markers(markers, (shot.picture.shape[1], shot.picture.shape[0]))
    assert view is not None
    return view


def hidden(sheet: UInt8Array, places: list[int]) -> UInt8Array:
    covered = sheet.copy()
    for x, y in PAPERS["a4"].corners()[places] / 25.4 * DPI:
        covered[round(y) - 2 : round(y) + 30, round(x) + 8 : round(x) + 30] = 120
    return covered


def inside_px(paper: PaperName = "a4") -> tuple[tuple[int, int], tuple[int, int]]:
    left, top, width, height = (round(value / 25.4 * DPI) for value in PAPERS[paper].inside)
    return (width, height), (left, top)


@pytest.mark.parametrize("name", PAPERS)
def test_papers_have_markers_of_their_own_around_the_inside(name: PaperName) -> None:
    paper = PAPERS[name]
    corners = paper.corners()
    left, top, width, height = paper.inside
    beside = (corners[:, 0] + 12 < left) | (corners[:, 0] > left + width)
    above = (corners[:, 1] + 12 < top) | (corners[:, 1] > top + height)
    assert (beside | above).all()
    assert len({(x, y) for x, y in corners}) == len(corners)
    markers = find_markers(blank_sheet(name, DPI))
    assert markers is not None
    assert markers.paper == paper
    assert markers.places.tolist() == list(range(len(corners)))
    assert all(marker_cells(paper.first + k).shape == (7, 7) for k in range(len(corners)))


@settings(max_examples=5, deadline=None, derandomize=True)
@given(
    keystone=st.floats(0.0, 0.08),
    toward=st.floats(0.0, 360.0),
    turn=st.sampled_from([-170.0, -5.0, 0.0, 8.0, 175.0]),
    k1=st.floats(-0.06, 0.06),
    quality=st.integers(60, 95),
)
def test_any_view_is_found_to_half_a_pixel(keystone: float, toward: float, turn: float, k1: float, quality: int) -> None:
    shot = shot_of(Camera(keystone, toward, turn, k1, frame=0.14, jpeg_quality=quality))
    view = view_of(shot)
    left = distortion_left(shot, view, *inside_px())
    assert left.most_px < 0.5
    assert view.dpi == pytest.approx(left.scale * DPI, rel=0.005)


def test_hidden_markers_are_not_missed() -> None:
    shot = shot_of(Camera(0.04, k1=0.0), hidden(blank_sheet("a4", DPI), [0, 1, 5, 6, 9, 10, 12]))
    assert distortion_left(shot, view_of(shot), *inside_px()).most_px < 0.7


def test_too_few_markers_are_said_and_left_out() -> None:
    shot = shot_of(Camera(), hidden(blank_sheet("a4", DPI), list(range(2, 14))))
    found = find_straightening("photo.jpg", shot.picture)
    assert found.view is None
    assert found.sentence.startswith("Only 2 markers of the sheet's 14 can be used")
    assert len(found.exclude([(1, 2, 3, 4)])) == 3
    assert found.straighten(shot.picture) is shot.picture


def test_markers_on_one_side_only_are_too_few() -> None:
    shot = shot_of(Camera(), hidden(blank_sheet("a4", DPI), list(range(4, 14))))
    assert find_straightening("photo.jpg", shot.picture).view is None


def test_a_marker_that_lies_elsewhere_does_not_count() -> None:
    sheet = blank_sheet("a4", DPI).copy()
    x, y = np.rint(PAPERS["a4"].corners()[0] / 25.4 * DPI).astype(int) - 3
    sheet[300:340, 200:240], sheet[y : y + 40, x : x + 40] = sheet[y : y + 40, x : x + 40].copy(), 255
    shot = shot_of(Camera(0.03), sheet)
    assert distortion_left(shot, view_of(shot), *inside_px()).most_px < 0.5


@pytest.mark.parametrize("second", ["a4", "letter"])
def test_two_sheets_in_one_picture_are_refused(second: PaperName) -> None:
    one, two = blank_sheet("a4", DPI), blank_sheet(second, DPI)
    height = min(one.shape[0], two.shape[0])
    with pytest.raises(InputError, match=r"photo\.jpg shows two sheets with markers"):
        find_straightening("photo.jpg", np.hstack([one[:height], two[:height]]))


def test_what_was_done_is_said() -> None:
    shot = shot_of(Camera(0.06, 90.0, 0.0, 0.0))
    said = find_straightening("photo.jpg", shot.picture).sentence
    assert "Photographed obliquely (pieces at the lower side appeared" in said
    assert "straightened by" in said
    assert "by 14 markers of the sheet" in said
    stays = find_straightening("photo.jpg", shot.picture, switched_on=False)
    assert stays.view is None
    assert "not straightened: pieces at the lower side appear" in stays.sentence
    assert len(stays.boxes) == 14


@pytest.mark.parametrize("shape", [(1, 1), (20, 3000), (40, 40)])
def test_pictures_without_markers_say_nothing(shape: tuple[int, int]) -> None:
    picture = np.random.default_rng(2).integers(0, 256, (*shape, 3), dtype=np.uint8)
    assert find_markers(picture) is None

"""What the detectors see of a candidate: the seam in the middle, i above and j below, the box around it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jigsawnet.borders import build_borders
from jigsawnet.candidates import Candidates
from jigsawnet.contours import ContourConfig, trace_contours
from jigsawnet.errors import ConfigError
from jigsawnet.geometry import SE2
from jigsawnet.pixels import build_pixels
from jigsawnet.score.pair_picture import BACKGROUND, PictureConfig
from jigsawnet.score.seam_band import BAND_CHANNELS, BAND_ROWS
from jigsawnet.score.seam_path import PATH_SAMPLES, REACH_UNITS, trace_seams
from jigsawnet.score.views import SeamViews
from jigsawnet.types import Alignment, Piece, Puzzle, Seam

SIDE, MARGIN = 90, 5
ROWS = np.arange(1)


def _square(idx: int, color: tuple[int, int, int]) -> Piece:
    image = np.zeros((SIDE + 2 * MARGIN, SIDE + 2 * MARGIN, 3), np.uint8)
    mask = np.zeros(image.shape[:2], bool)
    mask[MARGIN:-MARGIN, MARGIN:-MARGIN] = True
    image[mask] = color
    return Piece(idx, str(idx), image, mask)


@pytest.fixture(scope="module")
def red_and_blue():
    """Two squares; the join lays the blue one (j) to the right of the red one (i), turned by a quarter."""
    puzzle = Puzzle("squares", (_square(0, (200, 0, 0)), _square(1, (0, 0, 220))))
    return puzzle, build_borders(trace_contours(puzzle, ContourConfig()))


def _join(gap_px: float = 0.0, shift_y: float = 0.0) -> Alignment:
    """j, turned by 90 degrees, edge to edge at i's right side."""
    last = SIDE + 2 * MARGIN - 1
    turned = SE2(np.pi / 2, last, 0.0)  # j's square back on the same pixels
    seam = Seam(SIDE, 0, 0, 0, 0, distance_px=gap_px)
    return Alignment(0, 1, SE2(0.0, SIDE + gap_px, shift_y) @ turned, 1.0, seam)


def test_the_path_runs_down_the_middle_between_the_borders(red_and_blue) -> None:
    _, borders = red_and_blue
    join = _join()
    pose = np.array([[join.i_from_j.theta, join.i_from_j.x, join.i_from_j.y]], np.float32)
    i, j, reach = np.array([0], np.int32), np.array([1], np.int32), np.array([REACH_UNITS], np.float32)
    path, span = trace_seams(borders, i, j, pose, np.zeros(1, np.float32), reach)
    assert path[0, :, 0] == pytest.approx(np.full(PATH_SAMPLES, MARGIN + SIDE - 0.5), abs=1.0)
    assert span[0, 0] == pytest.approx(SIDE, rel=0.15)
    steps = np.linalg.norm(np.diff(path[0], axis=0), axis=1)
    assert steps == pytest.approx(np.full(PATH_SAMPLES - 1, span[0, 1]), rel=0.1)
    assert np.diff(path[0, :, 1]).max() < 0  # j, on the right side of the seam, is to the right when walking (y down): up


def test_the_band_has_i_above_and_j_below(red_and_blue) -> None:
    puzzle, borders = red_and_blue
    band = SeamViews(build_pixels(puzzle, 1.0), borders, Candidates.of([_join()])).bands(ROWS)[0]
    middle = slice(PATH_SAMPLES // 2 - 10, PATH_SAMPLES // 2 + 10)
    upper, lower = band[: BAND_ROWS // 2 - 2, middle], band[BAND_ROWS // 2 + 2 :, middle]
    assert (upper == (200, 0, 0, 255, 0)).all()
    assert (lower == (0, 0, 220, 0, 255)).all()
    assert (band[:, 0, 3:] == 0).all(), "beyond the end of the seam there is no paper"


def test_pieces_laid_apart_leave_a_gap_in_the_middle_of_the_band(red_and_blue) -> None:
    puzzle, borders = red_and_blue
    band = SeamViews(build_pixels(puzzle, 1.0), borders, Candidates.of([_join(gap_px=6.0)])).bands(ROWS)[0]
    paper = band[:, PATH_SAMPLES // 2, 3].astype(int) + band[:, PATH_SAMPLES // 2, 4]
    empty = np.flatnonzero(paper < 128)
    assert len(empty) == pytest.approx(6, abs=1)
    assert empty.mean() == pytest.approx((BAND_ROWS - 1) / 2, abs=1.0)


def test_the_far_view_reaches_four_times_as_deep_into_both_pieces(red_and_blue) -> None:
    puzzle, _ = red_and_blue
    image = puzzle.pieces[0].image.copy()
    image[:, SIDE + MARGIN - 44 : SIDE + MARGIN - 36] = (0, 255, 0)  # a stripe along the seam, 36 to 44 px before it
    striped = Puzzle("striped", (replace(puzzle.pieces[0], image=image), puzzle.pieces[1]))
    views = SeamViews(
        build_pixels(striped, 1.0), build_borders(trace_contours(striped, ContourConfig())), Candidates.of([_join()])
    )
    band, middle = views.bands(ROWS, 2 * BAND_CHANNELS)[0], PATH_SAMPLES // 2
    np.testing.assert_array_equal(band[..., :BAND_CHANNELS], views.bands(ROWS)[0])
    assert not band[:, middle, 1].any(), "too far from the seam for the near view"
    green = np.flatnonzero(band[:, middle, BAND_CHANNELS + 1] > 100)
    assert green.tolist() == [5, 6], "rows 4 px apart, 40 px before the seam"
    assert (band[BAND_ROWS // 2 + 1 :, middle, BAND_CHANNELS + 2][:10] == 220).all(), "as deep into the other piece"


@pytest.mark.parametrize("upright", [True, False])
def test_the_picture_shows_both_pieces_and_the_box_holds_the_seam(red_and_blue, upright: bool) -> None:
    puzzle, borders = red_and_blue
    config = PictureConfig(width=160, height=160, upright=upright)
    pictures, boxes = SeamViews(build_pixels(puzzle, 1.0), borders, Candidates.of([_join()])).pictures(ROWS, config)
    x0, y0, x1, y1 = boxes[0] * 160
    long_side, short_side = (x1 - x0, y1 - y0) if upright else (y1 - y0, x1 - x0)
    assert long_side > 4 * short_side
    assert ((x0 + x1) / 2, (y0 + y1) / 2) == pytest.approx((80, 80), abs=0.6)
    beside = pictures[0, 80 - 5, 80] if upright else pictures[0, 80, 80 - 5]
    across = pictures[0, 80 + 5, 80] if upright else pictures[0, 80, 80 + 5]
    assert beside.tolist() == [200, 0, 0]
    assert across.tolist() == [0, 0, 220]
    assert tuple(pictures[0, 0, 0]) == BACKGROUND


def test_a_long_seam_is_drawn_smaller_so_that_its_box_fits(red_and_blue) -> None:
    puzzle, borders = red_and_blue
    _, boxes = SeamViews(build_pixels(puzzle, 1.0), borders, Candidates.of([_join()])).pictures(
        ROWS, PictureConfig(width=64, height=64, upright=True)
    )
    assert boxes.min() >= 0
    assert boxes.max() <= 1
    assert boxes[0, 2] - boxes[0, 0] == pytest.approx(0.95, abs=0.01)


def test_pieces_that_do_not_meet_have_nothing_to_show(red_and_blue) -> None:
    puzzle, borders = red_and_blue
    apart = Alignment(0, 1, SE2(0.0, 500.0, 0.0), 0.5)
    views = SeamViews(build_pixels(puzzle, 1.0), borders, Candidates.of([_join(), apart]))
    assert views.met.tolist() == [True, False]


def test_no_candidates_are_no_views(red_and_blue) -> None:
    puzzle, borders = red_and_blue
    views = SeamViews(build_pixels(puzzle, 1.0), borders, Candidates.none())
    assert len(views) == 0
    assert views.bands(np.zeros(0, np.int64)).shape == (0, BAND_ROWS, PATH_SAMPLES, 5)


@pytest.mark.parametrize("bad", [{"width": 16}, {"height": 2000}, {"width": 161}])
def test_odd_picture_sizes_are_refused(bad: dict[str, int]) -> None:
    with pytest.raises(ConfigError):
        PictureConfig(**bad)

"""Where two borders touch: a pose settles on the parts that fit, and what is measured there is what there is."""

from __future__ import annotations

import math

import numpy as np
import pytest

from jigsawnet.borders import Borders, build_borders
from jigsawnet.candidates import CONTACT
from jigsawnet.contours import ContourConfig, trace_contours
from jigsawnet.geometry import SE2, pose_row
from jigsawnet.match.contact import bends, settle
from jigsawnet.match.verify import VerifyConfig, verify
from jigsawnet.types import Piece, Puzzle

HEIGHT, MARGIN, WIDTH = 240, 8, 130
BITE = (90, 150)
"""Rows over which the second half has lost its border."""
ZERO, ONE = np.zeros(1, np.int32), np.ones(1, np.int32)


def cut(y: np.ndarray) -> np.ndarray:
    """Where a wiggly cut runs, as x of the row y."""
    return np.asarray(WIDTH + 7 * np.sin(y / 9.0) + 5 * np.sin(y / 23.0 + 1.0))


def halves(bite_px: float = 0.0, gap_px: float = 0.0, bite: tuple[int, int] = BITE) -> Borders:
    """The left and the right half of a picture, both in its frame; the right one has lost ``bite_px`` of the rows ``bite``."""
    y, x = np.mgrid[: HEIGHT + 2 * MARGIN, : 2 * WIDTH + 2 * MARGIN].astype(float)
    inside = (x >= MARGIN) & (y >= MARGIN) & (x < 2 * WIDTH + MARGIN) & (y < HEIGHT + MARGIN)
    rows = y - MARGIN
    line = cut(rows) + MARGIN
    share = np.clip((rows - bite[0]) / (bite[1] - bite[0]), 0.0, 1.0)
    lost = gap_px + bite_px * np.sqrt(4 * share * (1 - share))
    picture = np.stack([128 + 90 * np.sin(y / 13), 128 + 90 * np.cos(y / 7), np.full_like(y, 90.0)], axis=2).astype(np.uint8)
    masks = inside & (x < line), inside & (x >= line + lost)
    pieces = tuple(Piece(k, str(k), picture, mask) for k, mask in enumerate(masks))
    return build_borders(trace_contours(Puzzle("halves", pieces), ContourConfig()))


def row_of(pose: SE2) -> np.ndarray:
    return np.array([pose_row(pose)], np.float32)


def moved(angle_deg: float, x: float, y: float) -> SE2:
    """Turned about the middle of the cut, then shifted, away from the truth, which is the identity."""
    middle = SE2(0.0, WIDTH + MARGIN, HEIGHT / 2 + MARGIN)
    return SE2(0.0, x, y) @ middle @ SE2(math.radians(angle_deg), 0.0, 0.0) @ middle.inverse()


def off(row: np.ndarray) -> tuple[float, float]:
    """How far a pose is from the truth: degrees, and px at the middle of the cut."""
    middle = np.array([WIDTH + MARGIN, HEIGHT / 2 + MARGIN])
    angle, distance = SE2(*map(float, row)).distance(SE2.identity(), at=middle)
    return math.degrees(angle), distance


def measured(borders: Borders, pose: SE2) -> dict[str, float]:
    """Contact as the pieces lie."""
    row = row_of(pose)
    same, contact = settle(borders, ZERO, ONE, row, bends(borders), refine=False)
    np.testing.assert_array_equal(same, row)
    return dict(zip(CONTACT, contact[0].tolist(), strict=True))


@pytest.fixture(scope="module")
def whole() -> Borders:
    return halves()


@pytest.fixture(scope="module")
def bitten() -> Borders:
    return halves(bite_px=14.0)


@pytest.mark.parametrize("start", [(3.0, 4.0, 0.0), (-3.0, -4.0, 1.0), (2.0, 3.0, 3.0), (-2.0, 4.0, -3.0)])
def test_a_pose_settles_on_what_is_left_of_the_seam(bitten: Borders, start: tuple[float, float, float]) -> None:
    pose, _ = settle(bitten, ZERO, ONE, row_of(moved(*start)), bends(bitten))
    angle, distance = off(pose[0])
    assert angle < 0.5
    assert distance < 1.0


@pytest.mark.parametrize("start", [(0.0, 0.0, 0.0), (3.0, 4.0, 0.0), (-2.0, -3.0, 2.0)])
def test_what_was_lost_does_not_pull(start: tuple[float, float, float]) -> None:
    """Half of the border worn by up to 4 px: all of it counts for the ordinary refinement, little of it here."""
    worn = halves(bite_px=4.0, bite=(70, 190))
    ours = off(settle(worn, ZERO, ONE, row_of(moved(*start)), bends(worn))[0][0])
    plain = off(verify(worn, ZERO, ONE, row_of(moved(*start)), VerifyConfig())[0][0])
    assert ours[0] < 0.5
    assert ours[1] < min(1.0, 0.6 * plain[1])


def test_the_first_pose_is_not_changed_and_no_refining_leaves_it(bitten: Borders) -> None:
    start = row_of(moved(2.0, 3.0, 0.0))
    copy = start.copy()
    settle(bitten, ZERO, ONE, start, bends(bitten))
    np.testing.assert_array_equal(start, copy)


def test_each_row_is_settled_by_itself(bitten: Borders) -> None:
    rows = np.concatenate([row_of(moved(a, 2.0, 0.0)) for a in (-2.0, 0.0, 2.0)])
    many = settle(bitten, np.zeros(3, np.int32), np.ones(3, np.int32), rows, bends(bitten))
    for k in range(3):
        alone = settle(bitten, ZERO, ONE, rows[k : k + 1], bends(bitten))
        np.testing.assert_array_equal(many[0][k], alone[0][0])
        np.testing.assert_array_equal(many[1][k], alone[1][0])


def test_the_length_of_the_contact_is_that_of_the_cut_without_the_bite(whole: Borders, bitten: Borders) -> None:
    y = np.arange(HEIGHT + 1.0)
    arc = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(cut(y)), 1.0))])
    full, lost = float(arc[-1]), float(arc[BITE[1]] - arc[BITE[0]])
    one, two = measured(whole, SE2.identity()), measured(bitten, SE2.identity())
    assert one["contact"] == pytest.approx(full, rel=0.1)
    assert two["contact"] == pytest.approx(full - lost, rel=0.12)
    assert (one["stretches"], two["stretches"]) == (1, 2)
    assert one["longest_contact"] == pytest.approx(one["contact"], abs=7)
    assert two["longest_contact"] == pytest.approx(float(arc[BITE[0]]), rel=0.15)
    assert two["contact_span"] == pytest.approx(HEIGHT, rel=0.1), "from the first touch to the last"
    assert one["contact_residual"] < 0.5


def test_borders_that_touch_bend_alike_and_shifted_ones_do_not(bitten: Borders) -> None:
    """But for the corners at both ends of the cut, which stand out on both sides."""
    x, y = bitten.points.T - MARGIN
    inner = (np.abs(x - cut(y)) < 4) & (y > 20) & (y < HEIGHT - 20)
    bend = np.where(inner[:, None], bends(bitten), np.float32(0))
    true, shifted = (
        dict(zip(CONTACT, settle(bitten, ZERO, ONE, row_of(SE2(0.0, 0.0, y)), bend, refine=False)[1][0].tolist(), strict=True))
        for y in (0.0, 28.0)
    )
    assert true["bend_fine"] > 0.85
    assert true["bend_coarse"] > 0.9
    assert shifted["bend_fine"] < 0.5, "by half a wave: crest on crest"
    assert shifted["bend_coarse"] < 0.5
    with_corners = measured(bitten, SE2.identity())
    assert 0 < with_corners["bend_coarse"] < true["bend_coarse"]
    assert true["roughness"] == pytest.approx(np.sqrt((bend[inner, 0] ** 2).mean()), rel=0.4)


def test_colours_agree_where_borders_touch(bitten: Borders) -> None:
    true, shifted = measured(bitten, SE2.identity()), measured(bitten, SE2(0.0, 0.0, 14.0))
    assert true["near_correlation"] > 0.9 > shifted["near_correlation"] + 0.5
    assert true["near_step"] < 0.5 * shifted["near_step"]
    assert true["far_spread"] > 30


def test_overlap_is_measured_where_one_piece_is_pushed_into_the_other(whole: Borders) -> None:
    free, turned, more = (measured(whole, moved(angle, 0.0, 0.0)) for angle in (0.0, 3.0, 5.0))
    assert free["overlap_area"] == measured(whole, SE2(0.0, -2.0, 0.0))["overlap_area"] == 0.0, "what masks overlap by is free"
    assert 0 < turned["overlap_area"] < more["overlap_area"], "one end goes into the other piece"
    half, free_px = HEIGHT / 2, 3 * whole.unit_px
    wedge = (half * math.tan(math.radians(5.0)) - free_px) ** 2 / 2 / math.tan(math.radians(5.0))
    assert more["overlap_area"] == pytest.approx(wedge, rel=0.5)
    pushed = measured(whole, SE2(0.0, -7.0, 0.0))
    assert (pushed["contact"], pushed["facing"]) == (0.0, 0.0), "all of it lies inside: this is no contact at all"


@pytest.mark.parametrize("gap_px", [2.0, 5.0, 8.0])
def test_a_gap_is_measured(gap_px: float) -> None:
    found = measured(halves(gap_px=gap_px), SE2.identity())
    across = gap_px * 0.9  # along the normals of a cut that is not upright
    assert found["mean_gap"] == pytest.approx(across, rel=0.25)
    assert found["facing"] == pytest.approx(measured(halves(), SE2.identity())["facing"], rel=0.2)
    if gap_px > 2:
        assert found["contact"] == 0.0
    assert found["far_correlation"] > 0.6, "the print goes on across the gap"


def test_far_apart_nothing_is_measured_and_the_pose_stays(whole: Borders) -> None:
    away = row_of(SE2(0.0, 900.0, 0.0))
    pose, contact = settle(whole, ZERO, ONE, away, bends(whole))
    np.testing.assert_array_equal(pose, away)
    assert not contact.any()


def test_no_rows_and_pieces_without_a_border_do_no_harm(whole: Borders) -> None:
    none = np.zeros(0, np.int32)
    pose, contact = settle(whole, none, none, np.zeros((0, 3), np.float32), bends(whole))
    assert (pose.shape, contact.shape) == ((0, 3), (0, len(CONTACT)))
    empty = build_borders([None, None])
    assert bends(empty).shape == (0, 2)
    assert not settle(empty, ZERO, ONE, row_of(SE2.identity()), bends(empty))[1].any()


def test_a_border_stands_out_where_it_bulges() -> None:
    y, x = np.mgrid[:140, :140].astype(float)
    disc = np.hypot(x - 70, y - 70) < 50
    bite = disc & ~(np.hypot(x - 122, y - 70) < 20)
    image = np.full((140, 140, 3), 90, np.uint8)
    puzzle = Puzzle("disc", (Piece(0, "disc", image, disc), Piece(1, "bite", image, bite)))
    borders = build_borders(trace_contours(puzzle, ContourConfig()))
    bend = bends(borders)
    own = bend[borders.samples(0)]
    half = np.array([6.0, 15.0]) * borders.unit_px
    assert np.median(own, axis=0) == pytest.approx(50 - np.sqrt(2500 - half**2), rel=0.3), (
        "the height of the arc above its chord"
    )
    at = int(np.argmin(np.hypot(*(borders.points[borders.samples(1)] - (102, 70)).T)))
    assert bend[borders.samples(1)][at, 1] < -1.0, "and in where it was bitten"

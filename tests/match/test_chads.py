"""Chads: edges between ragged ends, bands that end in blank paper, and scores of all sides with all others."""

from __future__ import annotations

import numpy as np
import pytest
from shredded import page, strips_of

from jigsawnet.context import Context
from jigsawnet.learned import load_learned
from jigsawnet.match.chads import compare_sides, look_along_chads
from jigsawnet.match.strips import Sides
from jigsawnet.stopping import Stop
from jigsawnet.strips import are_chads, bands, blank_bands, chad_bands, ends_of, straighten, trimmed
from jigsawnet.types import BoolArray, Piece
from jigsawnet.workers import LocalWorkers


def ragged() -> BoolArray:
    """A chad 40 px wide and 200 long, with a fibre at its upper end and a corner lost at its lower one."""
    mask = np.zeros((220, 60), bool)
    mask[10:210, 10:50] = True
    mask[4:10, 44:47] = True
    mask[200:210, 10:35] = False
    return mask


def chad(mask: BoolArray) -> Piece:
    return Piece(0, "chad.png", np.full((*mask.shape, 3), 240, np.uint8), mask)


def test_ends_are_found_in_spite_of_fibres_and_lost_corners() -> None:
    assert ends_of(ragged()) == (10, 200)
    assert ends_of(np.zeros((9, 5), bool)) == (0, 9)


def test_edges_are_not_bent_by_what_lies_beyond_the_ends() -> None:
    plain = straighten([chad(ragged())])[0]
    upper, lower = np.flatnonzero(plain.mask.any(1))[[0, -1]]
    wander = np.ptp(trimmed(plain).edges[:, upper : lower + 1], axis=1)
    assert wander.max() < 3.0
    assert np.ptp(plain.edges[:, upper : lower + 1], axis=1).max() > 5.0


def test_beyond_its_ends_a_chad_goes_on_as_blank_paper() -> None:
    strip = trimmed(straighten([chad(ragged())])[0])
    first, stop = ends_of(strip.mask)
    seen, blank = chad_bands(strip), blank_bands(1)
    assert np.array_equal(seen[:, :, :first], np.repeat(blank, first, axis=2))
    assert np.array_equal(seen[:, :, stop:], np.repeat(blank, seen.shape[2] - stop, axis=2))
    middle = (first + stop) // 2
    assert np.array_equal(seen[:, :, middle], bands(strip)[:, :, middle])


def test_what_a_side_has_with_all_others_says_nothing() -> None:
    rng = np.random.default_rng(3)
    n, rows = 12, 30
    right, left = rng.standard_normal((2, 2 * n, rows, 8)).astype(np.float32)
    for k in range(n - 1):  # b = a + 1, and the same seen upside down, one row lower
        left[2 * (k + 1), 1:] += 0.8 * right[2 * k, :-1]
        left[2 * k + 1, 1:] += 0.8 * right[2 * (k + 1) + 1, :-1]
    common = rng.standard_normal(8).astype(np.float32)
    sides = Sides(right + 2 * common, left + 2 * common, np.full(n, rows))
    score, slide = compare_sides(sides, 2)
    for k in range(n - 1):
        assert score[2 * k].argmax() == 2 * (k + 1)
        assert slide[2 * k, 2 * (k + 1)] == 1
    known = score[score > -50]
    assert abs(np.median(known)) < 0.1
    assert np.allclose(score[::2, ::2], score[1::2, 1::2].T, atol=1e-4)


def test_neighbours_stand_out_and_lie_side_by_side() -> None:
    strips = strips_of(page(0, 420, 430), 9, turned=(1, 4, 5))
    assert are_chads(strips.pieces)
    sides = look_along_chads(strips.pieces, Context(workers=LocalWorkers(1)), load_learned())
    assert sides is not None
    number = [2 * k + (k in (1, 4, 5)) for k in range(9)]
    first = [sides.beside.score[number[k]].argmax() == number[k + 1] for k in range(8)]
    assert sum(first) >= 6
    pose = sides.pose(number[0], number[2], False)
    assert abs(pose.theta) == pytest.approx(0.0, abs=0.05)
    assert np.hypot(pose.x, pose.y) > 30


def test_it_can_be_stopped() -> None:
    strips = strips_of(page(0, 420, 430), 9)
    stop = Stop()
    stop.request()
    assert look_along_chads(strips.pieces, Context(stop=stop, workers=LocalWorkers(1)), load_learned()) is None

"""Straight cuts through pages: both sides are in line, and only what the blade took is missing."""

from __future__ import annotations

import numpy as np
import pytest

from jigsawnet.shred.documents import Typefaces
from jigsawnet.strips import INSIDE_PX, OUTSIDE_PX
from jigsawnet.training import straight
from jigsawnet.training.straight import grey_page, straight_cuts, straight_page
from jigsawnet.types import Float32Array, UInt8Array

ROWS = 128


@pytest.fixture
def page() -> UInt8Array:
    """Waves that run across all cuts, each row its own."""
    rows = np.random.default_rng(0).integers(60, 256, (500, 1))
    return np.broadcast_to(rows, (500, 500)).astype(np.uint8)


def cuts(page: UInt8Array, seed: int) -> tuple[Float32Array, Float32Array]:
    found = straight_cuts(page, np.random.default_rng(seed), ROWS)
    assert found is not None
    return found


@pytest.mark.parametrize("seed", range(12))
def test_bands_look_like_those_of_strips(page: UInt8Array, seed: int) -> None:
    right, left = cuts(page, seed)
    assert right.shape == left.shape == (len(right), 2, ROWS, OUTSIDE_PX + INSIDE_PX)
    assert 3 <= len(right) <= 24
    assert (right[:, 1, :, :INSIDE_PX] == 1).all()
    assert (left[:, 1, :, OUTSIDE_PX:] == 1).all()
    assert not right[:, :, :, INSIDE_PX:].any()
    assert not left[:, :, :, :OUTSIDE_PX].any()


def test_what_is_printed_goes_on_across_a_cut(page: UInt8Array, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(straight, "_SIDEWAYS", 0.0)
    for seed in range(6):
        right, left = cuts(page, seed)
        a, b = right[:, 0, 4:-4, INSIDE_PX - 10], left[:, 0, 4:-4, OUTSIDE_PX + 9]
        alike = [np.corrcoef(x, y)[0, 1] for x, y in zip(a, b, strict=True)]
        slid = [np.corrcoef(x[5:], y[:-5])[0, 1] for x, y in zip(a, b, strict=True)]
        assert min(alike) > max(slid) + 0.1


def test_print_is_lost_at_the_edge_of_the_paper_only() -> None:
    for seed in range(8):
        for outer_last in (True, False):
            band = np.ones((5, 2, 60, OUTSIDE_PX + INSIDE_PX), np.float32)
            straight._fade(band, outer_last, np.random.default_rng(seed))
            ink = band[:, 0, :, :INSIDE_PX][..., ::-1] if outer_last else band[:, 0, :, OUTSIDE_PX:]
            assert (ink[..., 7:] == 1).all(), "deeper nothing is lost"
            assert (np.diff(ink.mean(axis=(0, 1))) >= -0.2).all(), "more is lost further out"


def test_a_page_that_is_too_small_has_no_cuts() -> None:
    assert straight_cuts(np.zeros((60, 60), np.uint8), np.random.default_rng(0), ROWS) is None


def test_a_page_is_grey_and_printed() -> None:
    made = grey_page((), Typefaces({}), np.random.default_rng(1))
    assert made.ndim == 2
    assert made.min() < 120
    assert np.median(made) > 200


@pytest.mark.parametrize("seed", range(4))
def test_strips_and_chads_can_be_put_in_order_again(seed: int) -> None:
    pieces, lines, turned = straight_page((), Typefaces({}), np.random.default_rng(seed))
    assert sorted(k for line in lines for k in line) == [piece.idx for piece in pieces] == list(range(len(pieces)))
    assert [int(pieces[k].name.split(".")[0]) for line in lines for k in line] == list(range(len(pieces)))
    upright = [np.rot90(pieces[k].image, 2 * turned[k])[6:-6, 6:-6, 0] for line in lines for k in line]
    assert len({strip.shape for strip in upright}) == 1
    rows = [np.hstack(upright[k * len(lines[0]) : (k + 1) * len(lines[0])]) for k in range(len(lines))]
    page = np.vstack(rows)
    assert page.min() < 120, "something is printed"
    ink = [(strip < 150).mean() for strip in upright]
    assert np.corrcoef(ink[:-1], ink[1:])[0, 1] > 0.2, "neighbours are about as full"

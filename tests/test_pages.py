"""Made-up pages look like pages: white paper, some ink, clear margins, and the same for the same seed."""

from __future__ import annotations

import numpy as np
import pytest

from jigsawnet.shred.pages import make_page


def test_the_seed_decides() -> None:
    first, again, other = (make_page(np.random.default_rng(seed), 440, 600) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


@pytest.mark.parametrize("seed", range(4))
def test_a_page_is_mostly_white_and_has_ink(seed: int) -> None:
    page = make_page(np.random.default_rng(seed), 660, 900)
    assert (page.shape, page.dtype) == ((900, 660, 3), np.uint8)
    grey = page.mean(2)
    assert (grey > 230).mean() > 0.7
    assert 0.01 < (grey < 128).mean() < 0.3
    assert page.flags.writeable


def test_the_side_margins_are_clear_and_ink_reaches_the_lower_half() -> None:
    grey = make_page(np.random.default_rng(3), 1100, 1500).mean(2)
    assert (grey[:, :70] > 230).all()
    assert (grey[:, -70:] > 230).all()
    assert (grey[750:] < 128).any()


@pytest.mark.parametrize("size", [(300, 160), (200, 60)])
def test_a_small_page_comes_to_an_end(size: tuple[int, int]) -> None:
    width, height = size
    assert make_page(np.random.default_rng(0), width, height).shape == (height, width, 3)

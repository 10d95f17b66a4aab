"""The nearest pixel of a mask, against one that looks at all of them."""

from __future__ import annotations

import numpy as np
import pytest

from jigsawnet.nearest import nearest_pixels


@pytest.mark.parametrize("mask", [3, 5])
@pytest.mark.parametrize("seed", range(4))
def test_it_is_a_pixel_of_the_source_and_none_is_much_nearer(seed: int, mask: int) -> None:
    rng = np.random.default_rng(seed)
    source = rng.random((37, 23)) < (0.02, 0.1, 0.5, 0.9)[seed]
    source[5, 7] = True
    nearest, distance = nearest_pixels(source, mask=mask)
    assert source.ravel()[nearest].all()
    y, x = np.indices(source.shape)
    rows, cols = np.nonzero(source)
    true = np.hypot(y[..., None] - rows, x[..., None] - cols).min(axis=-1)
    to_it = np.hypot(y - nearest // 23, x - nearest % 23)
    np.testing.assert_allclose(to_it, true, rtol=0.15, atol=1e-6)
    np.testing.assert_allclose(distance, to_it, rtol=0.1, atol=1e-3)
    assert (nearest.ravel()[source.ravel()] == np.flatnonzero(source)).all(), "a pixel of the source is nearest to itself"


def test_some_places_in_their_order() -> None:
    source, at = np.zeros((6, 5), bool), np.zeros((6, 5), bool)
    source[0, 0] = source[5, 4] = True
    at[1, 0] = at[4, 3] = at[5, 4] = True
    nearest, distance = nearest_pixels(source, at)
    assert nearest.tolist() == [0, 29, 29]
    np.testing.assert_allclose(distance, [1.0, 1.4, 0.0], atol=0.05)

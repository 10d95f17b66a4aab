"""From coarse to fine: dark parts of pieces on a dark ground stay."""

from __future__ import annotations

import numpy as np

from jigsawnet.fragments.background import fit_background
from jigsawnet.fragments.levels import find_mask
from jigsawnet.types import BoolArray, UInt8Array

SIDE, SIZE = 260, (1700, 1500)


def lid() -> tuple[UInt8Array, BoolArray]:
    """Squares on a dark ground, larger than what is looked at at first, each with a part of an edge nearly as dark as that."""
    page, truth = np.full((*SIZE, 3), 30.0), np.zeros(SIZE, bool)
    for y in range(120, SIZE[0] - SIDE, 380):
        for x in range(120, SIZE[1] - SIDE, 420):
            page[y : y + SIDE, x : x + SIDE] = np.linspace(80, 250, SIDE)[:, None]
            page[y + SIDE - 30 : y + SIDE, x + 60 : x + 100] = (39, 37, 37)
            truth[y : y + SIDE, x : x + SIDE] = True
    return np.clip(page + np.random.default_rng(0).normal(0, 1.5, page.shape), 0, 255).astype(np.uint8), truth


def test_dark_parts_of_an_edge_are_found() -> None:
    page, truth = lid()
    mask = find_mask(page, fit_background(page), 3.0)[0].mask
    assert np.count_nonzero(truth ^ mask) < 0.002 * np.count_nonzero(truth), "the dark parts are 0.018 of it"

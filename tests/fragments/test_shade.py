"""The law of shadows is read off a page, and says how much light is taken beside paper."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from jigsawnet.fragments.background import fit_background
from jigsawnet.fragments.flood import EDGE, GROUND, keep_sharp_growth
from jigsawnet.fragments.shade import fit_shade
from jigsawnet.types import BoolArray, Float32Array, UInt8Array


def page_with_shadow(strength: float) -> tuple[UInt8Array, BoolArray, Float32Array]:
    """Dark paper on grey, a shadow to the lower right of it; the page, the paper, and the part of the light that is taken."""
    paper = np.zeros((300, 360), np.float32)
    for x, y in ((40, 40), (200, 50), (60, 170), (220, 180)):
        cv2.fillPoly(paper, [np.array([[x, y], [x + 80, y + 10], [x + 70, y + 80], [x + 6, y + 70]], np.int32)], 1.0)
    taken = strength * cv2.GaussianBlur(np.roll(paper, (4, 4), axis=(0, 1)), (0, 0), 3.0)
    page = np.full((300, 360, 3), 210.0, np.float32) * (1.0 - taken[..., None])
    page[paper > 0.5] = (70, 40, 50)
    return cv2.GaussianBlur(page, (0, 0), 0.6).astype(np.uint8), paper > 0.5, np.asarray(taken, np.float32)


def around(paper: BoolArray, nearest_px: float = 1.0) -> BoolArray:
    away = cv2.distanceTransform((~paper).astype(np.uint8), cv2.DIST_L2, 5)
    ring: BoolArray = (away > nearest_px) & (away < 15)
    return ring


def test_the_law_is_that_of_the_page() -> None:
    page, paper, taken = page_with_shadow(0.3)
    shade = fit_shade(page, paper, fit_background(page))
    ring = around(paper)
    assert np.abs(shade.window(paper) - taken)[ring].mean() < 0.01
    assert taken[ring].max() > 0.25
    assert shade.error < 0.02


def test_a_page_without_shadow_or_paper_has_no_law() -> None:
    page, paper, _ = page_with_shadow(0.0)
    background = fit_background(page)
    assert fit_shade(page, paper, background).window(paper)[around(paper, 3.0)].max() < 0.03
    assert fit_shade(page, np.zeros_like(paper), background).terms == ()


@pytest.mark.parametrize("has_edge", [True, False])
def test_paper_found_at_second_sight_needs_a_sharp_border(has_edge: bool) -> None:
    before, after = np.zeros((2, 60, 80), bool)
    before[10:50, 10:50] = True
    after[10:50, 10:70] = True
    kinds = np.full(before.shape, GROUND, np.uint8)
    if has_edge:
        kinds[10:50, 69:71] = EDGE
    assert np.array_equal(keep_sharp_growth(before, after, kinds), after if has_edge else before)

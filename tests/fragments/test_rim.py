"""The rim: mixed colours go, the mask and the inside stay."""

from __future__ import annotations

import cv2
import numpy as np

from jigsawnet.fragments.scan import clean_rim
from jigsawnet.types import BoolArray, UInt8Array

PAPER, GROUND = (200, 60, 40), (20, 40, 160)


def scanned(mask: BoolArray) -> UInt8Array:
    """Paper on ground, blurred as by a scanner."""
    sharp = np.where(mask[..., None], np.array(PAPER, np.uint8), np.array(GROUND, np.uint8))
    return np.asarray(cv2.GaussianBlur(sharp, (0, 0), 0.8), np.uint8)


def test_no_background_shows_along_the_border() -> None:
    mask = cv2.circle(np.zeros((90, 90), np.uint8), (45, 45), 30, 1, -1).astype(bool)
    image = scanned(mask)
    cleaned = clean_rim(image, mask)
    assert np.abs(image[mask].astype(int) - PAPER).max() > 40
    assert np.abs(cleaned[mask].astype(int) - PAPER).max() <= 6


def test_what_lies_inside_and_outside_stays() -> None:
    rng = np.random.default_rng(0)
    image = rng.integers(0, 256, (40, 60, 3), dtype=np.uint8)
    mask = np.zeros((40, 60), bool)
    mask[5:30, 8:50] = True
    cleaned = clean_rim(image, mask)
    inside = np.zeros_like(mask)
    inside[7:28, 10:48] = True
    assert np.array_equal(cleaned[inside | ~mask], image[inside | ~mask])
    assert np.array_equal(cleaned[5:7, 12], image[[7, 7], 12])


def test_thin_strips_and_empty_masks_are_left_alone() -> None:
    image = np.random.default_rng(1).integers(0, 256, (20, 30, 3), dtype=np.uint8)
    thin = np.zeros((20, 30), bool)
    thin[8:11] = True
    assert np.array_equal(clean_rim(image, thin), image)
    assert np.array_equal(clean_rim(image, np.zeros_like(thin)), image)


def test_paper_at_the_edge_of_the_picture_has_a_rim_there() -> None:
    mask = np.ones((20, 20), bool)
    image = np.full((20, 20, 3), 100, np.uint8)
    image[0] = 250
    assert (clean_rim(image, mask) == 100).all()

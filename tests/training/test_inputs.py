from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from jigsawnet.score.pair_picture import BACKGROUND
from jigsawnet.training.config import AugmentConfig
from jigsawnet.training.examples import Examples
from jigsawnet.training.inputs import change_colors, flip_bands, flip_pictures, load_inputs


def test_a_mirrored_picture_keeps_what_is_in_its_box() -> None:
    pictures = np.zeros((64, 20, 40, 3), np.uint8)
    pictures[:, 2:6, 10:30] = 200
    rois = np.tile(np.array([0.25, 0.1, 0.75, 0.3], np.float32), (64, 1))
    rois[:, 0] += 0.05
    pictures[:, 2:6, 10:12] = 0
    flip_pictures(pictures, rois, np.random.default_rng(0))
    for picture, (x0, y0, x1, y1) in zip(pictures, rois, strict=True):
        inside = picture[round(y0 * 20) : round(y1 * 20), round(x0 * 40) : round(x1 * 40)]
        assert (inside == 200).all()
        assert inside.sum() == picture.sum()
    assert len(np.unique(rois, axis=0)) == 4


def test_a_turned_band_keeps_each_mask_on_its_side() -> None:
    bands = np.zeros((64, 32, 128, 5), np.uint8)
    bands[:, :16, :, 3] = 255
    bands[:, 16:, :, 4] = 255
    bands[:, 3, 7, 0] = 9
    flip_bands(bands, np.random.default_rng(0))
    assert (bands[:, :16, :, 3] == 255).all()
    assert (bands[:, 16:, :, 4] == 255).all()
    assert set(zip(*np.nonzero(bands[..., 0])[1:], strict=True)) == {(3, 7), (28, 7), (3, 120), (28, 120)}


def test_colors_change_on_paper_only() -> None:
    pictures = np.full((4, 8, 8, 3), BACKGROUND, np.uint8)
    pictures[:, :4] = 100
    changed = change_colors(pictures, AugmentConfig(jitter=0.2, noise=0.05), np.random.default_rng(0))
    assert np.array_equal(changed[:, 4:], pictures[:, 4:])
    assert (changed[:, :4] != 100).mean() > 0.9
    assert changed.min() >= 0
    assert changed.max() <= 255


def test_examples_themselves_are_never_changed(examples: Examples) -> None:
    before = examples.pictures.copy(), examples.rois.copy(), examples.bands.copy()
    augment = AugmentConfig(flips=True, jitter=0.3, noise=0.1)
    for network in ("jigsawnet", "seam"):
        load_inputs(examples, network, np.arange(20), augment, np.random.default_rng(0))
    for old, new in zip(before, (examples.pictures, examples.rois, examples.bands), strict=True):
        assert np.array_equal(old, new)


def test_inputs_are_scaled_and_channels_first(examples: Examples) -> None:
    picture, roi = load_inputs(examples, "jigsawnet", np.array([5, 2]))
    assert picture.shape == (2, 3, 32, 32)
    assert np.array_equal(roi.numpy(), examples.rois[[5, 2]])
    assert picture[0, 1, 3, 4].item() == pytest.approx(examples.pictures[5, 3, 4, 1] / 255)

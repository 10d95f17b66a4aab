"""Rows of the examples → what a network takes, changed at random where that is asked for."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from jigsawnet.learned import NetworkName
from jigsawnet.score.pair_picture import BACKGROUND
from jigsawnet.score.seam_band import BAND_CHANNELS
from jigsawnet.training.boosting import IntArray
from jigsawnet.training.config import AugmentConfig
from jigsawnet.training.examples import Examples
from jigsawnet.types import Float32Array, UInt8Array

Inputs = tuple[Tensor, ...]


def load_inputs(
    examples: Examples,
    network: NetworkName,
    rows: IntArray,
    augment: AugmentConfig | None = None,
    rng: np.random.Generator | None = None,
) -> Inputs:
    """Inputs of a network for some rows, values in [0, 1], channels last in memory.

    Args:
        examples: all of them.
        network: ``jigsawnet`` gives pictures ``(B, 3, H, W)`` and rois ``(B, 4)``; ``seam`` and ``ragged`` give bands
            ``(B, 5, 32, 128)``, ``printed`` bands ``(B, 10, 32, 128)``.
        rows: which ones ``(B,)``.
        augment: random changes; None makes none.
        rng: where the changes come from.
    """
    images = np.array(examples.images(network)[rows])
    rois = np.array(examples.rois[rows])
    scaled: UInt8Array | Float32Array = images
    if augment is not None and augment.active and rng is not None:
        if augment.flips and network == "jigsawnet":
            flip_pictures(images, rois, rng)
        elif augment.flips:
            flip_bands(images, rng)
        if augment.jitter > 0 or augment.noise > 0:
            scaled = change_colors(images, augment, rng)
    tensor = torch.from_numpy(scaled).permute(0, 3, 1, 2).float().div_(255.0)
    return (tensor, torch.from_numpy(rois)) if network == "jigsawnet" else (tensor,)


def flip_pictures(pictures: UInt8Array, rois: Float32Array, rng: np.random.Generator) -> None:
    """Mirror a random half of ``pictures (B, H, W, 3)`` left-right and another half top-down, in place, with their boxes."""
    for axis, (low, high) in ((2, (0, 2)), (1, (1, 3))):
        chosen = np.flatnonzero(rng.random(len(pictures)) < 0.5)
        pictures[chosen] = np.flip(pictures[chosen], axis)
        rois[chosen, low], rois[chosen, high] = 1 - rois[chosen, high], 1 - rois[chosen, low]


def flip_bands(bands: UInt8Array, rng: np.random.Generator) -> None:
    """Turn a random half of ``bands (B, 32, 128, 5 or 10)`` end to end and another half side to side, in place.

    Side to side the pieces change places, so their two masks do as well: the first mask stays the mask of the same side.
    """
    along = np.flatnonzero(rng.random(len(bands)) < 0.5)
    bands[along] = np.flip(bands[along], 2)
    across = np.flatnonzero(rng.random(len(bands)) < 0.5)
    order = [0, 1, 2, 4, 3, 5, 6, 7, 9, 8]
    bands[across] = np.flip(bands[across], 1)[..., order[: bands.shape[-1]]]


def change_colors(images: UInt8Array, augment: AugmentConfig, rng: np.random.Generator) -> Float32Array:
    """Scale the colours of each of ``images (B, H, W, 3, 5 or 10)`` and add noise, on paper only: not on the background."""
    count = len(images)
    changed = images.astype(np.float32)
    views = changed.reshape(*images.shape[:3], -1, min(images.shape[-1], BAND_CHANNELS))
    colors = views[..., :3] * rng.uniform(1 - augment.jitter, 1 + augment.jitter, (count, 1, 1, 1, 3)).astype(np.float32)
    if augment.noise > 0:
        spread = (255 * rng.uniform(0, augment.noise, (count, 1, 1, 1, 1))).astype(np.float32)
        colors = colors + spread * rng.standard_normal(colors.shape, dtype=np.float32)
    marks = views[..., 3:] > 0 if images.shape[-1] > 3 else views != np.array(BACKGROUND, np.float32)
    paper = np.any(marks, axis=-1, keepdims=True)
    views[..., :3] = np.where(paper, np.clip(colors, 0, 255), views[..., :3])
    return changed

"""Scans of different resolution on one scale."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from jigsawnet.fragments.check import Finding
from jigsawnet.types import BoolArray, UInt8Array

_SAME = 1.01
"""Resolutions that differ by less count as the same."""
_STRONG = 2.5
"""Resolutions that differ by more are probably wrong tags."""


def common_scale(names: Sequence[str], dpis: Sequence[float | None]) -> tuple[list[float], list[Finding]]:
    """Factor for each scan, by its resolution in dots per inch, that brings all to the coarsest; and what is doubtful about it.

    A scan without a tag keeps its size.
    """
    known = [dpi for dpi in dpis if dpi is not None]
    if len(names) < 2 or not known:
        findings = []
        if len(names) > 1:
            sentence = "None of the scans says its resolution, so all are taken to be at the same one: otherwise give --scale."
            findings.append(Finding("scale", sentence))
        return [1.0] * len(names), findings
    coarsest, finest = min(known), max(known)
    factors = [1.0 if dpi is None or dpi < _SAME * coarsest else coarsest / dpi for dpi in dpis]
    findings = [
        Finding("scale", f"{name} does not say its resolution and is taken to be at {coarsest:g} dpi: otherwise give --scale.")
        for name, dpi in zip(names, dpis, strict=True)
        if dpi is None
    ]
    if finest > _SAME * coarsest:
        sentence = f"The scans are at {coarsest:g} to {finest:g} dpi and were brought to {coarsest:g} dpi"
        doubt = ": this is a large difference, so check that the tags are right, or give --scale."
        findings.append(Finding("scale", sentence + (doubt if finest > _STRONG * coarsest else ".")))
    return factors, findings


def rescale(image: UInt8Array, mask: BoolArray, factor: float) -> tuple[UInt8Array, BoolArray]:
    """A piece ``image (H, W, 3), mask (H, W)`` made ``factor`` times as large; no colour from outside the mask comes in."""
    if factor == 1.0:
        return image, mask
    size = max(1, round(mask.shape[1] * factor)), max(1, round(mask.shape[0] * factor))
    how = cv2.INTER_AREA if factor < 1.0 else cv2.INTER_LINEAR
    cover = cv2.resize(mask.astype(np.float32), size, interpolation=how)
    colors = cv2.resize(image.astype(np.float32) * mask[..., None], size, interpolation=how)
    scaled = np.clip(np.rint(colors / np.maximum(cover, 1e-3)[..., None]), 0, 255).astype(np.uint8)
    return scaled, np.asarray(cover > 0.5, np.bool_)


def reduce(pixels: UInt8Array, max_pixels: int) -> UInt8Array:
    """A copy of a picture ``(H, W, C)`` with at most about ``max_pixels`` pixels."""
    factor = min(1.0, (max_pixels / (pixels.shape[0] * pixels.shape[1])) ** 0.5)
    size = max(1, round(pixels.shape[1] * factor)), max(1, round(pixels.shape[0] * factor))
    return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), np.uint8)

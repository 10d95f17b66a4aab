"""Decoded pictures → 8-bit sRGB arrays: colour profiles applied, deep values scaled, alpha kept."""

from __future__ import annotations

import io
from itertools import product

import numpy as np
from PIL import Image, ImageCms
from PIL.TiffImagePlugin import TiffImageFile

from jigsawnet.io.decoding import DECODE_ERRORS, is_of_the_machine
from jigsawnet.types import UInt8Array

_SAME_LEVELS = 2
"""A profile that changes no colour by more is sRGB, and the picture stays as it is."""
_PHOTOMETRIC, _WHITE_IS_ZERO = 262, 0
_GREYS: UInt8Array = np.arange(256, dtype=np.uint8)[None]
_PROBE: UInt8Array = np.array(list(product(range(0, 256, 15), repeat=3)), np.uint8)[None]
"""A sample of all colours."""


def to_array(picture: Image.Image) -> UInt8Array:
    """A decoded picture as ``(H, W, 3)`` sRGB or, when it has transparency, ``(H, W, 4)``.

    A colour profile that is damaged, or is not for pictures of this kind, is no reason to refuse a picture: it counts as sRGB.
    """
    if picture.mode.startswith(("I", "F")):
        pixels = _deep_grey_to_array(picture)
        return _with_profile(pixels, Image.fromarray(np.ascontiguousarray(pixels[..., 0])), picture.info.get("icc_profile"))
    if picture.mode == "LAB":
        return _from_lab(picture)
    pixels = np.array(picture.convert("RGBA" if picture.has_transparency_data else "RGB"))
    colors = picture if picture.mode in ("RGB", "L", "CMYK") else _plain(picture)
    return _with_profile(pixels, colors, picture.info.get("icc_profile"))


def _plain(picture: Image.Image) -> Image.Image:
    """Without palette and alpha, in the colour space that a profile speaks of."""
    return picture.convert("L" if picture.mode in ("LA", "La", "1") else "RGB")


def _with_profile(pixels: UInt8Array, colors: Image.Image, profile: object) -> UInt8Array:
    """``pixels (H, W, 3 | 4)`` with the colours that its profile gives to ``colors``, the picture in its own colour space."""
    if not isinstance(profile, bytes) or not profile:
        return pixels
    try:
        to_srgb = ImageCms.buildTransform(
            ImageCms.ImageCmsProfile(io.BytesIO(profile)),
            ImageCms.createProfile("sRGB"),
            colors.mode,
            "RGB",
            ImageCms.Intent.RELATIVE_COLORIMETRIC,
            ImageCms.Flags.BLACKPOINTCOMPENSATION | (ImageCms.Flags.NOOPTIMIZE if colors.mode == "L" else 0),
        )
        if colors.mode == "CMYK":
            return np.dstack([_applied(to_srgb, colors), pixels[..., 3:]])
        probe = Image.fromarray(_GREYS if colors.mode == "L" else _PROBE)
        seen = _applied(to_srgb, probe)
        if np.abs(seen.astype(np.int16) - np.array(probe.convert("RGB"), np.int16)).max() <= _SAME_LEVELS:
            return pixels
        converted = seen[0][np.array(colors)] if colors.mode == "L" else _applied(to_srgb, colors)
        return np.dstack([converted, pixels[..., 3:]])
    except (ImageCms.PyCMSError, *DECODE_ERRORS) as error:  # a damaged profile is no reason to refuse a picture
        if is_of_the_machine(error):
            raise
        return pixels


def _applied(to_srgb: ImageCms.ImageCmsTransform, picture: Image.Image) -> UInt8Array:
    return np.array(ImageCms.applyTransform(picture, to_srgb), np.uint8)


def _from_lab(picture: Image.Image) -> UInt8Array:
    lab, srgb = ImageCms.createProfile("LAB"), ImageCms.createProfile("sRGB")
    return _applied(ImageCms.buildTransform(lab, srgb, "LAB", "RGB"), picture)


def _deep_grey_to_array(picture: Image.Image) -> UInt8Array:
    """Grey with 16-bit, 32-bit or float values; the float scale (1, 255, 65535) is the least that holds every value."""
    values = np.asarray(picture)
    if picture.mode.startswith("I;16"):
        grey = (values >> 8).astype(np.uint8)
        if isinstance(picture, TiffImageFile) and picture.tag_v2.get(_PHOTOMETRIC) == _WHITE_IS_ZERO:
            grey = 255 - grey
    else:
        finite = np.nan_to_num(values.astype(np.float64), posinf=0.0, neginf=0.0)
        top = float(finite.max())
        scales = (1.0, 255.0, 65535.0) if picture.mode == "F" else (65535.0, 2.0**31)
        full = next((scale for scale in scales if top <= scale), top)
        grey = np.rint(np.clip(finite / full, 0.0, 1.0) * 255.0).astype(np.uint8)
    transparent = picture.info.get("transparency")
    if not isinstance(transparent, int):
        return np.dstack([grey] * 3)
    alpha = np.where(values == transparent, 0, 255).astype(np.uint8)
    return np.dstack([grey, grey, grey, alpha])

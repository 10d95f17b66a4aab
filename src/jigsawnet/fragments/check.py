"""What is wrong with a scan, said before an hour is spent on it: shadows, touching, blurred, small pieces, pieces cut off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np

from jigsawnet.fragments.background import Box
from jigsawnet.fragments.scan import ScanPiece, ScanResult
from jigsawnet.types import Float32Array, FloatArray

Kind = Literal["touching", "cut off", "shadow", "shade", "blurred", "small", "scale", "ignored", "unpaired"]

GRAVE_KINDS: frozenset[Kind] = frozenset({"touching", "cut off", "blurred"})
"""What makes it unlikely that the pieces find their places."""

_FINE_PX, _WIDE_PX = 1.0, 3.0
_BLURRED_PX = 2.0
_BLURRED_TIMES, _BLURRED_LEAST_PX = 1.8, 1.3
_SMALL_SIDE_PX = 48.0
_RING_PX = (2.5, 8.0)
_DARK_LIGHT = 0.88
_DARK_SHARE = 0.2
_DEEPEST_LIGHT = 0.3
_SHADE_LIGHT = 0.7
_TINT = 0.06
_BLACK_LEVEL = 40.0
_MOST_NAMES = 12


@dataclass(frozen=True, slots=True)
class Finding:
    """Something a person should know about a scan: one sentence, the pieces it speaks of (from 0), and where they lie."""

    kind: Kind
    sentence: str
    box: Box | None = None
    pieces: tuple[int, ...] = ()

    @property
    def is_grave(self) -> bool:
        """True for what should be mended before solving."""
        return self.kind in GRAVE_KINDS


def check_scan(result: ScanResult) -> list[Finding]:
    """Findings about the pieces of one scan, the gravest first."""
    found = [*_touching(result), *_cut_off(result), *_blurred(result), *_shadows(result), *_small(result)]
    if result.n_specks:
        what = "One small object was" if result.n_specks == 1 else f"{result.n_specks} small objects were"
        found.append(Finding("ignored", f"{what} taken for specks or labels and ignored."))
    if result.n_rectangles:
        what = "One rectangle" if result.n_rectangles == 1 else f"{result.n_rectangles} rectangles"
        found.append(Finding("ignored", f"{what} unlike the pieces, such as a ruler or a colour card, was left out."))
    return found


def edge_blur_px(piece: ScanPiece) -> float:
    """How soft the border of a piece is: standard deviation in px of the blur that its edge has gone through.

    The slope of a blurred step falls with further smoothing the less, the softer it was. This does not depend on contrast.
    """
    luma = cv2.cvtColor(piece.image, cv2.COLOR_RGB2GRAY).astype(np.float32)
    fine, wide = _slope(luma, _FINE_PX), _slope(luma, _WIDE_PX)
    mask = piece.mask.astype(np.uint8)
    border = cv2.dilate(mask, np.ones((3, 3), np.uint8)) > cv2.erode(mask, np.ones((3, 3), np.uint8))
    steep = border & (fine >= np.percentile(fine[border], 60)) & (fine > 0.5)
    if not steep.any():
        return 0.0
    ratio = float(np.median(fine[steep] / np.maximum(wide[steep], 1e-3)))
    if ratio <= 1.01:
        return 3.0 * _WIDE_PX
    return float(np.sqrt(max(0.0, (_WIDE_PX**2 - (ratio * _FINE_PX) ** 2) / (ratio**2 - 1.0))))


def _slope(luma: Float32Array, sigma_px: float) -> Float32Array:
    smooth = cv2.GaussianBlur(luma, (0, 0), sigma_px)
    across = cv2.Sobel(smooth, cv2.CV_32F, 1, 0, ksize=3, scale=1 / 8)
    down = cv2.Sobel(smooth, cv2.CV_32F, 0, 1, ksize=3, scale=1 / 8)
    return np.asarray(cv2.magnitude(across, down), np.float32)


def _touching(result: ScanResult) -> Iterator[Finding]:
    for group in result.split:
        sentence = f"Pieces {_names(group)} touch and were cut apart at the narrow neck between them: check the cut."
        yield Finding("touching", sentence, _around(result, group), group)
    for k in result.suspects:
        sentence = f"Piece {k + 1} is probably two pieces that touch: lay them apart and scan again."
        yield Finding("touching", sentence, result.pieces[k].box, (k,))


def _cut_off(result: ScanResult) -> Iterator[Finding]:
    chosen = tuple(k for k, piece in enumerate(result.pieces) if piece.cut_off)
    yield from _about(result, "cut off", chosen, "cut off at the border of the scan: move {them} inwards and scan again.")


def _blurred(result: ScanResult) -> Iterator[Finding]:
    blurs = np.array([edge_blur_px(piece) for piece in result.pieces])
    if not len(blurs):
        return
    soft = (blurs > _BLURRED_PX) | ((blurs > _BLURRED_LEAST_PX) & (blurs > _BLURRED_TIMES * np.median(blurs)))
    chosen = tuple(int(k) for k in np.flatnonzero(soft))
    yield from _about(result, "blurred", chosen, "blurred: press {them} flat, or focus again.")


def _shadows(result: ScanResult) -> Iterator[Finding]:
    lights = [_light_around(result, piece) for piece in result.pieces]
    beside = tuple(k for k, (dark_share, _) in enumerate(lights) if dark_share > _DARK_SHARE)
    yield from _about(result, "shadow", beside, "bordered by a shadow: borders there are less exact; use softer light.")
    shaded = tuple(k for k, (_, light) in enumerate(lights) if light < _SHADE_LIGHT)
    yield from _about(result, "shade", shaded, "in the shade: colours there are off; light the page evenly.")


def _light_around(result: ScanResult, piece: ScanPiece) -> tuple[float, float]:
    """Share of a narrow ring around a piece that is in shadow, and the page's light there over that of its lightest part."""
    height, width = piece.mask.shape
    behind = result.background.window(*piece.corner, width, height)
    luma_behind = float(np.median(_luma(behind[piece.mask])))
    brightest = float(np.percentile(_luma(result.background.surface.reshape(-1, 3)), 98))
    if brightest < _BLACK_LEVEL:
        return 0.0, 1.0
    away = cv2.distanceTransform((~piece.mask).astype(np.uint8), cv2.DIST_L2, 5)
    ring = (away > _RING_PX[0]) & (away < _RING_PX[1])
    colors, ground = piece.image[ring].astype(np.float64), behind[ring].astype(np.float64)
    power = np.maximum((ground * ground).sum(axis=1), 1.0)
    light = (colors * ground).sum(axis=1) / power
    tint = np.linalg.norm(colors - light[:, None] * ground, axis=1) / np.sqrt(power)
    dark = (light < _DARK_LIGHT) & (light > _DEEPEST_LIGHT) & (tint < _TINT)
    return float(dark.mean()) if dark.size else 0.0, luma_behind / brightest


def _luma(rgb: Float32Array) -> FloatArray:
    return np.asarray(rgb @ np.array([0.299, 0.587, 0.114]), np.float64)


def _small(result: ScanResult) -> Iterator[Finding]:
    chosen = tuple(k for k, piece in enumerate(result.pieces) if piece.area_px < _SMALL_SIDE_PX**2)
    rest = f"less than {_SMALL_SIDE_PX:.0f} x {_SMALL_SIDE_PX:.0f} px in size: scan at a higher resolution."
    yield from _about(result, "small", chosen, rest)


def _about(result: ScanResult, kind: Kind, chosen: tuple[int, ...], rest: str) -> Iterator[Finding]:
    """One finding about several pieces, if there are any: "Pieces 1 and 4 are ..."."""
    if chosen:
        start, them = ("Piece {} is ", "it") if len(chosen) == 1 else ("Pieces {} are ", "them")
        sentence = start.format(_names(chosen)) + rest.format(them=them)
        yield Finding(kind, sentence, _around(result, chosen), chosen)


def _names(chosen: Sequence[int]) -> str:
    """Numbers for a person, from 1: "1, 2 and 5", or how many more there are."""
    words = [str(k + 1) for k in chosen]
    if len(words) > _MOST_NAMES:
        words = [*words[: _MOST_NAMES - 1], f"{len(words) - _MOST_NAMES + 1} more"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _around(result: ScanResult, chosen: Sequence[int]) -> Box:
    """The box around several pieces."""
    boxes = np.array([result.pieces[k].box for k in chosen])
    left, top = (int(value) for value in boxes[:, :2].min(axis=0))
    right, bottom = (int(value) for value in (boxes[:, :2] + boxes[:, 2:]).max(axis=0))
    return left, top, right - left, bottom - top

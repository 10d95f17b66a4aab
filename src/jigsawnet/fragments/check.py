"""What is wrong with a scan, said and drawn before the long work starts: pieces that touch, are blurred, small, cut off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np

from jigsawnet.fragments.background import Box
from jigsawnet.fragments.scan import ScanPiece, ScanResult
from jigsawnet.types import Float32Array, FloatArray, UInt8Array

Kind = Literal[
    "touching",
    "cut off",
    "no background",
    "similar",
    "glare",
    "shadow",
    "shade",
    "blurred",
    "small",
    "scale",
    "ignored",
    "unpaired",
    "straightened",
]

Color = tuple[int, int, int]

GRAVE_KINDS: frozenset[Kind] = frozenset({"touching", "cut off", "no background", "blurred"})
"""What makes it unlikely that the pieces find their places."""

_FINE_PX, _WIDE_PX = 1.0, 3.0
"""The two smoothings whose slopes tell how soft an edge is."""
_BLURRED_PX = 2.0
_BLURRED_TIMES, _BLURRED_LEAST_PX = 1.8, 1.3
"""A piece is blurred from `_BLURRED_PX` on, or from the least one if that is so many times the median of the scan."""
_SMALL_SIDE_PX = 48.0
_RING_PX = (2.5, 8.0)
"""Distances from the mask between which a shadow is looked for."""
_DARK_LIGHT, _DEEPEST_LIGHT, _TINT = 0.88, 0.3, 0.06
"""Shadow has this part of the background's light at most and at least, and its tint to within the last."""
_DARK_SHARE, _SHADE_LIGHT = 0.2, 0.7
"""Part of the ring in shadow, and light of the page, from which on a person is told."""
_BLACK_LEVEL = 40.0
_SIMILAR_PX, _SIMILAR_TIMES, _SIMILAR_SHARE = (1.5, 5.0), 1.3, 0.25
"""Depths between which a piece's rim is compared with the background, how many times the floor it must stand out, and the
part of the rim that does not from which on a person is told."""
_LEAST_GROUND = 0.08
"""Part of a picture in background below which it is probably no scan of pieces."""
_MOST_NAMES = 12
_MAX_SIDE_PX = 2000
_FINE: Color = (0, 170, 60)
_MINOR: Color = (255, 140, 0)
_GRAVE: Color = (230, 0, 40)
_INK: Color = (0, 0, 0)
_HALO: Color = (255, 255, 255)
_FONT = cv2.FONT_HERSHEY_SIMPLEX


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
    found = [*_no_background(result), *_touching(result), *_cut_off(result), *_blurred(result), *_similar(result)]
    found += [*_glare(result), *_shadows(result), *_small(result)]
    if result.n_specks:
        what = "One small object was" if result.n_specks == 1 else f"{result.n_specks} small objects were"
        found.append(Finding("ignored", f"{what} taken for specks or labels and ignored."))
    if result.n_rectangles:
        what = "One rectangle" if result.n_rectangles == 1 else f"{result.n_rectangles} rectangles"
        found.append(Finding("ignored", f"{what} unlike the pieces, such as a ruler or a colour card, was left out."))
    if result.n_edges or result.background.frame is not None:
        what = "What lies around the page" if result.background.frame is not None else "The edge of the scan itself"
        found.append(Finding("ignored", f"{what} was left out."))
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
        sentence = f"Pieces {_names(result, group)} touch and were cut apart at the narrow neck between them: check the cut."
        yield Finding("touching", sentence, _around(result, group), group)
    for k in result.suspects:
        sentence = f"Piece {result.number(k)} is probably two pieces that touch: lay them apart and scan again."
        yield Finding("touching", sentence, result.pieces[k].box, (k,))


def _cut_off(result: ScanResult) -> Iterator[Finding]:
    chosen = tuple(k for k, piece in enumerate(result.pieces) if piece.cut_off)
    yield from _about(result, "cut off", chosen, "cut off at the border of the scan: move {them} inwards and scan again.")


def _no_background(result: ScanResult) -> Iterator[Finding]:
    if result.background.is_seen.mean() < _LEAST_GROUND:
        sentence = (
            "Hardly any background can be told from pieces: lay them apart on one plain colour, all of it in the picture."
        )
        yield Finding("no background", sentence)


def _similar(result: ScanResult) -> Iterator[Finding]:
    chosen = tuple(k for k, piece in enumerate(result.pieces) if _like_background(result, piece) > _SIMILAR_SHARE)
    rest = "too similar to the background along {their} border: some of it may be lost; lay {them} on another colour."
    yield from _about(result, "similar", chosen, rest)


def _like_background(result: ScanResult, piece: ScanPiece) -> float:
    """Part of a piece's rim that hardly stands out from the background."""
    height, width = piece.mask.shape
    depth = cv2.distanceTransform(piece.mask.astype(np.uint8), cv2.DIST_L2, 5)
    rim = (depth > _SIMILAR_PX[0]) & (depth < _SIMILAR_PX[1])
    if not rim.any():
        return 0.0
    behind = result.background.window(*piece.corner, width, height)
    offset = result.contrast.weigh(cv2.GaussianBlur(piece.image, (0, 0), 1.0).astype(np.float32) - behind)
    return float(np.mean(np.linalg.norm(offset[rim], axis=1) < _SIMILAR_TIMES * result.contrast.floor))


def _glare(result: ScanResult) -> Iterator[Finding]:
    glare = result.background.glare
    if glare is None:
        return
    scale = np.array(result.background.page_size) / glare.shape[::-1]
    _, _, stats, _ = cv2.connectedComponentsWithStats(glare.astype(np.uint8), connectivity=8)
    for x, y, width, height in (row[:4] for row in stats[1:]):
        left, top = (np.array([x, y]) * scale).astype(int).tolist()
        across, down = (np.array([width, height]) * scale).astype(int).tolist()
        sentence = f"Glare lies around ({left + across // 2}, {top + down // 2}): turn the light or the page so that it goes."
        yield Finding("glare", sentence, (left, top, across, down))


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
        start, them, their = ("Piece {} is ", "it", "its") if len(chosen) == 1 else ("Pieces {} are ", "them", "their")
        sentence = start.format(_names(result, chosen)) + rest.format(them=them, their=their)
        yield Finding(kind, sentence, _around(result, chosen), chosen)


def _names(result: ScanResult, chosen: Sequence[int]) -> str:
    """Numbers for a person: "1, 2 and 5", or how many more there are."""
    words = [str(result.number(k)) for k in chosen]
    if len(words) > _MOST_NAMES:
        words = [*words[: _MOST_NAMES - 1], f"{len(words) - _MOST_NAMES + 1} more"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _around(result: ScanResult, chosen: Sequence[int]) -> Box:
    """The box around several pieces."""
    boxes = np.array([result.pieces[k].box for k in chosen])
    left, top = (int(value) for value in boxes[:, :2].min(axis=0))
    right, bottom = (int(value) for value in (boxes[:, :2] + boxes[:, 2:]).max(axis=0))
    return left, top, right - left, bottom - top


def draw_findings(picture: UInt8Array, result: ScanResult, findings: Sequence[Finding]) -> UInt8Array:
    """The scan ``(H, W, 3)``, reduced to at most 2000 px, with each piece outlined and numbered from 1.

    Green: in order; orange: see the word beside it; red: to be looked at before solving.
    """
    height, width = picture.shape[:2]
    scale = min(1.0, _MAX_SIDE_PX / max(height, width))
    size = max(1, round(width * scale)), max(1, round(height * scale))
    canvas = np.ascontiguousarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8)
    kinds: dict[int, list[Kind]] = {}
    for finding in findings:
        for k in finding.pieces:
            kinds.setdefault(k, []).append(finding.kind)
    line_px = max(1, round(max(size) / 700))
    for finding in findings:
        if finding.box and not finding.pieces:
            x, y, box_width, box_height = (round(value * scale) for value in finding.box)
            cv2.rectangle(canvas, (x, y), (x + box_width, y + box_height), _MINOR, line_px, cv2.LINE_AA)
            _write(canvas, [finding.kind], (x + box_width / 2, y + box_height / 2), max(size) / 1800.0)
    for k, piece in enumerate(result.pieces):
        words = list(dict.fromkeys(kinds.get(k, [])))
        color = _FINE if not words else _GRAVE if GRAVE_KINDS & set(words) else _MINOR
        outlines, _ = cv2.findContours(piece.mask.astype(np.uint8), cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE, offset=piece.corner)
        scaled = [np.rint((outline + 0.5) * scale - 0.5).astype(np.int32) for outline in outlines]
        cv2.drawContours(canvas, scaled, -1, color, line_px, cv2.LINE_AA)
        x, y, box_width, box_height = piece.box
        middle = (x + box_width / 2) * scale, (y + box_height / 2) * scale
        _write(canvas, [str(result.number(k)), *words], middle, max(size) / 1800.0)
    return canvas


def _write(canvas: UInt8Array, lines: Sequence[str], middle: tuple[float, float], scale: float) -> None:
    """Write lines around a point, the first one large, kept inside the picture; white around black stands out anywhere."""
    y = middle[1]
    for number, line in enumerate(lines):
        font_scale = max(0.5, scale * (1.1 if number == 0 else 0.8))
        thickness = max(1, round(2 * font_scale))
        (width, height), _ = cv2.getTextSize(line, _FONT, font_scale, thickness)
        x = int(np.clip(middle[0] - width / 2, 2, max(2, canvas.shape[1] - width - 2)))
        at = x, int(np.clip(y + height / 2, height + 2, canvas.shape[0] - 3))
        cv2.putText(canvas, line, at, _FONT, font_scale, _HALO, thickness + 3, cv2.LINE_AA)
        cv2.putText(canvas, line, at, _FONT, font_scale, _INK, thickness, cv2.LINE_AA)
        y += 1.5 * height

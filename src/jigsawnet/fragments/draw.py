"""A picture that shows what was found on a scan: numbered outlines, and what is wrong with a piece beside it."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from jigsawnet.fragments.check import GRAVE_KINDS, Finding, Kind
from jigsawnet.fragments.scan import ScanResult
from jigsawnet.types import UInt8Array

Color = tuple[int, int, int]

_MAX_SIDE_PX = 2000
_FINE: Color = (0, 170, 60)
_MINOR: Color = (255, 140, 0)
_GRAVE: Color = (230, 0, 40)
_INK: Color = (0, 0, 0)
_HALO: Color = (255, 255, 255)
_FONT = cv2.FONT_HERSHEY_SIMPLEX


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
    for k, piece in enumerate(result.pieces):
        words = list(dict.fromkeys(kinds.get(k, [])))
        color = _FINE if not words else _GRAVE if GRAVE_KINDS & set(words) else _MINOR
        outlines, _ = cv2.findContours(piece.mask.astype(np.uint8), cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE, offset=piece.corner)
        scaled = [np.rint((outline + 0.5) * scale - 0.5).astype(np.int32) for outline in outlines]
        cv2.drawContours(canvas, scaled, -1, color, line_px, cv2.LINE_AA)
        _write(canvas, [str(k + 1), *words], _middle(piece.box, scale), max(size) / 1800.0)
    return canvas


def _middle(box: tuple[int, int, int, int], scale: float) -> tuple[float, float]:
    return (box[0] + box[2] / 2) * scale, (box[1] + box[3] / 2) * scale


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

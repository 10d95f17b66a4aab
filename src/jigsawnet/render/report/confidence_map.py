"""The pieces over the picture, coloured by confidence: a drawing with a legend, names on hover."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from jigsawnet.geometry import SE2
from jigsawnet.render.layout import Layout
from jigsawnet.render.report.page import percent, plural, short, text
from jigsawnet.types import Assembly, Fragment, Puzzle

PICTURE_ID = "picture"
"""The drawing of the picture, shown again under the colours."""
_DETAIL = 1000.0
"""Outlines are as fine as a drawing of this many px needs."""
_NAMED_BELOW = 0.8
"""Pieces less sure than this have their percentage written on them, so that colour does not say it alone."""


@dataclass(frozen=True, slots=True)
class Grade:
    """A step of the scale: confidences from ``at_least`` upward. The colours can be told apart by colour-blind people."""

    at_least: float
    color: str
    words: str


GRADES = (
    Grade(0.99, "#2c7bb6", "99 % and more"),
    Grade(0.95, "#abd9e9", "95 to 99 %"),
    Grade(0.80, "#ffffbf", "80 to 95 %"),
    Grade(0.50, "#fdae61", "50 to 80 %"),
    Grade(0.00, "#d7191c", "below 50 %"),
)


def grade_of(confidence: float) -> Grade:
    """The step a confidence belongs to."""
    return next((grade for grade in GRADES if confidence >= grade.at_least), GRADES[-1])


def legend(assembly: Assembly) -> str:
    """The colours, what they mean, and how many pieces have each."""
    counts = dict.fromkeys(GRADES, 0)
    for value in assembly.confidence.values():
        counts[grade_of(value)] += 1
    items = (
        f'<li><span style="background:{grade.color}"></span>{text(grade.words)}: {plural(count, "piece")}</li>'
        for grade, count in counts.items()
    )
    return f'<ul class="legend">{"".join(items)}</ul>'


def confidence_map(puzzle: Puzzle, assembly: Assembly, layout: Layout) -> str:
    """The drawing, in the frame of the canvas."""
    unit = max(layout.width, layout.height) / _DETAIL
    placed = [idx for component in assembly.components for idx in component]
    shapes = [
        _shape(puzzle.fragments[idx], layout.canvas_from_fragment[idx], assembly.confidence.get(idx), unit) for idx in placed
    ]
    return (
        f'<svg class="sheet" role="img" aria-label="Pieces coloured by confidence" viewBox="0 0 {layout.width} {layout.height}"'
        f' xmlns="http://www.w3.org/2000/svg"><use href="#{PICTURE_ID}" class="grey"/>\n'
        f'<g fill-opacity="0.55" stroke="#222" stroke-width="{1.2 * unit:.2f}" stroke-linejoin="round">\n'
        + "\n".join(shapes)
        + "\n</g></svg>"
    )


def _shape(fragment: Fragment, canvas_from_fragment: SE2, confidence: float | None, unit: float) -> str:
    color = "#bbbbbb" if confidence is None else grade_of(confidence).color
    outline = _outline(fragment, unit)
    points = canvas_from_fragment @ outline + 0.5  # a drawing has pixel edges at whole numbers
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    sure = "unknown confidence" if confidence is None else percent(confidence)
    shape = f'<polygon fill="{color}" points="{path}"><title>{text(short(fragment.name))}: {sure}</title></polygon>'
    if confidence is not None and confidence < _NAMED_BELOW:
        x, y = points.mean(axis=0)
        shape += (
            f'<text x="{x:.0f}" y="{y:.0f}" font-size="{20 * unit:.1f}" text-anchor="middle" dominant-baseline="central"'
            f' fill="#000" fill-opacity="1" stroke="#fff" stroke-width="{4 * unit:.1f}" paint-order="stroke"'
            f' font-family="sans-serif">{percent(confidence)}</text>'
        )
    return shape


def _outline(fragment: Fragment, tolerance_px: float) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """The outer border with few points, ``(N, 2)`` px in the fragment's frame."""
    curves: Sequence[np.ndarray] = cv2.findContours(fragment.mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)[
        0
    ]
    if not curves:
        return np.zeros((1, 2))
    largest = max(curves, key=cv2.contourArea)
    return np.asarray(cv2.approxPolyDP(largest, tolerance_px, True), dtype=np.float64).reshape(-1, 2)

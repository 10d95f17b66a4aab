"""What a notebook shows of a result: its picture, small, and what to know of it."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape

import cv2

from jigsawnet.render.image import render_assembly, shrink_to_preview
from jigsawnet.types import Assembly, Puzzle

MOST_PIXELS = 1_000_000
_MOST_NOTES = 5


def result_png(puzzle: Puzzle, assembly: Assembly) -> bytes | None:
    """The picture as PNG, at most about a million pixels; None when no piece is placed."""
    if not assembly.poses:
        return None
    pieces, places, _ = shrink_to_preview(puzzle, assembly, MOST_PIXELS)
    picture = render_assembly(pieces, places)
    return cv2.imencode(".png", cv2.cvtColor(picture, cv2.COLOR_RGBA2BGRA))[1].tobytes()


def result_html(puzzle: Puzzle, assembly: Assembly, notes: Sequence[str]) -> str:
    """The picture, how much is placed, and the first notes."""
    png = result_png(puzzle, assembly)
    data = "" if png is None else base64.b64encode(png).decode("ascii")
    shown = f'<img src="data:image/png;base64,{data}" alt="{escape(puzzle.name)}" style="max-width: 100%">' if data else ""
    more = [f"and {len(notes) - _MOST_NOTES} more"] if len(notes) > _MOST_NOTES else []
    listed = "".join(f"<li>{escape(note)}</li>" for note in [*notes[:_MOST_NOTES], *more])
    return f"<figure>{shown}<figcaption>{escape(assembly.summary)}<ul>{listed}</ul></figcaption></figure>"

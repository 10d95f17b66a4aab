"""A IIIF manifest (Presentation API 3): one canvas for a page, one annotation for a piece. Pure: plain values for JSON."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jigsawnet.types import FloatArray

CONTEXT = "http://iiif.io/api/presentation/3/context.json"
_NOT_TEXT = re.compile("[^\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True, eq=False)
class CanvasPiece:
    """A piece on a canvas: its name and its outline ``(N, 2)`` px."""

    name: str
    outline: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Canvas:
    """A page: its title, the address of its picture (PNG) below the base, the size of that, and the pieces on it."""

    title: str
    file: str
    width: int
    height: int
    pieces: Sequence[CanvasPiece]


def manifest(name: str, canvases: Sequence[Canvas], base: str) -> dict[str, Any]:
    """The manifest of pages whose files lie below the address ``base``, which ends without a slash."""
    return {
        "@context": CONTEXT,
        "id": f"{base}/manifest.json",
        "type": "Manifest",
        "label": _label(name),
        "items": [_canvas(canvas, f"{base}/canvas/{k}", f"{base}/{canvas.file}") for k, canvas in enumerate(canvases, 1)],
    }


def _canvas(canvas: Canvas, own: str, picture: str) -> dict[str, Any]:
    size = {"width": canvas.width, "height": canvas.height}
    painting = {
        "id": f"{own}/picture", "type": "Annotation", "motivation": "painting", "target": own,
        "body": {"id": picture, "type": "Image", "format": "image/png", **size},
    }  # fmt: skip
    pieces = [_annotation(piece, f"{own}/piece/{k}", own) for k, piece in enumerate(canvas.pieces, 1)]
    return {
        "id": own, "type": "Canvas", "label": _label(canvas.title), **size,
        "items": [{"id": f"{own}/page", "type": "AnnotationPage", "items": [painting]}],
        "annotations": [{"id": f"{own}/pieces", "type": "AnnotationPage", "items": pieces}],
    }  # fmt: skip


def _annotation(piece: CanvasPiece, own: str, canvas: str) -> dict[str, Any]:
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in piece.outline.tolist())
    shape = f'<svg xmlns="http://www.w3.org/2000/svg"><polygon points="{html.escape(points)}"/></svg>'
    return {
        "id": own, "type": "Annotation", "motivation": "tagging",
        "body": {"type": "TextualBody", "value": _NOT_TEXT.sub("", piece.name), "format": "text/plain"},
        "target": {
            "type": "SpecificResource", "source": {"id": canvas, "type": "Canvas"},
            "selector": {"type": "SvgSelector", "value": shape},
        },
    }  # fmt: skip


def _label(text: str) -> dict[str, list[str]]:
    return {"none": [_NOT_TEXT.sub("", text)]}

"""Small pieces of HTML: escaped text, embedded pictures, tables, and the frame of the page."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Iterable, Sequence
from html import escape

import cv2
import numpy as np

from jigsawnet.render.report.style import STYLE
from jigsawnet.types import UInt8Array

_NOT_TEXT = re.compile("[^\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LONGEST_NAME = 120
PAPER = 236
"""Grey that shows where there is no piece."""


def text(value: object) -> str:
    """Any text, safe in HTML and in attributes; what HTML cannot hold is dropped."""
    return escape(_NOT_TEXT.sub("", str(value)), quote=True)


def short(name: str) -> str:
    """A name with its middle left out when it is very long; still to be escaped."""
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 30]} … {name[-25:]}"


def label(name: str) -> str:
    """A name of a piece; ``bdi`` keeps one written from right to left from turning the words around it."""
    return f"<bdi>{text(short(name))}</bdi>"


def percent(share: float | None) -> str:
    """A share rounded down, so that 100 % means certain."""
    return "–" if share is None else f"{math.floor(min(max(share, 0.0), 1.0) * 1000 + 1e-9) / 10:g} %"


def jpeg(image: UInt8Array, quality: int = 85) -> str:
    """An RGB picture ``(H, W, 3)`` as the address of an embedded JPEG."""
    _, data = cv2.imencode(".jpg", image[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, quality])
    return f"data:image/jpeg;base64,{base64.b64encode(np.asarray(data).tobytes()).decode('ascii')}"


def plural(count: int, one: str, many: str | None = None) -> str:
    """A number with its noun."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """A table of cells that are HTML already; the columns ``numbers`` are set to the right."""

    def cells(kind: str, row: Sequence[str]) -> str:
        side = ' class="n"'
        scope = ' scope="col"' if kind == "th" else ""
        return "".join(f"<{kind}{scope}{side if k in numbers else ''}>{cell}</{kind}>" for k, cell in enumerate(row))

    body = "\n".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{cells("th", head)}</tr></thead><tbody>\n{body}\n</tbody></table></div>'


def section(anchor: str, title: str, *parts: str) -> str:
    """A part of the page with a heading; nothing when there is nothing in it."""
    inner = "\n".join(part for part in parts if part)
    return (
        f'<section id="{anchor}" aria-labelledby="{anchor}-title">\n<h2 id="{anchor}-title">{title}</h2>\n{inner}\n</section>'
    )


def fold(summary: str, inner: str) -> str:
    """A part that opens on a click."""
    return f"<details><summary>{summary}</summary>\n{inner}\n</details>"


def document(title: str, body: str) -> str:
    """The whole page. It may load nothing: pictures and style are inside, and scripts do not run."""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="jigsawnet">
<title>{text(title)}</title>
<style>{STYLE}</style>
</head>
<body>
{body}
</body>
</html>
"""

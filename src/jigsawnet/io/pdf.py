"""Pages of a PDF as pictures: those of scanners as they are, others drawn at 300 dpi; `pdf_worker` does it, within bounds."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import numpy as np

from jigsawnet.errors import InputError
from jigsawnet.types import UInt8Array

_WORKER = Path(__file__).with_name("pdf_worker.py")
_ONLY = -1
_MOST_SECONDS = 60
"""Of computing for one page, where the system can tell; the clock may show four times as much."""
_MOST_BYTES = 3 * 2**30
_NO_WINDOW: int = getattr(subprocess, "CREATE_NO_WINDOW", 0)

_REASONS = {
    "password": "{} is protected by a password: save a copy without one.",
    "empty": "{} has no pages.",
    "several": "{} holds several pages: save each page as a picture of its own.",
    "page": "{} does not have that page.",
    "large": "{} is larger than {} million pixels: make it smaller and try again.",
    "damaged": "{} is damaged or cut short and cannot be read: save or copy it again.",
    "endless": "{} takes too long or too much memory to draw: print or scan it to a new PDF, or save it as pictures.",
}


def count_pages(path: Path, name: str) -> int:
    """How many pages a PDF has.

    Raises:
        InputError: it is damaged, protected or empty.
    """
    return int(_ask(path, name, 0, 0, "look")[0]["pages"])


def page_dpi(path: Path, name: str, number: int | None, max_pixels: int) -> tuple[float, float]:
    """Dots per inch, across and down, of the picture that `draw_page` gives.

    Raises:
        InputError: as for `draw_page`.
    """
    across, down = _ask(path, name, _ONLY if number is None else number, max_pixels, "look")[0]["dpi"]
    return float(across), float(down)


def draw_page(path: Path, name: str, number: int | None, max_pixels: int) -> UInt8Array:
    """Page ``number``, from 1, or the only page (None), as ``(H, W, 3)`` RGB.

    A page that shows one picture and nothing else is that picture, at its own resolution; others are drawn at 300 dpi, or
    as fine as ``max_pixels`` lets them be.

    Raises:
        InputError: the file or page is damaged, protected, too large or endless, or there is no such page;
            no page is named, and there are several.
    """
    told, pixels = _ask(path, name, _ONLY if number is None else number, max_pixels, "draw")
    drawn = np.frombuffer(pixels, np.uint8).reshape(told["height"], told["width"], 3)
    return np.ascontiguousarray(drawn[..., ::-1])


def _ask(path: Path, name: str, number: int, max_pixels: int, what: Literal["look", "draw"]) -> tuple[dict[str, Any], bytes]:
    words = [str(path.absolute()), str(number), str(max_pixels), what, str(_MOST_BYTES), str(_MOST_SECONDS)]
    try:
        done = subprocess.run(
            [sys.executable, "-P", str(_WORKER), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=4 * _MOST_SECONDS,
            check=False,
            creationflags=_NO_WINDOW,
        )
    except subprocess.TimeoutExpired as error:
        raise _refuse("endless", name, max_pixels) from error
    if done.returncode != 0:
        raise _refuse("damaged" if done.returncode in (1, -signal.SIGSEGV) else "endless", name, max_pixels)
    line, _, pixels = done.stdout.partition(b"\n")
    told = json.loads(line)
    if "refused" in told:
        raise _refuse(told["refused"], name, max_pixels)
    return told, pixels


def _refuse(reason: str, name: str, max_pixels: int) -> InputError:
    return InputError(_REASONS[reason].format(name, f"{max_pixels / 1e6:g}"))

"""Pages of a PDF → pixels, in a process that `pdf` starts: this file is run by itself, without the package.

What is drawn on a page is a program, which a small file can make endless, and pdfium is no place for threads.
"""

from __future__ import annotations

import ctypes
import json
import math
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import pypdfium2 as pdfium
from pypdfium2 import raw

DPI = 300.0
"""Resolution at which a page is drawn that is not one picture."""
ONLY = -1
_POINTS_PER_INCH = 72.0
_MOST_OBJECTS = 100_000
_SKEWED = 1e-3
_NEEDS_PASSWORD = (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY)
_INSET_PX = 0.01
"""So much is left free around a picture that fills its page: pdfium would round up what is a hair larger, and stretch it."""
_OVERHANG = 0.005
"""A picture that reaches so much further than its page, as a part of the page, is cropped by it."""
_INVISIBLE = 3
"""Render mode of text that is there to be searched for, such as what was read from a scan."""


class Refused(Exception):  # noqa: N818 - not an error of the program
    """Why a file or page cannot be used, in one word."""


def answer(path: Path, number: int, max_pixels: int, draw: bool) -> tuple[dict[str, Any], Any]:
    """How many pages there are; for page ``number`` (from 1) also its size in px, its resolution and, on request, its pixels.

    Pixels are bytes in rows of blue, green, red. Number 0 asks for no page, `ONLY` for the only one.
    """
    try:
        with pdfium.PdfDocument(path) as document:
            told: dict[str, Any] = {"pages": len(document)}
            if number == 0:
                return told, b""
            if number == ONLY and len(document) > 1:
                raise Refused("several")
            number = max(1, number)
            if number > len(document):
                raise Refused("page")
            return _page(document, number, max_pixels, draw, told)
    except pdfium.PdfiumError as error:
        if error.err_code in _NEEDS_PASSWORD:
            raise Refused("password") from error
        raise Refused("empty" if error.err_code == raw.FPDF_ERR_SUCCESS else "damaged") from error


def _page(document: Any, number: int, max_pixels: int, draw: bool, told: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    page = document[number - 1]
    across, down = page.get_size()
    if not (0 < across < math.inf and 0 < down < math.inf):
        raise Refused("damaged")
    picture = _only_picture(page)
    turned = page.get_rotation() % 180 == 90
    if picture is not None and (size := _native_size(picture, turned)) is not None:
        if _sticks_out(page, picture):
            shown = _shown(picture, turned)
            width, height = max(1, round(size[0] * across / shown[0])), max(1, round(size[1] * down / shown[1]))
            across, down = width * shown[0] / size[0], height * shown[1] / size[1]
        else:
            width, height = size
            across, down = _fill_page(page, picture, size, turned)
        if max(width * height, size[0] * size[1]) > max_pixels:
            raise Refused("large")
    else:
        scale = min(DPI / _POINTS_PER_INCH, math.sqrt(max_pixels / (across * down)))
        width, height = max(1, int(across * scale)), max(1, int(down * scale))
        if width * height > max_pixels:
            raise Refused("large")
    dpis = width * _POINTS_PER_INCH / across, height * _POINTS_PER_INCH / down
    told |= {"width": width, "height": height, "dpi": dpis}
    return told, _draw(page, width, height) if draw else b""


def _only_picture(page: Any) -> Any | None:
    """The picture of a page that shows nothing else; text that is not seen does not count."""
    found = None
    for k, one in enumerate(page.get_objects()):
        if k > _MOST_OBJECTS:
            return None
        if one.type == raw.FPDF_PAGEOBJ_IMAGE and found is None and one.level == 0:
            found = one
        elif one.type != raw.FPDF_PAGEOBJ_TEXT or raw.FPDFTextObj_GetTextRenderMode(one) != _INVISIBLE:
            return None
    return found


def _native_size(picture: Any, turned: bool) -> tuple[int, int] | None:
    """Width and height in px of a picture as it lies on its page; None when it lies askew."""
    a, b, c, d, *_ = picture.get_matrix().get()
    width, height = picture.get_px_size()
    if not all(map(math.isfinite, (a, b, c, d))) or min(width, height) < 1:
        return None
    upright = max(abs(b), abs(c)) <= _SKEWED * min(abs(a), abs(d))
    on_its_side = max(abs(a), abs(d)) <= _SKEWED * min(abs(b), abs(c))
    if upright == on_its_side:
        return None
    return (height, width) if on_its_side != turned else (width, height)


def _fill_page(page: Any, picture: Any, size: tuple[int, int], turned: bool) -> tuple[float, float]:
    """Let a picture fill its page, so that it is drawn pixel by pixel; gives the size in points that it had."""
    shown = _shown(picture, turned)
    left, bottom, right, top = picture.get_bounds()
    page_left, page_bottom, page_right, page_top = page.get_bbox()
    columns, rows = reversed(size) if turned else size
    inset_x, inset_y = _INSET_PX * (page_right - page_left) / columns, _INSET_PX * (page_top - page_bottom) / rows
    page_left, page_right = page_left + inset_x, page_right - inset_x
    page_bottom, page_top = page_bottom + inset_y, page_top - inset_y
    scale_x, scale_y = (page_right - page_left) / (right - left), (page_top - page_bottom) / (top - bottom)
    move = (scale_x, 0.0, 0.0, scale_y, page_left - left * scale_x, page_bottom - bottom * scale_y)
    picture.transform(pdfium.PdfMatrix(*move))
    raw.FPDFPageObj_TransformClipPath(picture, *move)
    return shown


def _shown(picture: Any, turned: bool) -> tuple[float, float]:
    """Size in points that a picture has on its page, across and down."""
    left, bottom, right, top = picture.get_bounds()
    if right - left <= 0 or top - bottom <= 0:
        raise Refused("damaged")
    return (top - bottom, right - left) if turned else (right - left, top - bottom)


def _sticks_out(page: Any, picture: Any) -> bool:
    """Whether the page shows a part of the picture only."""
    left, bottom, right, top = picture.get_bounds()
    page_left, page_bottom, page_right, page_top = page.get_bbox()
    spare = _OVERHANG * max(page_right - page_left, page_top - page_bottom)
    return bool(max(page_left - left, page_bottom - bottom, right - page_right, top - page_top) > spare)


def _draw(page: Any, width: int, height: int) -> bytes:
    """The page stretched to a size in px, on white."""
    bitmap = pdfium.PdfBitmap.new_native(width, height, raw.FPDFBitmap_BGR)
    bitmap.fill_rect((255, 255, 255, 255), 0, 0, width, height)
    raw.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, raw.FPDF_ANNOT)
    data = ctypes.string_at(bitmap.buffer, bitmap.stride * height)
    row = 3 * width
    return data if bitmap.stride == row else b"".join(data[y * bitmap.stride :][:row] for y in range(height))


def _limit(memory_bytes: int, cpu_seconds: int) -> None:
    """Where the system can, end this process when it takes more."""
    with suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415 - not on Windows

        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))


def _serve(out: IO[bytes], path: str, number: str, max_pixels: str, draw: str, memory: str, seconds: str) -> None:
    """Write one line of JSON, and the pixels behind it."""
    _limit(int(memory), int(seconds))
    try:
        told, pixels = answer(Path(path), int(number), int(max_pixels), draw == "draw")
    except Refused as error:
        told, pixels = {"refused": str(error)}, b""
    except MemoryError:
        told, pixels = {"refused": "endless"}, b""
    out.write(json.dumps(told).encode() + b"\n")
    out.write(pixels)


if __name__ == "__main__":
    _serve(sys.stdout.buffer, *sys.argv[1:])

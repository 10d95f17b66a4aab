"""PDF out: pictures at their true size, one to a sheet, kept without loss."""

from __future__ import annotations

import hashlib
import io
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pypdfium2
from PIL import Image

from jigsawnet.io.files import write_stream
from jigsawnet.types import UInt8Array

POINTS_PER_INCH = 72.0
_one_at_a_time = threading.Lock()
"""PDFium works for one thread only."""
_DATE = re.compile(rb"(?<=/CreationDate\(D:)[0-9]{14}")
_IDS = re.compile(rb"(?<=/ID\[<)[0-9A-F]{32}><[0-9A-F]{32}(?=>\]>>\s*startxref)")
"""What PDFium draws by chance, at the end of a file."""


@dataclass(frozen=True, slots=True, eq=False)
class PdfSheet:
    """``picture (H, W, 3)`` at ``dpi`` on a sheet of ``width_pt x height_pt``, its top left corner at ``left_pt, top_pt``."""

    picture: UInt8Array
    dpi: float
    width_pt: float
    height_pt: float
    left_pt: float = 0.0
    top_pt: float = 0.0


def sheet_of_its_size(picture: UInt8Array, dpi: float) -> PdfSheet:
    """A sheet as large as the picture."""
    height, width = picture.shape[:2]
    return PdfSheet(picture, dpi, width / dpi * POINTS_PER_INCH, height / dpi * POINTS_PER_INCH)


def write_pdf(path: Path, sheets: Sequence[PdfSheet]) -> None:
    """Write sheets as one PDF, whole or not at all; the folder must exist. The same sheets give the same bytes.

    Raises:
        OutputError: the file cannot be written.
    """
    with _one_at_a_time:
        pdf = pypdfium2.PdfDocument.new()
        try:
            for sheet in sheets:
                _add(pdf, sheet)
            data = io.BytesIO()
            pdf.save(data)
        finally:
            pdf.close()
    written = _without_chance(data.getvalue())
    write_stream(path, lambda stream: stream.write(written))


def _without_chance(data: bytes) -> bytes:
    """A PDF with a date and a number of its own that do not change when it is written again."""
    dated = _DATE.sub(b"20000101000000", data, count=1)
    number = hashlib.sha256(_IDS.sub(b"", dated)).hexdigest()[:32].upper().encode()
    return _IDS.sub(number + b"><" + number, dated)


def _add(pdf: pypdfium2.PdfDocument, sheet: PdfSheet) -> None:
    page = pdf.new_page(sheet.width_pt, sheet.height_pt)
    image = pypdfium2.PdfImage.new(pdf)
    bitmap = pypdfium2.PdfBitmap.from_pil(Image.fromarray(sheet.picture))
    image.set_bitmap(bitmap)
    height, width = (side / sheet.dpi * POINTS_PER_INCH for side in sheet.picture.shape[:2])
    down = sheet.height_pt - sheet.top_pt - height  # PDF counts from the bottom
    image.set_matrix(pypdfium2.PdfMatrix().scale(width, height).translate(sheet.left_pt, down))
    page.insert_obj(image)
    page.gen_content()
    bitmap.close()
    page.close()

"""A PDF page of rectangles, lines and words, without any library: for what is printed and must keep its size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_POINTS_PER_MM = 72.0 / 25.4
Color = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A filled rectangle: left, top, width and height in mm from the page's top-left corner, colour from 0 to 1."""

    left: float
    top: float
    width: float
    height: float
    color: Color = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Words:
    """A line of Latin text that begins at a point on its base line, in mm; upwards on request."""

    left: float
    base: float
    text: str
    size_mm: float = 2.5
    upwards: bool = False


def drawing_pdf(title: str, size_mm: tuple[float, float], shapes: Sequence[Rectangle], words: Sequence[Words]) -> bytes:
    """One page of the given width and height, drawn in the order given; the same input gives the same bytes.

    It asks viewers to print at its own size.
    """
    width, height = (value * _POINTS_PER_MM for value in size_mm)
    lines = [_rectangle(shape, size_mm[1]) for shape in shapes] + [_words(one, size_mm[1]) for one in words]
    content = "\n".join(["0 g", *lines]).encode("latin-1", "replace")
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R /ViewerPreferences << /PrintScaling /None >> >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width:.3f} {height:.3f}] /Contents 4 0 R "
        "/Resources << /Font << /F 5 0 R >> >> >>".encode(),
        f"<< /Length {len(content)} >>\nstream\n".encode() + content + b"\nendstream",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        f"<< /Title ({_escaped(title)}) /Producer (jigsawnet) >>".encode("latin-1", "replace"),
    ]
    data = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(data))
        data += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    start = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}".encode()
    end = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info 6 0 R >>\nstartxref\n{len(data)}\n%%EOF\n"
    return data + start + end.encode()


def _rectangle(shape: Rectangle, page_mm: float) -> str:
    red, green, blue = shape.color
    corner = shape.left, page_mm - shape.top - shape.height
    x, y, width, height = (value * _POINTS_PER_MM for value in (*corner, shape.width, shape.height))
    return f"{red:.3f} {green:.3f} {blue:.3f} rg {x:.3f} {y:.3f} {width:.3f} {height:.3f} re f"


def _words(words: Words, page_mm: float) -> str:
    x, y, size = (value * _POINTS_PER_MM for value in (words.left, page_mm - words.base, words.size_mm / 0.72))
    turn = "0 1 -1 0" if words.upwards else "1 0 0 1"
    return f"0 g BT /F {size:.2f} Tf {turn} {x:.3f} {y:.3f} Tm ({_escaped(words.text)}) Tj ET"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")

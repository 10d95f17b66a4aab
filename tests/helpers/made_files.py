"""Picture files of all kinds, made byte by byte or with the libraries that read them; nothing here comes from elsewhere."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Sequence

import numpy as np
import pillow_heif
from PIL import Image


def heic(*pictures: np.ndarray, **options: object) -> bytes:
    """Pictures in one HEIC file, almost without loss."""
    stream, made = io.BytesIO(), pillow_heif.HeifFile()
    for pixels in pictures:
        made.add_from_pillow(Image.fromarray(pixels))
    made.save(stream, quality=100, chroma=444, **options)
    return stream.getvalue()


def avif(pixels: np.ndarray, **options: object) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, format="AVIF", quality=100, subsampling="4:4:4", **options)
    return stream.getvalue()


def tiff(*pages: np.ndarray, **options: object) -> bytes:
    stream = io.BytesIO()
    first, *others = (Image.fromarray(pixels) for pixels in pages)
    first.save(stream, format="TIFF", save_all=True, append_images=others, **options)
    return stream.getvalue()


def tiff_in_circle(pixels: np.ndarray) -> bytes:
    """Two pages, of which the second leads back to the first."""
    data = bytearray(tiff(pixels, pixels))
    first = struct.unpack("<I", data[4:8])[0]
    second = struct.unpack("<I", _link(data, first))[0]
    at = second + 2 + 12 * struct.unpack("<H", data[second : second + 2])[0]
    data[at : at + 4] = struct.pack("<I", first)
    return bytes(data)


def _link(data: bytearray, directory: int) -> bytes:
    at = directory + 2 + 12 * struct.unpack("<H", data[directory : directory + 2])[0]
    return bytes(data[at : at + 4])


def deep_tiff(values: np.ndarray, photometric: int, planes: bool = False) -> bytes:
    """Pixels ``(H, W, C)`` of 16 bit, not compressed; photometric 0: white is zero, 1: black is zero, 2: RGB."""
    height, width, samples = values.shape
    strips = [np.ascontiguousarray(values[..., k]).tobytes() for k in range(samples)] if planes else [values.tobytes()]
    tags = {
        256: (4, [width]), 257: (4, [height]), 258: (3, [16] * samples), 259: (3, [1]), 262: (3, [photometric]),
        273: (4, [0] * len(strips)), 277: (3, [samples]), 278: (4, [height]), 279: (4, [len(strip) for strip in strips]),
        284: (3, [2 if planes else 1]),
    }  # fmt: skip
    if samples == 4:
        tags[338] = (3, [2])
    width_of = {3: 2, 4: 4}
    beside = 8 + 2 + 12 * len(tags) + 4
    at = beside + sum(width_of[kind] * len(own) for kind, own in tags.values() if width_of[kind] * len(own) > 4)
    tags[273] = (4, [at + sum(map(len, strips[:k])) for k in range(len(strips))])
    entries, more = b"", b""
    for tag, (kind, own) in sorted(tags.items()):
        data = struct.pack(f"<{len(own)}{'H' if kind == 3 else 'I'}", *own)
        if len(data) > 4:
            more, data = more + data, struct.pack("<I", beside + len(more))
        entries += struct.pack("<HHI", tag, kind, len(own)) + data.ljust(4, b"\0")
    return b"II*\0" + struct.pack("<IH", 8, len(tags)) + entries + struct.pack("<I", 0) + more + b"".join(strips)


def pdf(objects: Sequence[bytes], trailer: bytes = b"") -> bytes:
    """A PDF of these objects, the first of them its catalogue."""
    out, places = bytearray(b"%PDF-1.7\n"), []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, trailer, start)
    return bytes(out)


def pdf_stream(words: bytes, data: bytes) -> bytes:
    return b"<< %s /Length %d >>\nstream\n%s\nendstream" % (words, len(data), data)


def pdf_picture(pixels: np.ndarray) -> bytes:
    """RGB pixels as an object of a PDF."""
    size = b"/Width %d /Height %d /BitsPerComponent 8 /ColorSpace /DeviceRGB" % (pixels.shape[1], pixels.shape[0])
    return pdf_stream(b"/Type /XObject /Subtype /Image %s /Filter /FlateDecode" % size, zlib.compress(pixels.tobytes()))


def pdf_pages(
    contents: Sequence[bytes], picture: bytes, box: bytes = b"0 0 72 96", page: bytes = b"", more: bytes = b""
) -> bytes:
    """A page for each of the contents, which can draw the picture I and write in the font F."""
    kids = b" ".join(b"%d 0 R" % (5 + 2 * k) for k in range(len(contents)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(contents)),
        picture,
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for k, content in enumerate(contents):
        resources = b"/Resources << /XObject << /I 3 0 R >> /Font << /F 4 0 R >> >>"
        words = b"/Type /Page /Parent 2 0 R /MediaBox [%s] /Contents %d 0 R %s %s" % (box, 6 + 2 * k, resources, page)
        objects += [b"<< %s >>" % words, pdf_stream(b"", content)]
    return pdf([*objects, more] if more else objects)


def pdf_of_scan(pixels: np.ndarray, box: bytes = b"0 0 72 96", page: bytes = b"") -> bytes:
    """One page that the picture fills, as scanners write it."""
    width, height = (float(word) for word in box.split()[2:])
    return pdf_pages([b"q %f 0 0 %f 0 0 cm /I Do Q" % (width, height)], pdf_picture(pixels), box, page)


def pdf_of_nested_forms(depth: int) -> bytes:
    """A page that draws a form ten times, which draws another ten times, and so on: a small file and endless work."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 72 72] /Contents 4 0 R /Resources << /XObject << /F 5 0 R >> >> >>",
        pdf_stream(b"", b"/F Do " * 10),
    ]
    for k in range(depth):
        words = b"/Type /XObject /Subtype /Form /BBox [0 0 72 72] /Resources << /XObject << /F %d 0 R >> >>" % (6 + k)
        objects.append(pdf_stream(words, b"/F Do " * 10 if k < depth - 1 else b"0 0 9 9 re f"))
    return pdf(objects)


def pdf_with_password() -> bytes:
    """A PDF that says it is encrypted, by a password that nobody has."""
    key = b"<" + b"41" * 32 + b">"
    words = b"<< /Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O %s /U %s >>" % (key, key)
    pages = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", pages, b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 72 72] >>", words]
    return pdf(objects, b"/Encrypt 4 0 R /ID [<41> <41>]")

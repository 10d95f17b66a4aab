"""Pages of a PDF: a picture comes out as it went in, other pages are drawn, and what is endless or too large is refused."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
import pytest
from made_files import pdf as pdf_file
from made_files import pdf_of_nested_forms, pdf_of_scan, pdf_pages, pdf_picture, pdf_stream

from jigsawnet.errors import InputError
from jigsawnet.io import pdf
from jigsawnet.io.images import read_image
from jigsawnet.io.scans import read_dpi
from jigsawnet.types import UInt8Array

PIXELS = np.random.default_rng(4).integers(0, 256, (40, 30, 3), dtype=np.uint8)
PICTURE = pdf_picture(PIXELS)


def save(folder: Path, data: bytes) -> Path:
    (folder / "scan.pdf").write_bytes(data)
    return folder / "scan.pdf"


def drawn(folder: Path, content: bytes, page: bytes = b"", box: bytes = b"0 0 72 96") -> UInt8Array:
    return read_image(save(folder, pdf_pages([content], PICTURE, box, page)))


@pytest.mark.parametrize("box", [b"0 0 72 96", b"0 0 595.28 841.89", b"0 0 611.9 792.3"])
def test_a_scanned_page_is_its_picture(tmp_path: Path, box: bytes) -> None:
    np.testing.assert_array_equal(read_image(save(tmp_path, pdf_of_scan(PIXELS, box))), PIXELS)


def test_its_resolution_is_that_on_the_page(tmp_path: Path) -> None:
    assert read_dpi(save(tmp_path, pdf_of_scan(PIXELS, b"0 0 7.2 9.6"))) == 300.0
    assert read_dpi(save(tmp_path, pdf_of_scan(PIXELS, b"0 0 14.4 19.2"))) == 150.0
    assert read_dpi(save(tmp_path, pdf_of_scan(PIXELS, b"0 0 7.2 19.2"))) is None, "stretched"


@pytest.mark.parametrize(("degrees", "quarters"), [(90, 3), (180, 2), (270, 1)])
def test_a_page_that_is_turned(tmp_path: Path, degrees: int, quarters: int) -> None:
    path = save(tmp_path, pdf_of_scan(PIXELS, page=b"/Rotate %d" % degrees))
    np.testing.assert_array_equal(read_image(path), np.rot90(PIXELS, quarters))
    assert read_dpi(path) == 30.0


def test_a_picture_that_lies_otherwise_on_its_page(tmp_path: Path) -> None:
    clipped = b"q 13.7 21.1 30.3 40.4 re W n 30.3 0 0 40.4 13.7 21.1 cm /I Do Q"
    np.testing.assert_array_equal(drawn(tmp_path, clipped), PIXELS)
    np.testing.assert_array_equal(drawn(tmp_path, clipped, b"/Rotate 90"), np.rot90(PIXELS, 3))
    np.testing.assert_array_equal(drawn(tmp_path, b"q 0 72 -54 0 60 4 cm /I Do Q"), np.rot90(PIXELS, 1))
    np.testing.assert_array_equal(drawn(tmp_path, b"q 72 0 0 -96 0 96 cm /I Do Q"), PIXELS[::-1])


def test_text_that_is_not_seen_does_not_count_and_other_text_does(tmp_path: Path) -> None:
    scan = b"q 72 0 0 96 0 0 cm /I Do Q BT %d Tr /F 9 Tf 10 10 Td (torn) Tj ET"
    np.testing.assert_array_equal(drawn(tmp_path, scan % 3), PIXELS)
    assert drawn(tmp_path, scan % 0).shape == (400, 300, 3)


def test_other_pages_are_drawn_at_300_dpi_on_white(tmp_path: Path) -> None:
    page = drawn(tmp_path, b"1 0 0 rg 0 0 36 48 re f")
    assert page.shape == (400, 300, 3)
    assert page[300, 50].tolist() == [255, 0, 0], "lower left"
    assert page[50, 250].tolist() == [255, 255, 255]
    assert read_dpi(tmp_path / "scan.pdf") == 300.0
    assert drawn(tmp_path, b"q 72 5 -5 96 0 0 cm /I Do Q").shape == (400, 300, 3), "a picture that lies askew"


def test_a_crop_holds(tmp_path: Path) -> None:
    page = drawn(tmp_path, b"q 72 0 0 96 0 0 cm /I Do Q", b"/CropBox [0 0 36 96]")
    assert page.shape == (40, 15, 3)
    assert np.abs(page.astype(int) - PIXELS[:, :15]).mean() < 2
    assert read_dpi(tmp_path / "scan.pdf") == 30.0


def test_a_large_page_is_drawn_as_fine_as_the_limit_lets(tmp_path: Path) -> None:
    path = save(tmp_path, pdf_pages([b"1 0 0 rg 0 0 14400 7200 re f"], PICTURE, b"0 0 14400 14400"))
    page = read_image(path, max_pixels=10_000)
    assert page.shape == (100, 100, 3)
    assert page[75, 50].tolist() == [255, 0, 0]


def test_a_picture_beyond_the_limit_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    size = b"/Width 60000 /Height 60000 /BitsPerComponent 1 /ColorSpace /DeviceGray /Filter /FlateDecode"
    bomb = pdf_stream(b"/Type /XObject /Subtype /Image " + size, zlib.compress(bytes(1000)))
    for crop in (b"", b"/CropBox [0 0 1 1]"):
        path = save(tmp_path, pdf_pages([b"q 72 0 0 96 0 0 cm /I Do Q"], bomb, page=crop))
        with pytest.raises(InputError, match=r"scan\.pdf is larger than 100 million pixels"):
            read_image(path)


ENDLESS = r"scan\.pdf takes too long or too much memory to draw: print or scan it"


def test_a_page_that_takes_for_ever_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "_MOST_SECONDS", 1)
    with pytest.raises(InputError, match=ENDLESS):
        read_image(save(tmp_path, pdf_of_nested_forms(12)))
    monkeypatch.undo()
    assert read_image(save(tmp_path, pdf_of_nested_forms(2))).shape == (300, 300, 3)


@pytest.mark.skipif(not hasattr(pdf.signal, "SIGXCPU"), reason="the system sets no such limits")
def test_a_page_that_takes_too_much_memory_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packer = zlib.compressobj(9)
    spaces = b"".join(packer.compress(b" " * 2**20) for _ in range(300)) + packer.flush()
    kids = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 72 72] /Contents 4 0 R >>"
    path = save(
        tmp_path, pdf_file([b"<< /Type /Catalog /Pages 2 0 R >>", kids, page, pdf_stream(b"/Filter /FlateDecode", spaces)])
    )
    monkeypatch.setattr(pdf, "_MOST_BYTES", 300 * 2**20)
    with pytest.raises(InputError, match=ENDLESS):
        read_image(path)


def test_a_worker_that_ends_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save(tmp_path, pdf_of_scan(PIXELS))
    (tmp_path / "worker.py").write_text("raise SystemExit(1)")
    monkeypatch.setattr(pdf, "_WORKER", tmp_path / "worker.py")
    with pytest.raises(InputError, match="is damaged or cut short"):
        read_image(path)


def test_the_worker_does_not_find_modules_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit(1)")
    (tmp_path / "worker.py").write_bytes(pdf._WORKER.read_bytes())
    monkeypatch.setattr(pdf, "_WORKER", tmp_path / "worker.py")
    assert read_image(save(tmp_path, pdf_of_scan(PIXELS))).shape == PIXELS.shape

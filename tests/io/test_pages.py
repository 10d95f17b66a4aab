"""Which pages a file holds, which are wanted, what they are called; whatever is wrong with the file is one sentence."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import numpy as np
import pytest
from made_files import deep_tiff, heic, pdf, pdf_of_scan, pdf_pages, pdf_picture, pdf_with_password, tiff, tiff_in_circle
from PIL import Image

from jigsawnet.errors import ConfigError, InputError
from jigsawnet.io.images import read_image
from jigsawnet.io.pages import Page, list_pages, parse_pages
from jigsawnet.io.scans import read_dpi

PIXELS = np.random.default_rng(3).integers(0, 256, (12, 9, 3), dtype=np.uint8)
SMALL = np.ascontiguousarray(PIXELS[:5, :4])


def save(folder: Path, name: str, data: bytes) -> Path:
    (folder / name).write_bytes(data)
    return folder / name


def many_pages(count: int) -> bytes:
    return pdf_pages([b""] * count, pdf_picture(SMALL))


def test_names() -> None:
    assert [Page(Path("a/scan.pdf"), 3).name, Page(Path("a/scan.pdf"), 3).stem] == ["scan.pdf page 3", "scan page 3"]
    assert [Page(Path("a/scan.tif")).name, Page(Path("a/scan.tif")).stem] == ["scan.tif", "scan"]


def test_every_page_of_a_tiff_is_a_picture(tmp_path: Path) -> None:
    path = save(tmp_path, "scan.tif", tiff(PIXELS, SMALL, dpi=(300, 300)))
    pages = list_pages(path)
    assert [page.name for page in pages] == ["scan.tif page 1", "scan.tif page 2"]
    np.testing.assert_array_equal(read_image(pages[0]), PIXELS)
    np.testing.assert_array_equal(read_image(pages[1]), SMALL)
    assert [read_dpi(page) for page in pages] == [300.0, 300.0]
    with pytest.raises(InputError, match=r"scan\.tif holds several pages"):
        read_image(path)
    with pytest.raises(InputError, match=r"scan\.tif has 2 pages, so there is no page 3"):
        read_image(Page(path, 3))


def test_pages_of_a_tiff_are_upright_each_by_its_own_tag(tmp_path: Path) -> None:
    first, second = Image.fromarray(PIXELS), Image.fromarray(SMALL)
    second.encoderinfo = {"tiffinfo": {274: 6}}
    stream = io.BytesIO()
    first.save(stream, format="TIFF", save_all=True, append_images=[second])
    pages = list_pages(save(tmp_path, "scan.tif", stream.getvalue()))
    np.testing.assert_array_equal(read_image(pages[0]), PIXELS)
    np.testing.assert_array_equal(read_image(pages[1]), np.rot90(SMALL, 3))


def test_a_thumbnail_before_the_pages_does_not_count(tmp_path: Path) -> None:
    pictures = [Image.fromarray(SMALL), Image.fromarray(PIXELS), Image.fromarray(SMALL)]
    for picture, kind in zip(pictures, (1, 0, 0), strict=True):
        picture.encoderinfo = {"tiffinfo": {254: kind}}
    stream = io.BytesIO()
    pictures[0].save(stream, format="TIFF", save_all=True, append_images=pictures[1:], tiffinfo={254: 1})
    pages = list_pages(save(tmp_path, "scan.tif", stream.getvalue()))
    assert len(pages) == 2
    np.testing.assert_array_equal(read_image(pages[0]), PIXELS)


def test_big_tiffs_and_those_of_the_other_byte_order(tmp_path: Path) -> None:
    assert len(list_pages(save(tmp_path, "big.tif", tiff(PIXELS, SMALL, PIXELS, big_tiff=True)))) == 3
    entries = [(256, 3, 1), (257, 3, 1)]
    directory = struct.pack(">H", 2) + b"".join(struct.pack(">HHIHH", tag, kind, 1, value, 0) for tag, kind, value in entries)
    chain = b"MM\0*" + struct.pack(">I", 8) + directory + struct.pack(">I", 38) + directory + struct.pack(">I", 0)
    assert len(list_pages(save(tmp_path, "motorola.tif", chain))) == 2


def test_a_tiff_in_a_circle_and_one_cut_in_its_chain(tmp_path: Path) -> None:
    circle = save(tmp_path, "circle.tif", tiff_in_circle(SMALL))
    for read in (list_pages, read_image):
        with pytest.raises(InputError, match=r"^circle\.tif is damaged: its pages go in a circle\. Save it again\.$"):
            read(circle)
    data = tiff(SMALL, PIXELS)
    cut = save(tmp_path, "cut.tif", data[: len(data) - PIXELS.nbytes - 60])
    with pytest.raises(InputError, match=r"cut\.tif is damaged or cut short"):
        list_pages(cut)


def test_a_tiff_with_very_many_directories(tmp_path: Path) -> None:
    count, entry = 10_001, struct.pack("<HHIHH", 256, 3, 1, 1, 0)
    body = b"".join(struct.pack("<H", 1) + entry + struct.pack("<I", 8 + 18 * (k + 1)) for k in range(count))
    path = save(tmp_path, "long.tif", b"II*\0" + struct.pack("<I", 8) + body + bytes(20))
    with pytest.raises(InputError, match=r"long\.tif holds more than 10,000 pages"):
        list_pages(path)


def test_several_pictures_in_a_heic(tmp_path: Path) -> None:
    big, small = np.full((32, 48, 3), (200, 90, 30), np.uint8), np.full((32, 32, 3), (20, 90, 200), np.uint8)
    pages = list_pages(save(tmp_path, "a.heic", heic(big, small)))
    assert [page.number for page in pages] == [1, 2]
    assert [read_image(page).shape for page in pages] == [(32, 48, 3), (32, 32, 3)]
    np.testing.assert_allclose(read_image(pages[1]), small, atol=4)


def test_a_file_with_one_picture_has_no_number(tmp_path: Path) -> None:
    for name, data in {
        "a.tif": tiff(PIXELS),
        "a.pdf": pdf_of_scan(PIXELS),
        "a.heic": heic(np.zeros((32, 32, 3), np.uint8)),
    }.items():
        assert list_pages(save(tmp_path, name, data)) == [Page(tmp_path / name)]
        assert list_pages(tmp_path / name, "7") == [Page(tmp_path / name)], "pages are chosen among several only"
    Image.fromarray(PIXELS).save(tmp_path / "a.webp", save_all=True, append_images=[Image.fromarray(PIXELS[::-1])])
    assert list_pages(tmp_path / "a.webp") == [Page(tmp_path / "a.webp")]


def test_some_pages(tmp_path: Path) -> None:
    path = save(tmp_path, "scan.pdf", many_pages(5))
    assert [page.number for page in list_pages(path)] == [1, 2, 3, 4, 5]
    assert [page.number for page in list_pages(path, "4-9,2, 4")] == [4, 5, 2]
    with pytest.raises(InputError, match=r"scan\.pdf has 5 pages, none of them page 6-7"):
        list_pages(path, "6-7")


@pytest.mark.parametrize("text", ["0", "3-1", "a", "1-", "-3", "1,,2", "1;2", "1.5", "9999999"])
def test_pages_that_make_no_sense(text: str) -> None:
    with pytest.raises(ConfigError, match=r"such as 1-4,7"):
        parse_pages(text)


def test_a_pdf_of_500_pages(tmp_path: Path) -> None:
    path = save(tmp_path, "long.pdf", many_pages(500))
    said = r"^long\.pdf has 500 pages, and at most 100 are read unasked: say which ones, such as --pages 1-100\.$"
    with pytest.raises(InputError, match=said):
        list_pages(path)
    assert len(list_pages(path, "1-150")) == 150
    assert len(list_pages(save(tmp_path, "just.pdf", many_pages(100)))) == 100


def test_files_that_have_no_pages_to_give(tmp_path: Path) -> None:
    no_pages = pdf([b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [] /Count 0 >>"])
    cases = {
        "zero.pdf": (no_pages, "has no pages"),
        "locked.pdf": (pdf_with_password(), "is protected by a password: save a copy without one"),
        "words.pdf": (b"%PDF-1.7\n" * 30, "is damaged or cut short"),
        "nothing.pdf": (b"", "is an empty file"),
    }
    for name, (data, said) in cases.items():
        path = save(tmp_path, name, data)
        for read in (list_pages, read_image):
            with pytest.raises(InputError, match=rf"^{name} {said}"):
                read(path)
        assert read_dpi(path) is None
    with pytest.raises(InputError, match=r"gone\.pdf does not exist"):
        list_pages(tmp_path / "gone.pdf")


def test_tiffs_that_would_be_read_wrongly_are_refused(tmp_path: Path) -> None:
    deep = np.random.default_rng(0).integers(0, 65536, (5, 6, 3), dtype=np.uint16)
    with pytest.raises(InputError, match=r"p\.tif keeps its 16-bit colours in separate planes, .* as PNG"):
        read_image(save(tmp_path, "p.tif", deep_tiff(deep, 2, planes=True)))
    with pytest.raises(InputError, match=r"g\.tif is damaged, or a TIFF of a kind that cannot be read: save it as PNG"):
        read_image(save(tmp_path, "g.tif", deep_tiff(deep[..., :2], 1)))

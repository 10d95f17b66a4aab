"""Three pages named, turned, and exported each by itself, untouched by a terminal; the files are read back."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
from PIL import Image

from jigsawnet.viewer.serve import Workbench
from jigsawnet.viewer.session import Session

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.flaky(reruns=2)]


def _save(window: Any) -> zipfile.ZipFile:
    with window.page.expect_download() as waiting:
        window.page.click("#exporter-save")
    window.until("() => !document.getElementById('exporter').open")
    assert waiting.value.suggested_filename == "pages.zip"
    return zipfile.ZipFile(io.BytesIO(Path(waiting.value.path()).read_bytes()))


def _sheets(data: bytes) -> list[tuple[float, float]]:
    pdf = pypdfium2.PdfDocument(data)
    sizes = [pdf[k].get_size() for k in range(len(pdf))]
    pdf.close()
    return [(width / 72 * 25.4, height / 72 * 25.4) for width, height in sizes]


def test_pages_are_named_turned_and_exported_each_by_itself(
    open_window: Callable[..., Any], serve: Callable[[Session], Workbench], three_pages: Session
) -> None:
    window = open_window(serve(three_pages).address)
    window.click("#tab-pages")
    for number, name in enumerate(("Cover", "Letter", "Reply"), 1):
        window.page.fill(f".page:nth-child({number}) input", name)
        window.press("Enter")
    window.click("#export summary")
    window.page.click("#export-pages")
    window.page.fill("#exporter-dpi", "100")
    with _save(window) as upright:
        names = set(upright.namelist())
        before = _sheets(upright.read("page-002-Letter.pdf"))
        all_pages = _sheets(upright.read("pages.pdf"))
    assert {f"page-{k:03d}-{name}.pdf" for k, name in ((1, "Cover"), (2, "Letter"), (3, "Reply"))} <= names
    assert len(all_pages) == 3
    assert all_pages[1:2] == before
    window.click(".page:nth-child(2) [data-key$=right]")
    window.click("#export summary")
    window.page.click("#export-pages")
    window.page.select_option("#exporter-pages", "2")
    with _save(window) as turned:
        after = _sheets(turned.read("page-002-Letter.pdf"))
        assert not [name for name in turned.namelist() if name.startswith("page-001")]
        with Image.open(io.BytesIO(turned.read("page-002-Letter.png"))) as picture:
            assert (picture.width * 0.254, picture.height * 0.254) == pytest.approx(after[0], abs=0.2)
    assert after[0] == pytest.approx(before[0][::-1], abs=0.6)


def test_what_cannot_be_exported_is_said_in_the_dialog(nine: Any) -> None:
    nine.press("e")
    nine.page.click("#export-pages")
    nine.page.check("#exporter [value=scale_bar]")
    nine.page.click("#exporter-save")
    nine.until("() => !document.getElementById('exporter-error').hidden")
    assert "resolution of the pieces is not known" in nine.text("#exporter-error")
    nine.page.keyboard.press("Escape")
    nine.idle()
    assert not nine.page.is_visible("#exporter")


@pytest.mark.parametrize("query", ["formats=exe", "paper=a9", "pages=x", "dpi=0", "pages=99", "formats="])
def test_nonsense_is_refused_in_a_sentence(nine: Any, query: str) -> None:
    error = nine.ask(
        "(query) => workbench.api.file(`/api/export/pages.zip?${query}`).then(() => null, (e) => [e.status, e.message])", query
    )
    assert error[0] == 422
    assert error[1].endswith(".")

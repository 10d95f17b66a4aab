"""From dropping scans to an exported PDF without a command: cut out, corrected, solved, exported; and what is refused."""

from __future__ import annotations

import base64
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pypdfium2
import pytest
from PIL import Image

from jigsawnet.io.pieces import write_pieces
from jigsawnet.types import Assembly, Puzzle
from jigsawnet.viewer.home.cases import Cases
from jigsawnet.viewer.home.intake import IntakeLimits
from jigsawnet.viewer.home.serve import Home
from jigsawnet_bench.scans.lay import SheetConfig, make_scans

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.flaky(reruns=2)]

FOUND = "() => window.home?.isIdle() && home.review.review !== null"
SOLVED = "() => Boolean(window.workbench?.isIdle()) && !workbench.store.busy"


@pytest.fixture(scope="module")
def scans(nine_pieces: tuple[Puzzle, Assembly], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two scans with four and five of the nine pieces."""
    folder, pieces = tmp_path_factory.mktemp("scans"), nine_pieces[0].pieces
    paths = []
    for k, chosen in enumerate((pieces[:4], pieces[4:])):
        (page,), _ = make_scans(chosen, SheetConfig(width=900, height=700, color=(40, 60, 120)), np.random.default_rng(k))
        paths.append(folder / f"box {k + 1}.png")
        Image.fromarray(page).save(paths[-1], dpi=(150, 150))
    return paths


@pytest.fixture
def serve_home(tmp_path: Path) -> Iterator[Callable[..., Home]]:
    """``serve_home(**options)``: the page of cases over an empty folder."""
    with ExitStack() as stack:

        def start(**options: Any) -> Home:
            home = Home(Cases(tmp_path / "cases"), lambda _: nullcontext(), **options)
            home.start()
            stack.callback(home.stop)
            return home

        yield start


FILE = "new File([Uint8Array.from(atob(given[1]), (letter) => letter.charCodeAt(0))], given[0])"
"""A file of the page, out of ``given``: its name and its bytes as base64."""


def encoded(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()


class Desk:
    """A window on the page of cases."""

    def __init__(self, window: Any) -> None:
        self.window, self.page = window, window.page
        self.clicks = 0

    def until(self, script: str) -> None:
        """Wait for a condition, also while the page turns into the workbench."""
        self.page.wait_for_load_state("load")
        self.window.until(script)

    def drop(self, *paths: Path) -> None:
        """Drop files as a person does from the desktop."""
        self.page.evaluate("() => { window.dropped = new DataTransfer(); }")
        for path in paths:
            self.page.evaluate(f"(given) => dropped.items.add({FILE})", [path.name, encoded(path)])
        self.page.evaluate(
            """() => { for (const name of ["dragover", "drop"]) document.getElementById("main")
                .dispatchEvent(new DragEvent(name, {dataTransfer: window.dropped, bubbles: true, cancelable: true})); }"""
        )

    def click(self, selector: str) -> None:
        self.clicks += 1
        self.page.click(selector)

    def pieces(self) -> list[int]:
        return list(self.page.evaluate("() => home.review.scan.pieces.map((piece) => piece.number)"))


@pytest.fixture
def open_home(open_window: Callable[..., Any]) -> Callable[..., Desk]:
    """``open_home(home, **options)``: a window on the page of cases."""

    def opener(home: Home, **options: Any) -> Desk:
        window = open_window(home.address, "() => Boolean(window.home?.isIdle())", **options)
        return Desk(window)

    return opener


def test_from_two_scans_dropped_to_an_exported_pdf(
    serve_home: Callable[..., Home], open_home: Callable[..., Desk], scans: list[Path], tmp_path: Path
) -> None:
    desk = open_home(serve_home())
    desk.drop(*scans)
    desk.until(FOUND)
    assert desk.page.inner_text("#found") == "9 pieces on 2 scans"
    assert desk.page.locator("#view svg g").count() == 4
    desk.click("#solve")
    desk.until(SOLVED)
    assert desk.clicks <= 3
    assert len(desk.window.poses()) == 9
    desk.page.click("#export summary")
    desk.page.click("#export-pages")
    with desk.page.expect_download() as waiting:
        desk.page.click("#exporter-save")
    archive = zipfile.ZipFile(io.BytesIO(Path(waiting.value.path()).read_bytes()))
    pdf = pypdfium2.PdfDocument(archive.read("pages.pdf"))
    picture = np.asarray(pdf[0].render(scale=1).to_pil().convert("RGB")).astype(int)
    pdf.close()
    assert np.ptp(picture.reshape(-1, 3), axis=0).min() > 100, "there is a picture on the sheet"
    desk.window.idle()
    desk.page.click(".home-link")
    desk.until("() => window.home?.isIdle() && document.querySelectorAll('.case').length === 1")
    desk.until("() => document.querySelector('.case img').naturalWidth > 50")
    desk.page.click(".case .open")
    desk.until(SOLVED)
    assert len(desk.window.poses()) == 9
    asked = [url for url in desk.window.asked if not url.startswith(("http://127.0.0.1:", "blob:", "data:"))]
    assert asked == [], "nothing leaves the machine"


def test_what_was_cut_out_is_corrected_undone_and_solved_as_corrected(
    serve_home: Callable[..., Home], open_home: Callable[..., Desk], scans: list[Path], tmp_path: Path
) -> None:
    """With the keyboard as far as it goes, on a narrow window; lines and the brush by the pointer."""
    home = serve_home()
    desk = open_home(home, viewport={"width": 390, "height": 844})
    desk.drop(scans[0])
    desk.until(FOUND)
    assert desk.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")

    def press(key: str) -> None:
        desk.page.keyboard.press(key)
        desk.until("() => home.isIdle()")

    desk.page.focus("#list [data-key='2']")
    press("Enter")
    press("Delete")
    assert desk.pieces() == [1, 3, 4]
    press("Control+z")
    assert desk.pieces() == [1, 2, 3, 4]
    press("Control+Shift+z")
    assert desk.pieces() == [1, 3, 4]
    press("2")
    box = desk.page.locator("#view g[data-number='1'] .piece-shape").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    desk.page.mouse.move(box["x"] - 4, y)
    desk.page.mouse.down()
    desk.page.mouse.move(x, y, steps=3)
    desk.page.mouse.move(box["x"] + box["width"] + 4, y, steps=3)
    desk.page.mouse.up()
    desk.until("() => home.isIdle() && home.review.scan.pieces.length === 4")
    assert desk.pieces() == [1, 3, 4, 5]
    press("1")
    for number in (1, 5):
        desk.page.focus(f"#list [data-key='{number}']")
        press("Enter")
    press("m")
    assert desk.pieces() == [1, 3, 4]
    assert desk.page.locator("#edits li").count() == 3
    kept = json.loads((tmp_path / "cases" / "box 1" / "review.json").read_text())
    assert [one["kind"] for one in kept["corrections"]] == ["discard", "split", "merge"]
    desk.page.focus("#solve")
    desk.page.keyboard.press("Enter")
    desk.until(SOLVED)
    names = desk.page.evaluate("() => workbench.store.pieces.map((piece) => piece.name)")
    assert names == ["box 1-001.png", "box 1-003.png", "box 1-004.png"]
    desk.page.click(".home-link")
    desk.until("() => window.home?.isIdle() && document.querySelectorAll('.case').length === 1")
    desk.page.click(".case .again")
    desk.until(FOUND)
    assert desk.pieces() == [1, 3, 4], "replayed when the scan is cut again"


def test_a_folder_of_pieces_is_taken_as_it_is_and_the_program_ended(
    serve_home: Callable[..., Home], open_home: Callable[..., Desk], nine_pieces: tuple[Puzzle, Assembly], tmp_path: Path
) -> None:
    write_pieces(tmp_path / "letter", nine_pieces[0])
    desk = open_home(serve_home())
    with desk.page.expect_file_chooser() as chooser:
        desk.page.click("#choose-folder")
    chooser.value.set_files(str(tmp_path / "letter"))
    desk.until(FOUND)
    assert desk.page.inner_text("#title") == "letter"
    assert desk.page.inner_text("#found") == "9 pieces"
    assert desk.page.locator(".singles img").count() == 9
    assert desk.page.locator("#refused li").count() == 0
    desk.page.click("#quit")
    desk.until("() => document.getElementById('main').textContent.includes('jigsawnet has ended')")
    assert not desk.page.is_visible("#banner")


def test_what_cannot_be_used_is_refused_in_a_sentence(
    serve_home: Callable[..., Home], open_home: Callable[..., Desk], scans: list[Path], tmp_path: Path
) -> None:
    size = scans[0].stat().st_size
    desk = open_home(serve_home(intake=IntakeLimits(file_bytes=size)))
    bad = tmp_path / "notes.png"
    bad.write_text("no picture at all")
    desk.drop(bad)
    desk.until("() => home.isIdle() && !document.getElementById('banner').hidden")
    assert desk.page.inner_text("#banner").startswith("notes.png is not a picture that can be read")
    assert not list((tmp_path / "cases").iterdir()), "an empty case is forgotten"
    large, other = tmp_path / "large.png", tmp_path / "list.txt"
    large.write_bytes(scans[0].read_bytes() + b" ")
    other.write_text("a list")
    desk.drop(large, other)
    desk.until("() => home.isIdle() && document.getElementById('banner').textContent.includes('1 other file')")
    assert "is larger than" in desk.page.inner_text("#banner")
    desk.page.evaluate(f"(given) => home.take([{{file: {FILE}, folder: ''}}])", ["x" * 10_000 + ".png", encoded(scans[0])])
    desk.until(FOUND)
    assert desk.page.inner_text("#found") == "4 pieces on 1 scan"
    (case,) = (tmp_path / "cases").iterdir()
    assert len(case.name) < 130


@pytest.mark.slow
def test_axe_finds_no_serious_fault(serve_home: Callable[..., Home], open_home: Callable[..., Desk], scans: list[Path]) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    desk = open_home(serve_home(), reduced_motion="reduce")

    def faults(where: str) -> list[str]:
        found = []
        for scheme in ("dark", "light"):
            desk.page.emulate_media(color_scheme=scheme)
            violations = axe.run(desk.page).response["violations"]
            serious = (v for v in violations if v["impact"] in ("serious", "critical"))
            found += [f"{where}, {scheme}: {v['id']}: {v['nodes'][0]['html']}" for v in serious]
        return found

    found = faults("start")
    desk.drop(scans[0])
    desk.until(FOUND)
    desk.page.click("#list button >> nth=0")
    desk.page.keyboard.press("3")
    found += faults("review")
    desk.page.click("#all-cases")
    desk.until("() => home.isIdle() && document.querySelectorAll('.case').length === 1")
    assert found + faults("cases") == []

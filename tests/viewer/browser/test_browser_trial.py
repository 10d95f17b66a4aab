"""What went wrong when new users tried the workbench, one test each."""

from __future__ import annotations

import dataclasses
import re
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jigsawnet.render.report.facts import GRADES
from jigsawnet.runs import Run
from jigsawnet.viewer.serve import Workbench
from jigsawnet.viewer.session import Session

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.flaky(reruns=2)]

PAGES = "() => workbench.store.state.pages.map((page) => page.pieces.length)"


@pytest.fixture
def three(open_window: Callable[..., Any], serve: Callable[[Session], Workbench], three_pages: Session) -> Any:
    """A window on three pages."""
    return open_window(serve(three_pages).address)


def test_turning_one_page_leaves_the_others_alone(three: Any) -> None:
    assert three.ask(PAGES) == [3, 3, 3]
    before = three.poses()
    three.press("g", "n", "]")
    assert three.ask(PAGES) == [3, 3, 3]
    assert "Turned: Page" in three.text("#status")
    turned = {idx for idx, pose in three.poses().items() if pose[0] != before[idx][0]}
    assert len(turned) == 3
    for _ in range(5):
        three.press("]")
    assert three.ask(PAGES) == [3, 3, 3]
    handle, box = three.ask("() => workbench.handle()"), three.page.locator("#canvas").bounding_box()
    three.drag((box["x"] + handle[0], box["y"] + handle[1]), (box["x"] + handle[0] + 90, box["y"] + handle[1] + 60))
    assert three.ask(PAGES) == [3, 3, 3], "nor by the handle"


def test_a_page_is_named_turned_over_and_put_first(three: Any) -> None:
    three.click("#tab-pages")
    assert three.page.locator(".page img").count() == 3
    three.until("() => [...document.querySelectorAll('.page img')].every((image) => image.naturalWidth > 20)")
    last = three.ask("() => workbench.store.state.pages[2].pieces")
    three.page.fill(".page:nth-child(3) input", "Letter")
    three.press("Enter")
    assert three.text("#status") == "Named: Letter."
    three.click(".page:nth-child(3) [data-key$=up]")
    three.click(".page:nth-child(2) [data-key$=up]")
    first = three.ask("() => workbench.store.state.pages[0]")
    assert (first["title"], first["pieces"]) == ("Letter", last)
    before = three.poses()
    three.click(".page:nth-child(1) [data-key$=over]")
    turn = three.poses()[last[0]][0] - before[last[0]][0]
    assert abs(np.cos(turn) + 1) < 1e-6
    three.press("Control+z")
    assert three.poses() == before


def test_blue_is_sure_in_the_workbench_as_in_the_report(nine: Any) -> None:
    found = nine.ask("""async () => {
        const {GRADES, scaleColor} = await import(new URL("static/colors.js", document.baseURI));
        return [GRADES, [1, 0.97, 0.8, 0.6, 0.2].map(scaleColor)];
    }""")
    assert [(g["atLeast"], g["color"], g["words"]) for g in found[0]] == [(g.at_least, g.color, g.words) for g in GRADES]
    assert found[1] == [grade.color for grade in GRADES]


def test_ready_is_said_when_the_pictures_are_there(open_window: Callable[..., Any], nine_server: Any) -> None:
    window = open_window(nine_server.address)
    assert window.text("#status") == "Ready."
    go, held = threading.Event(), []

    def hold(route: Any) -> None:
        if go.is_set():
            route.continue_()
        else:
            held.append(route)

    window.page.route("**/api/pieces/*.png*", hold)
    window.page.reload()
    window.until("() => window.workbench?.bitmaps.pending > 0")
    window.until("() => workbench.renderer.frames > 0 && workbench.queue.empty")
    assert window.text("#status") == "Loading pictures …"
    go.set()
    for route in held:
        route.continue_()
    window.idle()
    assert window.text("#status") == "Ready."


def test_a_short_seam_pulled_apart_is_still_seen(nine: Any) -> None:
    join = nine.ask("() => workbench.store.state.joins[0]")
    nine.select({"kind": "join", "i": join["i"], "j": join["j"]})
    seen = nine.ask("""async () => {
        const {joinPanel} = await import(new URL("static/join_panel.js", document.baseURI));
        const {i, j} = workbench.store.state.joins[0];
        const detail = await workbench.api.get(`/api/joins/${i}/${j}`);
        const [x, y] = detail.seam[Math.floor(detail.seam.length / 2)];
        detail.seam = [[x - 1, y - 1], [x + 1, y + 1]];  // two px long
        const pictures = new Map([[i, await workbench.api.picture(i, null)], [j, await workbench.api.picture(j, null)]]);
        const parent = document.getElementById("page-details");
        parent.replaceChildren(...joinPanel(workbench, detail, pictures).flat());
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        const slider = parent.querySelector("#apart");
        slider.value = slider.max;
        slider.dispatchEvent(new Event("input"));
        const canvas = parent.querySelector("canvas.seam"), context = canvas.getContext("2d");
        const {data} = context.getImageData(0, 0, canvas.width, canvas.height);
        const middle = 4 * (canvas.width * (canvas.height >> 1) + (canvas.width >> 1));
        const ground = data.slice(middle, middle + 4);
        let paper = 0;
        for (let k = 0; k < data.length; k += 4) paper += [0, 1, 2].some((c) => data[k + c] !== ground[c]);
        return paper / (data.length / 4);
    }""")
    assert 0.2 < seen < 0.9, "a gap in the middle, paper on both sides of it"


def test_the_tip_goes_when_a_key_changes_what_is_seen(nine: Any) -> None:
    for key in ("0", "v"):
        nine.press("o")
        x, y = nine.on_screen(4)
        nine.page.mouse.move(x + 1, y + 1)
        nine.page.mouse.move(x, y)
        nine.idle()
        assert nine.page.is_visible("#tip")
        nine.press(key)
        assert not nine.page.is_visible("#tip"), key
        nine.press("o")


@pytest.mark.parametrize("spacing", ["0", "1px"], ids=["as it is", "wider letters"])
def test_the_side_panel_never_scrolls_sideways(
    open_window: Callable[..., Any], serve: Any, nine_session: Session, spacing: str
) -> None:
    """Fonts differ from machine to machine: letters 1 px apart stand for a wide one."""
    names = tuple(f"scan of the third box, sheet {k:04d}, front.png" for k in range(9))
    nine_session.pieces = dataclasses.replace(nine_session.pieces, names=names)
    window = open_window(serve(nine_session).address, viewport={"width": 1440, "height": 900})
    window.ask("(spacing) => { document.body.style.letterSpacing = spacing; }", spacing)
    window.press("n")
    for tab in ("details", "pieces", "joins", "pages", "history"):
        window.click(f"#tab-{tab}")
        wide = window.ask(
            "(id) => { const e = document.getElementById(id); return e.scrollWidth - e.clientWidth; }", f"page-{tab}"
        )
        assert wide <= 0, tab
    assert window.ask("() => document.querySelector('.side').scrollWidth <= document.querySelector('.side').clientWidth")


class _Staged:
    """A run whose solver stops at the second look until it is let go, and then gives what it had before."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.go = threading.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._run, name)

    def solve_on(self, constraints: Any, context: Any, on_poses: Any, **_: bool) -> Run:
        context.progress("refine", 1, 1)
        context.progress("second round", 40, 100)
        assert self.go.wait(120)
        return self._run


def test_progress_goes_on_after_refining_and_one_window_is_not_called_another(
    open_window: Callable[..., Any], serve: Any, nine_session: Session
) -> None:
    run = _Staged(nine_session.run)
    nine_session.run = run  # type: ignore[assignment]
    window = open_window(serve(nine_session).address)
    said = (
        "() => { window.said = []; new MutationObserver(() => window.said.push(document.getElementById('status').textContent))"
    )
    window.ask(said + ".observe(document.getElementById('status'), {childList: true, characterData: true, subtree: true}); }")
    window.page.keyboard.press("s")
    window.until("() => document.getElementById('counts').textContent === 'Second look 40 %'")
    window.page.keyboard.press("Shift+S")
    window.until("() => document.getElementById('status').textContent === 'Stopping …'")
    run.go.set()
    window.until("() => !workbench.store.busy")
    window.idle()
    assert window.text("#status").startswith("Stopped: 9 pieces placed on 1 page")
    assert not [line for line in window.ask("() => window.said") if "another window" in line]


def test_candidates_are_ghosts_with_how_likely_they_are(nine: Any) -> None:
    idx = next(iter(nine.poses()))
    nine.select({"kind": "piece", "idx": idx})
    nine.press("Delete")
    nine.select({"kind": "piece", "idx": idx})
    ghost = nine.ask("() => workbench.store.ghost")
    assert ghost["idx"] == idx
    assert all(place["score"] >= 0.01 for place in ghost["places"])
    shown = [int(text) for text in re.findall(r"(\d+) %", nine.text("#page-details ol.rows"))]
    assert shown
    assert min(shown) >= 1

"""Seeing a run in the browser: pieces, joins, why, colours, keys, names, and that everybody can use it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jigsawnet.render.report.facts import GRADES
from jigsawnet.runs import Run
from jigsawnet.types import Puzzle
from jigsawnet.viewer.session import Session

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.flaky(reruns=2)]

PIXEL = """([x, y]) => {
    const {canvas, renderer} = workbench, box = canvas.getBoundingClientRect();
    return [...renderer.ctx.getImageData((x - box.left) * renderer.dpr, (y - box.top) * renderer.dpr, 1, 1).data];
}"""
SELECTED = "() => workbench.store.selection"


def test_a_solved_run_shows_every_piece(nine: Any, nine_server: Any) -> None:
    state = nine.ask("() => workbench.store.state")
    assert len(state["pieces"]) == 9
    assert len(nine.poses()) == 9, "the nine pieces are easy: all are placed"
    nine.click("#tab-pieces")
    assert nine.page.locator("#page-pieces li").count() == 9
    ground = nine.ask(PIXEL, [200, 100])
    for idx in nine.poses():
        assert nine.ask(PIXEL, list(nine.on_screen(idx))) != ground, f"piece {idx} is not drawn"
    nine.click("#tab-joins")
    assert nine.page.locator("#page-joins li").count() == len(state["joins"])
    nine.click("#tab-pages")
    assert "Page 1 of 1, 9 pieces" in nine.text("#page-pages")
    base = nine_server.address.split("?")[0]
    assert all(url.startswith((base, "blob:")) for url in nine.asked), "nothing comes from elsewhere"


def test_a_click_on_a_piece_tells_its_name_and_why(nine: Any) -> None:
    nine.press("o")  # without the lines of the joins, only pieces can be hit
    nine.page.mouse.move(*nine.on_screen(4))
    nine.idle()
    name = nine.ask("() => workbench.store.pieces[4].name")
    assert nine.text("#tip").startswith(name)
    nine.page.mouse.click(*nine.on_screen(4))
    nine.idle()
    assert nine.ask(SELECTED) == {"kind": "piece", "idx": 4}
    details = nine.text("#page-details")
    assert name in details
    assert "% sure" in details
    assert "Why" in details
    assert nine.page.locator("#page-details tbody tr").count() >= 2, "each piece of a 3 x 3 puzzle has two neighbours"


def test_how_sure_a_join_is_is_told_wherever_it_is_shown(nine: Any) -> None:
    joins = nine.ask("() => workbench.store.state.joins")
    join = min(joins, key=lambda join: join["confidence"])
    sure = f"{round(100 * join['confidence'])} %"
    nine.press("j")  # the least sure comes first
    assert nine.ask(SELECTED) == {"kind": "join", "i": join["i"], "j": join["j"]}
    assert f"{sure} sure" in nine.text("#status")
    assert f"{sure} sure" in nine.text("#page-details")
    nine.click("#tab-joins")
    assert nine.text("#page-joins li:first-child").endswith(sure)
    nine.select({"kind": "piece", "idx": join["i"]})
    nine.click("#tab-details")
    assert sure in nine.text("#page-details tbody")


def test_a_click_on_a_join_shows_its_seam_and_the_slider_pulls_it_apart(nine: Any) -> None:
    picture = "() => document.querySelector('canvas.seam').toDataURL()"
    join = nine.ask("() => workbench.store.state.joins[0]")
    x, y = nine.ask("({i, j}) => workbench.stitch(i, j)", join)
    box = nine.page.locator("#canvas").bounding_box()
    nine.page.mouse.click(box["x"] + x, box["y"] + y)
    nine.idle()
    assert nine.ask(SELECTED) == {"kind": "join", "i": join["i"], "j": join["j"]}
    together = nine.ask(picture)
    nine.page.fill("#apart", "20")
    apart = nine.ask(picture)
    nine.page.fill("#apart", "0")
    assert apart != together
    assert nine.ask(picture) == together
    nine.page.select_option("#seam-zoom", "4")
    assert nine.ask(picture) != together


def test_zoom_pan_and_fit_by_wheel_drag_and_keys(nine: Any) -> None:
    view = "() => [workbench.camera.x, workbench.camera.y, workbench.camera.scale]"
    start = nine.ask(view)
    under = nine.ask("() => workbench.camera.toWorld([100, 100])")
    box = nine.page.locator("#canvas").bounding_box()
    nine.page.mouse.move(box["x"] + 100, box["y"] + 100)
    nine.page.mouse.wheel(0, -300)
    nine.until("(scale) => workbench.camera.scale > scale", start[2])
    nine.idle()
    assert nine.ask("() => workbench.camera.toWorld([100, 100])") == pytest.approx(under, abs=1.0)
    nine.press("0")
    assert nine.ask(view) == pytest.approx(start)
    nine.drag((box["x"] + 8, box["y"] + 8), (box["x"] + 58, box["y"] + 38))
    assert nine.ask(view) == pytest.approx([start[0] - 50 / start[2], start[1] - 30 / start[2], start[2]])
    nine.press("Home", "ArrowRight", "+")
    x, _, scale = nine.ask(view)
    assert x > start[0]
    assert scale > start[2]


def test_pinching_zooms(nine: Any) -> None:
    scale = nine.ask("() => workbench.camera.scale")
    nine.ask("""() => {
        const {canvas} = workbench, box = canvas.getBoundingClientRect();
        canvas.setPointerCapture = () => {};
        const touch = (type, pointerId, x) => canvas.dispatchEvent(new PointerEvent(type, {
            pointerId, pointerType: "touch", clientX: box.left + x, clientY: box.top + 20, bubbles: true,
        }));
        touch("pointerdown", 1, 100); touch("pointerdown", 2, 200);
        touch("pointermove", 2, 300);
        touch("pointerup", 1, 100); touch("pointerup", 2, 300);
    }""")
    nine.idle()
    assert nine.ask("() => workbench.camera.scale") == pytest.approx(2 * scale)


def test_colours_by_confidence_and_by_the_truth(nine: Any) -> None:
    nine.press("o", "v")
    assert [nine.text("#legend").count(grade.words) for grade in GRADES] == [1] * len(GRADES)
    nine.press("v")
    nine.until("() => workbench.store.truth !== null")
    nine.idle()
    right = nine.right_pieces()
    assert f"✓ {right} in the right place" in nine.text("#legend")
    assert right == 9


def test_before_is_shown_as_long_as_the_key_is_held(nine: Any) -> None:
    before = nine.poses()[0]
    nine.select({"kind": "piece", "idx": 0})
    nine.press("m", "ArrowDown", "ArrowDown", "Control")
    nine.press("Enter")
    moved = nine.poses()[0]
    assert moved != before
    nine.page.keyboard.down("b")
    nine.idle()
    assert nine.ask("() => workbench.store.poseOf(0)") == before
    nine.page.keyboard.up("b")
    nine.idle()
    assert nine.ask("() => workbench.store.poseOf(0)") == moved


def test_names_are_text_and_never_markup(
    serve: Callable[..., Any], open_window: Callable[..., Any], nine_in: Callable[[Path], Run], tmp_path: Path
) -> None:
    bad = '<img src=x onerror="window.broken=1">.png'
    run = nine_in(tmp_path)
    pieces = tuple(dataclasses.replace(piece, name=f"{piece.idx}{bad}") for piece in run.puzzle.pieces)
    run = dataclasses.replace(run, pieces=dataclasses.replace(run.pieces, puzzle=Puzzle(bad, pieces)))
    window = open_window(serve(Session(run)).address)
    window.press("n", "j", "n", "Delete", "t")
    for tab in ("pieces", "joins", "pages", "history", "details"):
        window.click(f"#tab-{tab}")
        assert window.page.locator("[onerror]").count() == 0
    assert bad in window.text("#page-details")
    assert window.text("#run-name") == bad
    assert window.ask("() => window.broken") is None


def test_light_and_dark(nine: Any, open_window: Callable[..., Any], nine_server: Any) -> None:
    paper = "() => getComputedStyle(document.querySelector('.bar')).backgroundColor"
    light = nine.ask(paper)
    dark = open_window(nine_server.address, color_scheme="dark").ask(paper)
    assert dark != light
    nine.click("#theme")
    assert nine.text("#theme") == "Theme: light"
    nine.click("#theme")
    assert nine.ask(paper) == dark
    nine.page.reload()
    nine.idle()
    assert nine.text("#theme") == "Theme: dark", "the choice is kept"


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault(open_window: Callable[..., Any], nine_server: Any, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    window = open_window(nine_server.address, color_scheme=scheme, reduced_motion="reduce")

    def faults(where: str) -> list[str]:
        found = axe.run(window.page).response["violations"]
        return [f"{where}: {v['id']}: {v['nodes'][0]['html']}" for v in found if v["impact"] in ("serious", "critical")]

    found = faults("start")
    window.press("n", "v")
    found += faults("a piece, colours by confidence")
    window.press("Delete", "t", "v")
    found += faults("the tray, colours by truth")
    window.press("j")
    found += faults("a join")
    for tab in ("pieces", "joins", "pages", "history"):
        window.click(f"#tab-{tab}")
        found += faults(tab)
    window.press("e")
    found += faults("exports")
    window.click("#export-pages")
    found += faults("pages for archives")
    window.press("Escape", "?")
    found += faults("help")
    assert found == []

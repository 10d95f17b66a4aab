"""Correcting a run in the browser, and solving on."""

from __future__ import annotations

import http.client
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from jigsawnet.runs import Run
from jigsawnet.types import Assembly, Puzzle
from jigsawnet.viewer.session import Session

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.flaky(reruns=2)]

SELECTED = "() => workbench.store.selection"
REVISION = "() => workbench.store.state.revision"
DIGEST = """async (name) => {
    const answer = await fetch(`api/export/assembly.${name}`);
    return [...new Uint8Array(await crypto.subtle.digest("SHA-256", await answer.arrayBuffer()))];
}"""


def distance_px(a: list[float], b: list[float]) -> float:
    """How far apart two poses put the origin of a piece."""
    return math.hypot(a[1] - b[1], a[2] - b[2])


def corner_of(window: Any) -> int:
    """The placed piece that lies farthest from the middle."""
    return int(
        window.ask("""() => {
            const {store, camera} = workbench;
            const far = (piece) => Math.hypot(store.centerOf(piece.idx)[0] - camera.x, store.centerOf(piece.idx)[1] - camera.y);
            return store.pieces.filter((piece) => piece.pose).sort((a, b) => far(b) - far(a))[0].idx;
        }""")
    )


def test_a_best_guess_is_a_pale_picture_and_can_be_taken_by_a_key(nine: Any) -> None:
    home = nine.poses()[4]
    assert nine.ask("() => workbench.store.guesses.length") == 0
    nine.select({"kind": "piece", "idx": 4})
    nine.press("Delete")
    assert nine.ask("() => workbench.store.shownGuesses().map(({idx}) => idx)") == [4]
    assert "Best guess" in nine.text("#page-details")
    nine.press("w")
    assert nine.ask("() => workbench.store.shownGuesses()") == []
    nine.press("w", "d")
    assert nine.text("#status").startswith("Taken: ")
    assert distance_px(nine.poses()[4], home) < 6
    assert nine.ask("() => workbench.store.shownGuesses()") == []
    nine.press("d")
    assert nine.text("#status") == "There is no best guess."


def test_a_piece_that_was_dragged_lies_there_after_a_reload(nine: Any) -> None:
    nine.press("o")
    idx = corner_of(nine)
    before = nine.poses()
    x, y = nine.on_screen(idx)
    box = nine.page.locator("#canvas").bounding_box()
    away = (box["x"] + 30 if x < box["x"] + box["width"] / 2 else box["x"] + box["width"] - 30, y)
    nine.drag((x, y), away)
    moved = nine.poses()
    assert distance_px(moved[idx], before[idx]) > 5
    assert all(moved[other] == before[other] for other in before if other != idx)
    assert nine.ask("(idx) => workbench.store.pieces[idx].fixed_by_person", idx)
    nine.page.reload()
    nine.idle()
    assert nine.poses() == moved


def test_a_piece_let_go_near_its_place_snaps_to_it(nine: Any) -> None:
    nine.press("o")
    idx = corner_of(nine)
    before = nine.poses()[idx]
    x, y = nine.on_screen(idx)
    joins = nine.ask("(idx) => workbench.store.state.joins.filter((join) => join.i === idx || join.j === idx)", idx)
    nine.drag((x, y), (x + 7, y + 5))
    assert distance_px(nine.poses()[idx], before) < 2.5
    statuses = nine.ask(
        "(idx) => workbench.store.state.joins.filter((j) => j.i === idx || j.j === idx).map((j) => j.status)", idx
    )
    assert len(statuses) == len(joins)
    assert "accepted" in statuses


def test_a_piece_out_of_the_tray_shows_its_best_places_and_goes_back_by_one_key(nine: Any) -> None:
    nine.press("n")
    idx = nine.ask(SELECTED)["idx"]
    before = nine.poses()[idx]
    nine.press("Delete")
    assert idx not in nine.poses()
    assert nine.page.locator(".thumb").count() == 1
    nine.press("Escape", "t")
    assert nine.ask(SELECTED) == {"kind": "piece", "idx": idx}
    nine.until("() => workbench.store.ghost !== null")
    assert 1 <= nine.page.locator("[data-key^=place-]").count() <= 3
    nine.press("1")
    assert distance_px(nine.poses()[idx], before) < 2.5
    assert nine.page.locator(".thumb").count() == 0


def test_a_piece_is_dragged_out_of_the_tray(nine: Any) -> None:
    nine.press("n", "Delete")
    idx = nine.ask(SELECTED)["idx"]
    thumb = nine.page.locator(f".thumb[data-idx='{idx}']").bounding_box()
    box = nine.page.locator("#canvas").bounding_box()
    target = (box["x"] + 40, box["y"] + box["height"] - 40)
    nine.drag((thumb["x"] + 20, thumb["y"] + 20), target)
    assert idx in nine.poses()
    assert nine.on_screen(idx) == pytest.approx(target, abs=3)


def test_a_whole_component_is_moved_and_turned_by_keys(nine: Any) -> None:
    before = nine.poses()
    nine.press("g", "n", "m", "ArrowRight", "ArrowRight", "ArrowDown", "]", "Enter")
    after = nine.poses()
    turns = [math.remainder(after[idx][0] - before[idx][0], 2 * math.pi) for idx in before]
    assert turns == pytest.approx([math.radians(5)] * 9, abs=1e-4), "all turn alike"
    assert all(distance_px(after[idx], before[idx]) > 1 for idx in before)
    assert len(nine.ask("() => workbench.store.state.components")) == 1
    nine.press("Control+z")
    assert nine.poses() == before


def test_a_piece_is_turned_by_brackets_wheel_and_handle(nine: Any) -> None:
    nine.press("o", "n")
    idx = nine.ask(SELECTED)["idx"]

    def angle() -> float:
        return float(nine.poses()[idx][0])

    start = angle()
    nine.press("]", "]", "]", "]")
    assert math.remainder(angle() - start, 2 * math.pi) == pytest.approx(math.radians(20), abs=1e-3)
    revision, start = nine.ask(REVISION), angle()
    box = nine.page.locator("#canvas").bounding_box()
    nine.page.mouse.move(box["x"] + 10, box["y"] + 10)
    nine.page.keyboard.down("Shift")
    nine.page.mouse.wheel(0, 120)
    nine.page.keyboard.up("Shift")
    nine.until("(revision) => workbench.store.state.revision > revision", revision)
    nine.idle()
    assert math.remainder(angle() - start, 2 * math.pi) == pytest.approx(math.radians(5), abs=1e-3)
    start = angle()
    x, y = nine.on_screen(idx)
    handle = nine.ask("() => workbench.handle()")
    top = (box["x"] + handle[0], box["y"] + handle[1])
    nine.drag(top, (x + (y - top[1]), y))  # a quarter turn
    assert math.remainder(angle() - start, 2 * math.pi) == pytest.approx(math.pi / 2, abs=0.05)


def test_pin_set_aside_accept_cut_and_their_way_back(nine: Any) -> None:
    nine.press("n", "i")
    idx = nine.ask(SELECTED)["idx"]
    assert nine.ask("(idx) => workbench.store.pieces[idx].pinned", idx)
    nine.press("m", "ArrowUp")
    assert not nine.ask("() => workbench.carry.holds"), "a pinned piece is not taken up"
    nine.press("i", "x")
    assert nine.ask("(idx) => workbench.store.pieces[idx].aside", idx)
    assert "Set aside (1)" in nine.text("#tray")
    nine.press("x")
    assert not nine.ask("(idx) => workbench.store.pieces[idx].aside", idx)
    nine.press("j", "a")
    join = nine.ask(SELECTED)
    assert nine.ask("({i, j}) => workbench.store.join(i, j).status", join) == "accepted"
    nine.press("c")
    assert nine.ask("({i, j}) => workbench.store.join(i, j)", join) is None
    edits = nine.ask("() => workbench.store.state.edits.map((edit) => edit.kind)")
    assert edits == ["pin", "unpin", "set_aside", "take_back", "accept", "cut"]


def test_undo_to_the_start_gives_the_same_bytes(nine: Any, nine_session: Any) -> None:
    results = nine_session.run.folder

    def bytes_now() -> list[list[int]]:
        return [nine.ask(DIGEST, name) for name in ("json", "svg", "png")]

    before = bytes_now()
    nine.press("n", "Delete", "t", "1", "i", "j", "a", "j", "r", "n", "n", "m", "ArrowLeft", "Enter", "n", "x")
    count = nine.ask("() => workbench.store.state.in_force")
    assert count == 7
    assert bytes_now() != before
    after = bytes_now()
    for _ in range(count):
        nine.press("Control+z")
    assert nine.ask("() => workbench.store.state.can_undo") is False
    assert bytes_now() == before
    nine.click("#tab-history")
    nine.click("#page-history li:last-child button")
    assert nine.ask("() => workbench.store.state.in_force") == count
    assert bytes_now() == after, "redo is without limit too"
    assert json.loads((results / "edits.json").read_text(encoding="utf-8"))


def test_keys_pressed_while_an_edit_is_on_its_way_are_not_lost(nine: Any) -> None:
    nine.press("j")
    order = nine.ask("() => workbench.store.joinsInOrder().map(({i, j}) => [i, j])")
    assert nine.ask("() => [workbench.store.selection.i, workbench.store.selection.j]") == order[0]
    nine.ask("""() => {
        const post = workbench.api.post.bind(workbench.api);
        workbench.api.post = async (...given) => {
            await new Promise((go) => (window.letGo = go));
            return post(...given);
        };
    }""")
    nine.page.keyboard.press("a")
    nine.until("() => Boolean(window.letGo)")
    nine.page.keyboard.press("j")
    nine.page.keyboard.press("j")
    assert not nine.ask("() => workbench.isIdle()")
    assert nine.ask("() => [workbench.store.selection.i, workbench.store.selection.j]") == order[0]
    nine.ask("() => window.letGo()")
    nine.idle()
    after = nine.ask("() => workbench.store.joinsInOrder().map(({i, j, status}) => [i, j, status])")
    accepted = [order[0][0], order[0][1], "accepted"]
    assert accepted in after
    following = [join[:2] for join in after if join != accepted]
    chosen = nine.ask("() => [workbench.store.selection.i, workbench.store.selection.j]")
    assert chosen == following[1], "both keys were kept and acted on the new state"


def test_a_false_join_rejected_and_solved_on_gives_a_better_picture(
    serve: Callable[..., Any], open_window: Callable[..., Any], planted_run: tuple[Run, tuple[int, int]],
    nine_pieces: tuple[Puzzle, Assembly],
) -> None:  # fmt: skip
    run, (i, j) = planted_run
    session = Session(run, nine_pieces[1])
    window = open_window(serve(session).address)
    before = window.right_pieces()
    assert before < 9, "the planted join must lead the solver astray"
    window.select({"kind": "join", "i": i, "j": j})
    assert window.ask(SELECTED) == {"kind": "join", "i": i, "j": j}
    window.press("r")
    assert window.ask("([i, j]) => workbench.store.join(i, j)", [i, j]) is None
    window.press("s")
    window.until("() => !workbench.store.busy && workbench.store.state.edits.at(-1).kind === 'solved'")
    window.idle()
    assert "Solved" in window.text("#status")
    assert window.right_pieces() > before
    assert window.ask("([i, j]) => workbench.store.join(i, j)", [i, j]) is None


def test_two_windows_see_each_other_and_an_old_one_is_told(
    nine: Any, nine_server: Any, open_window: Callable[..., Any]
) -> None:
    other = open_window(nine_server.address)
    deaf = open_window(nine_server.address)
    deaf.ask("() => { workbench.actions.refresh = () => {}; }")  # as if no event had come yet
    nine.press("n", "i")
    other.until("() => workbench.store.state.revision === 1")
    other.idle()
    assert other.ask("() => workbench.store.pieces.filter((piece) => piece.pinned).length") == 1
    assert "another window" in other.text("#status")
    assert deaf.ask(REVISION) == 0
    deaf.press("n", "n", "x")
    assert "Another window" in deaf.text("#banner")
    assert deaf.ask(REVISION) == 1, "the newest state is shown"
    assert deaf.ask("() => workbench.store.pieces.some((piece) => piece.aside)") is False, "and the edit was not made"


def test_exports_are_files(nine: Any) -> None:
    for name, magic in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("json", b'{"format"')):
        nine.press("e")
        with nine.page.expect_download() as download:
            nine.page.click(f"#export a[href$={name}]")
        path = download.value.path()
        assert download.value.suggested_filename == f"assembly.{name}"
        assert Path(path).read_bytes().lstrip().startswith(magic)


def test_a_wrong_token_a_wrong_host_and_a_path_escape_are_refused(nine_server: Any, browser: Any) -> None:
    address = urlsplit(nine_server.address)

    def status(path: str, host: str | None = None) -> int:
        connection = http.client.HTTPConnection(address.hostname or "", address.port or 0, timeout=60)
        connection.putrequest("GET", path, skip_host=True)
        connection.putheader("Host", host or address.netloc)
        connection.endheaders()
        answer = connection.getresponse().status
        connection.close()
        return answer

    good = f"?{address.query}"
    assert status("/") == 401
    assert status("/?token=wrong") == 401
    assert status(f"/{good}", host="evil.example") == 421
    assert status(f"/{good}") == 303
    assert status(f"/{good}") == 401, "it was used"
    for path in (
        "/static/../serve.py",
        "/static/..%2fserve.py",
        "/static/%2e%2e/%2e%2e/pyproject.toml",
        "/api/export/../../run.json",
    ):
        assert status(f"{path}{good}") == 401, path
    context = browser.new_context()
    page = context.new_page()
    page.goto(nine_server.address.replace("token=", "token=x"))
    assert page.locator("#canvas").count() == 0
    page.goto(nine_server.address)
    assert page.locator("#canvas").count() == 1
    assert "token" not in page.url
    page.reload()
    assert page.locator("#canvas").count() == 1, "the page can be loaded again"
    assert page.evaluate("() => document.cookie") == ""
    context.close()

"""Hints said in the browser turn a wrong assembly into a right one; several pieces are marked by pointer and by keys."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from jigsawnet.runs import Run
from jigsawnet.types import Assembly, Puzzle
from jigsawnet.viewer.serve import Workbench
from jigsawnet.viewer.session import Session

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.flaky(reruns=2)]
HINTS = "() => workbench.store.state.hints.map((hint) => [hint.kind, hint.pieces, hint.firm])"
SOLVED = "() => !workbench.store.busy && workbench.store.state.edits.some((edit) => edit.kind === 'solved')"


def test_an_outer_edge_turns_a_wrong_picture_into_the_right_one(
    open_window: Callable[..., Any],
    serve: Callable[[Session], Workbench],
    planted_run: tuple[Run, tuple[int, int]],
    nine_pieces: tuple[Puzzle, Assembly],
) -> None:
    """A corner lies beyond the far border; that this border is an outer edge sends it to its true place."""
    run, (i, j) = planted_run
    truth = nine_pieces[1]
    session = Session(run, truth)
    window = open_window(serve(session).address)
    before = window.right_pieces()
    assert before < 9
    far = max((i, j), key=lambda idx: float((truth.poses[idx] @ run.borders.center[idx].astype(float))[0]))
    window.select({"kind": "piece", "idx": far})
    window.click("[data-key=hints-fold]")
    turned = session.arrangement.poses[far].theta - truth.poses[far].theta
    side = ("right", "down", "left", "up")[round(turned / (math.pi / 2)) % 4]  # where its right border is on the screen
    window.click(f"[data-key=edge_side-{side}]")
    assert window.text(".said").startswith("The ")
    window.click("#solve")
    window.until(SOLVED)
    window.idle()
    assert window.right_pieces() == 9
    assert window.ask(HINTS)[0][0] == "edge", "it is kept"


def test_pieces_are_marked_and_spoken_of_together(nine: Any) -> None:
    nine.press("o")
    first, second = (nine.on_screen(idx) for idx in (0, 4))
    nine.page.mouse.click(*first)
    nine.page.keyboard.down("Control")
    nine.page.mouse.click(*second)
    nine.page.keyboard.up("Control")
    nine.idle()
    assert nine.ask("() => workbench.store.marks(workbench.store.selection.idx)") == [0, 4]
    nine.click("[data-key=hint-together]")
    assert nine.ask(HINTS) == [["together", [0, 4], True]]
    nine.click("[data-key=hint-soft]")
    nine.click("[data-key=hint-same_page]")
    assert nine.ask(HINTS)[1] == ["same_page", [0, 4], False]
    nine.click("[data-key=hint-apart]")
    nine.click("[data-key=drop-1]")
    assert [hint[0] for hint in nine.ask(HINTS)] == ["same_page", "apart"]
    nine.page.focus("#canvas")
    nine.press("Escape")
    assert nine.ask("() => workbench.store.marked.size") == 0


def test_marking_by_keys_and_the_sides_of_a_piece(nine: Any) -> None:
    nine.page.focus("#canvas")
    nine.press("n", "q", "n", "q", "n")
    idx = nine.ask("() => workbench.store.selection.idx")
    assert nine.ask("() => workbench.store.marks(workbench.store.selection.idx).length") == 3
    nine.click("[data-key=up_side-right]")
    assert nine.ask(HINTS) == [["up", [idx], True]]
    angle = nine.ask(f"() => workbench.store.pieces[{idx}].pose[0]")
    nine.press("Control+z")
    before = nine.ask(f"() => workbench.store.pieces[{idx}].pose[0]")
    turn = (before - angle) % (2 * 3.141592653589793)
    assert turn == pytest.approx(3.141592653589793 / 2, abs=1e-3), "what was on the right is above now"
    assert nine.ask(HINTS) == []


def test_a_back_goes_into_the_tray(nine: Any) -> None:
    nine.select({"kind": "piece", "idx": 3})
    nine.ask("() => workbench.actions.mark(5)")
    nine.idle()
    nine.click("[data-key=hint-back]")
    assert nine.ask("() => workbench.store.pieces[5].pose") is None
    assert nine.ask(HINTS) == [["back", [5, 3], True]]

"""A case handed over from the browser: saved there, opened on another path, shown with the same places and names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jigsawnet.runs import open_run
from jigsawnet.runs.case import folder_of
from jigsawnet.viewer.serve import Workbench
from jigsawnet.viewer.session import Session

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.flaky(reruns=2)]


def test_a_case_saved_in_one_window_opens_on_another_path(
    open_window: Callable[..., Any], serve: Callable[[Session], Workbench], nine: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    nine.click("#tab-pages")
    nine.page.fill(".page:nth-child(1) input", "Letter")
    nine.press("Enter")
    nine.page.focus("#canvas")
    nine.press("j", "a")
    before = nine.poses()
    nine.click("#export summary")
    with nine.page.expect_download() as waiting:
        nine.page.click("#export-case")
    nine.idle()
    assert nine.text("#status") == "The case file is saved."
    assert waiting.value.suggested_filename.endswith(".jigsaw")
    case = tmp_path_factory.mktemp("elsewhere") / "handed over.jigsaw"
    waiting.value.save_as(case)
    folder, was_there = folder_of(case)
    assert (folder, was_there) == (Path(str(case).removesuffix(".jigsaw")), False)
    session = Session(open_run(folder))
    other = open_window(serve(session).address)
    assert other.poses() == before
    assert other.ask("() => workbench.store.state.pages[0].name") == "Letter"
    assert other.ask("() => workbench.store.state.joins.filter((join) => join.status === 'accepted').length") == 1
    other.press("Control+z", "Control+z")  # the join, then the name
    assert other.ask("() => workbench.store.state.pages[0].name") == "", "what was done can be undone there"


def test_notes_are_written_beside_what_they_speak_of_and_are_there_after_a_reload(nine: Any) -> None:
    nine.click("[data-key=note-case-fold]")
    nine.page.fill("[data-key=note-case]", "Found in the attic")
    nine.page.focus("#canvas")
    nine.press("n")
    idx = nine.ask("() => workbench.store.selection.idx")
    nine.click(f"[data-key=note-{idx}-fold]")
    nine.page.fill(f"[data-key=note-{idx}]", "stained")
    nine.page.focus("#canvas")
    nine.press("j")
    nine.click("[data-key=note-join-fold]")
    nine.page.fill("[data-key=note-join]", "glued once")
    nine.page.focus("#canvas")
    nine.idle()
    nine.page.reload()
    nine.idle()
    assert nine.page.input_value("[data-key=note-case]") == "Found in the attic"
    nine.press("n")
    assert nine.page.input_value(f"[data-key=note-{idx}]") == "stained"
    nine.press("j")
    assert nine.page.input_value("[data-key=note-join]") == "glued once"
    nine.click("#tab-history")
    nine.click("[data-key=log]")
    nine.until("() => document.querySelectorAll('.log li').length === 4")
    assert "glued once" in nine.text(".log li:first-child")

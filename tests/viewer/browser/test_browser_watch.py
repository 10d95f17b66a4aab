"""Watching the solver in the browser: progress, pieces coming together, stopping, and a server that goes away."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jigsawnet.context import Context
from jigsawnet.runs import Run
from jigsawnet.runs.snapshots import OnPoses
from jigsawnet.types import Assembly, Constraints, Puzzle
from jigsawnet.viewer.session import Session

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.flaky(reruns=2)]

BUSY = "() => workbench.store.busy"


@dataclasses.dataclass(frozen=True)
class PatientRun:
    """A run whose solver goes on until it is stopped, and then has found what there was before."""

    solved: Run

    def __getattr__(self, name: str) -> Any:
        return getattr(self.solved, name)

    def solve_on(self, constraints: Constraints, context: Context, on_poses: OnPoses, **_: bool) -> PatientRun:
        while not context.stop.is_over():
            context.progress("compose", 1, 4)
            time.sleep(0.01)
        return self


def test_solving_shows_its_progress_and_is_stopped(
    serve: Callable[..., Any], open_window: Callable[..., Any], nine_in: Callable[[Path], Run], tmp_path: Path
) -> None:
    window = open_window(serve(Session(PatientRun(nine_in(tmp_path)))).address)  # type: ignore[arg-type]
    window.press("n", "s")
    assert window.ask(BUSY)
    window.until("() => document.getElementById('counts').textContent === 'Composing 25 %'")
    assert window.page.locator("#stop").is_visible()
    assert not window.page.locator("#solve").is_visible()
    window.press("x")
    assert "Stop it first" in window.text("#status")
    assert window.ask("() => workbench.store.state.edits.length") == 0, "nothing is edited meanwhile"
    window.press("Shift+S")
    window.until("() => !workbench.store.busy")
    window.idle()
    assert window.page.locator("#solve").is_visible()
    assert len(window.poses()) == 9


def test_pieces_come_together_while_one_watches(nine: Any, nine_session: Session, nine_pieces: tuple[Puzzle, Assembly]) -> None:
    poses = {str(idx): [pose.theta, pose.x, pose.y] for idx, pose in nine_pieces[1].poses.items()}

    def show(count: int) -> None:
        nine_session.hub.publish({"type": "snapshot", "poses": dict(list(poses.items())[:count])})

    nine_session.hub.publish({"type": "progress", "stage": "compose", "done": 1, "total": 3})
    show(3)
    nine.until("() => workbench.placed().length === 3")
    nine.idle()
    assert nine.ask(BUSY)
    assert nine.page.locator(".thumb").count() == 6, "the others wait in the tray"
    show(7)
    nine.until("() => workbench.placed().length === 7")
    nine_session.hub.publish({"type": "solved", "revision": nine_session.revision, "placed": 9, "components": 1})
    nine.until("() => !workbench.store.busy && workbench.placed().length === 9")
    assert "9 pieces placed" in nine.text("#status")


def test_a_server_that_went_away_is_told(nine: Any, nine_server: Any) -> None:
    nine_server.stop()
    nine.until("() => !document.getElementById('banner').hidden")
    assert "does not answer" in nine.text("#banner")

"""The workbench in a real browser: a server in a thread, Chromium without a window, and one way to wait."""

from __future__ import annotations

import math
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jigsawnet.candidates import Candidates
from jigsawnet.geometry import SE2
from jigsawnet.match import measure
from jigsawnet.runs import Run
from jigsawnet.types import Alignment, Assembly, Puzzle
from jigsawnet.viewer.serve import Workbench
from jigsawnet.viewer.session import Session

PATIENCE_SECONDS = 120.0
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium; ended with the module, since Playwright keeps an event loop in the main thread."""
    playwright = pytest.importorskip("playwright.sync_api", reason="the tests in a browser need the extra dev")
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        if os.environ.get("CI"):
            pytest.fail("CI must bring Chromium for the tests of the workbench")
        pytest.skip("there is no Chromium on this machine")
    with playwright.sync_playwright() as machine:
        chromium = machine.chromium.launch(executable_path=path, args=list(FLAGS))
        yield chromium
        chromium.close()


class Window:
    """One window with the workbench in it."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.faults: list[str] = []
        self.asked: list[str] = []
        page.set_default_timeout(1000 * PATIENCE_SECONDS)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", self._listen)
        page.on("request", lambda request: self.asked.append(request.url))

    def _listen(self, message: Any) -> None:
        if message.type == "error" and not message.text.startswith("Failed to load resource"):  # refused edits are no faults
            self.faults.append(message.text)

    def open(self, address: str, ready: str | None = None) -> Window:
        """Open a page; ``ready`` is true when it is there, for pages that are no workbench."""
        self.page.goto(address)
        if ready is None:
            self.idle()
        else:
            self.until(ready)
        return self

    def ask(self, script: str, argument: Any = None) -> Any:
        """What a JavaScript function gives; ``workbench`` is the page."""
        return self.page.evaluate(script, argument)

    def until(self, script: str, argument: Any = None) -> None:
        """Wait for a condition of the page. The page forbids `eval`, so the asking is done from here."""
        end = time.monotonic() + PATIENCE_SECONDS
        while not self._holds(script, argument):
            assert time.monotonic() < end, f"the page never came so far: {script}; {self.ask(WHERE)}"
            self.page.wait_for_timeout(20)

    def _holds(self, script: str, argument: Any) -> bool:
        """Whether it is so; not while one page makes way for another."""
        try:
            return bool(self.ask(script, argument))
        except Exception as error:
            if "navigation" not in str(error):
                raise
            return False

    def idle(self) -> None:
        """Until no request is on its way, no action waits and all is drawn."""
        self.until("() => Boolean(window.workbench?.isIdle())")

    def press(self, *keys: str) -> None:
        """Press keys one after the other, each on a page at rest."""
        for key in keys:
            self.idle()
            self.page.keyboard.press(key)
        self.idle()

    def click(self, selector: str) -> None:
        self.idle()
        self.page.click(selector)
        self.idle()

    def text(self, selector: str) -> str:
        return str(self.page.inner_text(selector))

    def select(self, what: dict[str, Any]) -> None:
        self.idle()
        self.ask("(what) => workbench.actions.select(what)", what)
        self.idle()

    def poses(self) -> dict[int, list[float]]:
        """Where the pieces lie, without those in the tray."""
        found = self.ask("() => workbench.store.pieces.filter((p) => p.pose).map((p) => [p.idx, p.pose])")
        return dict(found)

    def on_screen(self, idx: int) -> tuple[float, float]:
        """The middle of a placed piece, in px of the window."""
        x, y = self.ask(
            """(idx) => {
                const {store, camera, canvas} = workbench, box = canvas.getBoundingClientRect();
                const [x, y] = camera.toScreen(store.centerOf(idx));
                return [box.left + x, box.top + y];
            }""",
            idx,
        )
        return x, y

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        self.idle()
        mouse = self.page.mouse
        mouse.move(*start)
        mouse.down()
        mouse.move((start[0] + end[0]) / 2, (start[1] + end[1]) / 2, steps=4)
        mouse.move(*end, steps=4)
        mouse.up()
        self.idle()

    def right_pieces(self) -> int:
        """How many pieces lie right, as the server says."""
        truth = self.ask("() => workbench.api.get('/api/truth')")
        return sum(truth["right"].values())


WHERE = """() => window.workbench && ({
    status: document.getElementById("status").textContent, queue: workbench.queue.empty, pending: workbench.api.pending,
    pictures: workbench.bitmaps.pending, drawn: workbench.renderer.idle, busy: workbench.store.busy,
})"""

Opener = Callable[..., Window]


@pytest.fixture
def open_window(browser: Any) -> Iterator[Opener]:
    """``open_window(address)``: a window on a workbench, with cookies of its own; faults of the page fail the test."""
    windows: list[Window] = []
    with ExitStack() as stack:

        def opener(address: str, ready: str | None = None, **options: Any) -> Window:
            context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
            stack.callback(context.close)
            windows.append(Window(context.new_page()))
            return windows[-1].open(address, ready)

        yield opener
        assert [fault for window in windows for fault in window.faults] == []


@pytest.fixture
def serve() -> Iterator[Callable[[Session], Workbench]]:
    """``serve(session)``: a running server."""
    with ExitStack() as stack:

        def start(session: Session) -> Workbench:
            server = Workbench(session)
            server.start()
            stack.callback(server.stop)
            return server

        yield start


@pytest.fixture
def nine_server(serve: Callable[[Session], Workbench], nine_session: Session) -> Workbench:
    """The nine pieces on the workbench."""
    return serve(nine_session)


@pytest.fixture
def nine(open_window: Opener, nine_server: Workbench) -> Window:
    """A window on the nine pieces, with the truth."""
    return open_window(nine_server.address)


@pytest.fixture
def planted_run(
    nine_in: Callable[[Path], Run],
    solved_from: Callable[[Run, Candidates], Run],
    nine_pieces: tuple[Puzzle, Assembly],
    tmp_path: Path,
) -> tuple[Run, tuple[int, int]]:
    """The nine pieces with a false join that the solver believes, and that join: a corner laid against the far border.

    Of the corner's true candidates only the best is kept, and it scores less.
    """
    puzzle, truth = nine_pieces
    run = nine_in(tmp_path)
    traced, rows = run.borders, run.candidates
    borders = {idx: truth.poses[idx] @ traced.points[traced.samples(idx)].astype(float) for idx in range(len(puzzle))}
    corner = min(borders, key=lambda idx: float(borders[idx].mean(0).sum()))
    far = max((idx for idx in borders if idx != corner), key=lambda idx: float(borders[idx][:, 0].max()))
    edge_x = max(float(points[:, 0].max()) for points in borders.values())
    shift = (edge_x + 1.0 - borders[corner][:, 0].min(), borders[far][:, 1].mean() - borders[corner][:, 1].mean())
    false_pose = SE2(0.0, float(shift[0]), float(shift[1])) @ truth.poses[corner]
    i, j = min(corner, far), max(corner, far)
    world = {corner: false_pose, far: truth.poses[far]}
    false = Alignment(i, j, world[i].inverse() @ world[j], fit=0.97)

    def is_right(row: int) -> bool:
        true = truth.poses[int(rows.i[row])].inverse() @ truth.poses[int(rows.j[row])]
        angle, distance = rows.i_from_j(row).distance(true)
        return angle < math.radians(5) and distance < 10

    right = np.array([is_right(row) for row in range(len(rows))])
    own = (rows.i == corner) | (rows.j == corner)
    true = rows.take(np.flatnonzero(right & own)[:1]).with_scores(np.array([0.6]))
    planted = measure(traced, Candidates.of([false], [0.97]), run.config.match.dense.verify)
    return solved_from(run, Candidates.concat([rows.take(right & ~own), true, planted])), (i, j)

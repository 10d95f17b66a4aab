"""One case at a time on the desk: its scans are cut out, corrected, solved, and lie on the workbench.

All methods may be called from any thread; what takes long is done in a thread of its own and told to all windows.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from starlette.types import ASGIApp

from jigsawnet.context import Context
from jigsawnet.errors import InputError, JigsawNetError
from jigsawnet.geometry import SE2
from jigsawnet.io.images import silent_decoders
from jigsawnet.loading import Loaded, Memory, ScanInput, load_input
from jigsawnet.runs import Request, Run, open_run, solve_run
from jigsawnet.stopping import Stop
from jigsawnet.types import Constraints, Puzzle
from jigsawnet.viewer.events import EventHub
from jigsawnet.viewer.home.cases import Case, Cases
from jigsawnet.viewer.home.review import Review
from jigsawnet.viewer.home.table import Table, decide, replay_of
from jigsawnet.viewer.session import Session, StaleError

Phase = Literal["empty", "reading", "found", "solving", "open"]
Hold = Callable[[Path], AbstractContextManager[None]]
"""Keeps other workbenches off a run's folder."""
_PROGRESS_SECONDS = 0.1

log = logging.getLogger(__name__)


class _StoppedError(JigsawNetError):
    """Somebody has stopped the reading."""


class Desk:
    """What is done with the case that is open."""

    def __init__(
        self, cases: Cases, hold: Hold, base: Request | None = None, on_solved: Callable[[Run], None] = lambda _: None
    ):
        """``base`` has the options; ``on_solved`` is told of every solve that was finished."""
        self.cases, self.hub, self.lock = cases, EventHub(), threading.RLock()
        self.phase: Phase = "empty"
        self.case: Case | None = None
        self.review: Review | None = None
        self.table: Table | None = None
        self.error = ""
        self.progress: tuple[str, int, int] = ("", 0, 0)
        self._hold, self._base, self._on_solved = hold, base or Request(()), on_solved
        self._stop: Stop | None = None
        self._thread: threading.Thread | None = None
        self._sent = 0.0

    def to_plain(self) -> dict[str, Any]:
        """What the page shows of it."""
        with self.lock:
            stage, done, total = self.progress
            return {
                "phase": self.phase, "case": self.case and self.case.name, "error": self.error,
                "progress": {"stage": stage, "done": done, "total": total},
                "open": self.table is not None, "folder": str(self.cases.folder),
            }  # fmt: skip

    @property
    def is_busy(self) -> bool:
        """True while scans are cut or pieces put together."""
        return self._stop is not None or (self.table is not None and self.table.session.busy)

    def look(self, name: str) -> None:
        """Find the pieces of a case; returns at once.

        Raises:
            StaleError: something else goes on.
            InputError: there is no such case.
        """
        with self.lock:
            case = self._found(name)
            self._clear(case)
            self._begin("reading", self._read, case)

    def solve(self) -> None:
        """Put the pieces together as they are now; returns at once, and the workbench opens when it can.

        Raises:
            StaleError, InputError: something else goes on, or nothing was found yet.
        """
        with self.lock:
            self._check_idle()
            if self.case is None or self.review is None:
                raise InputError("There are no pieces yet; drop scans of them first.")
            self._put_away()  # solved before: its folder is about to be written
            self._begin("solving", self._solve, self.case, self.review)

    def open(self, name: str) -> None:
        """Lay a solved case on the workbench, unless it is there.

        Raises:
            JigsawNetError: something else goes on, there is no such case, or its run cannot be opened.
        """
        with self.lock:
            case = self._found(name)
            if self.table is not None and self.case == case:
                return
            self._clear(case)
            with ExitStack() as resources:
                resources.enter_context(self._hold(case.run_folder))
                self.table = Table(Session(open_run(case.run_folder)), resources.pop_all())
            self._change("open")

    def app_of(self, name: str) -> ASGIApp | None:
        """The workbench of a case, if it is the one on the desk."""
        with self.lock:
            is_here = self.table is not None and self.case is not None and self.case.name == name
            return self.table.app if is_here and self.table is not None else None

    def correct(self, revision: int, change: Callable[[Review], None]) -> None:
        """Change the review, as it was seen at a revision.

        Raises:
            StaleError, EditError, FormatError, OutputError: it cannot be done; nothing has changed.
        """
        with self.lock:
            self._check_idle()
            if self.review is None:
                raise InputError("There are no pieces yet.")
            if revision != self.review.revision:
                raise StaleError("Another window has changed the pieces; they are shown now, so try again.")
            change(self.review)
        self.hub.publish({"type": "changed"})

    def stop(self) -> None:
        """Ask what goes on to end soon."""
        if (stop := self._stop) is not None:
            stop.request()
        if (table := self.table) is not None:
            table.session.stop()

    def leave(self) -> None:
        """Nothing is on the desk any more.

        Raises:
            StaleError: something goes on.
        """
        with self.lock:
            self._clear(None)
            self._change("empty")

    def wait(self) -> None:
        """Until nothing goes on."""
        while (thread := self._thread) is not None and thread.is_alive():
            thread.join()

    def end_streams(self) -> None:
        """Tell no window anything any more."""
        if (table := self.table) is not None:
            table.session.hub.close()
        self.hub.close()

    def close(self) -> None:
        """End all."""
        self.stop()
        self.wait()
        self._put_away()
        self.hub.close()

    def _found(self, name: str) -> Case:
        case = self.cases.find(name)
        if case is None:
            raise InputError("There is no such case any more.")
        return case

    def _check_idle(self) -> None:
        if self.is_busy:
            raise StaleError(
                f"{self.case.name if self.case else 'A case'} is being worked on; stop it or wait until it is done."
            )

    def _clear(self, case: Case | None) -> None:
        """Put away what lies on the desk."""
        self._check_idle()
        self._put_away()
        self.case, self.review, self.error = case, None, ""
        self.progress, self.phase = ("", 0, 0), "empty"

    def _begin(self, phase: Phase, work: Callable[..., None], *given: Any) -> None:
        self._stop, self.error = Stop(), ""
        self.progress = ("start", 0, 0)
        self._change(phase)
        self._thread = threading.Thread(target=self._run, args=(work, *given), daemon=True)
        self._thread.start()

    def _run(self, work: Callable[..., None], *given: Any) -> None:
        error = ""
        try:
            work(*given)
        except JigsawNetError as reason:
            error = str(reason)
        except Exception:
            log.exception("work on a case failed")
            error = "This failed, and nothing has changed; the log says why."
        with self.lock:
            self._stop = None
            self.error = error
            if error and self.table is not None and self.phase == "solving":
                self.table.session.hub.publish({"type": "error", "text": error})
                self._put_away()
            self._change("open" if self.table else "found" if self.review else "empty")

    def _change(self, phase: Phase) -> None:
        self.phase = phase
        self.hub.publish({"type": "changed"})

    def _tell(self, stage: str, done: int, total: int) -> None:
        """Progress for the windows, some times a second; the place where a stop is heard while scans are read."""
        if self._stop is not None and self.phase == "reading" and self._stop.is_requested:
            raise _StoppedError("Stopped.")
        now = time.monotonic()
        self.progress = (stage, done, total)
        if done >= total or now - self._sent >= _PROGRESS_SECONDS:
            self._sent = now
            self.hub.publish({"type": "progress", "stage": stage, "done": done, "total": total})

    def _scans(self, case: Case) -> ScanInput:
        return replace(self._base.scans, corrections=case.review_file if case.review_file.is_file() else None)

    def _read(self, case: Case) -> None:
        """Find the pieces; where too few are found, the scans can be looked at and corrected all the same."""
        memory, notes = Memory(), []
        loaded: Loaded | None = None
        try:
            with silent_decoders():
                loaded = load_input(case.inputs, self._scans(case), self._tell, memory)
            notes = list(loaded.puzzle.warnings)
        except InputError as error:
            if not memory.is_whole:
                raise
            notes = [str(error)]
        review = Review(memory, loaded, case.review_file, notes)
        if not case.is_solved and (picture := _first_picture(memory, loaded)) is not None:
            case.keep_thumb(picture)
        with self.lock:
            self.review = review

    def _solve(self, case: Case, review: Review) -> None:
        request = replace(self._base, inputs=case.inputs, scans=self._scans(case))
        replay = replay_of(case)
        stop = self._stop or Stop()

        def tell(stage: str, done: int, total: int) -> None:
            self._tell(stage, done, total)
            if self.table is not None:
                self.table.session.send_progress(stage, done, total)

        def show(poses: Mapping[int, SE2]) -> None:
            if self.table is not None:
                self.table.session.send_snapshot(poses)

        def on_pieces(run: Run) -> None:
            with self.lock, ExitStack() as resources:
                resources.enter_context(self._hold(case.run_folder))
                self.table = Table(Session(run, watched=stop), resources.pop_all())
                self._change("solving")

        def decided(puzzle: Puzzle) -> Constraints:
            return Constraints() if replay is None else decide(case, replay, puzzle)

        run = solve_run(
            request, case.run_folder, constraints=decided, context=Context(tell, stop), on_pieces=on_pieces,
            on_poses=show,
            memory=review.memory if review.memory.is_whole else None,
        )  # fmt: skip
        if replay is not None and replay.edits is not None and not run.cut_short:
            replay.record(case.run_folder, run.puzzle, run.assembly)
        if (table := self._laid()) is not None:
            table.session.adopt(run)
        if not run.cut_short:
            self._on_solved(run)

    def _laid(self) -> Table | None:
        with self.lock:
            return self.table

    def _put_away(self) -> None:
        with self.lock:
            if self.table is not None:
                self.table.close()
            self.table = None


def _first_picture(memory: Memory, loaded: Loaded | None) -> Any:
    if memory.is_whole:
        return memory.scans[0].front.read()[1]
    return loaded.puzzle.pieces[0].image if loaded is not None else None

"""``jigsawnet view``, and the window of ``jigsawnet solve --view``."""

from __future__ import annotations

import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from jigsawnet.cli.case import opened
from jigsawnet.cli.console import Command, Flag, Operator, answer, say, say_notes
from jigsawnet.cli.signals import leave_on_signals
from jigsawnet.errors import ConfigError
from jigsawnet.io.files import can_write_in
from jigsawnet.io.lock import hold_lock
from jigsawnet.io.run_folder import tidy_folder
from jigsawnet.io.truth import read_truth
from jigsawnet.runs import Run, open_run
from jigsawnet.runs.history import check_operator
from jigsawnet.stopping import Stop
from jigsawnet.types import Progress

if TYPE_CHECKING:
    from jigsawnet.viewer.serve import Watch  # needs the extra web

LOCK_FILE = ".workbench.lock"
TAKEN = "The workbench is open on {folder} already{holder}; use that window, or end it first."


@dataclass(frozen=True, slots=True)
class View(Command):
    """Open a run in the browser, to see it, correct it and solve on.

    Nothing leaves this machine: the page is served to 127.0.0.1 only, at an address that opens once. What you do is kept in
    edits.json in the run's folder. Ctrl-C ends it.
    """

    run_folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """Folder that `jigsawnet solve` wrote, or a case file that `jigsawnet pack` wrote."""
    into: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None
    """For a case file: the folder to open it in; left out, one of its name beside it. Opened there before, it goes on."""
    operator: Operator = ""
    """Who corrects, for the history."""
    port: int = 0
    """Port to listen on; 0 takes a free one."""
    no_browser: Flag = False
    """Only print the address."""
    truth: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """truth.json, or the folder of pieces that holds it: shows which pieces are in the right place."""

    def run(self) -> int:
        """Serve until Ctrl-C."""
        check_web()
        from jigsawnet.viewer.serve import Workbench  # noqa: PLC0415 - needs the extra web
        from jigsawnet.viewer.session import Session  # noqa: PLC0415

        operator = check_operator(self.operator)
        folder = opened(self.run_folder, self.into, operator)
        run = open_run(folder)
        truth = None if self.truth is None else read_truth(self.truth, run.puzzle)
        with hold_workbench(folder), suppress(KeyboardInterrupt), leave_on_signals():
            bench = Workbench(Session(run, truth, operator=operator), self.port)
            bench.start()
            try:
                invite(bench.address, self.no_browser)
                bench.wait()
            finally:
                bench.stop()
        return 0


def check_web() -> None:
    """Say what to install when the extra is missing."""
    try:
        import fastapi  # noqa: F401, PLC0415
        import uvicorn  # noqa: F401, PLC0415
    except ImportError as error:
        raise ConfigError("The workbench needs FastAPI and uvicorn: install them with pip install 'jigsawnet[web]'.") from error


@contextmanager
def hold_workbench(folder: Path) -> Iterator[None]:
    """Hold the lock of the workbench of a run; the error of a second one says who has it.

    A run that may only be read is not locked: there is nothing to change, and it can be seen by many.
    """
    if not can_write_in(folder):
        say_notes([f"{folder} may only be read, so nothing can be changed; copy it to a place of yours to correct it."])
        yield
        return
    with hold_lock(folder / LOCK_FILE, TAKEN):
        tidy_folder(folder)
        yield


def invite(address: str, no_browser: bool, what: str = "The workbench") -> None:
    """Print the address and, unless it is not wanted, open it."""
    (answer if no_browser else say)(f"{what} is open at {address}")  # without it nobody gets in
    say("Ctrl-C ends it.")
    if not no_browser:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()


class NullWatcher:
    """A solve without a window."""

    has_stopped = False
    on_snapshot = None

    def on_pieces(self, run: Run) -> None:
        """Nothing is shown."""

    def with_progress(self, progress: Progress) -> Progress:
        """Nothing is added."""
        return progress

    def stay(self, run: Run) -> None:
        """Return at once."""


@contextmanager
def watching(view: bool, out: Path, stop: Stop, no_browser: bool, operator: str = "") -> Iterator[Watch | NullWatcher]:
    """A window on the solve while the block runs, with ``view``; Ctrl-C ends the workbench that it becomes."""
    if not view:
        yield NullWatcher()
        return
    check_web()
    from jigsawnet.viewer.serve import Watch  # noqa: PLC0415 - needs the extra web

    watch = Watch(stop, hold_workbench(out), lambda address: invite(address, no_browser), operator)
    try:
        with suppress(KeyboardInterrupt):
            yield watch
    finally:
        watch.close()

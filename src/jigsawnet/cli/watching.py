"""``jigsawnet solve --view``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from jigsawnet.cli.view import at_workbench, check_web, invite
from jigsawnet.config import SolveConfig
from jigsawnet.geometry import SE2
from jigsawnet.runs import Run
from jigsawnet.stopping import Stop
from jigsawnet.types import Progress, Puzzle


class Watcher(Protocol):
    """Whoever looks on while a puzzle is solved."""

    @property
    def has_stopped(self) -> bool:
        """True when the solve was ended from the window."""

    def on_pieces(self, puzzle: Puzzle) -> None:
        """The pieces are read."""

    def beside(self, progress: Progress) -> Progress:
        """The same progress, and that of the window."""

    def on_snapshot(self, poses: Mapping[int, SE2]) -> None:
        """Pieces have been joined."""

    def stay(self, run: Run) -> None:
        """The solve is done."""


class Nobody:
    """Nobody looks on."""

    has_stopped = False

    def on_pieces(self, puzzle: Puzzle) -> None:
        """Nothing is shown."""

    def beside(self, progress: Progress) -> Progress:
        """Nothing is added."""
        return progress

    def on_snapshot(self, poses: Mapping[int, SE2]) -> None:
        """Nothing is shown."""

    def stay(self, run: Run) -> None:
        """Nobody stays."""


@contextmanager
def watching(view: bool, out: Path, config: SolveConfig, stop: Stop, no_browser: bool) -> Iterator[Watcher]:
    """A window on the solve while the block runs, when one is wanted; Ctrl-C ends its staying."""
    if not view:
        yield Nobody()
        return
    check_web()
    from jigsawnet.viewer.watch import Watch  # noqa: PLC0415 - needs the extra web

    watch = Watch(out, config, stop, at_workbench(out), lambda address: invite(address, no_browser))
    try:
        with suppress(KeyboardInterrupt):
            yield watch
    finally:
        watch.close()

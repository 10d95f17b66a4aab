"""A solve that is watched while it goes on, and becomes the workbench when it is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path

from jigsawnet.config import SolveConfig
from jigsawnet.errors import EditError
from jigsawnet.geometry import SE2
from jigsawnet.pipeline import trace_bank
from jigsawnet.raster import ShapeBank
from jigsawnet.runs.snapshots import OnPoses
from jigsawnet.stage_clock import StageClock
from jigsawnet.stopping import Stop
from jigsawnet.types import Assembly, Constraints, MatchGraph, Progress, Puzzle
from jigsawnet.viewer.serve import Workbench
from jigsawnet.viewer.session import Session
from jigsawnet.viewer.workable import Workable


@dataclass(frozen=True)
class _Coming:
    """A run of which nothing is known yet but its pieces."""

    folder: Path
    puzzle: Puzzle
    bank: ShapeBank
    graph: MatchGraph
    assembly: Assembly

    def solve_on(self, constraints: Constraints, *, progress: Progress, stop: Stop, on_snapshot: OnPoses | None) -> Workable:
        """Never asked for: the session is busy until the real run comes."""
        raise EditError("The pieces are still being put together for the first time; wait until that is done.")


class Watch:
    """Opens the workbench once the pieces are known, and shows them coming together."""

    def __init__(
        self, folder: Path, config: SolveConfig, stop: Stop, held: AbstractContextManager[None], invite: Callable[[str], None]
    ) -> None:
        """``held`` keeps other workbenches off the folder; ``invite`` is given the address."""
        self._folder, self._config, self._stop, self._held, self._invite = folder, config, stop, held, invite
        self._open = ExitStack()
        self._session: Session | None = None
        self._bench: Workbench | None = None

    def on_pieces(self, puzzle: Puzzle) -> None:
        """The pieces are read: open the window."""
        self._open.enter_context(self._held)
        n = len(puzzle)
        bank = trace_bank(puzzle, self._config, StageClock())
        coming = _Coming(self._folder, puzzle, bank, MatchGraph(n, ()), Assembly(n, {}, ()))
        self._session = Session(coming, watched=self._stop)
        self._bench = Workbench(self._session)
        self._bench.start()
        self._open.callback(self._bench.stop)
        self._invite(self._bench.address)

    def beside(self, progress: Progress) -> Progress:
        """The same progress, and that of the window."""

        def tell(stage: str, done: int, total: int) -> None:
            progress(stage, done, total)
            if self._session is not None:
                self._session.tell(stage, done, total)

        return tell

    def on_snapshot(self, poses: Mapping[int, SE2]) -> None:
        """Show how far the pieces have come."""
        if self._session is not None:
            self._session.show(poses)

    @property
    def has_stopped(self) -> bool:
        """True when the person has ended the solve from the window."""
        return self._session is not None and self._session.has_stopped

    def stay(self, run: Workable) -> None:
        """The solve is done: the window becomes the workbench, until somebody ends it with Ctrl-C."""
        if self._session is not None and self._bench is not None:
            self._session.adopt(run)
            self._bench.wait()

    def close(self) -> None:
        """Close the window."""
        self._open.close()

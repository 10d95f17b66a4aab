"""One run on the workbench: the edits, the windows that show them, and the solver when it goes on.

Every change is on the disk before it is shown. All methods may be called from any thread.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from jigsawnet.context import Context
from jigsawnet.edits import Arrangement, Edit, Edits, Move, PieceSizes, Solved, put_back
from jigsawnet.errors import TROUBLE, EditError, JigsawNetError, OutputError, sentence_of
from jigsawnet.geometry import SE2
from jigsawnet.io.edits_json import Memo, save_edits
from jigsawnet.io.files import can_write_in
from jigsawnet.runs import Run
from jigsawnet.runs.history import History
from jigsawnet.runs.table import edits_of, show_table
from jigsawnet.stopping import Stop
from jigsawnet.types import Assembly
from jigsawnet.viewer.events import EventHub
from jigsawnet.viewer.pictures import PiecePictures
from jigsawnet.viewer.places import PlaceFinder
from jigsawnet.viewer.scribe import Scribe
from jigsawnet.viewer.seams import SeamBook

_PROGRESS_SECONDS = 0.1
"""Progress of a stage is sent at most this often."""
_MOST_KEPT = 64
"""Arrangements kept so that undo need not replay the list."""

log = logging.getLogger(__name__)


def open_edits(run: Run) -> Edits:
    """The edits of a run folder; a run without any gets an empty list that has its start on record."""
    edits = edits_of(run)
    if not edits.entries and can_write_in(run.folder):
        try:
            save_edits(run.folder, edits, run.puzzle.names())
        except OutputError as error:
            log.warning("%s", error)
    return edits


class StaleError(JigsawNetError):
    """Another window has changed the arrangement meanwhile, or the solver is at work."""


class Session:
    """The state of the workbench."""

    def __init__(self, run: Run, truth: Assembly | None = None, watched: Stop | None = None, *, operator: str = "") -> None:
        """``watched`` ends a solve that goes on elsewhere and whose result `adopt` will bring; None: the run is there."""
        self.truth = truth
        self.history = History(run.folder, operator)
        self.hub = EventHub()
        self.pictures = PiecePictures(run.puzzle)
        self.lock = threading.RLock()
        self.revision = 0
        self.has_stopped = False
        """True once a window has asked the solver to end."""
        self._stop = watched
        self._sent: dict[str, float] = {}
        self._thread: threading.Thread | None = None
        self._folder = threading.Lock()
        """Held by who writes stages or results into the run's folder."""
        self.scribe = Scribe(self._write_results, lambda text: self.hub.publish({"type": "error", "text": text}))
        self._open(run)

    def _open(self, run: Run) -> None:
        self.run, self.puzzle, self.borders = run, run.puzzle, run.borders
        self.pieces = PieceSizes.of(run.puzzle)
        candidates = run.candidates
        self.seams = SeamBook(run.borders, candidates.common_gap_px, run.config.match.dense.verify)
        self.places = PlaceFinder(candidates, run.borders, self.pieces)
        self.read_only = not can_write_in(run.folder)
        self.edits = Edits(run.assembly) if self.busy else open_edits(run)
        self._kept: dict[int, Arrangement] = {}
        self._texts: Memo = {}
        self.arrangement = self._arrangement_of(self.edits)
        self.seams.look_up([join.alignment for join in self.arrangement.joins.values()])
        if self.edits.entries and not self.read_only:
            self.scribe.ask()  # the files may be older than the edits

    def adopt(self, run: Run) -> None:
        """The solve that was watched is done."""
        with self.lock:
            self._stop = None
            self._open(run)
            self.revision += 1
            placed, components = len(self.arrangement.poses), len(self.arrangement.components)
        self.hub.publish({"type": "solved", "revision": self.revision, "placed": placed, "components": components})

    @property
    def busy(self) -> bool:
        """True while the solver is at work."""
        return self._stop is not None

    def make(self, revision: int, edit: Edit, *, join: bool = False) -> None:
        """Take one more edit; a piece that is moved gets the joins whose borders meet when it is done.

        A page that is moved as a whole is joined to nothing, unless a person asks for it: ``join``.

        Raises:
            StaleError: the edit was made on an old state.
            EditError: it makes no sense.
            OutputError: it could not be saved, and so was not taken.
        """
        with self.lock:
            self._check(revision)
            if isinstance(edit, Move):
                edit = self._with_joins(edit, join)
            self._take(self.edits.added(edit), edit.apply(self.pieces, self.arrangement))
            self._tell_history("edited", edit)

    def _with_joins(self, edit: Move, join: bool) -> Move:
        """A move with its joins, for which other pages make room."""
        joins = edit.joins
        if not joins and (join or not self._is_page(edit.poses)):
            joins = self.seams.touching(edit.apply(self.pieces, self.arrangement), edit.poses)
        if join and not joins:
            raise EditError("Its borders meet no other piece, so there is nothing to join.")
        return replace(edit, joins=joins, room=bool(joins))

    def _is_page(self, moved: Collection[int]) -> bool:
        """True when the pieces are all those of a page of several."""
        return len(moved) > 1 and any(set(moved) == set(component) for component in self.arrangement.components)

    def undo(self, revision: int) -> None:
        """Take the last edit back."""
        self._go(revision, Edits.back, "There is nothing to undo.")

    def redo(self, revision: int) -> None:
        """Bring back what was undone last."""
        self._go(revision, Edits.forward, "There is nothing to redo.")

    def solve(self, revision: int) -> None:
        """Let the solver finish the rest; it keeps what a person has decided. Returns at once."""
        with self.lock:
            self._check(revision)
            self._stop = Stop()
            self.hub.publish({"type": "progress", "stage": "start", "done": 0, "total": 1})  # before any other
            self._thread = threading.Thread(target=self._work, args=(self._stop, self.arrangement), daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Ask the solver to end soon; nothing happens when it is not at work."""
        if (stop := self._stop) is not None:
            self.has_stopped = True
            stop.request()

    def wait(self) -> None:
        """Until the solver is done."""
        if (thread := self._thread) is not None:
            thread.join()

    @contextmanager
    def at_rest(self) -> Iterator[Run]:
        """The run, whose files show what the table shows and do not change while the block runs.

        Raises:
            StaleError: the solver is at work.
        """
        if self.busy:
            raise StaleError("The solver is at work; stop it or wait until it is done.")
        self.scribe.wait()
        with self._folder:
            yield self.run

    def close(self) -> None:
        """Stop the solver and end the streams of all windows."""
        if (stop := self._stop) is not None:
            stop.request()
        self.wait()
        self.scribe.close()
        self.hub.close()

    def _go(self, revision: int, step: Callable[[Edits], Edits], nothing: str) -> None:
        with self.lock:
            self._check(revision)
            edits = step(self.edits)
            if edits.in_force == self.edits.in_force:
                raise EditError(nothing)
            back = edits.in_force < self.edits.in_force
            self._take(edits, self._arrangement_of(edits))
            self._tell_history("undid" if back else "did again", edits.entries[edits.in_force - (0 if back else 1)])

    def _tell_history(self, what: str, edit: Edit) -> None:
        self.history.add(what, kind=edit.kind, text=edit.describe(self.pieces.names))

    def _check(self, revision: int) -> None:
        if self.read_only:
            raise EditError("This run may only be read, so nothing can be changed; copy its folder to a place of yours.")
        if self.busy:
            raise StaleError("The solver is at work; stop it or wait until it is done.")
        if revision != self.revision:
            raise StaleError("Another window has changed the arrangement; it is shown now, so try again.")

    def _write_results(self) -> None:
        """Make the files of the run's folder show what the table shows."""
        with self._folder:
            with self.lock:
                run, now, revision = self.run, self.arrangement, self.revision
            show_table(run, now, self.lock)
        self.hub.publish({"type": "saved", "revision": revision})

    def _take(self, edits: Edits, arrangement: Arrangement, *, tell: bool = True) -> None:
        """Save, then show; without ``tell`` the windows hear of it otherwise."""
        save_edits(self.run.folder, edits, self.pieces.names, self._texts)
        self.edits, self.arrangement = edits, arrangement
        alive = {id(edits.start), *(id(edit.assembly) for edit in edits.entries if isinstance(edit, Solved))}
        self._texts = {key: text for key, text in self._texts.items() if key in alive}
        self._keep(edits.in_force, arrangement)
        self.revision += 1
        if tell:
            self.hub.publish({"type": "revision", "revision": self.revision})
        self.scribe.ask()

    def _keep(self, count: int, arrangement: Arrangement) -> None:
        for old in [k for k in self._kept if k > count]:
            del self._kept[old]
        self._kept[count] = arrangement
        while len(self._kept) > _MOST_KEPT:
            del self._kept[min(self._kept)]

    def _arrangement_of(self, edits: Edits) -> Arrangement:
        """After the edits in force, from the nearest arrangement that is still known."""
        known = max((k for k in self._kept if k <= edits.in_force), default=0)
        arrangement = self._kept.get(known) or Arrangement.of(edits.start)
        for k in range(known, edits.in_force):
            arrangement = edits.entries[k].apply(self.pieces, arrangement)
            if edits.in_force - k <= _MOST_KEPT // 2:
                self._kept[k + 1] = arrangement
        return arrangement

    def _work(self, stop: Stop, before: Arrangement) -> None:
        """In a thread of its own: solve on, take the result over, publish it."""
        done: dict[str, Any] = {"type": "error", "text": "The solver failed; nothing has changed."}
        try:
            context = Context(self.send_progress, stop)
            with self._folder:
                run = self.run.solve_on(before.constraints(), context, self.send_snapshot, with_results=False)
            done = self._take_over(run, before, stopped=stop.is_requested)
        except TROUBLE as error:
            done = {"type": "error", "text": sentence_of(error)}
        except Exception:
            log.exception("solving on failed")
        finally:
            with self.lock:
                self._stop = None
            self.hub.publish(done)

    def _take_over(self, run: Run, before: Arrangement, stopped: bool) -> dict[str, Any]:
        """What was stopped before any piece was placed changes nothing."""
        with self.lock:
            self.run = run
            if stopped and not run.assembly.poses:
                return {"type": "error", "text": "Stopped before any piece was placed; nothing has changed."}
            edit = Solved(put_back(self.pieces, before, run.assembly))
            self._take(self.edits.added(edit), edit.apply(self.pieces, before), tell=False)
            self.history.solved(run, "stopped solving on" if stopped else "solved on")
            return {
                "type": "solved", "revision": self.revision, "placed": len(self.arrangement.poses),
                "components": len(self.arrangement.components), "stopped": stopped,
            }  # fmt: skip

    def send_progress(self, stage: str, done: int, total: int) -> None:
        """Progress for the windows, some times a second."""
        now = time.monotonic()
        if done >= total or now - self._sent.get(stage, -math.inf) >= _PROGRESS_SECONDS:
            self._sent[stage] = now
            self.hub.publish({"type": "progress", "stage": stage, "done": done, "total": total})

    def send_snapshot(self, poses: Mapping[int, SE2]) -> None:
        """Show the windows how far the pieces have come together."""
        rows = {str(idx): [round(pose.theta, 6), round(pose.x, 2), round(pose.y, 2)] for idx, pose in poses.items()}
        self.hub.publish({"type": "snapshot", "poses": rows})

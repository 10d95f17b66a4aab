"""The workbench of the case on the desk, and what was decided on it before the case is solved again."""

from __future__ import annotations

from contextlib import ExitStack

from jigsawnet.errors import FormatError
from jigsawnet.io.edits_json import EDITS_FILE, has_edits
from jigsawnet.io.replay import Replay
from jigsawnet.types import Constraints, Puzzle
from jigsawnet.viewer.app import create_app
from jigsawnet.viewer.home.cases import Case
from jigsawnet.viewer.session import Session

OLD_EDITS = "edits-before-review.json"


class Table:
    """A session, its application, and the lock of its folder."""

    def __init__(self, session: Session, resources: ExitStack) -> None:
        self.session, self.app = session, create_app(session)
        self._resources = resources

    def close(self) -> None:
        """End it; other workbenches may have the folder."""
        self.session.close()
        self._resources.close()


def replay_of(case: Case) -> Replay | None:
    """The edits made on the workbench before, to be kept; None when there are none."""
    edits = case.run_folder / EDITS_FILE
    return Replay(edits) if edits.is_file() and has_edits(edits) else None


def decide(case: Case, replay: Replay, puzzle: Puzzle) -> Constraints:
    """What was decided on the workbench before; edits that speak of pieces which are gone are laid aside."""
    try:
        return replay.constraints(puzzle)
    except FormatError:
        edits = case.run_folder / EDITS_FILE
        edits.replace(case.run_folder / OLD_EDITS)
        replay.edits = None
        return Constraints()

"""What the workbench needs of a run, and the edits that lie in its folder."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Protocol

from jigsawnet.edits import Edits
from jigsawnet.errors import OutputError
from jigsawnet.io.edits_json import EDITS_FILE, load_edits, save_edits
from jigsawnet.raster import ShapeBank
from jigsawnet.runs.snapshots import OnPoses
from jigsawnet.stopping import Stop
from jigsawnet.types import Assembly, Constraints, MatchGraph, Progress, Puzzle
from jigsawnet.viewer.table import lay_on_table

log = logging.getLogger(__name__)


class Workable(Protocol):
    """What the workbench needs of a run."""

    @property
    def folder(self) -> Path:
        """Where it lies."""

    @property
    def puzzle(self) -> Puzzle:
        """The pieces."""

    @property
    def graph(self) -> MatchGraph:
        """All scored candidates."""

    @property
    def assembly(self) -> Assembly:
        """What the solver made of them."""

    @property
    def bank(self) -> ShapeBank:
        """The contours."""

    def solve_on(self, constraints: Constraints, *, progress: Progress, stop: Stop, on_snapshot: OnPoses | None) -> Workable:
        """Compose again."""


def open_edits(run: Workable) -> Edits:
    """The edits of a run folder; a run without any gets an empty list that has its start on record."""
    names = run.puzzle.names()
    if (run.folder / EDITS_FILE).is_file():
        edits = load_edits(run.folder, names)
        if edits.entries:
            return edits
    edits = Edits(lay_on_table(run.puzzle, run.assembly))
    try:
        save_edits(run.folder, edits, names)
    except OutputError:
        log.warning("%s cannot be written, so nothing can be changed.", run.folder)
    return edits

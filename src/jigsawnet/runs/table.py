"""The table of a run: where its pieces lie after the edits of a person; without any, its pages side by side."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from jigsawnet.edits import Arrangement, Edits, Pair, PieceSizes, as_on_disk, room_px
from jigsawnet.io.edits_json import EDITS_FILE, load_edits
from jigsawnet.render.layout import MARGIN_PX, begin_at_zero, lay_out
from jigsawnet.runs.run import Run
from jigsawnet.types import Assembly

_SAME_RAD, _SAME_PX = 1e-5, 0.01


def start_of(run: Run) -> Assembly:
    """The pages of a run side by side on the table, with room between them."""
    room = max(MARGIN_PX, math.ceil(2 * room_px(PieceSizes.of(run.puzzle))))
    return as_on_disk(replace(run.assembly, poses=lay_out(run.puzzle, run.assembly, margin_px=room).canvas_from_piece))


def edits_of(run: Run) -> Edits:
    """The edits in a run's folder; none of a run that has none.

    Raises:
        FormatError: ``edits.json`` breaks its format or names pieces that are not there.
    """
    if (run.folder / EDITS_FILE).is_file():
        edits = load_edits(run.folder, run.puzzle.names())
        if edits.entries:
            return edits
    return Edits(start_of(run))


def table_of(run: Run) -> Arrangement:
    """How the pieces lie after the edits in force.

    Raises:
        FormatError, EditError: the edits cannot be read, or not be done.
    """
    edits, pieces = edits_of(run), PieceSizes.of(run.puzzle)
    now = Arrangement.of(edits.start)
    for edit in edits.done:
        now = edit.apply(pieces, now)
    return now


def is_as_solved(run: Run, now: Arrangement) -> bool:
    """True when the table shows what the solver found, every page turned as there; where pages lie does not matter."""
    solved = Arrangement.of(run.assembly)
    if now.components != solved.components or _sure(now) != _sure(solved):
        return False
    lain, found = (begin_at_zero(run.puzzle, arrangement.to_assembly(len(run.puzzle))).poses for arrangement in (now, solved))
    apart = [lain[idx].distance(found[idx]) for idx in lain]
    return all(angle < _SAME_RAD and distance < _SAME_PX for angle, distance in apart)


def show_table(run: Run, now: Arrangement, entering: AbstractContextManager[Any] | None = None) -> None:
    """Make the result files of a run show the table; ``entering`` as for `Run.show`.

    Raises:
        OutputError: somebody else writes into the folder, or it cannot be written; the old files are as they were.
    """
    titles = {page.pieces: page.name for page in now.pages if page.name}
    names = {k: titles[members] for k, members in enumerate(now.components) if members in titles}
    shown = None if is_as_solved(run, now) else now.to_assembly(len(run.puzzle))
    backs = {hint.pieces[1]: hint.pieces[0] for hint in now.hints if hint.kind == "back"}
    run.show(shown, names, now.all_notes, entering, backs, now.constraints())


def _sure(arrangement: Arrangement) -> dict[Pair, float]:
    return {pair: round(join.confidence, 5) for pair, join in arrangement.joins.items()}

"""Solving again keeps what a person has decided: with the same pieces, or with pieces that were added."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from jigsawnet.io.edits_json import EDITS_FILE, has_edits
from jigsawnet.io.replay import Replay
from jigsawnet.pipeline import NOTHING_DECIDED
from jigsawnet.runs.request import Request
from jigsawnet.runs.run import Run, solve_run
from jigsawnet.runs.table import show_table, table_of

PASS_OVER = "Bring back what is missing, or give --without-edits to pass over the edits."


def kept_edits(out: Path) -> Path | None:
    """The edits of a run folder, which solving into it again keeps to; None when there are none."""
    own = out / EDITS_FILE
    return own if own.is_file() and has_edits(own) else None


def solve_again(
    request: Request,
    out: Path,
    *,
    edits: Path | None = None,
    holding: Callable[[], AbstractContextManager[Any]] = nullcontext,
    **how: Any,
) -> Run:
    """`solve_run` with what is decided in ``edits``; the outcome is put on record, and the results show the table.

    ``holding()`` is held while the list of edits is written; ``how`` are the other arguments of `solve_run`.

    Raises:
        JigsawNetError: as `solve_run`; or the edits cannot be read, or do not fit these pieces.
    """
    own = edits is not None and edits == kept_edits(out)
    replay = None if edits is None else Replay(edits, PASS_OVER if own else "")
    run = solve_run(request, out, constraints=replay.constraints if replay else NOTHING_DECIDED, **how)
    if replay and not run.cut_short:
        with holding():
            replay.record(out, run.puzzle, run.assembly)
            show_table(run, table_of(run))
    return run

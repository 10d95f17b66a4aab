"""``jigsawnet solve --review``: what is cut out of the scans is shown and corrected in the browser before it is solved."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from jigsawnet.borders import mark_compiled
from jigsawnet.cli.console import say
from jigsawnet.cli.signals import leave_on_signals
from jigsawnet.cli.view import check_web, hold_workbench, invite
from jigsawnet.io.files import make_folder, remove_empty
from jigsawnet.names import clean_name
from jigsawnet.runs import Request, Run


def review_first(request: Request, out: Path, no_browser: bool) -> int:
    """Serve the page of review, on which the solve is started, until a person ends it; the exit code is that of the last solve.

    The corrections are kept in the run folder, as ``review.json``.
    """
    check_web()
    from jigsawnet.viewer.home.cases import Case, Cases, own_folder  # noqa: PLC0415 - needs the extra web
    from jigsawnet.viewer.home.serve import Home  # noqa: PLC0415

    solved: list[Run] = []

    def on_solved(run: Run) -> None:
        mark_compiled()
        solved[:] = [run]

    case = Case(clean_name(out.absolute().name, "case"), out, request.inputs, out)
    created = [folder for folder in (out, *out.parents) if not folder.exists()]
    make_folder(out)
    try:
        with suppress(KeyboardInterrupt), leave_on_signals():
            home = Home(Cases(own_folder(), case), hold_workbench, base=request, on_solved=on_solved)
            home.start()
            try:
                home.desk.look(case.name)
                invite(home.address, no_browser, "The review")
                home.wait()
            finally:
                home.stop()
    finally:
        remove_empty(created)
    if not solved:
        say("Nothing was solved.")
        return 1
    run = solved[0]
    say(f"{len(run.assembly.poses)} of {run.assembly.n_pieces} pieces placed, in {out}")
    return 0 if run.assembly.complete and not run.guesses else 1

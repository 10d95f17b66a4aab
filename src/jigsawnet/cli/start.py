"""``jigsawnet start``, and ``jigsawnet`` alone: the page in the browser to drop scans on."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from jigsawnet.cli.console import Flag, say
from jigsawnet.cli.signals import leave_on_signals
from jigsawnet.cli.view import check_web, hold_workbench, invite
from jigsawnet.runs import Run


@dataclass(frozen=True, slots=True)
class Start:
    """Open the page in the browser to drop scans on: cut out, solve, correct and export without a command.

    Nothing leaves this machine: the page is served to 127.0.0.1 only, at an address that opens once. Cases are kept in a folder
    of yours, each with its scans and its run. The page's button Quit ends it, and so does Ctrl-C.
    """

    cases: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None
    """Folder in which the cases are kept; left out, one of your own."""
    port: int = 0
    """Port to listen on; 0 takes a free one."""
    no_browser: Flag = False
    """Only print the address."""

    def run(self) -> int:
        """Serve until a person ends it."""
        check_web()
        from jigsawnet.borders import is_compiled, mark_compiled  # noqa: PLC0415 - takes a while to load
        from jigsawnet.cli.compiling import compile_beside  # noqa: PLC0415
        from jigsawnet.viewer.home.cases import Cases, own_folder  # noqa: PLC0415
        from jigsawnet.viewer.home.serve import Home  # noqa: PLC0415 - needs the extra web

        if not is_compiled():
            compile_beside()  # while a person looks for the scans

        def on_solved(_: Run) -> None:
            mark_compiled()

        folder = own_folder() if self.cases is None else self.cases.absolute()
        with suppress(KeyboardInterrupt), leave_on_signals():
            home = Home(Cases(folder), hold_workbench, self.port, on_solved=on_solved)
            home.start()
            try:
                invite(home.address, self.no_browser, "jigsawnet")
                say(f"Cases are kept in {folder}")
                home.wait()
            finally:
                home.stop()
        return 0

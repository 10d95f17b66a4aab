"""``jigsawnet start``, and ``jigsawnet`` alone: the page in the browser to drop scans on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from jigsawnet.cli.console import Command, Flag, say
from jigsawnet.cli.signals import leave_on_signals
from jigsawnet.cli.view import check_web, hold_workbench, invite
from jigsawnet.errors import JigsawNetError, OutputError
from jigsawnet.io.files import make_folder, read_text
from jigsawnet.io.lock import hold_lock
from jigsawnet.runs import Run

if TYPE_CHECKING:
    from jigsawnet.viewer.home.serve import Home  # needs the extra web

LOCK_FILE, ADDRESS_FILE = ".jigsawnet.lock", ".jigsawnet.address"
TAKEN = "The page of the cases in {folder} is open already{holder}; end it first."
_LOOK_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Start(Command):
    """Open the page in the browser to drop scans on: cut out, solve, correct and export without a command.

    Nothing leaves this machine: the page is served to 127.0.0.1 only, at an address that opens once. Cases are kept in a folder
    of yours, each with its scans and its run. The page's button Quit ends it, and so does Ctrl-C. Started again while it
    runs, it opens the same page.
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
        from jigsawnet.viewer.home.cases import own_folder  # noqa: PLC0415 - needs the extra web

        folder = own_folder() if self.cases is None else self.cases.absolute()
        make_folder(folder)
        with suppress(KeyboardInterrupt), leave_on_signals():
            try:
                with hold_lock(folder / LOCK_FILE, TAKEN):
                    self._serve(folder)
            except OutputError:
                address = _running_at(folder)
                if address is None:
                    raise
                invite(address, self.no_browser, "jigsawnet")
        return 0

    def _serve(self, folder: Path) -> None:
        from jigsawnet.borders import is_compiled, mark_compiled  # noqa: PLC0415 - takes a while to load
        from jigsawnet.cli.compiling import compile_beside  # noqa: PLC0415
        from jigsawnet.viewer.home.cases import Cases  # noqa: PLC0415
        from jigsawnet.viewer.home.serve import Home  # noqa: PLC0415

        if not is_compiled():
            compile_beside()  # while a person looks for the scans

        def on_solved(_: Run) -> None:
            mark_compiled()

        home = Home(Cases(folder), hold_workbench, self.port, on_solved=on_solved)
        home.start()
        try:
            with _told(home, folder) as tell:
                tell()
                invite(home.address, self.no_browser, "jigsawnet")
                say(f"Cases are kept in {folder}")
                while home.goes_on(_LOOK_SECONDS):
                    tell()
        finally:
            home.stop()


@contextmanager
def _told(home: Home, folder: Path) -> Iterator[Callable[[], None]]:
    """A function that writes the address at which a browser gets in now, for this person alone, when it has changed."""
    path, written = folder / ADDRESS_FILE, ""

    def tell() -> None:
        nonlocal written
        if home.address == written:
            return
        with suppress(OSError):
            path.unlink(missing_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w") as stream:
                stream.write(home.address)
            written = home.address

    try:
        yield tell
    finally:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def _running_at(folder: Path) -> str | None:
    """Where the page that is open already lets a browser in; None when it does not say."""
    from jigsawnet.viewer.serve import HOST  # noqa: PLC0415 - needs the extra web

    with suppress(JigsawNetError):
        address = read_text(folder / ADDRESS_FILE, 1000).strip()
        return address if address.startswith(f"http://{HOST}:") and address.isprintable() else None
    return None

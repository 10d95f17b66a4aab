"""``jigsawnet export``."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from jigsawnet.cli.console import Command, Out, say, say_notes
from jigsawnet.runs import open_run
from jigsawnet.runs.export import ExportConfig, export_pages


@dataclass(frozen=True, slots=True)
class Export(Command):
    """Write the pages of a run as PDF, TIFF, PNG, SVG and more, for archives and for print.

    Pages are as they lie after what was done in the workbench: named, in their order, turned as they are.
    """

    run_folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """Folder that `jigsawnet solve` wrote."""
    out: Out
    """Folder for the files; it must not hold an export already."""
    config: Annotated[ExportConfig, tyro.conf.arg(name="")] = field(default_factory=ExportConfig)

    def run(self) -> int:
        """Write and say what was written."""
        done = export_pages(open_run(self.run_folder), self.out, self.config)
        say_notes(done.notes)
        say(f"{len(done.files)} files in {self.out}")
        return 0

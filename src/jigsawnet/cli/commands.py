"""The commands and where they live; a command's module is imported only when it is named."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True, slots=True)
class Entry:
    """A command: its class in a module of this package or, with a dot, of another; and one line for the list of commands."""

    module: str
    name: str
    summary: str
    looks: bool = True
    """Whether it takes options from a jigsawnet.toml that it finds; one that is named is taken by every command."""

    def load(self) -> Any:
        """The class, from which tyro makes the options."""
        module = self.module if "." in self.module else f"jigsawnet.cli.{self.module}"
        return getattr(import_module(module), self.name)


COMMANDS = {
    "start": Entry(
        "start",
        "Start",
        "Open the page in the browser to drop scans on: cut out, solve, correct and export without a command.",
    ),
    "solve": Entry("solve", "Solve", "Put pieces together, from a folder of them or from scans that show many."),
    "view": Entry("view", "View", "Open a run in the browser, to see it, correct it and solve on."),
    "export": Entry(
        "export", "Export", "Write the pages of a run as PDF, TIFF, PNG, SVG and more, for archives and for print."
    ),
    "pack": Entry("case", "Pack", "Pack a run into one case file, to hand over."),
    "unpack": Entry("case", "Unpack", "Open a case file into a run folder."),
    "cut": Entry("cut", "Cut", "Cut the pieces out of scans or photos that show many of them on one plain background."),
    "sheet": Entry(
        "sheet", "Sheet", "Make a page with markers to print: photographs of pieces on it are straightened exactly."
    ),
    "shred": Entry("shred", "Shred", "Cut pictures into pieces whose true places are known, for tests, training and trials."),
    "eval": Entry("evaluate", "Eval", "Compare a result with the truth."),
    "bench": Entry(
        "jigsawnet_bench.cli", "Bench", "Measure on puzzles with known truth, and write JSON, tables and plots.", looks=False
    ),  # figures must not change by a file that happens to lie there
    "train": Entry(
        "train",
        "Train",
        "Learn to tell right joins from wrong ones, on puzzles cut from a folder of photographs.",
    ),
    "completion": Entry(
        "completion", "Completion", "Print a script with which the shell completes what is typed when Tab is pressed."
    ),
    "doctor": Entry("doctor", "Doctor", "Look whether all that is needed is here: versions, weights, memory, browser."),
}


@contextmanager
def without_collecting() -> Iterator[None]:
    """Importing and compiling make many objects that stay: looking for garbage among them takes a tenth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()

"""What commands share: option kinds, lines for a person, progress bars."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Optional

import tyro

from jigsawnet.cli.speech import answer, is_hushed, say, say_error, say_notes
from jigsawnet.errors import ConfigError
from jigsawnet.types import Progress, no_progress

__all__ = ["Command", "Flag", "Operator", "Out", "answer", "check_seed", "progress_bars", "say", "say_error", "say_notes"]

Out = Annotated[Path, tyro.conf.arg(aliases=["-o"], metavar="FOLDER")]
Operator = Annotated[str, tyro.conf.arg(metavar="NAME")]
Flag = tyro.conf.FlagCreatePairsOff[bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """The options that every command has.

    Their types are those that tyro can check by itself; for others it loads typeguard, which takes 0.05 s.
    """

    quiet: Flag = False
    """Print nothing but errors, and what the command is there to print."""
    settings: Annotated[Optional[Path], tyro.conf.arg(name="config", metavar="FILE")] = None  # noqa: UP045
    """Take options that are not given here from this file, instead of the jigsawnet.toml of the working folder."""
    from_file: Annotated[str, tyro.conf.Fixed, tyro.conf.Suppress] = ""
    """Not an option: which ones were taken from the file, a line for each."""


def check_seed(seed: int) -> None:
    """Refuse what no random generator takes."""
    if seed < 0:
        raise ConfigError(f"seed is {seed}; it must be 0 or more.")


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """A bar with time left for each stage, on a terminal; nothing elsewhere."""
    if is_hushed() or sys.stderr is None or not sys.stderr.isatty():
        yield no_progress
        return
    from rich.console import Console  # noqa: PLC0415 - takes a while to load, and only a terminal needs it
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn  # noqa: PLC0415
    from rich.progress import Progress as RichProgress  # noqa: PLC0415

    columns = (TextColumn("{task.description:>9}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with RichProgress(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks = {}

        def tell(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done, total=total)

        yield tell

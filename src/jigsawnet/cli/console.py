"""What commands share: option kinds, lines for a person, progress bars."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress

from jigsawnet.errors import ConfigError
from jigsawnet.types import Progress, no_progress

Out = Annotated[Path, tyro.conf.arg(aliases=["-o"], metavar="FOLDER")]
Flag = tyro.conf.FlagCreatePairsOff[bool]


def check_seed(seed: int) -> None:
    """Refuse what no random generator takes."""
    if seed < 0:
        raise ConfigError(f"seed is {seed}; it must be 0 or more.")


def say(line: str, *, error: bool = False) -> None:
    """Print one line; a character that breaks the line or that the stream cannot show appears as its escape code."""
    stream = sys.stderr if error else sys.stdout
    if stream is None:  # a process may be started without one
        return
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
    encoding = stream.encoding or "utf-8"
    print(shown.encode(encoding, "backslashreplace").decode(encoding), file=stream)


def say_notes(notes: Sequence[str]) -> None:
    """Tell what a person should know, beside the result."""
    for note in notes:
        say(f"note: {note}", error=True)


def say_error(text: str) -> None:
    """One sentence on stderr."""
    say(f"jigsawnet: {text}" if text.endswith((".", "?")) else f"jigsawnet: {text}.", error=True)


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """A bar with time left for each stage, on a terminal; nothing elsewhere."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield no_progress
        return
    columns = (TextColumn("{task.description:>9}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with RichProgress(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks = {}

        def tell(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done, total=total)

        yield tell

"""Lines for a person, on stdout and stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

_hushed = 0
"""How many blocks that want to be quiet are running."""


@contextmanager
def hushed(quiet: bool = True) -> Iterator[None]:
    """With ``quiet`` nothing but errors and answers is printed while the block runs, by any thread."""
    global _hushed  # noqa: PLW0603 - stdout and stderr are those of the process, too
    _hushed += quiet
    try:
        yield
    finally:
        _hushed -= quiet


def is_hushed() -> bool:
    """True when nothing but errors and answers is printed."""
    return _hushed > 0


def say(line: str, *, error: bool = False) -> None:
    """Tell one line about what was done, unless it is to be quiet."""
    if not is_hushed():
        _print(line, error)


def answer(line: str) -> None:
    """Print one line of what the command is there to print."""
    _print(line, False)


def say_notes(notes: Sequence[str]) -> None:
    """Tell what a person should know, beside the result, unless it is to be quiet."""
    for note in notes:
        say(f"note: {note}", error=True)


def say_error(text: str) -> None:
    """One sentence on stderr."""
    _print(f"jigsawnet: {text}" if text.endswith((".", "?")) else f"jigsawnet: {text}.", True)


def _print(line: str, error: bool) -> None:
    """One line; a character that breaks the line or that the stream cannot show appears as its escape code."""
    stream = sys.stderr if error else sys.stdout
    if stream is None:  # a process may be started without one
        return
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
    encoding = stream.encoding or "utf-8"
    print(shown.encode(encoding, "backslashreplace").decode(encoding), file=stream)

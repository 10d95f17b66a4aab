"""Lines for a person, on stdout and stderr."""

from __future__ import annotations

import sys
from collections.abc import Sequence


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

"""Ground floor: options within options."""

from __future__ import annotations

from dataclasses import field
from typing import Any, TypeVar

Options = TypeVar("Options")


def group(kind: type[Options]) -> Options:
    """A field of a dataclass that holds options of another one, its defaults when it is left out.

    What these are for is said here, by the docstring of their class: the command line need not search the source for it.
    """
    made: Any = field(default_factory=kind, metadata={"help": kind.__doc__})
    return made  # type: ignore[no-any-return]

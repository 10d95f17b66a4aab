"""The words of a command line → a command: what is said there before what a settings file says, that before the defaults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import tyro

from jigsawnet.cli.commands import COMMANDS
from jigsawnet.errors import ConfigError, FormatError

SETTINGS_FILE, OPTION = "jigsawnet.toml", "--config"


def parse(name: str, words: Sequence[str]) -> tuple[Any, list[str]]:
    """The command ``name`` with its options, and notes for the person.

    Raises:
        JigsawNetError: an option is out of range, or the settings file cannot be used.
    """
    cls, prog = COMMANDS[name].load(), f"jigsawnet {name}"
    path, found = file_named(words), Path(SETTINGS_FILE)
    if path is None and (not found.is_file() or not COMMANDS[name].looks):
        passed_over = found.is_file()
        note = f"{found} is not looked at by {name}, whose figures would change; give {OPTION} {found} to use it."
        return tyro.cli(cls, prog=prog, args=words), [note] if passed_over else []
    from jigsawnet.cli.settings import read_settings  # noqa: PLC0415 - most have no such file

    settings = read_settings(path or found, name, cls, trusted=path is not None)
    try:
        command = tyro.cli(cls, prog=prog, args=words, default=settings.default)
    except ConfigError as error:
        if _is_refused_without(cls, prog, words):
            raise
        raise FormatError(f"{settings.path}, {name}: {error}") from error
    taken = settings.taken(command)
    names = ", ".join(line.partition(": ")[2] for line in taken)
    return replace(command, from_file="\n".join(taken)), [f"From {settings.path}: {names}."] if taken else []


def file_named(words: Sequence[str]) -> Path | None:
    """The file that the words of a command line name with ``--config``; the last one counts."""
    found = None
    for k, word in enumerate(words):
        if word == "--":
            break
        if word == OPTION and k + 1 < len(words):
            found = Path(words[k + 1])
        elif word.startswith(f"{OPTION}="):
            found = Path(word.removeprefix(f"{OPTION}="))
    return found


def _is_refused_without(cls: Any, prog: str, words: Sequence[str]) -> bool:
    """True when the words themselves are at fault, not the file."""
    try:
        tyro.cli(cls, prog=prog, args=words, console_outputs=False)
    except (ConfigError, SystemExit):
        return True
    return False

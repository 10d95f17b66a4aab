"""``jigsawnet pack`` and ``jigsawnet unpack``: a run as one file, to hand over."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from jigsawnet.cli.console import Command, Flag, Operator, Out, say, say_notes
from jigsawnet.errors import ConfigError
from jigsawnet.io.case_file import CASE_SUFFIX
from jigsawnet.runs.case import OWN_WEIGHTS, folder_of, is_case, pack_run, unpack_run
from jigsawnet.runs.history import check_operator


@dataclass(frozen=True, slots=True)
class Pack(Command):
    """Pack a run into one case file, to hand over.

    It holds the pieces, what was found, the results, the edits and the history, and no path of this machine. It can be opened
    with `jigsawnet view` on any system, and solved on there.
    """

    run_folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """Folder that `jigsawnet solve` wrote."""
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"], metavar="FILE")]
    """The case file, name.jigsaw; it must not be there already."""
    inputs: Flag = False
    """Also pack the pictures that the run was made from."""

    def __post_init__(self) -> None:
        if self.out.suffix.lower() != CASE_SUFFIX:
            raise ConfigError(f"The name of a case file ends in {CASE_SUFFIX}: give -o {self.out.name}{CASE_SUFFIX}.")

    def run(self) -> int:
        """Write and say what was written."""
        done = pack_run(self.run_folder, self.out, with_inputs=self.inputs)
        say_notes(done.notes)
        say(f"{done.files} files, {done.size_bytes / 1e6:.1f} MB in {self.out}")
        say(f"  SHA-256 {done.sha256}")
        return 0


@dataclass(frozen=True, slots=True)
class Unpack(Command):
    """Open a case file into a run folder.

    All that is in it is looked through first: a file that was cut short, altered or made to do harm is refused, and nothing is
    written.
    """

    case_file: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="CASE")]
    """File that `jigsawnet pack` wrote."""
    out: Out
    """Folder for the run; it must be new or empty."""
    operator: Operator = ""
    """Who does this, for the history."""

    def run(self) -> int:
        """Write and say what was written."""
        case = unpack_run(self.case_file, self.out, check_operator(self.operator))
        say_notes([OWN_WEIGHTS] if case.own_weights else [])
        say(f"{len(case.files)} files in {self.out}")
        return 0


def opened(path: Path, into: Path | None, operator: str = "") -> Path:
    """The run folder that a person means: itself, or the one that a case file is opened in.

    Raises:
        JigsawNetError: the case file cannot be trusted, or there is no place for it.
    """
    if not is_case(path):
        if into is not None:
            raise ConfigError("into is for a case file; a run folder is opened where it is.")
        return path
    folder, was_there = folder_of(path, into, operator)
    say_notes([f"{path} was opened before; this goes on in {folder}." if was_there else f"{path} is opened in {folder}."])
    return folder

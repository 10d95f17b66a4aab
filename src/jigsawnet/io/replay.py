"""A list of edits made on one run, taken up again by ``jigsawnet solve --edits``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from jigsawnet.edits import Arrangement, Edits, PieceSizes, Solved, put_back
from jigsawnet.errors import EditError, FormatError, OutputError
from jigsawnet.io.edits_json import EDITS_FILE, has_edits, read_edits, save_edits
from jigsawnet.types import Assembly, Constraints, Puzzle


@dataclass
class Replay:
    """Edits out of a file: what they decide is asked when the pieces are known, and the outcome is put on record."""

    path: Path
    advice: str = ""
    """What a person can do when the edits do not fit; a sentence."""
    edits: Edits | None = None
    arrangement: Arrangement | None = None

    def constraints(self, puzzle: Puzzle) -> Constraints:
        """What the edits decide; a solve at their end is done anew.

        Raises:
            FormatError: the file breaks its format, or does not fit these pieces.
        """
        try:
            return self._decided(puzzle)
        except FormatError as error:
            raise FormatError(f"{error} {self.advice}".rstrip()) from error

    def _decided(self, puzzle: Puzzle) -> Constraints:
        edits = read_edits(self.path, puzzle.names())
        while edits.done and isinstance(edits.done[-1], Solved):
            edits = edits.back()
        pieces, now = PieceSizes.of(puzzle), Arrangement.of(edits.start)
        for k, edit in enumerate(edits.done):
            try:
                now = edit.apply(pieces, now)
            except EditError as error:
                raise FormatError(f"{self.path}: edits[{k}] cannot be done with these pieces: {error}") from error
        self.edits, self.arrangement = edits, now
        return now.constraints()

    def record(self, folder: Path, puzzle: Puzzle, assembly: Assembly) -> None:
        """Write the list into the run folder, with what the solver made of it, so that the workbench can go on from here."""
        if self.edits is None or self.arrangement is None:
            raise ValueError("nothing was replayed")
        pieces = PieceSizes.of(puzzle)
        solved = Solved(put_back(pieces, self.arrangement, assembly))
        save_edits(folder, self.edits.added(solved), pieces.names)


def check_free(folder: Path, replayed: Path | None) -> bool:
    """True when the folder has edits of its own that a solve would pass over.

    Raises:
        OutputError: a list of edits is to be replayed into a folder that has another one.
    """
    own = folder / EDITS_FILE
    if not own.is_file() or not has_edits(own):
        return False
    if replayed is None:
        return True
    if not replayed.exists() or not replayed.samefile(own):
        raise OutputError(f"{folder} has edits of its own in {EDITS_FILE}; give another folder, or move them away.")
    return False

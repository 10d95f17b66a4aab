"""The paper's own figures, read from ``paper.toml``: on its own puzzles and on an Intel i7-4790 with a GTX 1070."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jigsawnet.evaluation.detect_metrics import Confusion

OTHER_PUZZLES = "other puzzles, another machine"
SAME_PUZZLES = "puzzles of the paper's authors, another machine"


@dataclass(frozen=True, slots=True)
class PaperFigure:
    """One row of a table; ratios are in percent as printed, None where the paper prints none."""

    table: str
    puzzles: str
    """The set: its name and the number of pieces."""
    method: str
    pcr: float
    acr: float | None
    lcr: float
    time: str | None
    """Average time as printed, with its unit."""

    @property
    def pieces(self) -> int:
        """Pieces of each puzzle of the set."""
        return int(self.puzzles.rsplit(" ", 1)[1])

    @property
    def seconds(self) -> float | None:
        """The average time in seconds."""
        if self.time is None:
            return None
        value, unit = self.time.split()
        return round(float(value) * {"min": 60.0, "h": 3600.0}[unit], 1)


@dataclass(frozen=True, slots=True)
class DetectorFigure:
    """One row of Table I: a detector's decisions on all candidates of a set; ratios are in percent as printed."""

    puzzles: str
    method: str
    tp: int
    tn: int
    fp: int
    fn: int
    precision: float
    recall: float


PAPER_FILE = Path(__file__).parent / "paper.toml"
DETECTOR_TABLE = "I"


def _rows(wanted: bool) -> Iterator[tuple[str, str, list[Any]]]:
    """Number, set and cells of each row of Table I, or of the others; None for what is not printed."""
    for table in tomllib.loads(PAPER_FILE.read_text(encoding="utf-8"))["table"]:
        if (table["number"] == DETECTOR_TABLE) is wanted:
            for row in table["rows"]:
                yield table["number"], table["puzzles"], [None if cell == "-" else cell for cell in row]


FIGURES: tuple[PaperFigure, ...] = tuple(
    PaperFigure(table, puzzles, method, pcr, acr, lcr, *(time or [None]))
    for table, puzzles, (method, pcr, acr, lcr, *time) in _rows(wanted=False)
)
"""Tables II to VI."""
DETECTOR_FIGURES: tuple[DetectorFigure, ...] = tuple(DetectorFigure(puzzles, *row) for _, puzzles, row in _rows(wanted=True))
"""Table I."""

_TESTING = {"TestingSet1": "36 and 100 pieces", "TestingSet2": "400 pieces"}
TABLE_ONE = {
    (_TESTING[f.puzzles], f.method): Confusion(f.tp, f.tn, f.fp, f.fn) for f in DETECTOR_FIGURES if f.puzzles in _TESTING
}
"""Table I on the paper's own puzzles, TestingSet1 and TestingSet2."""


def figures_for(method: str, sets: Sequence[str]) -> list[PaperFigure]:
    """The paper's rows for a method on some sets, in the order of the sets."""
    return [figure for name in sets for figure in FIGURES if figure.puzzles == name and figure.method == method]


def sets_for_folder(name: str, pieces: float) -> tuple[str, ...]:
    """Sets to compare a folder of the authors' puzzles with: those of its name, or those nearest in number of pieces."""
    sets = dict.fromkeys(figure.puzzles for figure in FIGURES)
    of_size = [key for key in sets if 0.7 < pieces / int(key.rsplit(" ", 1)[1]) < 1.4]
    named = [key for key in of_size if name.casefold().startswith(key.split()[0].casefold())]
    return tuple(named or of_size)


def is_named_after(folder: str, figure: PaperFigure) -> bool:
    """True when a folder has the name of the figure's set, so that the puzzles are the paper's own."""
    return folder.casefold().startswith(figure.puzzles.split()[0].casefold())

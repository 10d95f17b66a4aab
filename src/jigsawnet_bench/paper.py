"""The paper's own figures: Tables I to VI, on its own puzzles and on an Intel i7-4790 with a GTX 1070."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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


_Row = tuple[float, float | None, float, str | None]
_NAMES = ("Tsamoura", "Zhang", "CNN+BF", "CNN+GLC", "CNN+HLM")
_TABLES: Mapping[tuple[str, str], Sequence[_Row]] = {
    ("II", "MIT 9"): (
        (56.7, None, 75.0, "0.82 min"), (72.6, None, 80.3, "0.76 min"),
        (100.0, 99.2, 100.0, "0.90 min"), (100.0, 99.2, 100.0, "0.91 min"), (100.0, 99.2, 100.0, "0.94 min"),
    ),
    ("III", "BGU 36"): (
        (41.4, None, 52.8, "13.73 min"), (76.6, None, 80.3, "14.25 min"),
        (99.1, 63.9, 99.1, "15.35 min"), (99.1, 86.7, 99.1, "17.20 min"), (99.1, 89.5, 99.1, "18.75 min"),
    ),
    ("III", "BGU 100"): (
        (8.8, None, 19.6, "86.21 min"), (33.8, None, 48.6, "88.11 min"),
        (95.0, 79.8, 93.8, "97.01 min"), (96.0, 81.3, 94.2, "101.50 min"), (97.2, 82.8, 95.3, "103.03 min"),
    ),
    ("IV", "TestingSet1 36"): (
        (45.8, None, 64.9, "13.48 min"), (50.6, None, 71.3, "14.44 min"),
        (96.1, 64.9, 95.7, "15.16 min"), (95.8, 84.0, 95.5, "17.64 min"), (96.1, 86.6, 95.7, "18.60 min"),
    ),
    ("IV", "TestingSet1 100"): (
        (6.5, None, 15.2, "85.88 min"), (22.3, None, 34.1, "88.96 min"),
        (82.4, 72.1, 80.5, "97.92 min"), (84.1, 82.1, 80.1, "101.88 min"), (86.2, 88.3, 81.7, "103.80 min"),
    ),
    ("V", "TestingSet2 400"): (
        (2.3, None, 4.8, "9.12 h"), (11.2, None, 15.6, "10.54 h"),
        (74.8, 58.6, 66.3, "11.80 h"), (86.8, 80.2, 85.8, "12.28 h"), (86.1, 83.7, 87.8, "13.17 h"),
    ),
}  # fmt: skip

FIGURES: tuple[PaperFigure, ...] = (
    *(
        PaperFigure(table, puzzles, name, *row)
        for (table, puzzles), rows in _TABLES.items()
        for name, row in zip(_NAMES, rows, strict=True)
    ),
    PaperFigure("VI", "MIT 9", "only GLC", 79.2, 76.1, 76.3, None),
    PaperFigure("VI", "MIT 9", "only HLM", 98.4, 96.5, 98.1, None),
)

TABLE_ONE: Mapping[tuple[str, str], Confusion] = {
    ("36 and 100 pieces", "Baseline"): Confusion(3848, 202433, 2386, 102),
    ("36 and 100 pieces", "Boost"): Confusion(3879, 203337, 1482, 71),
    ("36 and 100 pieces", "RoI"): Confusion(3800, 204031, 788, 150),
    ("36 and 100 pieces", "Boost+RoI"): Confusion(3855, 204156, 663, 95),
    ("400 pieces", "Baseline"): Confusion(2421, 711532, 15196, 32),
    ("400 pieces", "Boost"): Confusion(2396, 721564, 5155, 57),
    ("400 pieces", "RoI"): Confusion(2349, 725185, 1534, 104),
    ("400 pieces", "Boost+RoI"): Confusion(2362, 726049, 670, 91),
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

"""How far sure joins of strips can be trusted where strips are missing.

``python -m jigsawnet_bench.missing_strips --photos DIR --folders DIR`` takes a fifth of the strips away, several times, from
pages made up and from real ones, solves what is left and counts how many joins that are said to be sure are wrong.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro

from jigsawnet.cli.console import say, say_error
from jigsawnet.context import Context
from jigsawnet.errors import ConfigError, JigsawNetError
from jigsawnet.evaluation.strips import Order, evaluate_strips
from jigsawnet.io.pieces import list_pictures
from jigsawnet.loading import load_puzzle
from jigsawnet.pipeline import Corridor
from jigsawnet.shred.documents import Typefaces
from jigsawnet.training.cuts import shredded_page, upside_down
from jigsawnet.training.straight import straight_page
from jigsawnet.types import Puzzle
from jigsawnet.workers import LocalWorkers
from jigsawnet_bench.layouts import kinds_in, pictures_of, read_order, truth_of
from jigsawnet_bench.results import EXPERIMENT, Results, write_results
from jigsawnet_bench.tables import table_of

NAME, TITLE = "missing-strips", "Joins said to be sure where strips are missing"
SURE = 0.9
_APART = 1000
"""Strips of two rows of a page are no neighbours: their places are so far apart."""

Page = tuple[str, Callable[[], tuple[Puzzle, Order]]]
"""Its kind, and how to make or read it: the strips, upright, and their places from the left."""


@dataclass(frozen=True, slots=True)
class MissingStrips:
    """Take strips away from pages, and see how many sure joins of the others are wrong."""

    photos: Annotated[Path | None, tyro.conf.arg(metavar="DIR")] = None
    """Folder of photographs that made-up pages show; without it none are made."""
    folders: tuple[Path, ...] = ()
    """Folders of real strips in their order."""
    pages: int = 4
    """Made-up pages of each kind."""
    trials: int = 3
    """How often strips are taken from each page, others each time."""
    missing: float = 0.2
    """Part of the strips that is taken away."""
    seed: int = 5
    """Number that all randomness comes from."""
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"], metavar="DIR")] = Path("benchmarks/results")
    """Folder for missing-strips.json."""

    def __post_init__(self) -> None:
        if not 0 <= self.missing < 1 or min(self.pages, self.trials) < 1:
            raise ConfigError("missing must be from 0 to below 1, pages and trials 1 or more.")

    def run(self) -> int:
        """Measure, print and write."""
        options = f"--pages {self.pages} --trials {self.trials} --missing {self.missing} --seed {self.seed}"
        own = (f" --photos {self.photos.name}" if self.photos else "") + (" --folders" if self.folders else "")
        command = " ".join([f"python -m jigsawnet_bench.missing_strips {options}{own}", *(path.name for path in self.folders)])
        rows: list[dict[str, Any]] = []
        for kind, make in self._pages():
            puzzle, order = make()
            for trial in range(self.trials):
                rng = np.random.default_rng([self.seed, len(puzzle), trial])
                rows.append({"kind": kind, "page": puzzle.name, **measure_trial(*take_away(puzzle, order, self.missing, rng))})
            results = Results(NAME, TITLE, command, 1, summary_of(rows), rows, format=EXPERIMENT)
            write_results(self.out, results)
        for line in table_of(TITLE, summary_of(rows)).markdown().splitlines():
            say(line)
        return 0

    def _pages(self) -> Iterator[Page]:
        kinds = {"made up, shredded": shredded_page, "made up, cut straight": straight_page}
        photos = tuple(list_pictures(self.photos)) if self.photos else ()
        for kind, make in kinds.items() if self.photos else ():
            for k in range(self.pages):
                yield kind, partial(_made, make, photos, f"{k + 1}", np.random.default_rng([self.seed, k]))
        for folder in self.folders:
            for kind, pages in kinds_in(folder).items():
                for page in pages:
                    if truth_of(page) == "order":
                        yield kind, partial(_read, page)


def _made(make: Any, photos: Sequence[Path], name: str, rng: np.random.Generator) -> tuple[Puzzle, Order]:
    pieces, rows, turned = make(photos, Typefaces({}), rng)
    upright = tuple(upside_down(piece) if over else piece for piece, over in zip(pieces, turned, strict=True))
    places = {idx: _APART * row + place for row, line in enumerate(rows) for place, idx in enumerate(line)}
    return Puzzle(name, upright), places


def _read(folder: Path) -> tuple[Puzzle, Order]:
    puzzle = load_puzzle(pictures_of(folder))
    return replace(puzzle, name=folder.name), read_order(folder, puzzle)[0]


def take_away(puzzle: Puzzle, order: Order, missing: float, rng: np.random.Generator) -> tuple[Puzzle, Order]:
    """The same without so many of its strips; places are as they were, so those on both sides of a gap are no neighbours."""
    kept = np.sort(rng.permutation(len(puzzle))[round(missing * len(puzzle)) :]).tolist()
    pieces = tuple(replace(puzzle.pieces[old], idx=new) for new, old in enumerate(kept))
    return replace(puzzle, pieces=pieces), {new: order[old] for new, old in enumerate(kept) if old in order}


def measure_trial(puzzle: Puzzle, order: Order) -> dict[str, int]:
    """Solve what is left; joins in all, sure ones, and how many of both are right."""
    assembly = Corridor(puzzle, context=Context(workers=LocalWorkers(1))).get("assembly")
    sure = replace(assembly, joins=tuple(join for join in assembly.joins if join.confidence >= SURE))
    every, certain = evaluate_strips(puzzle, assembly, order), evaluate_strips(puzzle, sure, order)
    return {
        "strips": len(puzzle), "joins": every.joins, "joins_right": every.joins_right,
        "sure": certain.joins, "sure_right": certain.joins_right,
    }  # fmt: skip


def summary_of(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sums for each kind of page."""
    found = []
    for kind in dict.fromkeys(row["kind"] for row in rows):
        own = [row for row in rows if row["kind"] == kind]
        total = {name: sum(row[name] for row in own) for name in ("joins", "joins_right", "sure", "sure_right")}
        wrong = total["sure"] - total["sure_right"]
        share = round(100 * wrong / total["sure"], 1) if total["sure"] else None
        found.append({
            "kind": kind, "trials": len(own), "joins": total["joins"], "right": total["joins_right"],
            "sure": total["sure"], "sure and wrong": wrong, "in %": share,
        })  # fmt: skip
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and give its exit code."""
    try:
        return tyro.cli(MissingStrips, prog="python -m jigsawnet_bench.missing_strips", args=arguments).run()
    except JigsawNetError as error:
        say_error(str(error))
        return 2


if __name__ == "__main__":
    sys.exit(main())

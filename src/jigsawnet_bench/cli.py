"""``jigsawnet bench``; the product's list of commands loads it by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from jigsawnet.cli.console import Command, Out, progress_bars, say, say_notes
from jigsawnet.errors import ConfigError

if TYPE_CHECKING:
    from jigsawnet_bench.bench import SuiteOptions
    from jigsawnet_bench.tables import Table

LIBRARIES = ("jinja2", "matplotlib", "pandas")
"""Of the extra ``bench``."""
STAGES = ("match", "compose", "detect", "precision", "solve")
DOCS, COST, PRECISION, LEARNERS = "docs", "cost", "precision", "learners"
SCANS = "scans"
TABLE_ONE, PAPER = "table-1", "paper"


@dataclass(frozen=True, slots=True)
class Bench(Command):
    """Measure on puzzles with known truth, and write JSON, tables and plots."""

    suite: Annotated[str, tyro.conf.Positional]
    """A suite of puzzles, put together by the paper's methods and ours: quick, photos-9, photos-36, photos-100, photos-400,
    photos-1000, damage, pages, authors, or the path of a .toml file like these. Or one stage: match: how many true neighbours
    each matcher finds, and how fast; compose: what each composer makes of them; detect: how well networks and scorers tell
    right joins from wrong ones; precision: the same in short, for many kinds of puzzles, with the pieces of --folders, or of
    these alone; solve: the whole way, as shipped; cost: CPU time and memory per pair; scans: how many pieces are found on
    made scans and photographs, and how exactly. Or paper: all tables and figures of the paper; with --seeds 5 --largest 100 a
    short form. Or learners: go on with the training of the paper's networks, one small file
    each; table-1: their decisions on photographs not trained on. Or docs: write docs/results.md, docs/stages.md and
    docs/failures.md."""
    photos: Annotated[Path | None, tyro.conf.arg(metavar="DIR")] = None
    """Folder of photographs to cut."""
    out: Out = Path("benchmarks/results")
    """Folder for the results."""
    methods: tuple[str, ...] = ()
    """Only these methods, such as "CNN+HLM" ours; for match and detect matchers, for compose composers, for learners series
    such as roi-paper, for scans kinds of pages such as wood."""
    folders: tuple[Path, ...] = ()
    """For suites that read puzzles: folders of pieces with their truth, in our layout or that of the paper's authors, or
    folders of such folders."""
    workers: int = 1
    """Puzzles worked on at a time; with more than 1, seconds are not those of an idle machine."""
    work: Path = Path("benchmarks/runs")
    """Folder in which finished runs are kept, so that nothing is done twice."""
    docs: Path = Path("docs")
    """For docs: folder to write in."""
    seeds: int | None = None
    """Puzzles of each kind: 3 for a stage; for a suite at most this many, instead of all."""
    authors: tuple[Path, ...] = ()
    """For solve: also these folders of pieces, in the layout of the paper's authors."""
    runs: tuple[Path, ...] = ()
    """For detect: folders written by `jigsawnet train`, with the paper's network: of a run without RoI the networks to compare
    with, of all runs the curves of convergence."""
    weights: Annotated[Path | None, tyro.conf.arg(metavar="DIR")] = None
    """Networks and coefficients written by `jigsawnet train`, instead of those that come with the package."""
    largest: int = 1000
    """Leave out puzzles with more pieces than this."""

    def run(self) -> int:
        """Run what is named and print its tables; 1 when a method failed on some puzzle."""
        if any(find_spec(name) is None for name in LIBRARIES):
            raise ConfigError("The benchmark needs more libraries; install them with: pip install 'jigsawnet[bench]'.")
        if self.seeds is not None and self.seeds < 1:
            raise ConfigError(f"seeds is {self.seeds}; at least 1 is needed.")
        if self.suite == DOCS:
            return self._write_docs()
        if (
            self.photos is None
            and self.suite in (*STAGES, COST, SCANS, LEARNERS, TABLE_ONE, PAPER)
            and not (self.suite == PRECISION and self.folders)
        ):
            raise ConfigError(f"bench {self.suite} cuts photographs; give their folder with --photos.")
        own = {
            COST: self._measure_cost,
            SCANS: self._measure_scans,
            LEARNERS: self._train_learners,
            TABLE_ONE: self._judge_learners,
            PAPER: self._repeat_paper,
        }.get(self.suite)
        return own(self.photos) if own and self.photos else self._run_suite()

    def _run_suite(self) -> int:
        from jigsawnet_bench.bench import bench_suite  # noqa: PLC0415 - needs the extra

        with progress_bars() as progress:
            done = bench_suite(self.suite, self.out, self.work, self._options(), self._command(), progress)
        return _say_tables(*done)

    def _repeat_paper(self, photos: Path) -> int:
        from jigsawnet_bench.whole_paper import bench_paper  # noqa: PLC0415 - needs the extra

        with progress_bars() as progress:
            done = bench_paper(self.out, self.work, self._options(), self._command(), progress, say)
        return _say_tables(*done)

    def _options(self) -> SuiteOptions:
        from jigsawnet_bench.bench import SuiteOptions  # noqa: PLC0415 - needs the extra

        folders, is_stage = (*self.folders, *self.authors), self.suite in STAGES
        return SuiteOptions(
            self.photos, folders, self.methods, self.seeds, self.largest, self.workers, is_stage, self.runs, self.weights
        )

    def _write_docs(self) -> int:
        from jigsawnet_bench.documents import write_documents  # noqa: PLC0415 - needs the extra

        _say_all([f"wrote {path}" for path in write_documents(self.out, self.docs)])
        return 0

    def _measure_cost(self, photos: Path) -> int:
        from jigsawnet_bench.cost import bench_cost  # noqa: PLC0415 - needs the extra

        _say_all(bench_cost(photos, self.out, self._command()).markdown().splitlines())
        return 0

    def _measure_scans(self, photos: Path) -> int:
        from jigsawnet_bench.scans.suite import bench_scans  # noqa: PLC0415 - needs the extra

        with progress_bars() as progress:
            table = bench_scans(photos, self.out, self.seeds, self.methods, self._command(), progress)
        _say_all(table.markdown().splitlines())
        return 0

    def _train_learners(self, photos: Path) -> int:
        if find_spec("torch") is None:
            raise ConfigError("Training needs PyTorch: pip install 'jigsawnet[train]'.")
        from jigsawnet_bench.learners import train_learners  # noqa: PLC0415 - needs the extra

        with progress_bars() as progress:
            train_learners(photos, self.out, self.work / LEARNERS, self.methods, progress, say)
        return 0

    def _judge_learners(self, photos: Path) -> int:
        from jigsawnet_bench.table_one import measure_table  # noqa: PLC0415 - needs the extra

        with progress_bars() as progress:
            table = measure_table(photos, self.out, self.work / TABLE_ONE, self.seeds, self._command(), progress, self.largest)
        _say_all(table.markdown().splitlines())
        return 0

    def _command(self) -> str:
        """How to run it again; folders by their names only."""
        words = ["jigsawnet", "bench", self.suite if "/" not in self.suite else Path(self.suite).name]
        words += ["--photos", self.photos.name] if self.photos else []
        for option in ("folders", "authors", "runs"):
            paths: tuple[Path, ...] = getattr(self, option)
            words += [f"--{option}", *(path.name for path in paths)] if paths else []
        words += ["--weights", self.weights.name] if self.weights else []
        words += ["--methods", *(f'"{name}"' if " " in name else name for name in self.methods)] if self.methods else []
        words += ["--seeds", str(self.seeds)] if self.seeds else []
        words += ["--largest", str(self.largest)] if self.largest != 1000 else []
        words += ["--workers", str(self.workers)] if self.workers != 1 else []
        return " ".join(words)


def _say_tables(tables: Sequence[Table], failed: Sequence[str]) -> int:
    for table in tables:
        _say_all(["", table.title, "", *table.markdown().splitlines(), *([table.note] if table.note else [])])
    say_notes(failed)
    return 1 if failed else 0


def _say_all(lines: Sequence[str]) -> None:
    for line in lines:
        say(line)

"""``jigsawnet bench``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from jigsawnet.cli.console import Out, progress_bars, say, say_notes
from jigsawnet.errors import ConfigError

STAGES = ("match", "compose", "detect", "solve")
DOCS = "docs"


@dataclass(frozen=True, slots=True)
class Bench:
    """Measure on puzzles with known truth, and write JSON, tables and plots."""

    suite: Annotated[str, tyro.conf.Positional]
    """A suite of puzzles, put together by the paper's methods and ours: quick, photos-9, photos-36, photos-100, photos-400,
    photos-1000, damage, pages, authors, or the path of a .toml file like these. Or one stage: match: how many true neighbours
    each matcher finds, and how fast; compose: what each composer makes of them; detect: how well networks and scorers tell
    right joins from wrong ones; solve: the whole way, as shipped. Or docs: write docs/results.md and docs/failures.md."""
    photos: Annotated[Path | None, tyro.conf.arg(metavar="DIR")] = None
    """Folder of photographs to cut."""
    out: Out = Path("benchmarks/results")
    """Folder for the results."""
    methods: tuple[str, ...] = ()
    """For suites: only these methods, such as "CNN+HLM" ours."""
    folders: tuple[Path, ...] = ()
    """For suites that read puzzles: folders of pieces with their truth, in our layout or that of the paper's authors, or
    folders of such folders."""
    workers: int = 1
    """For suites: puzzles solved at a time; with more than 1, seconds are not those of an idle machine."""
    work: Path = Path("benchmarks/runs")
    """For suites: folder in which finished runs are kept, so that nothing is done twice."""
    docs: Path = Path("docs")
    """For docs: folder to write in."""
    seeds: int | None = None
    """Puzzles of each kind: 3 for a stage; for a suite at most this many, instead of all."""
    authors: tuple[Path, ...] = ()
    """For solve: also these folders of pieces, in the layout of the paper's authors."""
    runs: tuple[Path, ...] = ()
    """For detect: folders written by `jigsawnet train`, with the paper's network: of a run without RoI the networks to compare
    with, of all runs the curves of convergence."""
    largest: int = 1000
    """Leave out puzzles with more pieces than this."""

    def run(self) -> int:
        """Run what is named and print its tables; 1 when a method failed on some puzzle."""
        if self.seeds is not None and self.seeds < 1:
            raise ConfigError(f"seeds is {self.seeds}; at least 1 is needed.")
        if self.suite == DOCS:
            return self._write_docs()
        if self.suite in STAGES:
            return self._run_stage()
        return self._run_suite()

    def _run_suite(self) -> int:
        from jigsawnet.evaluation.suites.bench import SuiteOptions, bench_suite  # noqa: PLC0415 - not needed by other commands

        options = SuiteOptions(self.photos, self.folders, self.methods, self.seeds, self.largest, self.workers)
        with progress_bars() as progress:
            tables, failed = bench_suite(self.suite, self.out, self.work, options, self._suite_command(), progress)
        for table in tables:
            _say_all(["", table.title, "", *table.markdown().splitlines(), *([table.note] if table.note else [])])
        say_notes(failed)
        return 1 if failed else 0

    def _write_docs(self) -> int:
        from jigsawnet.evaluation.suites.report.documents import write_documents  # noqa: PLC0415

        _say_all([f"wrote {path}" for path in write_documents(self.out, self.docs)])
        return 0

    def _run_stage(self) -> int:
        from jigsawnet.evaluation.bench_compose import bench_compose  # noqa: PLC0415
        from jigsawnet.evaluation.bench_detect import bench_detect  # noqa: PLC0415
        from jigsawnet.evaluation.bench_match import bench_match, match_cases  # noqa: PLC0415
        from jigsawnet.evaluation.bench_solve import Job, bench_solve, solve_jobs  # noqa: PLC0415
        from jigsawnet.evaluation.results import markdown_table  # noqa: PLC0415

        if self.photos is None:
            raise ConfigError(f"bench {self.suite} cuts photographs; give their folder with --photos.")
        count = self.seeds or 3
        seeds = tuple(range(count))
        command = f"jigsawnet bench {self.suite} --photos {self.photos.name} --seeds {count} --largest {self.largest}"
        if self.suite == "detect" and self.runs:
            command += f" --runs {' '.join(run.name for run in self.runs)}"
        with progress_bars() as progress:
            if self.suite == "match":
                tables = [bench_match(self.photos, self.out, match_cases(seeds, self.largest), command, progress)]
            elif self.suite == "solve":
                jobs = [Job(folder.name, folder) for folder in self.authors]
                jobs += solve_jobs(self.photos, count, self.largest)
                tables = [bench_solve(jobs, self.out, command, progress)]
            elif self.suite == "detect":
                tables = bench_detect(self.photos, self.out, self.runs, seeds, self.largest, command, progress)
            else:
                sizes = [n for n in (9, 36, 100, 400) if n <= self.largest]
                tables = [bench_compose(self.photos, self.out, sizes, seeds, command, progress)]
        _say_all("\n\n".join(markdown_table(table) for table in tables if table).splitlines())
        return 0

    def _suite_command(self) -> str:
        """How to run the suite again; folders by their names only."""
        words = ["jigsawnet", "bench", self.suite if "/" not in self.suite else Path(self.suite).name]
        words += ["--photos", self.photos.name] if self.photos else []
        words += ["--folders", *(folder.name for folder in self.folders)] if self.folders else []
        words += ["--methods", *(f'"{name}"' if " " in name else name for name in self.methods)] if self.methods else []
        words += ["--seeds", str(self.seeds)] if self.seeds else []
        words += ["--largest", str(self.largest)] if self.largest != 1000 else []
        words += ["--workers", str(self.workers)] if self.workers != 1 else []
        return " ".join(words)


def _say_all(lines: Sequence[str]) -> None:
    for line in lines:
        say(line)

"""``jigsawnet bench``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from jigsawnet.cli.console import Out, progress_bars, say


@dataclass(frozen=True, slots=True)
class Bench:
    """Measure the stages on puzzles cut from a folder of photographs, and write JSON and a table."""

    suite: Annotated[Literal["match", "compose", "detect", "solve"], tyro.conf.Positional]
    """match: how many true neighbours each matcher finds, and how fast; compose: what each composer makes of them;
    detect: how well networks and scorers tell right joins from wrong ones; solve: the whole way, as shipped."""
    photos: Annotated[Path, tyro.conf.arg(metavar="DIR")]
    """Folder of photographs to cut."""
    out: Out = Path("benchmarks/results")
    """Folder for the results."""
    seeds: int = 3
    """Puzzles of each kind."""
    authors: tuple[Path, ...] = ()
    """For solve: also these folders of pieces, in the layout of the paper's authors."""
    runs: tuple[Path, ...] = ()
    """For detect: folders written by `jigsawnet train`, with the paper's network: of a run without RoI the networks to compare
    with, of all runs the curves of convergence."""
    largest: int = 1000
    """Leave out puzzles with more pieces than this."""

    def run(self) -> int:
        """Run the suite and print its tables."""
        from jigsawnet.evaluation.bench_compose import bench_compose  # noqa: PLC0415 - not needed by other commands
        from jigsawnet.evaluation.bench_detect import bench_detect  # noqa: PLC0415
        from jigsawnet.evaluation.bench_match import bench_match, match_cases  # noqa: PLC0415
        from jigsawnet.evaluation.bench_solve import Job, bench_solve, solve_jobs  # noqa: PLC0415
        from jigsawnet.evaluation.results import markdown_table  # noqa: PLC0415

        seeds = tuple(range(self.seeds))
        command = f"jigsawnet bench {self.suite} --photos {self.photos.name} --seeds {self.seeds} --largest {self.largest}"
        if self.suite == "detect" and self.runs:
            command += f" --runs {' '.join(run.name for run in self.runs)}"
        with progress_bars() as progress:
            if self.suite == "match":
                tables = [bench_match(self.photos, self.out, match_cases(seeds, self.largest), command, progress)]
            elif self.suite == "solve":
                jobs = [Job(folder.name, folder) for folder in self.authors]
                jobs += solve_jobs(self.photos, self.seeds, self.largest)
                tables = [bench_solve(jobs, self.out, command, progress)]
            elif self.suite == "detect":
                tables = bench_detect(self.photos, self.out, self.runs, seeds, self.largest, command, progress)
            else:
                sizes = [n for n in (9, 36, 100, 400) if n <= self.largest]
                tables = [bench_compose(self.photos, self.out, sizes, seeds, command, progress)]
        for line in "\n\n".join(markdown_table(table) for table in tables if table).splitlines():
            say(line)
        return 0

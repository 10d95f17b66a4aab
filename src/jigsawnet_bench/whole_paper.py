"""``jigsawnet bench paper``: every table and figure of the paper by one command, each beside the paper's own figures.

Tables II to VI and the galleries are the suite ``paper``; the precision of scores and the greedy comparison come from the
suite ``detect``; Table I and the convergence from the networks of `learners`, where they have been trained.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from jigsawnet.errors import ConfigError
from jigsawnet.types import Progress, no_progress
from jigsawnet_bench.bench import SuiteOptions, bench_suite
from jigsawnet_bench.learners import FOLDER
from jigsawnet_bench.runner import Launch
from jigsawnet_bench.table_one import NAME as TABLE_ONE
from jigsawnet_bench.table_one import measure_table
from jigsawnet_bench.tables import Table

NAME = "paper"
DETECTORS = 3
"""Puzzles of each kind that scores and networks are looked at on, at most."""
_NO_NETWORKS = "Table I is left out: its networks are not there; `jigsawnet bench learners --photos DIR` trains them."


def bench_paper(
    out: Path, work: Path, options: SuiteOptions, command: str, progress: Progress = no_progress,
    say: Callable[[str], None] = lambda text: None, launch: Launch | None = None,
) -> tuple[list[Table], list[str]]:  # fmt: skip
    """All of it, from what is saved already; ``options.most`` and ``options.largest`` make a shorter form.

    Returns:
        The tables, and a sentence for each method that failed on some puzzle. What is left out is said.

    Raises:
        ConfigError: there are no photographs.
    """
    if options.photos is None:
        raise ConfigError(f"bench {NAME} cuts photographs; give their folder with --photos.")
    tables, failed = bench_suite(NAME, out, work, options, command, progress, launch)
    few = replace(options, most=min(options.most or DETECTORS, DETECTORS), exactly=True, methods=())
    more, also_failed = bench_suite("detect", out, work, few, command, progress, launch)
    if not any((out / FOLDER).glob("*-*.json")):
        say(_NO_NETWORKS)
        return [*tables, *more], [*failed, *also_failed]
    table = measure_table(options.photos, out, work / TABLE_ONE, options.most, command, progress, options.largest)
    return [*tables, *more, table], [*failed, *also_failed]

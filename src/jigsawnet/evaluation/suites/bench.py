"""``jigsawnet bench SUITE`` from the suite's name to its files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jigsawnet.errors import FormatError
from jigsawnet.evaluation.suites.cases import suite_cases
from jigsawnet.evaluation.suites.definition import load_suite
from jigsawnet.evaluation.suites.report.contact_sheet import write_contact_sheet
from jigsawnet.evaluation.suites.report.page import SIZES_FILE, plot_file, write_page
from jigsawnet.evaluation.suites.report.plots import plot_curves, plot_precision_recall, plot_sizes, plot_stages
from jigsawnet.evaluation.suites.report.results_file import Results, all_results, check_free, write_suite_results
from jigsawnet.evaluation.suites.report.summary import run_rows, summary_rows
from jigsawnet.evaluation.suites.report.tables import Table, plain, suite_tables
from jigsawnet.evaluation.suites.runner import Launch, Run, plan_jobs, run_jobs
from jigsawnet.io.files import write_text
from jigsawnet.types import Progress, no_progress

BY_SIZE = "photos-"
"""Suites that differ in the number of pieces alone: what the plot over sizes shows, when there are any."""


@dataclass(frozen=True, slots=True)
class SuiteOptions:
    """What a person may choose about a run of a suite."""

    photos: Path | None = None
    """Folder of pictures; None takes the suite's own."""
    folders: tuple[Path, ...] = ()
    """Puzzles with their truth, for suites that read such."""
    methods: tuple[str, ...] = ()
    """Who puts the puzzles together; empty takes the suite's choice."""
    most: int | None = None
    """At most this many puzzles of each group."""
    largest: int | None = None
    """Leave out groups with more pieces than this."""
    workers: int = 1
    """Puzzles solved at a time."""


def bench_suite(
    name: str,
    out: Path,
    work: Path,
    options: SuiteOptions,
    command: str,
    progress: Progress = no_progress,
    launch: Launch | None = None,
) -> tuple[list[Table], list[str]]:
    """Run a suite and write ``NAME.json``, ``NAME.md``, plots, a contact sheet and the page of all results.

    Args:
        name: a built-in suite, or the path of a TOML file.
        out: folder for the results.
        work: folder in which runs and stages are kept, so that the next time nothing is done twice.
        options: what is chosen.
        command: how to run it again, for the record.
        progress: told how many runs are done.
        launch: starts the processes; None starts real ones.

    Returns:
        The tables, and a sentence for each method that failed on some puzzle.
    """
    suite = load_suite(name)
    cases = suite_cases(suite, options.photos, options.folders, options.most, options.largest)
    check_free(out, suite.name)
    jobs = plan_jobs(suite, cases, work, options.methods)
    runs = run_jobs(jobs, options.workers, suite.head.time_limit, progress, launch)
    results = Results(suite.name, suite.head.title, command, options.workers, summary_rows(runs), run_rows(runs))
    write_suite_results(out, results)
    write_contact_sheet(runs, work / suite.name, out / plot_file(suite.name, "contact"))
    tables = suite_tables(results)
    _write_tables(out, results, tables)
    _plot(out, results)
    gather(out)
    return tables, _failed(runs)


def gather(out: Path) -> None:
    """Draw the plot over all sizes and write the page of all results in a folder."""
    try:
        results = all_results(out)
    except FormatError as error:
        raise FormatError(f"The suite is done and written, but the page of all results is not: {error}") from error
    of_sizes = [each for each in results if each.name.startswith(BY_SIZE)] or results
    plot_sizes([row for each in of_sizes for row in each.summary], out / SIZES_FILE)
    write_page(out, results)


def _plot(out: Path, results: Results) -> None:
    plot_curves(results.summary, out / plot_file(results.name, "curves"))
    plot_precision_recall(results.summary, out / plot_file(results.name, "precision-recall"))
    plot_stages(results.summary, out / plot_file(results.name, "stages"))


def _write_tables(out: Path, results: Results, tables: Sequence[Table]) -> None:
    parts = [
        f"## {plain(table.title)}\n\n{table.markdown()}\n" + (f"\n{table.note}\n" if table.note else "") for table in tables
    ]
    head = f"# {plain(results.name)}\n\n{plain(results.title)}.\n\n`{results.command}`\n\n{results.where}\n"
    write_text(out / f"{results.name}.md", "\n".join([head, *parts]))


def _failed(runs: Sequence[Run]) -> list[str]:
    """One sentence for each method that failed somewhere, with its first error."""
    notes = []
    for method in dict.fromkeys(run.method for run in runs):
        own = [run for run in runs if run.method == method]
        errors = [run.record.error for run in own if run.record.error is not None]
        if errors:
            notes.append(f"{method} failed on {len(errors)} of {len(own)} puzzles; the first error: {errors[0]}")
    return notes

"""``jigsawnet bench NAME`` from the suite's name to its files: one way to run, record and report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jigsawnet.errors import FormatError
from jigsawnet.io.files import write_text
from jigsawnet.types import Progress, no_progress
from jigsawnet_bench.cases import suite_cases
from jigsawnet_bench.documents import SIZES_FILE, plot_file, write_page
from jigsawnet_bench.experiments import TABLES
from jigsawnet_bench.networks import load_ensembles
from jigsawnet_bench.pictures import write_contact_sheet, write_gallery, write_sheet
from jigsawnet_bench.plots import plot_curves, plot_precision_recall, plot_sizes, plot_stages
from jigsawnet_bench.real import REAL_LEGEND, real_lines
from jigsawnet_bench.records import Run
from jigsawnet_bench.results import EXPERIMENT, SUITE, Results, all_results, check_free, write_results
from jigsawnet_bench.runner import Launch, plan_jobs, run_jobs
from jigsawnet_bench.suite import Suite, builtin_suites, load_suite
from jigsawnet_bench.tables import Table, plain, run_rows, suite_tables, summary_rows, table_of

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
    """Who works on the puzzles; empty takes the suite's choice."""
    most: int | None = None
    """At most this many puzzles of each group."""
    largest: int | None = None
    """Leave out groups with more pieces than this."""
    workers: int = 1
    """Puzzles worked on at a time."""
    exactly: bool = False
    """Just ``most`` puzzles of each group that has several."""
    trainings: tuple[Path, ...] = ()
    """Folders of finished trainings, for the experiment with detectors."""
    weights: Path | None = None
    """Folder of a learned bundle, instead of the one of the package."""


def bench_suite(
    name: str,
    out: Path,
    work: Path,
    options: SuiteOptions,
    command: str,
    progress: Progress = no_progress,
    launch: Launch | None = None,
) -> tuple[list[Table], list[str]]:
    """Run a suite; write its results as JSON and Markdown, plots, and of solved puzzles a contact sheet and a page.

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
    cases = suite_cases(suite, options.photos, options.folders, options.most, options.largest, options.exactly)
    if name not in builtin_suites():
        check_free(out, suite.name, SUITE if suite.head.task == "solve" else EXPERIMENT)
    if options.trainings:
        load_ensembles(options.trainings)  # a folder that is no training is named before the long work
    jobs = plan_jobs(suite, cases, work, options.methods, options.trainings, options.weights)
    runs = run_jobs(jobs, options.workers, suite.head.time_limit, progress, launch)
    out.mkdir(parents=True, exist_ok=True)
    write = _write_solved if suite.head.task == "solve" else _write_experiment
    return write(suite, runs, out, work, options, command), _failed(runs)


def _write_solved(suite: Suite, runs: Sequence[Run], out: Path, work: Path, options: SuiteOptions, command: str) -> list[Table]:
    results = Results(suite.name, suite.head.title, command, options.workers, summary_rows(runs), run_rows(runs))
    write_results(out, results)
    write_contact_sheet(runs, work / suite.name, out / plot_file(suite.name, "contact"))
    write_gallery(runs, work / suite.name, out / plot_file(suite.name, "gallery"))
    tables = suite_tables(results)
    _write_markdown(out, results, tables)
    plot_curves(results.summary, out / plot_file(suite.name, "curves"))
    plot_precision_recall(results.summary, out / plot_file(suite.name, "precision-recall"))
    plot_stages(results.summary, out / plot_file(suite.name, "stages"))
    _gather(out)
    return tables


def _write_experiment(
    suite: Suite, runs: Sequence[Run], out: Path, work: Path, options: SuiteOptions, command: str
) -> list[Table]:
    """A results file for each table; the first has the name of the suite."""
    tables: list[Table] = []
    for name, (rows, summary) in TABLES[suite.head.task](runs, out, options.trainings).items():
        own = name.replace(suite.head.task, suite.name, 1)
        results = Results(own, suite.head.title, command, options.workers, summary, rows, format=EXPERIMENT)
        write_results(out, results)
        if summary:
            tables.append(table_of(own, summary))
            _write_markdown(out, results, tables[-1:])
    if suite.head.task == "real":
        write_sheet(REAL_LEGEND, real_lines(runs), work / suite.name, out / plot_file(suite.name, "contact"))
    return tables


def _gather(out: Path) -> None:
    """Draw the plot over all sizes and write the page of all results in a folder."""
    try:
        results = all_results(out)
    except FormatError as error:
        raise FormatError(f"The suite is done and written, but the page of all results is not: {error}") from error
    of_sizes = [each for each in results if each.name.startswith(BY_SIZE)] or results
    plot_sizes([row for each in of_sizes for row in each.summary], out / SIZES_FILE)
    write_page(out, results)


def _write_markdown(out: Path, results: Results, tables: Sequence[Table]) -> None:
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

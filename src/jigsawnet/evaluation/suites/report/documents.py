"""``docs/results.md`` and ``docs/failures.md``, made from the results files and never by hand."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jigsawnet.evaluation.suites.report.failures import explain, failures
from jigsawnet.evaluation.suites.report.page import PLOTS, SIZES_FILE, plot_file
from jigsawnet.evaluation.suites.report.results_file import Results, all_results
from jigsawnet.evaluation.suites.report.tables import percent, plain, suite_tables
from jigsawnet.io.files import write_text

RESULTS_FILE = "results.md"
FAILURES_FILE = "failures.md"

_RESULTS_HEAD = """# Results

Made by `jigsawnet bench docs` from the files in the results folder. PCR: pieces within 5 degrees and 100 px of their place;
tight: 2 degrees and 5 px. ACR: selected joins that are right; recall: true neighbours joined. LCR: largest part held together
by right joins. Candidate recall: true neighbours that the matcher found. Means over the puzzles; seconds are the sum of the
stages, memory is the largest of all puzzles; a puzzle that failed counts as 0 in PCR, ACR recall and LCR. The paper's figures
stand beside ours where it has any: they are from other puzzles and another machine unless it is said otherwise.
"""
_FAILURES_HEAD = """# Failures

Made by `jigsawnet bench docs`. The worst puzzles of every suite, as shipped, and why each fails as far as the figures tell. The
contact sheets beside the results show them.
"""


def write_documents(results_folder: Path, docs_folder: Path) -> list[Path]:
    """Make both papers of all results in a folder; gives their paths.

    Raises:
        InputError: there are no results.
        FormatError: a results file is damaged or of another version.
    """
    results = all_results(results_folder)
    docs_folder.mkdir(parents=True, exist_ok=True)
    texts = {
        RESULTS_FILE: results_text(results, results_folder, docs_folder),
        FAILURES_FILE: failures_text(results, results_folder, docs_folder),
    }
    for name, text in texts.items():
        write_text(docs_folder / name, text)
    return [docs_folder / name for name in texts]


def results_text(results: Sequence[Results], results_folder: Path, docs_folder: Path) -> str:
    """All tables and plots."""
    parts = [
        _RESULTS_HEAD,
        *_picture(SIZES_FILE, "Accuracy and time against the number of pieces", results_folder, docs_folder),
    ]
    for each in results:
        parts += [f"## {plain(each.name)}\n", f"{plain(each.title)}.\n", _origin(each)]
        for table in suite_tables(each):
            parts += [f"### {plain(f'{each.name}: {table.title}')}\n", table.markdown() + "\n"]
            parts += [f"{table.note}\n"] if table.note else []
        for kind, caption in PLOTS.items():
            if kind != "contact":
                parts += _picture(plot_file(each.name, kind), caption, results_folder, docs_folder)
    return "\n".join(parts)


def failures_text(results: Sequence[Results], results_folder: Path, docs_folder: Path) -> str:
    """The worst puzzles of every suite, each with its cause."""
    parts = [_FAILURES_HEAD]
    for each in results:
        worst = failures(each)
        parts.append(f"## {plain(each.name)}\n")
        parts.append("".join(_failure(row) for row in worst) if worst else "Every puzzle is whole and tight.\n")
        if worst:
            parts += _picture(plot_file(each.name, "contact"), PLOTS["contact"], results_folder, docs_folder)
    return "\n".join(parts)


def _failure(row: Mapping[str, Any]) -> str:
    figures = "failed" if row["error"] else f"PCR {percent(row['pcr'])} %, tight {percent(row['pcr_tight'])} %"
    return f"- {plain(row['group'])}, {plain(row['puzzle'])}, seed {row['seed']} ({figures}). {plain(explain(row))}\n"


def _origin(results: Results) -> str:
    return f"`{results.command}`\n\n{results.where}, jigsawnet {results.jigsawnet}.\n"


def _picture(file: str, caption: str, results_folder: Path, docs_folder: Path) -> list[str]:
    path = results_folder / file
    if not path.is_file():
        return []
    relative = Path(os.path.relpath(path, docs_folder)).as_posix()
    return [f"![{caption}]({quote(relative)})\n"]

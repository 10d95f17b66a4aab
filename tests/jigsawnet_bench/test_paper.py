"""The paper's figures: table, row and column are those of its LaTeX, of which ``paper_tables.tex`` holds the rows."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from jigsawnet_bench.paper import DETECTOR_FIGURES, FIGURES, PAPER_FILE, DetectorFigure

ROWS = Path(__file__).with_name("paper_tables.tex")
PAPER = Path(__file__).resolve().parents[3] / "shared" / "paper" / "jigsawnet-paper.tex"
NAMES = {"Tsam.": "Tsamoura", "Zhang.": "Zhang", "Only GLC": "only GLC", "Only HLM": "only HLM"} | {
    f"CNN + {composer}": f"CNN+{composer}" for composer in ("BF", "GLC", "HLM")
}
COLUMNS = {"Prec.": "precision", "Recall": "recall", "Avg. time": "time"}

Cell = tuple[str, str, str, str]
"""Number of the table, set of puzzles, method, column."""


def plain(latex: str) -> str:
    """A cell without bold face, citations and percent signs."""
    return re.sub(r"\\textbf\{([^}]*)\}|\\cite\{[^}]*\}", r"\1", latex.replace("\\%", "")).strip()


def latex_cells() -> Iterator[tuple[Cell, str]]:
    """Every figure of the LaTeX rows, as printed."""
    table = puzzles = ""
    columns: list[str] = []
    for line in ROWS.read_text(encoding="utf-8").splitlines():
        first, *cells = [plain(cell) for cell in line.removesuffix("\\\\").split("&")]
        if line.startswith("% Table "):
            table = line.split()[-1]
        elif line.startswith("\\textbf"):  # a head; that of a further set in the same table repeats no columns
            puzzles, columns = first, [COLUMNS.get(cell, cell) for cell in cells] or columns
        elif cells:
            assert len(cells) == len(columns)
            yield from (((table, puzzles, NAMES.get(first, first), at), cell) for at, cell in zip(columns, cells, strict=True))


def stored_cells() -> Iterator[tuple[Cell, str]]:
    """Every figure of ``paper.toml``, written as the paper prints it."""
    for table in tomllib.loads(PAPER_FILE.read_text(encoding="utf-8"))["table"]:
        for method, *cells in table["rows"]:
            for at, cell in zip(table["columns"], cells, strict=True):
                yield (table["number"], table["puzzles"], method, at), f"{cell:.1f}" if isinstance(cell, float) else str(cell)


def test_every_figure_stands_in_its_table_row_and_column() -> None:
    latex, stored = dict(latex_cells()), list(stored_cells())
    assert len(stored) == len(latex) == 12 * 6 + 30 * 4 + 2 * 3
    assert dict(stored) == latex


def test_the_rows_are_those_of_the_paper() -> None:
    """Where the paper lies beside the repository, its rows are compared as well."""
    rows = [line for line in ROWS.read_text(encoding="utf-8").splitlines() if not line.startswith("%")]
    assert len(rows) == 44 + 10
    if PAPER.is_file():
        text = re.sub(r"\s+", " ", PAPER.read_text(encoding="utf-8"))
        assert [row for row in rows if row not in text] == []


def test_the_benchmark_compares_with_these_figures() -> None:
    stored = dict(stored_cells())
    seen = 0
    for figure in FIGURES:
        for column, value in {"PCR": figure.pcr, "ACR": figure.acr, "LCR": figure.lcr, "time": figure.time}.items():
            key = (figure.table, figure.puzzles, figure.method, column)
            shown = "-" if value is None else value if isinstance(value, str) else f"{value:.1f}"
            assert shown == stored.get(key, "-"), key
            seen += key in stored
    for row in DETECTOR_FIGURES:
        values = list(asdict(row).values())[2:]
        columns = ("TP", "TN", "FP", "FN", "precision", "recall")
        assert [str(value) for value in values] == [stored["I", row.puzzles, row.method, column] for column in columns]
        seen += len(columns)
    assert seen == len(stored)
    assert next(figure for figure in FIGURES if figure.time == "13.17 h").seconds == 47412


@pytest.mark.parametrize("row", DETECTOR_FIGURES, ids=lambda row: f"{row.puzzles} {row.method}")
def test_the_shares_of_table_one_follow_from_its_counts(row: DetectorFigure) -> None:
    """Within the last digit that is printed; one of them, 63.2 for 1084 of 1721, is 0.2 off in the paper itself."""
    slip = 0.1 if (row.tp, row.fp, row.precision) == (1084, 637, 63.2) else 0.0
    assert 100 * row.tp / (row.tp + row.fp) == pytest.approx(row.precision, abs=0.15 + slip)
    assert 100 * row.tp / (row.tp + row.fn) == pytest.approx(row.recall, abs=0.15)

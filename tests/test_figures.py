"""Figures in the papers are measured: each is compared, by table, row and column, with the results file it comes from."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from jigsawnet_bench.documents import OF_PAPER, failures_text, results_text, stages_text
from jigsawnet_bench.paper import FIGURES
from jigsawnet_bench.results import EXPERIMENT, SUITE, all_results

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
DOCS = ROOT / "docs"
NOTHING = "–"

FIELDS = {
    "PCR, %": "pcr", "PCR-tight, %": "pcr_tight", "joins right, %": "acr_precision", "joins found, %": "acr_recall",
    "ACR, %": "acr", "LCR, %": "lcr", "candidate recall, %": "candidate_recall",
    "PCR of the rest, %": "pcr_rest", "PCR of the worst picture, %": "pcr_worst_picture", "separated, %": "separated",
    "puzzles": "puzzles", "method": "method", "failed": "failed",
    "seconds": "seconds", "of stages": "stage_seconds", "CPU seconds": "cpu_seconds", "peak MB": "peak_mb",
}  # fmt: skip
"""Heads of columns, and the field of a row of means that stands below them."""
PAPER_FIELDS = {"paper PCR, %": "pcr", "paper ACR, %": "acr", "paper LCR, %": "lcr", "paper time": "time"}
README_TABLES = {
    "puzzle, puzzles, PCR, %, PCR-tight, %, joins right, %, joins found, %": (
        "photos-9", "photos-36", "photos-100", "photos-400", "photos-1000", "authors",
    ),
    "damage, puzzles, PCR, %, PCR-tight, %, joins right, %, joins found, %, PCR of the rest, %": ("damage",),
    "kind, puzzles, PCR, %, joins right, %, joins found, %": ("real", "world"),
    "puzzle, puzzles, PCR, %, PCR-tight, %, seconds, CPU seconds, peak MB": ("side-by-side",),
}  # fmt: skip
"""Heads of the tables of results in the readme, and the files whose rows for our method they show."""
REAL_TITLES = {"With truth": "real", "Strips, by their order": "real_strips", "Without truth": "real_unknown"}
OF_PAPER_TITLES = {title: name for name, title in OF_PAPER.items()}
WITHOUT_COMMIT = frozenset({
    "compose", "compose_tiles", "cost_per_pair", "damage", "detect", "detect_calibration", "detect_convergence",
    "detect_greedy", "detect_solve", "detect_speed", "match", "pages", "photos-9", "photos-36", "photos-100", "photos-400",
    "photos-1000", "quick", "solve",
})  # fmt: skip
"""Results measured before files held the commit; measured again, they leave this list, and none joins it."""

Row = Mapping[str, Any]


class Table(NamedTuple):
    """A table of a Markdown text, the headings above it, and its rows by head of the column."""

    section: str
    title: str
    head: tuple[str, ...]
    rows: list[dict[str, str]]


def tables(text: str) -> Iterator[Table]:
    section = title = ""
    for part in re.split(r"^(?=#{2,3} )|(?<=\n)(?=\n\|)", text, flags=re.MULTILINE):
        if part.startswith("## "):
            section, title = unescaped(part.splitlines()[0][3:]), ""
        elif part.startswith("### "):
            title = unescaped(part.splitlines()[0][4:])
        lines = re.findall(r"^\|(.*)\|$", part, re.MULTILINE)
        if lines:
            head, _, *rows = [tuple(unescaped(cell.strip()) for cell in re.split(r"(?<!\\)\|", line)) for line in lines]
            yield Table(section, title, head, [dict(zip(head, row, strict=True)) for row in rows])


def unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def shows(cell: str, value: object, percent: bool = False) -> bool:
    """True when a cell is a text, or a number rounded to the digits that are shown; of a share, one digit is always meant."""
    if value is None or isinstance(value, str):
        return cell == (NOTHING if value is None else value)
    try:
        digits = Decimal(cell).as_tuple().exponent
    except InvalidOperation:
        return False
    assert isinstance(digits, int)
    assert isinstance(value, int | float)
    half = 0.5 * 10.0 ** (min(digits, -1) if percent else digits) + 1e-9
    return abs(float(cell) - (100.0 * value if percent else value)) <= half


def wrong_cells(shown: Mapping[str, str], row: Row, known: frozenset[str] = frozenset()) -> list[str]:
    """Cells of a table's row that are not what the row of means holds; ``known`` columns name the row itself."""
    wrong = []
    for head, cell in shown.items():
        if head in known:
            continue
        if head in PAPER_FIELDS:
            right = cell == paper_cell(row, PAPER_FIELDS[head])
        elif head == "foreign pieces placed":
            right = cell == f"{row['foreign_placed']} of {row['foreign']}"
        elif head in row:
            right = shows(cell, row[head])
        else:
            assert head in FIELDS, f"which figure is {head!r}? Say so in FIELDS"
            right = shows(cell, row.get(FIELDS[head]), percent=head.endswith("%"))
        if not right:
            wrong.append(f"{head}: {cell}")
    return wrong


def paper_cell(row: Row, field: str) -> str:
    """The paper's figures for the sets that a row is compared with, from its tables."""
    values = []
    for entry in row["paper"]:
        (figure,) = (f for f in FIGURES if (f.table, f.puzzles, f.method) == (entry["table"], entry["puzzles"], row["method"]))
        value = getattr(figure, field)
        values.append(NOTHING if value is None else value if isinstance(value, str) else f"{value:.1f}")
    return " / ".join(values) or NOTHING


@cache
def stored(name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return data


def row_of(files: tuple[str, ...], name: str) -> Row:
    """The one row of means for a puzzle, a group or a kind of this name, by our method."""
    rows = [row for file in files for row in stored(file)["summary"]]
    found = [
        row
        for row in rows
        if row.get("method", "ours") == "ours" and name in (row.get("group"), row.get("kind"), row.get("puzzle"))
    ]
    assert len(found) == 1, f"{len(found)} rows for {name} in {files}"
    return found[0]


def test_a_figure_in_another_row_or_column_is_found() -> None:
    row = {"group": "9 pieces", "pcr": 0.75, "pcr_tight": 1.0, "seconds": 1.1253, "kind": "a", "found": 12}
    assert wrong_cells({"PCR, %": "75", "PCR-tight, %": "100", "seconds": "1.1", "found": "12"}, row) == []
    assert wrong_cells({"PCR, %": "100", "PCR-tight, %": "75.0"}, row) == ["PCR, %: 100", "PCR-tight, %: 75.0"]
    assert wrong_cells({"seconds": "1.2"}, row) == ["seconds: 1.2"]
    assert wrong_cells({"PCR, %": "75.1"}, row) == ["PCR, %: 75.1"]
    assert wrong_cells({"PCR-tight, %": NOTHING}, row) == ["PCR-tight, %: –"]
    assert not shows("100", 0.996, percent=True), "a whole number of percent is meant to the tenth"
    assert shows("2.123e+04", 21228.4)
    assert not shows("2.123e+04", 21236.0)


def test_tables_are_found_with_their_headings() -> None:
    text = "# T\n\n## a\n\n| x | y\\_1 |\n|---|---|\n| 1 | b \\| c |\n\n| z |\n|---|\n\n### a: b\n\n| x |\n| --- |\n| 2 |\n"
    first, second, third = tables(text)
    assert (first.section, first.title, first.rows) == ("a", "", [{"x": "1", "y_1": "b | c"}])
    assert second.head == ("z",)
    assert (third.section, third.title, third.rows) == ("a", "a: b", [{"x": "2"}])


def test_figures_of_the_readme_are_in_the_results() -> None:
    found = {", ".join(table.head): table for table in tables((ROOT / "README.md").read_text(encoding="utf-8"))}
    for head, files in README_TABLES.items():
        first = head.split(", ")[0]
        assert found[head].rows
        for shown in found[head].rows:
            assert wrong_cells(shown, row_of(files, shown[first]), frozenset({first})) == [], shown[first]
    others = [head for head in found.keys() - README_TABLES if re.search("PCR|seconds", head)]
    assert others == [], "tables of results that are not checked"


def test_figures_of_suites_stand_in_their_tables_rows_and_columns() -> None:
    seen = 0
    for table in tables((DOCS / "results.md").read_text(encoding="utf-8")):
        if table.section == "real" or table.section in OF_PAPER_TITLES:
            continue
        name = table.title.removeprefix(f"{table.section}: ")
        rows = [row for row in stored(table.section)["summary"] if (row["curve"] or {"name": row["group"]})["name"] == name]
        assert len(rows) == len(table.rows) > 0, table.title
        for shown, row in zip(table.rows, rows, strict=True):
            axis = frozenset({row["curve"]["axis"]} if row["curve"] else ())
            assert [shown[head] for head in axis] == [f"{row['curve']['at']:g}" for _ in axis]
            assert wrong_cells(shown, row, axis) == [], f"{table.title}, {shown['method']}"
            seen += 1
    assert seen == sum(len(results.summary) for results in all_results(RESULTS))


def test_figures_of_stages_of_the_papers_experiments_and_of_real_material_stand_in_their_rows_and_columns() -> None:
    shown = list(tables((DOCS / "stages.md").read_text(encoding="utf-8")))
    results = list(tables((DOCS / "results.md").read_text(encoding="utf-8")))
    real = [table for table in results if table.section == "real"]
    shown += [table for table in results if table.section in OF_PAPER_TITLES]
    names = [REAL_TITLES[table.title] for table in real] + [
        OF_PAPER_TITLES.get(table.section, table.section) for table in shown
    ]
    assert sorted(names) == sorted(results.name for results in all_results(RESULTS, EXPERIMENT) if results.summary)
    for name, table in zip(names, [*real, *shown], strict=True):
        rows = stored(name)["summary"]
        assert table.head == tuple(rows[0])
        for k, (cells, row) in enumerate(zip(table.rows, rows, strict=True)):
            assert wrong_cells(cells, row) == [], f"{name}, row {k + 1}"


def test_the_papers_figures_in_the_results_are_those_of_its_tables() -> None:
    known = {(figure.table, figure.puzzles, figure.method): figure for figure in FIGURES}
    entries = [entry for results in all_results(RESULTS) for row in results.summary for entry in row["paper"]]
    assert entries
    for entry in entries:
        figure = known[entry["table"], entry["puzzles"], entry["method"]]
        assert (entry["pcr"], entry["acr"], entry["lcr"], entry["time"]) == (figure.pcr, figure.acr, figure.lcr, figure.time)


def test_the_pages_of_the_bench_are_as_the_command_writes_them() -> None:
    suites, stages = all_results(RESULTS), all_results(RESULTS, EXPERIMENT)
    written = {
        "results.md": results_text(suites, DOCS, stages),
        "stages.md": stages_text(stages),
        "failures.md": failures_text(suites),
    }
    for name, text in written.items():
        assert (DOCS / name).read_text(encoding="utf-8") == text, f"docs/{name}: run `jigsawnet bench docs`"


@pytest.mark.parametrize("name", sorted(path.stem for path in RESULTS.glob("*.json")))
def test_results_carry_the_commit_that_made_them(name: str) -> None:
    """A commit of this history, whose files were not changed; the older results say in the pages that theirs is not known."""
    data = stored(name)
    commits = list(data["commits"].values()) if "commits" in data else [data.get("commit", "")]
    if name in WITHOUT_COMMIT:
        assert commits == [""], "it has a commit now: take it off the list"
        return
    for commit in commits:
        assert re.fullmatch("[0-9a-f]{40}", commit), f"measured by {commit!r}"
        assert is_of_this_history(commit), f"no commit of this history: {commit}"


def test_pages_show_the_commit_or_say_that_it_was_not_written_down() -> None:
    pages = "".join((DOCS / name).read_text(encoding="utf-8") for name in ("results.md", "stages.md"))
    shown = re.findall(r"GB.*, jigsawnet \S+? at (\w{7}|a commit that was not written down)\.$", pages, re.MULTILINE)
    of_suites = [results.commit for results in all_results(RESULTS)]
    of_stages = [r.commit for r in all_results(RESULTS, EXPERIMENT) if r.summary and not r.name.startswith("real_")]
    wanted = [commit[:7] or "a commit that was not written down" for commit in of_suites + of_stages]
    assert sorted(shown) == sorted(wanted)


def is_of_this_history(commit: str) -> bool:
    """True as well where there is no history to look at: outside of a clone, and in a shallow one."""

    def git(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["git", "-C", str(ROOT), *words], check=False, capture_output=True, text=True)

    if not (ROOT / ".git").exists() or git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        return True
    return git("merge-base", "--is-ancestor", commit, "HEAD").returncode == 0


def test_all_formats_of_results_are_known() -> None:
    known = {SUITE, EXPERIMENT, "jigsawnet/side-by-side", "jigsawnet/mutants"}
    assert {stored(path.stem)["format"] for path in RESULTS.glob("*.json")} <= known

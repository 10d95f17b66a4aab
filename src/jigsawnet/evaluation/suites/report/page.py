"""One HTML page with all tables, plots and contact sheets of a results folder; it needs no network."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from urllib.parse import quote

from jigsawnet.evaluation.suites.report.results_file import Results
from jigsawnet.evaluation.suites.report.tables import Table, suite_tables
from jigsawnet.io.files import write_text

PAGE_FILE = "index.html"
SIZES_FILE = "sizes.png"
PLOTS = {
    "curves": "Accuracy against damage",
    "precision-recall": "Precision and recall of the scores",
    "stages": "Time per stage",
    "contact": "The worst puzzles",
}
"""Kinds of pictures beside a suite's results, in order, with their captions."""

_STYLE = """body{font:15px/1.5 system-ui,sans-serif;max-width:76rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}
table{border-collapse:collapse;margin:.5rem 0 1rem;font-size:.9em;display:block;overflow-x:auto}
td,th{padding:.2rem .6rem;border-bottom:1px solid #ccc;text-align:right}td:first-child,th:first-child{text-align:left}
img{max-width:100%;height:auto}figure{margin:1rem 0}figcaption,.note{color:#555}"""


def plot_file(name: str, kind: str) -> str:
    """File name of a suite's picture of one of the `PLOTS`."""
    return f"{name}-{kind}.{'jpg' if kind == 'contact' else 'png'}"


def write_page(folder: Path, results: Sequence[Results]) -> Path:
    """Write the page beside the pictures it shows; gives its path."""
    body = [_figure(SIZES_FILE, "Accuracy and time against the number of pieces")] if (folder / SIZES_FILE).is_file() else []
    body += [_section(folder, each) for each in results]
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><style>{_STYLE}</style>'
    title = "jigsawnet bench"
    text = f"<!doctype html>\n<html lang=en><head>{head}<title>{title}</title></head>\n<body><h1>{title}</h1>\n"
    path = folder / PAGE_FILE
    write_text(path, text + "\n".join(body) + "\n</body></html>\n")
    return path


def _section(folder: Path, results: Results) -> str:
    parts = [
        f'<section id="{escape(results.name)}"><h2>{escape(results.name)}</h2><p>{escape(results.title)}</p>',
        f'<p class="note"><code>{escape(results.command)}</code><br>{escape(results.where)}, '
        f"jigsawnet {escape(results.jigsawnet)}</p>",
        *(_table(table) for table in suite_tables(results)),
    ]
    for kind, caption in PLOTS.items():
        name = plot_file(results.name, kind)
        if (folder / name).is_file():
            parts.append(_figure(name, caption))
    errors = dict.fromkeys(f"{row['method']}: {row['puzzle']}: {row['error']}" for row in results.rows if row["error"])
    if errors:
        parts.append("<h3>Failed</h3><ul>" + "".join(f"<li>{escape(error)}</li>" for error in errors) + "</ul>")
    return "\n".join([*parts, "</section>"])


def _table(table: Table) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in table.head)
    rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>\n" for row in table.rows)
    note = f'<p class="note">{escape(table.note)}</p>' if table.note else ""
    return f"<h3>{escape(table.title)}</h3><table><thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table>{note}"


def _figure(file: str, caption: str) -> str:
    return f'<figure><img src="{quote(file)}" alt="{escape(caption)}"><figcaption>{escape(caption)}</figcaption></figure>'

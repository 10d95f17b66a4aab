"""Pages made from the results files, never by hand: ``index.html`` beside them; in ``docs`` results, stages and failures."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment

from jigsawnet.io.files import write_text
from jigsawnet_bench.methods import OURS
from jigsawnet_bench.results import EXPERIMENT, Results, Row, all_results
from jigsawnet_bench.tables import percent, plain, suite_tables, table_of

PAGE_FILE = "index.html"
SIZES_FILE, SIZES_CAPTION = "sizes.png", "Accuracy and time against the number of pieces"
PLOTS = {
    "curves": "Accuracy against damage",
    "precision-recall": "Precision and recall of the scores",
    "stages": "Time per stage",
    "contact": "The worst puzzles",
    "gallery": "One puzzle of each size, by every method",
}
"""Kinds of pictures beside a suite's results, in order, with their captions."""

_TEMPLATE = """<!doctype html>
<html lang=en><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><style>
body{font:15px/1.5 system-ui,sans-serif;max-width:76rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}
table{border-collapse:collapse;margin:.5rem 0 1rem;font-size:.9em;display:block;overflow-x:auto}
td,th{padding:.2rem .6rem;border-bottom:1px solid #ccc;text-align:right}td:first-child,th:first-child{text-align:left}
img{max-width:100%;height:auto}figure{margin:1rem 0}figcaption,.note{color:#555}
</style><title>jigsawnet bench</title></head>
<body><h1>jigsawnet bench</h1>
{% macro figure(file, caption) %}
<figure><img src="{{ file | urlencode }}" alt="{{ caption }}"><figcaption>{{ caption }}</figcaption></figure>
{% endmacro %}
{% if has_sizes %}{{ figure(sizes, sizes_caption) }}{% endif %}
{% for each in sections %}
<section id="{{ each.results.name }}"><h2>{{ each.results.name }}</h2><p>{{ each.results.title }}</p>
<p class="note"><code>{{ each.results.command }}</code><br>{{ each.results.where }}, jigsawnet {{ each.results.jigsawnet }}</p>
{% for table in each.tables %}
<h3>{{ table.title }}</h3><table><thead><tr>{% for cell in table.head %}<th>{{ cell }}</th>{% endfor %}</tr></thead>
<tbody>{% for row in table.rows %}<tr>{% for cell in row %}<td>{{ cell }}</td>{% endfor %}</tr>
{% endfor %}</tbody></table>{% if table.note %}<p class="note">{{ table.note }}</p>{% endif %}
{% endfor %}
{% for file, caption in each.plots.items() %}{{ figure(file, caption) }}{% endfor %}
{% if each.errors %}<h3>Failed</h3><ul>{% for error in each.errors %}<li>{{ error }}</li>{% endfor %}</ul>{% endif %}
</section>
{% endfor %}
</body></html>
"""


def plot_file(name: str, kind: str) -> str:
    """File name of a suite's picture of one of the `PLOTS`."""
    return f"{name}-{kind}.{'jpg' if kind in ('contact', 'gallery') else 'png'}"


OF_PAPER = {
    "table-1": "Table I: detectors on all candidates",
    "table-1-convergence": "Convergence: loss by step, with RoI and without",
    "detect_greedy": "The best-scored candidates, taken until all pieces are connected",
}
"""Experiments of the paper, with their headings among the results."""
SHOWN = (
    {SIZES_FILE: SIZES_CAPTION, plot_file("paper", "gallery"): PLOTS["gallery"]}
    | {plot_file(name, "curves"): PLOTS["curves"] for name in ("damage", "world")}
    | {f"{name}.png": caption for name, caption in OF_PAPER.items()}
)
"""Pictures that the documentation shows; the others lie beside the results of whoever runs the benchmark."""
_IMAGES = "images"
MOST_FAILURES = 5

_RESULTS_HEAD = """# Results

Made by `jigsawnet bench docs` from the files in the results folder. PCR: pieces within 5 degrees and 100 px of their place;
tight: 2 degrees and 5 px. ACR, as the paper's figures behave: right joins that the composer itself chose, over the right
candidates it could choose from ([why](benchmark.md#acr)). Joins right: of all joins of the result; joins found: true neighbours
joined. LCR: largest part held together by right joins. Candidate recall: true neighbours that the matcher found. Means over the
puzzles; seconds are those of the whole solve, from reading the pieces to the last file written, and beside them the sum of the
stages (where only seconds are shown, they are the sum of the stages); memory is the largest of all puzzles; a puzzle that
failed counts as 0 in PCR, joins found and LCR. The paper's figures stand beside ours where it has any: they are from other
puzzles and another machine unless it is said otherwise. [Single stages](stages.md) and [what still fails](failures.md) have
pages of their own.
"""
REAL = "real"
_REAL_TITLES = {"real": "With truth", "real_strips": "Strips, by their order", "real_unknown": "Without truth"}
_REAL_HEAD = """Means over the puzzles of a kind; of strips over all pairs and joins of a kind. Joins right: of all joins; joins
found: true neighbours joined. Pairs right: neighbours in the true order that lie side by side, within 5 degrees and 40 px up or
down. Sure: pieces with a confidence of 0.9 or more; right: they lie rightly to others of their own component, even if that is
not the largest. Upright joins: those that turn by less than 5 degrees, where pieces are stored upright, so that others are
wrong. A puzzle that failed counts as 0.
"""
_STAGES_HEAD = """# Single stages

Made by `jigsawnet bench docs` from what `jigsawnet bench match`, `compose`, `detect`, `solve` and `cost` have measured: what
each stage is worth by itself.
"""
_FAILURES_HEAD = """# Failures

Made by `jigsawnet bench docs`. The worst puzzles of every suite, as shipped, and why each fails as far as the figures tell. The
contact sheets that `jigsawnet bench` writes beside the results show them.
"""


def write_page(folder: Path, results: Sequence[Results]) -> Path:
    """Write the page beside the pictures it shows; gives its path."""
    sections = []
    for each in results:
        pictures = {plot_file(each.name, kind): caption for kind, caption in PLOTS.items()}
        plots = {file: caption for file, caption in pictures.items() if (folder / file).is_file()}
        errors = list(dict.fromkeys(f"{row['method']}: {row['puzzle']}: {row['error']}" for row in each.rows if row["error"]))
        sections.append({"results": each, "tables": suite_tables(each), "plots": plots, "errors": errors})
    template = Environment(autoescape=True, trim_blocks=True).from_string(_TEMPLATE)
    path = folder / PAGE_FILE
    has_sizes = (folder / SIZES_FILE).is_file()
    write_text(path, template.render(has_sizes=has_sizes, sizes=SIZES_FILE, sizes_caption=SIZES_CAPTION, sections=sections))
    return path


def write_documents(results_folder: Path, docs_folder: Path) -> list[Path]:
    """Make the pages of all results in a folder, and copy the pictures they show; gives the pages' paths.

    Raises:
        InputError: there are no results.
        FormatError: a results file is damaged or of another version.
    """
    suites, stages = all_results(results_folder), all_results(results_folder, EXPERIMENT)
    (docs_folder / _IMAGES).mkdir(parents=True, exist_ok=True)
    for file in SHOWN:
        if (results_folder / file).is_file():
            shutil.copyfile(results_folder / file, docs_folder / _IMAGES / _image(file))
    texts = {
        "results.md": results_text(suites, docs_folder, stages),
        "stages.md": stages_text(stages),
        "failures.md": failures_text(suites),
    }
    for name, text in texts.items():
        write_text(docs_folder / name, text)
    return [docs_folder / name for name in texts]


def results_text(results: Sequence[Results], docs_folder: Path, others: Sequence[Results] = ()) -> str:
    """All tables of suites, and those of the paper's experiments and of real material, which are among the ``others``."""
    parts = [_RESULTS_HEAD, *_picture(SIZES_FILE, docs_folder)]
    for each in results:
        parts += [f"## {plain(each.name)}\n", f"{plain(each.title)}.\n", _origin(each)]
        for table in suite_tables(each):
            parts += [f"### {plain(f'{each.name}: {table.title}')}\n", table.markdown() + "\n"]
            parts += [f"{table.note}\n"] if table.note else []
        for kind in ("curves", "gallery"):
            parts += _picture(plot_file(each.name, kind), docs_folder)
    for each in [each for each in others if each.name in OF_PAPER and each.summary]:
        parts += [f"## {OF_PAPER[each.name]}\n", _origin(each), table_of(each.name, each.summary).markdown() + "\n"]
        parts += _picture(f"{each.name}.png", docs_folder)
    real = [each for each in others if is_real(each) and each.summary]
    if real:
        parts += ["## real\n", f"{plain(real[0].title)}.\n", _REAL_HEAD, _origin(real[0])]
    for each in real:
        parts += [f"### {plain(_REAL_TITLES.get(each.name, each.name))}\n", table_of(each.name, each.summary).markdown() + "\n"]
    return "\n".join(parts)


def stages_text(results: Sequence[Results]) -> str:
    """All tables of single stages, but those that stand among the results."""
    parts = [_STAGES_HEAD]
    for each in results:
        if each.summary and not is_real(each) and each.name not in OF_PAPER:
            parts += [f"## {plain(each.name)}\n", _origin(each), table_of(each.name, each.summary).markdown() + "\n"]
    return "\n".join(parts)


def is_real(results: Results) -> bool:
    """True for what `bench real` has measured."""
    return results.name.partition("_")[0] == REAL


def failures_text(results: Sequence[Results]) -> str:
    """The worst puzzles of every suite, each with its cause."""
    parts = [_FAILURES_HEAD]
    for each in results:
        worst = failures(each)
        parts.append(f"## {plain(each.name)}\n")
        parts.append("".join(_failure(row) for row in worst) if worst else "Every puzzle is whole and tight.\n")
    return "\n".join(parts)


def _failure(row: Row) -> str:
    figures = "failed" if row["error"] else f"PCR {percent(row['pcr'])} %, tight {percent(row['pcr_tight'])} %"
    return f"- {plain(row['group'])}, {plain(row['puzzle'])}, seed {row['seed']} ({figures}). {plain(explain(row))}\n"


def _origin(results: Results) -> str:
    commit = results.commit[:7] or "a commit that was not written down"
    return f"`{results.command}`\n\n{results.where}, jigsawnet {results.jigsawnet} at {commit}.\n"


def _image(file: str) -> str:
    return f"bench-{file}"


def _picture(file: str, docs_folder: Path) -> list[str]:
    is_there = file in SHOWN and (docs_folder / _IMAGES / _image(file)).is_file()
    return [f"![{SHOWN[file]}]({_IMAGES}/{_image(file)})\n"] if is_there else []


def failures(results: Results, most: int = MOST_FAILURES) -> list[Row]:
    """Puzzles that our method did not put together whole and tight, the worst first, each once."""
    rows = {row["key"]: row for row in results.rows if row["method"] == OURS}
    failed = [row for row in rows.values() if row["error"] or row["pcr"] < 1.0 or row["pcr_tight"] < 1.0]
    return sorted(failed, key=lambda row: (0.0, 0.0) if row["error"] else (row["pcr"], row["pcr_tight"]))[:most]


def explain(row: Row) -> str:
    """One sentence on the cause that weighs most, from the first stage on: what is not found can not be scored or joined."""
    if row["error"]:
        return f"It stopped: {row['error']}"
    n, pairs = row["n"], row["neighbors"]
    unplaced, wrong = n - row["placed"], row["wrong_joins"]
    lacks = f"{row['missed_pairs']} of {pairs} true joins have no right candidate"
    doubted = row["doubted_pairs"]
    doubts = f"{doubted} right {'one scores' if doubted == 1 else 'ones score'} too low"
    if row["pcr"] >= 1.0:
        return f"All pieces are in place, but {round(n * (1.0 - row['pcr_tight']))} of {n} lie more than 2 degrees or 5 px off."
    if row["pcr_rest"] == 1.0 and row["true_parts"] > len(row["pcr_pictures"]):
        return f"Nothing connects the {row['true_parts']} parts that are left of it; each of them is right."
    cause = (
        f"{lacks}, and {doubts}" if row["missed_pairs"] or row["doubted_pairs"] else "all true joins were found and believed"
    )
    return f"{_outcome(unplaced, wrong, row['components'])}: {cause}; {row['believed_wrong']} wrong candidates are believed."


def _outcome(unplaced: int, wrong: int, components: int) -> str:
    parts: Sequence[str] = [
        f"{_are(wrong, 'join')} wrong" if wrong else "",
        f"{_are(unplaced, 'piece')} left out" if unplaced else "",
        f"the result is in {components} parts" if components > 1 else "",
    ]
    text = ", ".join(part for part in parts if part) or "Pieces are out of place although every join is right"
    return text[0].upper() + text[1:]


def _are(count: int, noun: str) -> str:
    return f"1 {noun} is" if count == 1 else f"{count} {noun}s are"

"""What a training leaves for people: the model card of the whole bundle, and how the networks learned, as table and curves."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from jigsawnet.evaluation.markdown import markdown_table
from jigsawnet.io.files import write_bytes
from jigsawnet.learned import PARTS, PartName
from jigsawnet.training.boosting import IntArray
from jigsawnet.training.examples import Examples
from jigsawnet.types import BoolArray

_DOES: dict[PartName, str] = {
    "fit": "Seam fit: how likely a join is right by what is measured along its seam; a logistic regression.",
    "seam": "Our network: sees the straightened band along the seam, colours and the masks of the two pieces.",
    "ragged": "The same network for seams that touch only in parts: pieces that were broken, torn, worn or bent.",
    "printed": "The same network for pages of print that were torn or worn: sees lines of print farther from the seam, too.",
    "jigsawnet": "The paper's networks: see the picture of the stitched pair and the box of the abutting area.",
    "strokes": "Two networks that look along the right and the left sides of strips: what is printed goes on, or not.",
    "strips": "Fit of strips: what these say of a join, against all others, as a probability; a logistic regression.",
    "combined": "Combined score: the measured seam and our network as one probability; a logistic regression.",
    "contact": "Contact fit: what a seam that touches only in parts says by itself; a logistic regression on its contact.",
    "touching": "Combined score of such seams: contact, network and rivals as one probability; a logistic regression.",
    "lines": "The same for pages of print, where lines that turn at the seam count as well; a logistic regression.",
    "confidence": "Confidence of a join once pieces are placed: seam, loops and lead over rivals; a logistic regression.",
}
_PANELS = (
    ("Cross-entropy", (("loss", "training", "--"), ("validation_loss", "held out", "-"))),
    ("Average precision", (("average_precision", "held out", "-"),)),
    ("Precision and recall at 0.5", (("precision", "precision", "-"), ("recall", "recall", ":"))),
)
_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")


def describe_examples(examples: Examples, rows: IntArray) -> dict[str, Any]:
    """Counts of the data; ``rows`` are those trained on, with repetition."""
    held = examples.held_out
    return {
        "photos": len(examples.photos),
        "puzzles": len(examples.case),
        **_counts("", examples.right[~held]),
        **_counts("held-out ", examples.right[held]),
        "examples in one round": len(rows),
        "right ones in one round": int(examples.right[rows].sum()),
        "digest": examples.digest(),
    }


def model_card(parts: Mapping[PartName, Mapping[str, Any]], fresh: Collection[PartName]) -> str:
    """Markdown: every part of a bundle with its held-out figures, from what its JSON file says.

    Args:
        parts: content of ``PART.json`` by part.
        fresh: the parts that this training made; the others are those of its base.
    """
    table = [{"part": name, "from": "this training" if name in fresh else "the base", "what": _DOES[name]} for name in PARTS]
    lines = ["# Model card", "", "Decides whether two pieces of a torn picture belong together.", "", markdown_table(table)]
    for name in PARTS:
        lines += ["", f"## {name}", "", _DOES[name]]
        record = parts[name].get("training")
        if not isinstance(record, dict):
            record = {}
        try:
            lines += _network_lines(parts[name], record) if "files" in parts[name] else _fit_lines(parts[name], record)
        except (KeyError, TypeError, ValueError, AttributeError):
            lines += ["The record of its training cannot be read."]
    return "\n".join([*lines, ""])


def _network_lines(manifest: Mapping[str, Any], record: Mapping[str, Any]) -> list[str]:
    if not record:
        return [f"Networks: {len(manifest['files'])}. No record of the training came with it."]
    if "right neighbour first" in record:
        return _strokes_lines(record)
    options, held_out = record["options"], record["held_out"]
    steps = [options["steps"], *[options["later_steps"] or options["steps"]] * (len(manifest["files"]) - 1)]
    rows = [
        {"network": str(k + 1), "steps": str(steps[k]), "weighted error": error, "alpha": alpha, **_cells(scores)}
        for k, (error, alpha, scores) in enumerate(zip(record["errors"], manifest["alphas"], held_out["networks"], strict=True))
    ]
    rows.append({"network": "all", "steps": "", "weighted error": "", "alpha": "", **_cells(held_out["ensemble"])})
    puzzles = "; ".join(f"{count} × {kind}" for kind, count in sorted(record.get("held_out_puzzles", {}).items()))
    return [
        f"Networks: {len(steps)}, trained for {record['hours']:.2f} hours.",
        "",
        markdown_table([{"what": key, "number": str(value)} for key, value in record["data"].items()]),
        "",
        "On held-out puzzles, precision and recall at probability 0.5:",
        "",
        markdown_table(rows),
        *(["", f"The puzzles: {puzzles}."] if puzzles else []),
        "",
        markdown_table([{"option": key, "value": str(value)} for key, value in _flat(options).items()]),
    ]


def _strokes_lines(record: Mapping[str, Any]) -> list[str]:
    return [
        f"Networks: 2, trained for {record['hours']:.2f} hours on {record['pages']} pages and {record['shredded']} shredded.",
        *([f"Steps: {record['schedule']}."] if "schedule" in record else []),
        "",
        "Part of the sides of a held-out page whose true neighbour had the most evidence:",
        "",
        markdown_table([{"what": key, "number": str(value)} for key, value in record["right neighbour first"].items()]),
        "",
        markdown_table([{"option": key, "value": str(value)} for key, value in _flat(record["options"]).items()]),
    ]


def _fit_lines(content: Mapping[str, Any], record: Mapping[str, Any]) -> list[str]:
    lines = [f"Coefficients: {len(content['weights'])} and a bias."]
    if record:
        said = (f"{key} {record[key]}" for key in ("puzzles", "rows", "right", "penalty") if key in record)
        lines += [f"Fitted on: {', '.join(said)}."]
    if record.get("held_out"):
        lines += ["", "Fitted on a part of the puzzles, on the others:", "", markdown_table(record["held_out"])]
    return lines


def write_history(folder: Path, history: Sequence[Mapping[str, float]]) -> None:
    """Write ``history.csv`` and ``history.json``: one row per validation of each network."""
    text = io.StringIO()
    columns = list(history[0]) if history else []
    table = csv.DictWriter(text, columns, lineterminator="\n")
    table.writeheader()
    table.writerows(history)
    write_bytes(folder / "history.csv", text.getvalue().encode())
    write_bytes(folder / "history.json", (json.dumps(history, indent=1) + "\n").encode())


def write_curves(path: Path, history: Sequence[Mapping[str, float]], title: str) -> None:
    """Write loss, average precision, and precision and recall over steps as a PNG, one colour per network."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 - fits alone need no plots
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(figsize=(11, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    learners = sorted({int(row["learner"]) for row in history})
    for axes, (name, lines) in zip(figure.subplots(1, len(_PANELS)), _PANELS, strict=True):
        for learner in learners:
            rows = [row for row in history if row["learner"] == learner]
            for key, label, style in lines:
                axes.plot(
                    [row["step"] for row in rows], [row[key] for row in rows], style, linewidth=1.6,
                    color=_COLORS[learner % len(_COLORS)], label=f"{label}, network {learner + 1}",
                )  # fmt: skip
        axes.set(title=name, xlabel="step")
        axes.grid(True, alpha=0.3)
        axes.legend(fontsize=7)
    figure.suptitle(title)
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=150)
    write_bytes(path, picture.getvalue())


def _counts(prefix: str, right: BoolArray) -> dict[str, int]:
    return {f"{prefix}candidates": len(right), f"{prefix}right candidates": int(right.sum())}


def _cells(scores: Mapping[str, float]) -> dict[str, float]:
    return {key.replace("_", " "): value for key, value in scores.items()}


def _flat(options: Mapping[str, Any]) -> dict[str, Any]:
    """Nested options as ``outer.inner``."""
    flat: dict[str, Any] = {}
    for key, value in options.items():
        flat.update({f"{key}.{inner}": each for inner, each in value.items()} if isinstance(value, dict) else {key: value})
    return flat

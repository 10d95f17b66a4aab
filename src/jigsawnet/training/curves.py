"""How the training went: the history as CSV and JSON, and as curves for a page."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from jigsawnet.io.files import write_bytes
from jigsawnet.training.loop import History

_PANELS = (
    ("Cross-entropy", (("loss", "training", "--"), ("validation_loss", "held out", "-"))),
    ("Average precision", (("average_precision", "held out", "-"),)),
    ("Precision and recall at 0.5", (("precision", "precision", "-"), ("recall", "recall", ":"))),
)
_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")


def write_history(folder: Path, history: History) -> None:
    """Write ``history.csv`` and ``history.json``: one row per validation of each network."""
    text = io.StringIO()
    columns = list(history[0]) if history else []
    table = csv.DictWriter(text, columns, lineterminator="\n")
    table.writeheader()
    table.writerows(history)
    write_bytes(folder / "history.csv", text.getvalue().encode())
    write_bytes(folder / "history.json", (json.dumps(history, indent=1) + "\n").encode())


def write_curves(path: Path, history: History, title: str) -> None:
    """Write loss, average precision, and precision and recall over steps as a PNG, one colour per network."""
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

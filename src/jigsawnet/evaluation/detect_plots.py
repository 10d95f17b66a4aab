"""The figures of ``jigsawnet bench detect``; left out when matplotlib is not installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from jigsawnet.evaluation.detect_candidates import SCORERS, Candidates
from jigsawnet.evaluation.detect_metrics import Reliability, precision_recall
from jigsawnet.evaluation.detect_networks import NETWORKS, Ensemble
from jigsawnet.evaluation.detect_tables import pool
from jigsawnet.evaluation.results import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LINES: Mapping[str, tuple[str, str]] = {
    "Baseline": ("0.6", ":"), "Boost": ("0.6", "-"), "RoI": ("black", ":"), "Boost+RoI": ("black", "-"),
    "fit": ("0.6", ":"), "jigsawnet": ("0.6", "-"), "seam": ("black", ":"), "combined": ("black", "-"),
}  # fmt: skip
"""Colour and dashes of each detector."""
_FILLS = {"fit": "white", "jigsawnet": "0.8", "seam": "0.5", "combined": "black"}
_PANEL_SIZE = (3.4, 3.2)


def plot_networks(sets: Sequence[Candidates], path: Path) -> None:
    """Precision over recall of the paper's four networks, a panel for each matcher."""
    _plot_curves(sets, NETWORKS, path)


def plot_scorers(sets: Sequence[Candidates], path: Path) -> None:
    """Precision over recall of the scorers and of the matchers' own scores (``fit``), a panel for each matcher."""
    _plot_curves(sets, SCORERS, path)


def plot_greedy(table: Sequence[Row], puzzles: Sequence[str], path: Path) -> None:
    """Precision and recall of the greedy selection as bars, a row for each kind of puzzle, a panel for each matcher."""
    shown = [row for row in table if row["puzzle"] in puzzles and row["detector"] in SCORERS]
    matchers = list(dict.fromkeys(row["matcher"] for row in shown))
    kinds = list(dict.fromkeys(row["puzzle"] for row in shown))
    panels = _panels(len(matchers), max(1, len(kinds)))
    if panels is None or not shown:
        return
    figure, axes = panels
    for axis, (kind, matcher) in zip(axes, [(kind, matcher) for kind in kinds for matcher in matchers], strict=True):
        own = {row["detector"]: row for row in shown if row["puzzle"] == kind and row["matcher"] == matcher}
        for k, (scorer, row) in enumerate(own.items()):
            at = np.arange(2) + 0.2 * (k - 0.5 * (len(own) - 1))
            shares = [100 * row["precision"], 100 * row["recall"]]
            axis.bar(at, shares, 0.18, color=_FILLS[scorer], edgecolor="black", linewidth=0.7, label=scorer)
        axis.set(title=f"{matcher}, {kind}", xticks=[0, 1], xticklabels=["precision, %", "recall, %"], ylim=(0, 103))
        axis.tick_params(axis="x", length=0)
    _finish(figure, axes, path)


def plot_convergence(ensembles: Sequence[Ensemble], path: Path) -> None:
    """Loss against step with and without RoI, from the runs' histories; the first network in black, later ones in grey."""
    runs = [ensemble for ensemble in ensembles if ensemble.history]
    panels = _panels(1)
    if panels is None or not runs:
        return
    figure, axes = panels
    for ensemble in runs:
        name, dashes = ("with RoI", "-") if ensemble.roi else ("without RoI", "--")
        for learner in sorted({row["learner"] for row in ensemble.history}, reverse=True):
            points = [(row["step"], row["loss"]) for row in ensemble.history if row["learner"] == learner]
            first = learner == 0
            color, width = ("black", 1.5) if first else ("0.7", 0.8)
            axes[0].plot(*np.array(points).T, dashes, color=color, linewidth=width, label=name if first else None)
    axes[0].set(xlabel="step", ylabel="training loss")
    axes[0].set_ylim(bottom=0)
    _finish(figure, axes, path)


def plot_calibration(scorers: Mapping[str, Reliability], path: Path) -> None:
    """Share of right candidates against score; on the diagonal, scores are probabilities."""
    panels = _panels(1)
    if panels is None:
        return
    figure, axes = panels
    axes[0].plot([0, 1], [0, 1], color="0.7", linewidth=0.8)
    for scorer, found in scorers.items():
        color, dashes = _LINES[scorer]
        axes[0].plot(found.mean_score, found.share_right, dashes, color=color, marker="o", markersize=3, label=scorer)
    axes[0].set(xlabel="score", ylabel="share of right candidates", xlim=(0, 1), ylim=(0, 1.02), aspect="equal")
    _finish(figure, axes, path)


def _plot_curves(sets: Sequence[Candidates], detectors: Sequence[str], path: Path) -> None:
    """Curves over all plain puzzles of a matcher together."""
    plain = [
        candidates for candidates in sets if candidates.kind.plain and any(name in candidates.verdicts for name in detectors)
    ]
    matchers = list(dict.fromkeys(candidates.matcher for candidates in plain))
    panels = _panels(len(matchers))
    if panels is None or not matchers:
        return
    figure, axes = panels
    for axis, matcher in zip(axes, matchers, strict=True):
        own = [candidates for candidates in plain if candidates.matcher == matcher]
        for name in [name for name in detectors if name in own[0].verdicts]:
            score, _, right = pool(own, name)
            precision, recall = precision_recall(score, right)
            color, dashes = _LINES[name]
            axis.plot(100 * recall, 100 * precision, dashes, color=color, linewidth=1.5, label=name)
        axis.set(title=f"candidates of {matcher}", xlabel="recall, %", ylabel="precision, %", xlim=(0, 101), ylim=(0, 103))
    _finish(figure, axes, path)


def _panels(columns: int, rows: int = 1) -> tuple[Figure, list[Axes]] | None:
    """A figure with panels in reading order; None without matplotlib or without panels."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - an extra
    except ImportError:
        return None
    if not columns:
        return None
    figure = Figure(figsize=(_PANEL_SIZE[0] * columns, _PANEL_SIZE[1] * rows), layout="constrained")
    return figure, list(figure.subplots(rows, columns, squeeze=False).flat)


def _finish(figure: Figure, axes: Sequence[Axes], path: Path) -> None:
    """One legend, no frames, and off to the file."""
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
        axis.title.set_fontsize("medium")
    columns = 2 if len(axes) == 1 else 4
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=columns, frameon=False)
    figure.savefig(path, dpi=160)

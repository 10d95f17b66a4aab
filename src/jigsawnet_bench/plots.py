"""The figures of suites and experiments; nothing is drawn where there is nothing to show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from jigsawnet.evaluation.detect_metrics import precision_recall
from jigsawnet.types import FloatArray
from jigsawnet_bench.decisions import Judged, Reliability, pool
from jigsawnet_bench.methods import COMPOSERS, OURS
from jigsawnet_bench.networks import Ensemble
from jigsawnet_bench.paper import FIGURES
from jigsawnet_bench.results import Row
from jigsawnet_bench.tasks import SCORERS

STYLES: Mapping[str, tuple[str, str, str]] = {
    "Tsamoura": ("#999999", ":", "v"),
    "Zhang": ("#E69F00", ":", "s"),
    "CNN+BF": ("#56B4E9", "--", "o"),
    "CNN+GLC": ("#009E73", "--", "^"),
    "CNN+HLM": ("#0072B2", "--", "D"),
    "only GLC": ("#CC79A7", "-.", "<"),
    "only HLM": ("#D55E00", "-.", ">"),
    OURS: ("black", "-", "o"),
}
"""Colour (safe for the colour-blind), dashes and marker of each method."""
PANEL_SIZE = (3.6, 3.2)
MIN_WIDTH = 5.6
"""Inches."""
_STAGES = ("read", "contours", "match", "score", "compose", "refine", "second round", "confidence", "write")
_STAGE_COLORS = ("#DDDDDD", "#999999", "#0072B2", "#56B4E9", "#D55E00", "#E69F00", "#F0E442", "#CC79A7", "#555555")
_LINES: Mapping[str, tuple[str, str]] = {
    "Baseline": ("0.6", ":"), "Boost": ("0.6", "-"), "RoI": ("black", ":"), "Boost+RoI": ("black", "-"),
    "fit": ("0.6", ":"), "jigsawnet": ("0.6", "-"), "seam": ("black", ":"), "combined": ("black", "-"),
}  # fmt: skip
"""Colour and dashes of each detector."""
_FILLS = {"fit": "white", "jigsawnet": "0.8", "seam": "0.5", "combined": "black"}


def plot_sizes(summary: Sequence[Row], path: Path) -> None:
    """Accuracy and time against the number of pieces, the paper's points hollow; nothing for fewer than two sizes."""
    rows = [row for row in summary if row["curve"] is None and row["pieces"] and row["pcr"] is not None]
    if len({round(row["pieces"]) for row in rows}) < 2:
        return
    figure, (accuracy, time) = panels(2)
    for method in [name for name in STYLES if any(row["method"] == name for row in rows)]:
        color, dashes, marker = STYLES[method]
        own = sorted((row for row in rows if row["method"] == method), key=lambda row: row["pieces"])
        pieces = [row["pieces"] for row in own]
        style: dict[str, Any] = {"color": color, "marker": marker, "linestyle": dashes, "label": method}
        accuracy.plot(pieces, [100 * row["pcr"] for row in own], **style)
        time.plot(pieces, [row["seconds"] for row in own], **style)
        hollow: dict[str, Any] = {"color": color, "marker": marker, "linestyle": "", "markerfacecolor": "white"}
        printed = [figure for figure in FIGURES if figure.method == method]
        accuracy.plot([each.pieces for each in printed], [each.pcr for each in printed], **hollow)
        timed = [(each.pieces, each.seconds) for each in printed if each.seconds]
        time.plot([pieces for pieces, _ in timed], [seconds for _, seconds in timed], **hollow)
    accuracy.set(xscale="log", xlabel="pieces", ylabel="pieces in the right place, %", ylim=(0, 103), title="filled: here")
    time.set(xscale="log", yscale="log", xlabel="pieces", ylabel="seconds", title="hollow: the paper, its puzzles and machine")
    _plain_ticks([accuracy, time], (9, 36, 100, 400, 1000))
    finish(figure, [accuracy, time], path)


def plot_curves(summary: Sequence[Row], path: Path) -> None:
    """One panel for each kind of damage: accuracy against its strength; for missing pieces also that of the rest."""
    rows = [row for row in summary if row["curve"] is not None and row["pcr"] is not None]
    names = list(dict.fromkeys(row["curve"]["name"] for row in rows))
    if not names:
        return
    figure, axes = panels(len(names), 4)
    for axis, name in zip(axes, names, strict=True):
        own = [row for row in rows if row["curve"]["name"] == name]
        for method in dict.fromkeys(row["method"] for row in own):
            _plot_curve(axis, [row for row in own if row["method"] == method], method)
        axis.set(title=name, xlabel=own[0]["curve"]["axis"], ylim=(0, 103))
    axes[0].set_ylabel("pieces, %")
    finish(figure, axes, path)


def _plot_curve(axis: Axes, rows: Sequence[Row], method: str) -> None:
    color, dashes, marker = STYLES[method]
    rows = sorted(rows, key=lambda row: row["curve"]["at"])
    at = [row["curve"]["at"] for row in rows]
    axis.plot(at, [100 * row["pcr"] for row in rows], dashes, color=color, marker=marker, label=f"{method}: PCR")
    tight = [100 * row["pcr_tight"] for row in rows]
    axis.plot(at, tight, ":", color=color, marker=marker, markersize=3, label=f"{method}: PCR-tight")
    if any(row["pcr_rest"] is not None and row["pcr_rest"] != row["pcr"] for row in rows):
        rest = [100 * row["pcr_rest"] if row["pcr_rest"] is not None else np.nan for row in rows]
        axis.plot(at, rest, "--", color="#D55E00", marker="s", markersize=3, label=f"{method}: PCR of the rest")


def plot_precision_recall(summary: Sequence[Row], path: Path) -> None:
    """How well each method's scores tell right candidates from wrong ones, a panel for each group; recall counts candidates."""
    rows = [row for row in summary if row["curve"] is None and sum(row["right_scores"] or [0])]
    groups = list(dict.fromkeys(row["group"] for row in rows))
    if not groups:
        return
    figure, axes = panels(len(groups), 3)
    for axis, group in zip(axes, groups, strict=True):
        for names, right, wrong in _distinct_scores([row for row in rows if row["group"] == group]):
            precision, recall = precision_recall_of_counts(right, wrong)
            color, dashes, _ = STYLES[names[-1]]
            axis.plot(100 * recall, 100 * precision, dashes, color=color, label=", ".join(names))
        axis.set(title=group, xlabel="recall among candidates, %", ylabel="precision, %", xlim=(0, 101), ylim=(0, 103))
    finish(figure, axes, path)


def _distinct_scores(rows: Sequence[Row]) -> list[tuple[list[str], Sequence[int], Sequence[int]]]:
    """Methods that have the same scores, and the counts of these for right and for wrong candidates."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(str((row["right_scores"], row["wrong_scores"])), []).append(row)
    return [([row["method"] for row in own], own[0]["right_scores"], own[0]["wrong_scores"]) for own in groups.values()]


def precision_recall_of_counts(right: Sequence[int], wrong: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """Precision and recall at every threshold between bins, ``(T,)`` each, from counts by bin in rising order of score."""
    bins = np.concatenate([np.repeat(np.arange(len(counts), dtype=np.float64), counts) for counts in (right, wrong)])
    return precision_recall(bins, np.arange(len(bins)) < sum(right))


def plot_stages(summary: Sequence[Row], path: Path) -> None:
    """Seconds of each stage as stacked bars, a panel for each group."""
    rows = [row for row in summary if row["curve"] is None and row["stages"]]
    groups = list(dict.fromkeys(row["group"] for row in rows))
    if not groups:
        return
    figure, axes = panels(len(groups), 3)
    for axis, group in zip(axes, groups, strict=True):
        own = [row for row in rows if row["group"] == group]
        left = np.zeros(len(own))
        for stage, color in zip(_STAGES, _STAGE_COLORS, strict=True):
            seconds = np.array([row["stages"].get(stage, 0.0) for row in own])
            axis.barh(range(len(own)), seconds, left=left, color=color, edgecolor="white", linewidth=0.5, label=stage)
            left += seconds
        axis.set(title=group, xlabel="seconds", yticks=range(len(own)), yticklabels=[row["method"] for row in own])
        axis.invert_yaxis()
    finish(figure, axes, path)


def plot_tiles(rows: Sequence[Row], path: Path) -> None:
    """Accuracy against false joins per true one, a line for each composer."""
    figure, axes = panels(1)
    for name, style in zip(COMPOSERS, ("o:", "s--", "^-"), strict=True):
        own = [row for row in rows if row["method"] == name]
        points = [row["false_per_true"] for row in own], [100 * row["pcr"] for row in own]
        axes[0].plot(*points, style, color="black", label=name)
    axes[0].set(xlabel="false joins per true join", ylabel="pieces in the right place, %", ylim=(0, 103))
    finish(figure, axes, path)


def plot_greedy(table: Sequence[Row], puzzles: Sequence[str], path: Path) -> None:
    """Precision and recall of the greedy selection as bars, a row for each kind of puzzle, a panel for each matcher."""
    shown = [row for row in table if row["puzzle"] in puzzles and row["detector"] in SCORERS]
    matchers = list(dict.fromkeys(row["matcher"] for row in shown))
    kinds = list(dict.fromkeys(row["puzzle"] for row in shown))
    if not shown:
        return
    figure, axes = panels(len(kinds) * len(matchers), len(matchers))
    for axis, (kind, matcher) in zip(axes, [(kind, matcher) for kind in kinds for matcher in matchers], strict=True):
        own = {row["detector"]: row for row in shown if row["puzzle"] == kind and row["matcher"] == matcher}
        for k, (scorer, row) in enumerate(own.items()):
            at = np.arange(2) + 0.2 * (k - 0.5 * (len(own) - 1))
            shares = [100 * row["precision"], 100 * row["recall"]]
            axis.bar(at, shares, 0.18, color=_FILLS[scorer], edgecolor="black", linewidth=0.7, label=scorer)
        axis.set(title=f"{matcher}, {kind}", xticks=[0, 1], xticklabels=["precision, %", "recall, %"], ylim=(0, 103))
        axis.tick_params(axis="x", length=0)
    finish(figure, axes, path)


def plot_convergence(ensembles: Sequence[Ensemble], path: Path) -> None:
    """Loss against step with and without RoI, from the runs' histories; the first network in black, later ones in grey."""
    runs = [ensemble for ensemble in ensembles if ensemble.history]
    if not runs:
        return
    figure, axes = panels(1)
    for ensemble in runs:
        name, dashes = ("with RoI", "-") if ensemble.roi else ("without RoI", "--")
        for learner in sorted({row["learner"] for row in ensemble.history}, reverse=True):
            points = [(row["step"], row["loss"]) for row in ensemble.history if row["learner"] == learner]
            first = learner == 0
            color, width = ("black", 1.5) if first else ("0.7", 0.8)
            axes[0].plot(*np.array(points).T, dashes, color=color, linewidth=width, label=name if first else None)
    axes[0].set(xlabel="step", ylabel="training loss")
    axes[0].set_ylim(bottom=0)
    finish(figure, axes, path)


def plot_calibration(scorers: Mapping[str, Reliability], path: Path) -> None:
    """Share of right candidates against score; on the diagonal, scores are probabilities."""
    figure, axes = panels(1)
    axes[0].plot([0, 1], [0, 1], color="0.7", linewidth=0.8)
    for scorer, found in scorers.items():
        color, dashes = _LINES[scorer]
        axes[0].plot(found.mean_score, found.share_right, dashes, color=color, marker="o", markersize=3, label=scorer)
    axes[0].set(xlabel="score", ylabel="share of right candidates", xlim=(0, 1), ylim=(0, 1.02), aspect="equal")
    finish(figure, axes, path)


def plot_detectors(sets: Sequence[Judged], detectors: Sequence[str], path: Path) -> None:
    """Precision over recall of some detectors, over all plain puzzles of a matcher together; a panel for each matcher."""
    plain = [candidates for candidates in sets if candidates.plain and any(name in candidates.verdicts for name in detectors)]
    matchers = list(dict.fromkeys(candidates.matcher for candidates in plain))
    if not matchers:
        return
    figure, axes = panels(len(matchers))
    for axis, matcher in zip(axes, matchers, strict=True):
        own = [candidates for candidates in plain if candidates.matcher == matcher]
        for name in [name for name in detectors if name in own[0].verdicts]:
            score, _, right = pool(own, name)
            precision, recall = precision_recall(score, right)
            color, dashes = _LINES[name]
            axis.plot(100 * recall, 100 * precision, dashes, color=color, linewidth=1.5, label=name)
        axis.set(title=f"candidates of {matcher}", xlabel="recall, %", ylabel="precision, %", xlim=(0, 101), ylim=(0, 103))
    finish(figure, axes, path)


def _plain_ticks(axes: Sequence[Axes], ticks: Sequence[int]) -> None:
    for axis in axes:
        axis.set_xticks(ticks, [str(tick) for tick in ticks])
        axis.minorticks_off()


def panels(count: int, columns: int = 3) -> tuple[Figure, list[Axes]]:
    """A figure with ``count`` panels in reading order."""
    columns = min(columns, count)
    rows = -(-count // columns)
    width = max(MIN_WIDTH, PANEL_SIZE[0] * columns)
    figure = Figure(figsize=(width, PANEL_SIZE[1] * rows), layout="constrained")
    axes = list(figure.subplots(rows, columns, squeeze=False).flat)
    for spare in axes[count:]:
        spare.set_visible(False)
    return figure, axes[:count]


def finish(figure: Figure, axes: Sequence[Axes], path: Path) -> None:
    """One legend for all panels, no frames; write the file."""
    labels: dict[str, Any] = {}
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
        axis.title.set_fontsize("medium")
        handles, names = axis.get_legend_handles_labels()
        labels |= dict(zip(names, handles, strict=True))
    if labels:
        widest = 0.6 + 0.09 * max(map(len, labels))
        columns = max(1, int(figure.get_figwidth() / widest))
        figure.legend(list(labels.values()), list(labels), loc="outside lower center", ncols=columns, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=160)

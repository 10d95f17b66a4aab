"""The figures of a suite; left out when matplotlib is not installed or there is nothing to draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jigsawnet.evaluation.suites.report.canvas import STYLES, finish, panels
from jigsawnet.evaluation.suites.report.paper import FIGURES
from jigsawnet.types import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Row = Mapping[str, Any]

_STAGES = ("contours", "match", "score", "compose", "refine", "second round", "confidence")
_STAGE_COLORS = ("#999999", "#0072B2", "#56B4E9", "#D55E00", "#E69F00", "#F0E442", "#CC79A7")


def plot_sizes(summary: Sequence[Row], path: Path) -> None:
    """Accuracy and time against the number of pieces, the paper's points hollow; nothing for fewer than two sizes."""
    rows = [row for row in summary if row["curve"] is None and row["pieces"] and row["pcr"] is not None]
    found = panels(2, 2) if len({round(row["pieces"]) for row in rows}) > 1 else None
    if found is None:
        return
    figure, (accuracy, time) = found
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
    found = panels(len(names), 4)
    if found is None:
        return
    figure, axes = found
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
    found = panels(len(groups), 3)
    if found is None:
        return
    figure, axes = found
    for axis, group in zip(axes, groups, strict=True):
        for names, right, wrong in _distinct_scores([row for row in rows if row["group"] == group]):
            recall, precision = precision_recall(right, wrong)
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


def precision_recall(right: Sequence[int], wrong: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """Recall and precision at every threshold between bins, ``(T,)`` each, from counts by bin in rising order of score."""
    right_above = np.cumsum(np.array(right, dtype=np.float64)[::-1])
    wrong_above = np.cumsum(np.array(wrong, dtype=np.float64)[::-1])
    some = right_above + wrong_above > 0
    recall = right_above[some] / max(1.0, right_above[-1])
    return recall, right_above[some] / (right_above + wrong_above)[some]


def plot_stages(summary: Sequence[Row], path: Path) -> None:
    """Seconds of each stage as stacked bars, a panel for each group."""
    rows = [row for row in summary if row["curve"] is None and row["stages"]]
    groups = list(dict.fromkeys(row["group"] for row in rows))
    found = panels(len(groups), 3)
    if found is None:
        return
    figure, axes = found
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


def _plain_ticks(axes: Sequence[Axes], ticks: Sequence[int]) -> None:
    for axis in axes:
        axis.set_xticks(ticks, [str(tick) for tick in ticks])
        axis.minorticks_off()

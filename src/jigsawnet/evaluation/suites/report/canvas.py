"""What the plots have in common: panels, styles that differ in colour and in form, no clutter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jigsawnet.evaluation.suites.methods import OURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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


def panels(count: int, columns: int) -> tuple[Figure, list[Axes]] | None:
    """A figure with ``count`` panels in reading order; None without matplotlib or without panels."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - an extra
    except ImportError:
        return None
    if not count:
        return None
    columns = min(columns, count)
    rows = -(-count // columns)
    width = max(MIN_WIDTH, PANEL_SIZE[0] * columns)
    figure = Figure(figsize=(width, PANEL_SIZE[1] * rows), layout="constrained")
    axes = list(figure.subplots(rows, columns, squeeze=False).flat)
    for spare in axes[count:]:
        spare.set_visible(False)
    return figure, axes[:count]


def finish(figure: Figure, axes: Sequence[Axes], path: Path) -> None:
    """One legend for all panels, no frames, and off to the file."""
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

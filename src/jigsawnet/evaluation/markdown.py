"""Figures as a Markdown table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def markdown_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows with the same keys as a Markdown table."""
    if not rows:
        return ""
    keys = list(rows[0])
    lines = [keys, ["---"] * len(keys), *([cell_text(row[key]) for key in keys] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def cell_text(value: object) -> str:
    """A value as text, numbers with four digits."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)

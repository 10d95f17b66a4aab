"""The plan for large puzzles in docs/cluster.md follows from what was measured."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
SMALL, LARGE = json.loads((ROOT / "benchmarks" / "results" / "cost_per_pair.json").read_text())["rows"]
BLOCK, K, CANDIDATES = 16_384, 200, 20
SHOWN = [key for key in SMALL if f"| {key} |" in PAGE and key != "pairs"]


def cells(name: str, table: int = 0) -> list[str]:
    """The cells beside a name in the k-th row that has it."""
    rows = re.findall(rf"^\| {re.escape(name)} \|(.*)\|$", PAGE, re.MULTILINE)
    return [cell.strip() for cell in rows[table].split("|")]


@pytest.mark.parametrize("name", SHOWN)
def test_measured(name: str) -> None:
    assert cells(name) == [f"{row[name]:g}" for row in (SMALL, LARGE)]


def test_all_that_the_plan_needs_is_shown() -> None:
    assert len(SHOWN) == 7


@pytest.mark.parametrize(("column", "pieces"), [(0, 10_000), (1, 100_000)])
def test_plan(column: int, pieces: int) -> None:
    def told(name: str, table: int = 0) -> float:
        return float(cells(name, table)[column].replace(",", "").removesuffix(" million").removesuffix(" times"))

    pairs, per_pair = pieces * (pieces - 1) / 2, LARGE["CPU ms per pair"] / 1e3
    row_bytes = LARGE["rows per pair"] * LARGE["bytes per row"]
    hours = pairs * per_pair / 3600
    near = {"rel": 0.06}
    assert told("pairs") * 1e6 == pytest.approx(pairs, **near)
    assert told("matching, CPU hours") == pytest.approx(hours, **near)
    assert told("matching on 32 cores, hours") == pytest.approx(hours / 32, **near)
    assert told("matching on 256 cores, hours") == pytest.approx(hours / 256, **near)
    assert told("blocks of 16,384 pairs") == pytest.approx(pairs / BLOCK, **near)
    assert told("CPU seconds per block") == pytest.approx(BLOCK * per_pair, **near)
    scoring = CANDIDATES * pieces * LARGE["CPU ms per candidate scored"] / 3.6e6
    assert told("scoring, CPU hours (at most 20 candidates per piece)") == pytest.approx(scoring, **near)
    memory = pieces * (LARGE["kB per piece, borders"] + LARGE["kB per piece, windows"]) / 1e6
    assert told("memory of a worker process, GB (borders and windows)") == pytest.approx(memory, **near)
    assert told("measured rows on the machine that asks, GB") == pytest.approx(pairs * row_bytes / 1e9, **near)
    assert told("pairs, K = 200") * 1e6 == pytest.approx(pieces * K, **near)
    assert told("saved") == pytest.approx(pairs / (pieces * K), **near)
    assert told("matching, CPU hours", 1) == pytest.approx(pieces * K * per_pair / 3600, **near)
    assert told("measured rows, GB") == pytest.approx(pieces * K * row_bytes / 1e9, **near)

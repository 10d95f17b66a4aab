"""The record of a run: seconds and counts of each stage."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from jigsawnet.types import StageReport


class StageClock:
    """Collects a `StageReport` for every stage."""

    def __init__(self) -> None:
        self.stages: list[StageReport] = []

    @contextmanager
    def stage(self, name: str) -> Iterator[dict[str, int | float]]:
        """Time what happens inside; the caller fills in the counts."""
        counts: dict[str, int | float] = {}
        start = time.perf_counter()
        yield counts
        self.stages.append(StageReport(name, time.perf_counter() - start, counts))

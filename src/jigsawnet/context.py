"""Ground floor: what long work is given besides its input: progress, stop, workers and clock.

Nothing in it changes a result, apart from work that was stopped early.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from jigsawnet.geometry import SE2
from jigsawnet.stopping import Stop
from jigsawnet.types import Progress, StageReport, no_progress
from jigsawnet.workers import LocalWorkers, Shared, Workers
from jigsawnet.workers.protocol import Block, Data, Result

OnSnapshot = Callable[[Sequence[Mapping[int, SE2]]], None]
"""Called while composing with the components of two and more pieces so far, the poses of each in a frame of its own."""

Keep = Callable[[Any], None]
"""Given now and then what a stage has so far, in its own type, to be kept: a kill then loses little."""


class StageClock:
    """Collects a `StageReport` for every stage, and the seconds since all of it began."""

    def __init__(self, started: float | None = None) -> None:
        """``started`` is a `time.time` value; None: now."""
        self.stages: list[StageReport] = []
        self._started = time.time() if started is None else started

    @property
    def seconds(self) -> float:
        """Wall seconds since the start."""
        return time.time() - self._started

    @contextmanager
    def stage(self, name: str) -> Iterator[dict[str, int | float]]:
        """Time what happens inside; the caller fills in the counts."""
        counts: dict[str, int | float] = {}
        start = time.perf_counter()
        yield counts
        self.stages.append(StageReport(name, time.perf_counter() - start, counts))


@dataclass(frozen=True, slots=True)
class Context:
    """Progress, stop, workers and clock of one piece of work; the defaults say nothing and use all cores."""

    progress: Progress = no_progress
    stop: Stop = field(default_factory=Stop)
    workers: Workers = field(default_factory=LocalWorkers)
    clock: StageClock = field(default_factory=StageClock)
    on_snapshot: OnSnapshot | None = None
    keep: Keep | None = None

    def run(
        self, stage: str, work: Callable[[Data, Block], Result], shared: Shared[Data], blocks: Sequence[Block]
    ) -> list[Result]:
        """Have ``work(shared.data, block)`` done for all blocks: results in order; stopped early, those of the first blocks."""
        return self.workers.run(work, shared, blocks, lambda done, total: self.progress(stage, done, total), self.stop)

"""Threads on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait

from threadpoolctl import threadpool_limits

from jigsawnet.errors import ConfigError
from jigsawnet.stopping import Stop
from jigsawnet.workers.protocol import Block, Data, OnBlock, Result, Shared, ignore_progress

_LOOK_S = 0.1
"""How often a stop is looked for while a block is waited for."""


class LocalWorkers:
    """Threads; the compiled loops and networks inside run without the interpreter lock.

    Matrix products get one thread each, so that results do not depend on the number of cores.
    """

    grain = 1

    def __init__(self, count: int | None = None) -> None:
        if count is not None and count < 1:
            raise ConfigError(f"workers is {count}; it must be 1 or more.")
        self.slots = count or os.cpu_count() or 1

    def run(
        self,
        work: Callable[[Data, Block], Result],
        shared: Shared[Data],
        blocks: Sequence[Block],
        on_block: OnBlock = ignore_progress,
        stop: Stop | None = None,
    ) -> list[Result]:
        """As `Workers.run`."""
        done: list[Result] = []
        if not blocks or (stop and stop.is_over()):
            return done
        with threadpool_limits(1, "blas"), ThreadPoolExecutor(self.slots) as pool:
            futures = [pool.submit(work, shared.data, block) for block in blocks]
            try:
                for future in futures:
                    if stop and not _wait(future, stop):
                        break
                    done.append(future.result())
                    on_block(len(done), len(blocks))
            finally:
                for future in futures:
                    future.cancel()
        return done


def _wait(future: Future[Result], stop: Stop) -> bool:
    """Wait for a block; False as soon as the work is to end, so that no block is begun after that."""
    while not stop.is_over():
        if wait([future], _LOOK_S).done:
            return True
    return False

"""Work cut into blocks, one per piece i (i against all later pieces); blocks are independent and run side by side."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from threadpoolctl import threadpool_limits

from jigsawnet.types import Progress

Block = TypeVar("Block")


def map_blocks(work: Callable[[int], Block], n_pieces: int, progress: Progress) -> list[Block]:
    """Do ``work(i)`` for every i on all cores and give the results in order of i.

    The loops inside run without the interpreter lock; matrix products get one thread each, so that results do not depend on
    the number of cores.
    """
    done: list[Block] = []
    with threadpool_limits(1, "blas"), ThreadPoolExecutor(os.cpu_count()) as pool:
        for block in pool.map(work, range(n_pieces)):
            done.append(block)
            progress("match", len(done), n_pieces)
    return done

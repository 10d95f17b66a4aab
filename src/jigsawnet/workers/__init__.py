"""Ground floor: who does the work. Blocks run side by side on the cores of this machine, or on the machines of a cluster.

Work is a module-level function ``work(data, block) -> result`` without side effects, so that it can be sent, done twice or done
elsewhere; wherever it is done, the results are the same to the bit and come back in order.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from jigsawnet.errors import ConfigError
from jigsawnet.workers.cluster import ClusterWorkers
from jigsawnet.workers.local import LocalWorkers
from jigsawnet.workers.protocol import OnBlock, Shared, Workers

__all__ = ["ClusterWorkers", "LocalWorkers", "OnBlock", "Shared", "Workers", "open_workers"]


@contextmanager
def open_workers(count: int | None = None, scheduler: str | None = None) -> Iterator[Workers]:
    """The cores of this machine, at most ``count`` of them, or the cluster of the Dask scheduler at an address."""
    if scheduler is None:
        yield LocalWorkers(count)
        return
    if count is not None:
        raise ConfigError("Give either workers, for this machine, or scheduler, for a cluster.")
    with ClusterWorkers(scheduler) as workers:
        yield workers

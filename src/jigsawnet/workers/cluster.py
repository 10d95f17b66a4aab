"""A Dask cluster. The blocks of a worker that dies are done again by the others.

Whoever can reach the scheduler can run any code on the workers, so it belongs in a trusted network only.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from functools import cache
from itertools import takewhile
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from threadpoolctl import threadpool_limits

from jigsawnet.errors import ConfigError, WorkersError
from jigsawnet.stopping import Stop
from jigsawnet.version import __version__
from jigsawnet.workers.local import LocalWorkers
from jigsawnet.workers.protocol import Block, Data, OnBlock, Result, Shared, ignore_progress

_SCHEMES, _DEFAULT_PORT = ("tcp", "tls"), 8786
_ANSWER_S = 20.0
"""How long the scheduler may take to answer."""
_JOIN_S = 20.0
"""How long to wait for the first worker."""
_COME_BACK_S = 300.0
"""How long to wait for workers when all of them are gone."""
_MOST_LOSSES = 5
"""How often work is begun again because workers died with it."""
_RETRIES = 2
"""How often a block that failed is tried again, perhaps by another worker."""


class ClusterWorkers:
    """The workers of the Dask scheduler at ``address``, as ``tcp://host:8786``; use it as a context manager."""

    grain = 8

    def __init__(self, address: str) -> None:
        dask = _import_dask()
        self._address = address
        try:
            _check_address(address)
            self._client = dask.Client(address, timeout=_ANSWER_S, set_as_default=False)
        except OSError as error:
            raise WorkersError(
                f"No Dask scheduler answers at {address}; start one with `dask scheduler`, or correct the address."
            ) from error
        self._remote: WeakKeyDictionary[Shared[Any], Any] = WeakKeyDictionary()
        try:
            self._wait_for_workers(_JOIN_S)
            self._check_versions()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> ClusterWorkers:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Leave the cluster; its workers stay."""
        self._remote.clear()
        self._client.close()

    @property
    def slots(self) -> int:
        """Threads of all workers that are there now."""
        return max(1, sum(int(threads) for threads in self._client.nthreads().values()))

    def run(
        self,
        work: Callable[[Data, Block], Result],
        shared: Shared[Data],
        blocks: Sequence[Block],
        on_block: OnBlock = ignore_progress,
        stop: Stop | None = None,
    ) -> list[Result]:
        """As `Workers.run`; blocks lost with their workers are done again, and a single block is not worth sending."""
        if len(blocks) <= 1:
            return LocalWorkers().run(work, shared, blocks, on_block, stop)
        dask = _import_dask()
        results: dict[int, Result] = {}
        for _ in range(_MOST_LOSSES):
            try:
                self._run_missing(work, shared, blocks, results, on_block, stop)
                return [results[k] for k in takewhile(results.__contains__, range(len(blocks)))]
            except (dask.KilledWorker, dask.CancelledError, dask.comm.CommClosedError) as error:
                if self._client.status != "running":
                    raise WorkersError(f"The Dask scheduler at {self._address} is gone; start it again.") from error
            except ImportError as error:
                raise self._lacks_package(error) from error
            self._remote.pop(shared, None)  # may have been lost with its last holder: sent again
            self._wait_for_workers(_COME_BACK_S)
        raise WorkersError(f"The workers of {self._address} die again and again in this work; give them more memory.")

    def _run_missing(
        self,
        work: Callable[[Data, Block], Result],
        shared: Shared[Data],
        blocks: Sequence[Block],
        results: dict[int, Result],
        on_block: OnBlock,
        stop: Stop | None,
    ) -> None:
        """Fill in ``results``; only a few more blocks than there are threads are on their way at a time."""
        dask = _import_dask()
        missing = (k for k in range(len(blocks)) if k not in results)
        number: dict[Any, int] = {}
        arriving = dask.as_completed(loop=self._client.loop)
        data = self._sent(shared)

        def send() -> None:
            while len(number) < 2 * self.slots + 2 and (k := next(missing, None)) is not None:
                future = self._client.submit(_do, __version__, work, data, blocks[k], pure=False, retries=_RETRIES)
                number[future] = k
                arriving.add(future)

        try:
            if not (stop and stop.is_over()):
                send()
            while number:
                future = next(arriving)
                results[number.pop(future)] = future.result()
                on_block(len(results), len(blocks))
                if len(results) < len(blocks) and stop and stop.is_over():
                    return
                send()
        finally:
            self._client.cancel(list(number), force=True)

    def _sent(self, shared: Shared[Any]) -> Any:
        if shared not in self._remote:
            self._remote[shared] = self._client.scatter(shared.data, broadcast=True, hash=False)
        return self._remote[shared]

    def _wait_for_workers(self, seconds: float) -> None:
        try:
            self._client.wait_for_workers(1, timeout=seconds)
        except TimeoutError as error:
            raise WorkersError(
                f"The Dask scheduler at {self._address} has no workers; start some with `dask worker {self._address}`."
            ) from error

    def _check_versions(self) -> None:
        try:
            found = {"The scheduler": self._client.run_on_scheduler(_version_here)}
        except ImportError as error:
            raise self._lacks_package(error) from error
        found |= self._client.run(_version_here, on_error="return")
        for machine, version in found.items():
            if isinstance(version, ImportError):
                raise self._lacks_package(version)
            if isinstance(version, str) and version != __version__:  # else the worker has died
                raise WorkersError(_mismatch(machine, version, __version__))

    def _lacks_package(self, error: ImportError) -> WorkersError:
        return WorkersError(
            f"A machine of the cluster {self._address} lacks a package ({error}); install jigsawnet {__version__} there."
        )


def _check_address(address: str) -> None:
    """Check that a scheduler answers: it sends the first byte; a Dask client would wait forever for any other server."""
    try:
        parts = urlsplit(address if "://" in address else f"tcp://{address}")
        host, port = parts.hostname, parts.port or _DEFAULT_PORT
    except ValueError:
        host = None
    if not host or parts.scheme not in _SCHEMES:
        raise ConfigError(f"scheduler is {address!r}; it must be an address as tcp://host:{_DEFAULT_PORT}.")
    with socket.create_connection((host, port), _ANSWER_S) as connection:
        if parts.scheme == "tcp" and not connection.recv(1):
            raise ConnectionError("the server sent nothing")


def _import_dask() -> Any:
    try:
        import distributed  # noqa: PLC0415 - an extra, and slow to load
    except ImportError as error:
        raise ConfigError("A scheduler needs the package distributed; run `pip install jigsawnet[cluster]`.") from error
    return distributed


def _do(version: str, work: Callable[[Data, Block], Result], data: Data, block: Block) -> Result:
    """One block, on a worker."""
    if version != __version__:
        raise WorkersError(_mismatch("A worker", __version__, version))
    _limit_threads()
    return work(data, block)


@cache
def _limit_threads() -> None:
    """One thread for each matrix product from now on: results do not depend on the cores of a worker."""
    threadpool_limits(1, "blas")


def _version_here() -> str:
    return __version__


def _mismatch(worker: str, found: str, wanted: str) -> str:
    return f"{worker} has jigsawnet {found}, and this is {wanted}; install the same version on all machines."

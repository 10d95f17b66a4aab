"""A real Dask scheduler and real worker processes on this machine; one is killed while it holds a block."""

from __future__ import annotations

import json
import operator
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from jigsawnet.candidates import Candidates
from jigsawnet.config import SolveConfig
from jigsawnet.context import Context
from jigsawnet.errors import WorkersError
from jigsawnet.pipeline import Corridor
from jigsawnet.shred import ShredConfig, shred_images
from jigsawnet.stopping import Stop
from jigsawnet.types import Puzzle, UInt8Array
from jigsawnet.workers import ClusterWorkers, Shared, cluster

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

PATIENCE_S = 600.0
"""How long anything may take on a slow and busy machine; all waits end as soon as what they wait for is there."""
HOLDS_ITS_BLOCK = """
import os, pathlib, threading
from jigsawnet.workers import cluster

def hold(*_):
    pathlib.Path(os.environ["HOLDS_A_BLOCK"]).touch()
    threading.Event().wait()

cluster._do = hold
"""
"""Run by a worker as it starts: it takes a block, says so, and never gives it back."""
OTHER_VERSION = """
from jigsawnet.workers import cluster

cluster.__version__ = "0.0.1"
"""
"""Run by a worker as it starts: it says that it has another jigsawnet."""
SEAM = SolveConfig(scorer="seam")
PRELOADED = {"doomed": HOLDS_ITS_BLOCK, "other": OTHER_VERSION}


def wait_until(is_so: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end, f"{what} did not happen"
        time.sleep(0.05)


@dataclass
class Cluster:
    """A scheduler, and workers that can be added and killed."""

    folder: Path
    address: str = ""
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def holding(self) -> Path:
        """There once a worker that never gives back its block has one."""
        return self.folder / "holding"

    def start(self, name: str, *command: str) -> None:
        timeouts = {f"DASK_DISTRIBUTED__COMM__TIMEOUTS__{kind}": "120s" for kind in ("CONNECT", "TCP")}
        environment = {**os.environ, **timeouts, "HOLDS_A_BLOCK": str(self.holding)}
        with (self.folder / f"{name}.log").open("wb") as log:
            arguments = [sys.executable, "-m", *command, "--scheduler-file", str(self.folder / "scheduler.json")]
            self.processes[name] = subprocess.Popen(
                arguments, stdout=log, stderr=subprocess.STDOUT, env=environment, cwd=self.folder
            )

    def start_scheduler(self) -> str:
        self.start("scheduler", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        file = self.folder / "scheduler.json"

        def is_written() -> bool:
            try:
                return bool(json.loads(file.read_text())["address"])
            except (OSError, ValueError, KeyError):
                return False

        wait_until(is_written, "the start of the scheduler")
        self.address = str(json.loads(file.read_text())["address"])
        return self.address

    def start_worker(self, name: str) -> None:
        preload = PRELOADED.get(name)
        options = ["--no-nanny", "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1", "--name", name]
        options += ["--local-directory", str(self.folder / name)] + (["--preload", preload] if preload else [])
        self.start(name, "distributed.cli.dask_worker", *options)

    def keep_only(self, name: str) -> None:
        """One worker, as `start_worker` starts it; all others are killed."""
        for other in set(self.processes) - {"scheduler", name}:
            self.kill(other)
        if name not in self.processes:
            self.holding.unlink(missing_ok=True)
            self.start_worker(name)
        self.wait_for(name)

    def wait_for(self, *names: str) -> None:
        """Wait until the scheduler knows these workers and no others."""
        with distributed.Client(self.address, timeout=PATIENCE_S, set_as_default=False) as client:

            def known() -> list[str]:
                return sorted(worker["name"] for worker in client.scheduler_info()["workers"].values())

            wait_until(lambda: known() == sorted(names), f"a cluster of {names}")

    def kill(self, name: str) -> None:
        process = self.processes.pop(name)
        process.kill()
        process.wait(PATIENCE_S)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cluster, str]]:
    """A cluster with two workers, of which ``doomed`` never gives back the block it takes; and its address."""
    machines = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        address = machines.start_scheduler()
        machines.start_worker("steady")
        machines.start_worker("doomed")
        with dask.config.set({"distributed.comm.timeouts.connect": "120s"}):
            yield machines, address
    finally:
        for name in list(machines.processes):
            machines.kill(name)


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is given up on a slow machine, and blocks are so small that a tiny puzzle makes several."""
    monkeypatch.setattr(cluster, "_ANSWER_S", PATIENCE_S)
    monkeypatch.setattr(cluster, "_JOIN_S", PATIENCE_S)
    monkeypatch.setattr(cluster, "_COME_BACK_S", PATIENCE_S)
    monkeypatch.setattr(ClusterWorkers, "grain", 1)
    monkeypatch.setattr("jigsawnet.match.pairs._FEWEST_PAIRS", 1)


@pytest.fixture(scope="module")
def puzzle(picture: UInt8Array) -> Puzzle:
    return shred_images([picture], ShredConfig(pieces=9), np.random.default_rng(9))[0]


@pytest.fixture(scope="module")
def alone(puzzle: Puzzle) -> tuple[Candidates, Candidates]:
    """Candidates as this machine finds them, and scored."""
    walk = Corridor(puzzle, SEAM)
    return walk.get("candidates").rows, walk.get("scored").rows


def assert_same(one: Candidates, two: Candidates) -> None:
    assert len(one) > 0
    for name in Candidates.__slots__:
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)


@pytest.mark.slow
def test_a_worker_is_killed_and_the_result_is_the_same_to_the_bit(
    running: tuple[Cluster, str], puzzle: Puzzle, alone: tuple[Candidates, Candidates]
) -> None:
    machines, address = running
    candidates, scored = alone
    machines.wait_for("steady", "doomed")
    with ClusterWorkers(address) as workers:

        def kill_the_one_that_holds_a_block() -> None:
            wait_until(machines.holding.exists, "a block on the doomed worker")
            machines.kill("doomed")

        killer = threading.Thread(target=kill_the_one_that_holds_a_block)
        killer.start()
        told: dict[str, list[tuple[int, int]]] = {"match": [], "score": []}
        context = Context(lambda stage, done, total: told[stage].append((done, total)), workers=workers)
        walk = Corridor(puzzle, SEAM, context)
        found = walk.get("candidates").rows
        killer.join(PATIENCE_S)
        assert "doomed" not in machines.processes, "the matching ended, so the block was given to another worker"
        assert_same(found, candidates)
        assert told["match"][-1][0] == told["match"][-1][1] > 2

        machines.start_worker("late")
        machines.wait_for("steady", "late")
        assert_same(walk.get("scored").rows, scored)
        assert told["score"][0][1] > 1, "the scores are worth several blocks"


def test_order_errors_and_stop(running: tuple[Cluster, str]) -> None:
    machines, address = running
    machines.keep_only("steady")
    with ClusterWorkers(address) as workers:
        assert workers.run(operator.mul, Shared(3), range(30)) == [3 * k for k in range(30)]
        with pytest.raises(ZeroDivisionError):
            workers.run(operator.truediv, Shared(1), [1, 0, 2])
        stop = Stop()
        found = workers.run(operator.mul, Shared(1), range(500), lambda done, _: stop.request() if done == 7 else None, stop)
        assert len(found) <= 7
        assert found == list(range(len(found)))
        assert workers.run(operator.mul, Shared(1), range(5)) == [0, 1, 2, 3, 4], "goes on after a stop"


def test_the_only_worker_dies_with_all_data_and_another_comes(running: tuple[Cluster, str]) -> None:
    machines, address = running
    machines.keep_only("doomed")
    with ClusterWorkers(address) as workers:

        def replace_it() -> None:
            wait_until(machines.holding.exists, "a block on the doomed worker")
            machines.kill("doomed")
            machines.start_worker("steady")

        helper = threading.Thread(target=replace_it)
        helper.start()
        assert workers.run(operator.mul, Shared(3), range(30)) == [3 * k for k in range(30)]
        helper.join(PATIENCE_S)


def test_another_version_on_a_worker_is_said_in_a_sentence(running: tuple[Cluster, str]) -> None:
    machines, address = running
    machines.keep_only("other")
    with pytest.raises(WorkersError, match=r"has jigsawnet 0\.0\.1, and this is .*; install the same version"):
        ClusterWorkers(address)


def test_nobody_at_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setattr(cluster, "_ANSWER_S", 0.5)
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(WorkersError, match=f"No Dask scheduler answers at {address}"):
            ClusterWorkers(address)
    with pytest.raises(WorkersError, match="No Dask scheduler answers"):
        ClusterWorkers(address)


def test_a_scheduler_without_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = Cluster(tmp_path)
    try:
        address = empty.start_scheduler()
        with monkeypatch.context() as hasty:
            hasty.setattr(cluster, "_JOIN_S", 0.5)
            with pytest.raises(WorkersError, match="has no workers; start some with `dask worker"):
                ClusterWorkers(address)
    finally:
        empty.kill("scheduler")

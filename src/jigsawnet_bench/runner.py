"""All puzzles and methods of a suite, each in a fresh process; what is recorded already is not done again."""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from pathlib import Path

from jigsawnet.errors import ConfigError
from jigsawnet.shred import ShredConfig
from jigsawnet.types import Progress, no_progress
from jigsawnet_bench.cases import Case
from jigsawnet_bench.methods import METHODS, check_methods
from jigsawnet_bench.records import Record, Run, forget_record, read_record, write_record
from jigsawnet_bench.suite import Group, Kind, Suite
from jigsawnet_bench.tasks import run_job
from jigsawnet_bench.work import Job, source_digest

WARM_UP = "warm-up"
_TERMINATE_SECONDS = 5.0

Launch = Callable[[Sequence[Sequence[Job]], int, float, Callable[[], None]], None]
"""Called as ``launch(queues, workers, time_limit, tell)``; runs the jobs of each queue one after the other."""


def plan_jobs(
    suite: Suite,
    cases: Sequence[Case],
    work: Path,
    methods: Sequence[str] = (),
    runs: Sequence[Path] = (),
    weights: Path | None = None,
) -> list[Job]:
    """A job for each puzzle and method; ``methods`` replaces those of the suite; ``runs`` and ``weights`` as in `Job`."""
    task = suite.head.task
    check_methods(methods, task)
    folder, source = work / suite.name, source_digest()
    return [
        Job(case, METHODS[task][name], folder, source, task, tuple(runs), weights)
        for case in cases
        for name in dict.fromkeys(methods or suite.methods_of(case.group))
    ]


def run_jobs(
    jobs: Sequence[Job], workers: int, time_limit: float, progress: Progress = no_progress, launch: Launch | None = None
) -> list[Run]:
    """Do what is not recorded yet, and give the records of all jobs in order.

    Methods of one puzzle follow each other, so that they share its saved stages. Jobs that failed before are tried again. With
    more than one worker, seconds are not those of an idle machine. ``launch`` starts the processes.
    """
    if workers < 1:
        raise ConfigError(f"workers is {workers}; at least 1 is needed.")
    keys = [job.key() for job in jobs]
    queues: dict[str, dict[str, Job]] = {}
    for job, key in zip(jobs, keys, strict=True):
        record = read_record(job.folder, key)
        if record is None or record.error is not None:
            queues.setdefault(job.case.digest(), {})[key] = job
    open_jobs = [list(queue.values()) for queue in queues.values()]
    total = len(set(keys))
    done = total - sum(map(len, open_jobs))
    progress("bench", done, total)

    def tell() -> None:
        nonlocal done
        done += 1
        progress("bench", done, total)

    launch = launch or run_in_processes
    if open_jobs:
        launch([warm_up_jobs([job for queue in open_jobs for job in queue])], 1, time_limit, lambda: None)
        launch(open_jobs, workers, time_limit, tell)
    lost = Record(error="It left no record; run it again.")
    return [
        Run(job.case, job.method.name, key, read_record(job.folder, key) or lost) for job, key in zip(jobs, keys, strict=True)
    ]


def warm_up_jobs(jobs: Sequence[Job]) -> list[Job]:
    """A tiny puzzle for each method, so that nothing is compiled for the first time while the clock runs."""
    group = Group(Kind(WARM_UP, "generated", 1), ShredConfig(pieces=4))
    methods = {job.method.name: job for job in jobs}
    task = {job.task: "solve" if job.task == "real" else job.task for job in jobs}  # what is cut has its truth
    tiny = [replace(job, case=Case(group, 0), folder=job.folder / WARM_UP, task=task[job.task]) for job in methods.values()]
    return [job for job in tiny if read_record(job.folder, job.key()) is None]


@dataclass(slots=True)
class _Running:
    """A process at work on the first job of its queue, and until when it may work."""

    process: SpawnProcess
    queue: deque[Job]
    until: float


def run_in_processes(queues: Sequence[Sequence[Job]], workers: int, time_limit: float, tell: Callable[[], None]) -> None:
    """Run every job in a process of its own, at most ``workers`` at a time; those that die or take too long are recorded."""
    waiting = deque(deque(queue) for queue in queues if queue)
    running: list[_Running] = []
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                running.append(_start(waiting.popleft(), time_limit))
            nearest = min(each.until for each in running) - time.monotonic()
            wait([each.process.sentinel for each in running], timeout=max(0.0, nearest))
            for each in [each for each in running if _is_over(each)]:
                running.remove(each)
                _settle(each, time_limit)
                tell()
                if each.queue:
                    waiting.appendleft(each.queue)
    finally:
        for each in running:
            _stop(each.process)


def run_alone(job: Job) -> None:
    """What a process of its own does; an interruption is for the process that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    run_job(job)


def _start(queue: deque[Job], time_limit: float) -> _Running:
    forget_record(queue[0].folder, queue[0].key())
    process = multiprocessing.get_context("spawn").Process(target=run_alone, args=(queue[0],), daemon=True)
    process.start()
    return _Running(process, queue, time.monotonic() + time_limit)


def _is_over(each: _Running) -> bool:
    return not each.process.is_alive() or time.monotonic() >= each.until


def _settle(each: _Running, time_limit: float) -> None:
    """Take the job off its queue; one that left no record has failed."""
    job = each.queue.popleft()
    key, late = job.key(), each.process.is_alive()
    if late:
        _stop(each.process)
    each.process.join()
    if late or read_record(job.folder, key) is None:
        reason = f"took longer than {time_limit:g} s" if late else f"ended with code {each.process.exitcode}"
        write_record(job.folder, key, Record(error=f"The process {reason}."))


def _stop(process: SpawnProcess) -> None:
    process.terminate()
    process.join(_TERMINATE_SECONDS)
    if process.is_alive():
        process.kill()
        process.join()

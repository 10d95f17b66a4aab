"""All runs of a suite: nothing is done twice, one failure stops nothing, processes that die or hang are recorded."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from jigsawnet.errors import ConfigError
from jigsawnet.shred import ShredConfig
from jigsawnet_bench import runner as module
from jigsawnet_bench.cases import suite_cases
from jigsawnet_bench.records import Record, read_record, write_record
from jigsawnet_bench.runner import plan_jobs, run_in_processes, run_jobs
from jigsawnet_bench.suite import Group, Head, Kind, Suite
from jigsawnet_bench.work import Job, source_digest


@pytest.fixture
def jobs(photos: Path, tmp_path: Path) -> list[Job]:
    """Two puzzles, two methods."""
    suite = Suite(
        "mine", Head("title", methods=("Zhang", "ours")), (Group(Kind("four", puzzles=2), ShredConfig(pieces=4)),), Path()
    )
    return plan_jobs(suite, suite_cases(suite, photos), tmp_path / "work")


class Pretend:
    """Stands for processes: records a result for every job but those whose method is ``failing``."""

    def __init__(self, failing: str = "") -> None:
        self.failing = failing
        self.done: list[str] = []

    def __call__(self, queues: Sequence[Sequence[Job]], workers: int, time_limit: float, tell: Callable[[], None]) -> None:
        for job in (job for queue in queues for job in queue if job.folder.name != "warm-up"):
            error = "It does not fit." if job.method.name == self.failing else None
            write_record(job.folder, job.key(), Record(1.0, error=error))
            self.done.append(f"{job.method.name} {job.case.number}")
            tell()


def test_methods_of_a_puzzle_follow_each_other(jobs: list[Job]) -> None:
    launch, told = Pretend(), list[tuple[str, int, int]]()
    runs = run_jobs(jobs, 1, 60.0, lambda *step: told.append(step), launch)
    assert launch.done == ["Zhang 0", "ours 0", "Zhang 1", "ours 1"]
    assert told == [("bench", done, 4) for done in range(5)]
    assert [(run.method, run.record.seconds) for run in runs] == [("Zhang", 1.0), ("ours", 1.0)] * 2


def test_what_is_recorded_is_not_done_again(jobs: list[Job]) -> None:
    first = Pretend()
    run_jobs(jobs[:3], 1, 60.0, launch=first)
    second, told = Pretend(), list[tuple[str, int, int]]()
    runs = run_jobs(jobs, 1, 60.0, lambda *step: told.append(step), second)
    assert second.done == ["ours 1"]
    assert told[0] == ("bench", 3, 4)
    assert len(runs) == 4
    third = Pretend()
    run_jobs(jobs, 1, 60.0, launch=third)
    assert not third.done


def test_a_changed_program_makes_old_records_void(jobs: list[Job]) -> None:
    run_jobs(jobs, 1, 60.0, launch=Pretend())
    launch = Pretend()
    run_jobs([replace(job, source="changed") for job in jobs], 1, 60.0, launch=launch)
    assert len(launch.done) == 4


def test_one_failure_stops_nothing_and_is_tried_again(jobs: list[Job]) -> None:
    runs = run_jobs(jobs, 1, 60.0, launch=Pretend(failing="Zhang"))
    assert [run.record.error for run in runs] == ["It does not fit.", None] * 2
    launch = Pretend()
    assert all(run.record.error is None for run in run_jobs(jobs, 1, 60.0, launch=launch))
    assert launch.done == ["Zhang 0", "Zhang 1"]


def test_equal_puzzles_of_two_curves_are_solved_once(jobs: list[Job]) -> None:
    renamed = [
        replace(job, case=replace(job.case, group=replace(job.case.group, kind=Kind("other", puzzles=2)))) for job in jobs
    ]
    launch = Pretend()
    assert len(run_jobs([*jobs, *renamed], 1, 60.0, launch=launch)) == 8
    assert len(launch.done) == 4


def test_methods_can_be_chosen(photos: Path, tmp_path: Path) -> None:
    suite = Suite("mine", Head("title"), (Group(Kind("four", puzzles=1, methods=("Zhang",))),), Path())
    cases = suite_cases(suite, photos)
    assert [job.method.name for job in plan_jobs(suite, cases, tmp_path)] == ["Zhang"]
    assert [job.method.name for job in plan_jobs(suite, cases, tmp_path, ["ours", "Zhang", "ours"])] == ["ours", "Zhang"]
    with pytest.raises(ConfigError, match='There is no method "BF"'):
        plan_jobs(suite, cases, tmp_path, ["BF"])


def test_at_least_one_worker_is_needed(jobs: list[Job]) -> None:
    with pytest.raises(ConfigError, match="workers is 0"):
        run_jobs(jobs, 0, 60.0)


def test_a_process_that_takes_too_long_is_stopped_and_recorded(jobs: list[Job]) -> None:
    told: list[int] = []
    run_in_processes([jobs[:1], jobs[2:3]], 2, 0.05, lambda: told.append(1))
    for job in (jobs[0], jobs[2]):
        record = read_record(job.folder, job.key())
        assert record is not None
        assert record.error == "The process took longer than 0.05 s."
    assert len(told) == 2


def test_a_process_that_dies_is_recorded(jobs: list[Job]) -> None:
    dead: Any = SimpleNamespace(is_alive=lambda: False, join=lambda: None, exitcode=-9)
    running = module._Running(dead, deque(jobs[:1]), 0.0)
    module._settle(running, 60.0)
    record = read_record(jobs[0].folder, jobs[0].key())
    assert record is not None
    assert record.error == "The process ended with code -9."
    assert not running.queue


@pytest.mark.slow
def test_a_real_process_leaves_a_record(jobs: list[Job]) -> None:
    source_digest.cache_clear()  # a file may have been saved since the first test ran
    job = replace(jobs[0], source=source_digest())
    run_in_processes([[job]], 1, 600.0, lambda: None)
    record = read_record(job.folder, job.key())
    assert record is not None
    assert record.error is None
    assert record.measured["n"] == 4

"""Blocks on the cores of this machine."""

from __future__ import annotations

import sys
import threading

import pytest

from jigsawnet.errors import ConfigError
from jigsawnet.stopping import Stop
from jigsawnet.workers import LocalWorkers, Shared, open_workers


def _times(factor: int, block: int) -> int:
    return factor * block


def _fails(_: int, block: int) -> int:
    if block == 3:
        raise ValueError("block 3")
    return block


@pytest.mark.parametrize("count", [1, 2, 5, None])
def test_results_come_back_in_order(count: int | None) -> None:
    told: list[tuple[int, int]] = []
    assert LocalWorkers(count).run(_times, Shared(3), range(20), lambda *call: told.append(call)) == [3 * k for k in range(20)]
    assert told == [(k + 1, 20) for k in range(20)]


def test_no_blocks_no_results() -> None:
    assert LocalWorkers(2).run(_times, Shared(3), []) == []


def test_no_more_blocks_run_at_a_time_than_there_are_slots() -> None:
    running, most, lock, both = 0, 0, threading.Lock(), threading.Barrier(2)

    def work(_: None, block: int) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        both.wait(timeout=300)  # nobody gets on before a second one is there: two run side by side
        with lock:
            running -= 1

    LocalWorkers(2).run(work, Shared(None), range(8))
    assert most == 2


def test_an_error_ends_the_work() -> None:
    with pytest.raises(ValueError, match="block 3"):
        LocalWorkers(2).run(_fails, Shared(0), range(1000))


def test_a_stop_ends_it_with_the_first_results() -> None:
    stop = Stop()

    def told(done: int, total: int) -> None:
        if done == 4:
            stop.request()

    assert LocalWorkers(2).run(_times, Shared(1), range(50), told, stop) == [0, 1, 2, 3]


def test_workers_are_chosen_by_count_or_address() -> None:
    with open_workers(3) as workers:
        assert workers.slots == 3
    with pytest.raises(ConfigError, match="workers is 0"), open_workers(0):
        pass
    with pytest.raises(ConfigError, match="either workers"), open_workers(2, "tcp://127.0.0.1:8786"):
        pass


@pytest.mark.parametrize("address", ["", "tcp://", "http://127.0.0.1:8786", "tcp://[", "tcp://127.0.0.1:99999"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    pytest.importorskip("distributed")
    with pytest.raises(ConfigError, match="it must be an address"), open_workers(None, address):
        pass


def test_without_the_extra_a_scheduler_is_refused_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ConfigError, match=r"pip install jigsawnet\[cluster\]"), open_workers(None, "tcp://127.0.0.1:8786"):
        pass

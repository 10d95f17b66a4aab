"""What long work is handed: whom to tell, when to stop, who works, and the clock."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from jigsawnet.context import Context, StageClock
from jigsawnet.stopping import Stop
from jigsawnet.types import no_progress
from jigsawnet.workers import LocalWorkers, Shared


def add(shared: int, block: int) -> int:
    return shared + block


def test_a_context_of_its_own_says_nothing_and_stops_never() -> None:
    context = Context()
    assert context.progress is no_progress
    assert not context.stop.is_over()
    assert isinstance(context.workers, LocalWorkers)
    assert context.on_snapshot is None
    assert context.clock.stages == []


def test_no_two_contexts_share_a_stop_or_a_clock() -> None:
    one, two = Context(), Context()
    one.stop.request()
    with one.clock.stage("match"):
        pass
    assert not two.stop.is_over()
    assert two.clock.stages == []


def test_work_is_done_by_the_workers_in_order_and_told_by_the_name_of_its_stage() -> None:
    told: list[tuple[str, int, int]] = []
    context = Context(lambda *call: told.append(call), workers=LocalWorkers(2))
    assert context.run("match", add, Shared(10), range(5)) == [10, 11, 12, 13, 14]
    assert {stage for stage, _, _ in told} == {"match"}
    assert told[-1] == ("match", 5, 5)
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)


def test_stopped_work_gives_what_it_has_from_the_first_on() -> None:
    stop = Stop()
    context = Context(lambda stage, done, total: stop.request() if done >= 2 else None, stop, LocalWorkers(1))
    found = context.run("match", add, Shared(0), range(100))
    assert 2 <= len(found) < 100
    assert found == list(range(len(found)))
    assert stop.has_cut


def test_a_context_is_changed_by_making_another() -> None:
    context = Context()
    with pytest.raises(AttributeError):
        context.stop = Stop()  # type: ignore[misc]
    quick = replace(context, stop=Stop.after(0.0))
    assert quick.stop.is_over()
    assert not context.stop.is_over()
    assert quick.clock is context.clock


def test_the_clock_collects_seconds_and_counts_of_every_stage_in_order() -> None:
    clock = StageClock()
    for name in ("contours", "match"):
        with clock.stage(name) as counts:
            time.sleep(0.01)
            counts["pieces"] = 4
    assert [stage.name for stage in clock.stages] == ["contours", "match"]
    assert all(stage.seconds >= 0.009 and stage.counts == {"pieces": 4} for stage in clock.stages)
    assert clock.seconds >= sum(stage.seconds for stage in clock.stages) - 0.05


def test_a_stage_that_fails_is_not_reported() -> None:
    clock = StageClock()
    with pytest.raises(KeyError), clock.stage("match"):
        raise KeyError("piece")
    assert clock.stages == []


def test_the_clock_may_have_started_earlier() -> None:
    assert 60 <= StageClock(time.time() - 60).seconds < 70

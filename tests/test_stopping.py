"""When to stop: by time, on request, and what is remembered of it."""

from __future__ import annotations

import time

from jigsawnet.stopping import Stop


def test_without_a_deadline_only_a_request_ends_it() -> None:
    stop = Stop.after(None)
    assert not stop.is_over()
    assert not stop.has_cut
    stop.request()
    assert stop.is_requested
    assert not stop.has_cut, "nobody was told yet"
    assert stop.is_over()
    assert stop.has_cut


def test_a_deadline_in_the_past_is_over() -> None:
    stop = Stop(time.monotonic() - 1)
    assert not stop.is_requested
    assert stop.is_over()


def test_a_part_that_runs_out_is_remembered_by_the_whole() -> None:
    stop = Stop.after(3600)
    part = stop.part(0.5).part(0.0)
    assert part.is_over()
    assert not stop.is_over()
    assert stop.has_cut


def test_a_request_reaches_the_parts() -> None:
    stop = Stop.after(3600)
    part = stop.part(0.5)
    assert not part.is_over()
    stop.request()
    assert part.is_over()


def test_a_step_that_ends_only_when_asked_does_not_mind_the_time() -> None:
    whole = Stop.after(0.0)
    part = whole.by_request()
    assert not part.is_over()
    assert not whole.has_cut
    whole.request()
    assert part.is_over()
    assert whole.has_cut

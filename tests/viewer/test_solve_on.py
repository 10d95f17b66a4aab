"""A person corrects a wrong join and the solver finishes the rest; every window hears of it."""

from __future__ import annotations

import dataclasses
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from jigsawnet.candidates import Candidates
from jigsawnet.context import Context
from jigsawnet.edits import Pin, SetAside
from jigsawnet.errors import InputError
from jigsawnet.evaluation.metrics import evaluate
from jigsawnet.geometry import SE2
from jigsawnet.match import measure
from jigsawnet.runs import Run, open_run
from jigsawnet.runs.snapshots import OnPoses
from jigsawnet.types import Alignment, Assembly, Constraints, Puzzle
from jigsawnet.viewer.session import Session

NineIn = Callable[[Path], Run]
Served = Callable[[Session], AbstractContextManager[httpx.Client]]


def _events(client: httpx.Client) -> Iterator[dict[str, Any]]:
    with client.stream("GET", "/api/events") as answer:
        for line in answer.iter_lines():
            if line.startswith("data: "):
                yield json.loads(line[6:])


def _until(events: Iterator[dict[str, Any]], kind: str) -> dict[str, Any]:
    """The next event of a kind; a solve that ends without one is a failure, not a reason to wait."""
    for event in events:
        if event["type"] == kind:
            return event
        assert event["type"] not in ("solved", "error"), event
    raise AssertionError(f"the stream ended without an event of the kind {kind}")


def _plant(run: Run, piece: int) -> tuple[Candidates, tuple[int, int]]:
    """The candidates of a run with a false join, called certain, that puts ``piece`` far outside; its true joins look poor."""
    poses = run.assembly.poses
    right = max(float((pose @ run.borders.center[idx].astype(float))[0]) for idx, pose in poses.items())
    other = next(idx for idx in sorted(poses) if idx != piece)
    away = SE2(0.0, right + 400.0, 0.0) @ poses[piece]
    i, j = min(piece, other), max(piece, other)
    placed = {piece: away, other: poses[other]}
    false = Candidates.of([Alignment(i, j, placed[i].inverse() @ placed[j], 0.99)], [0.99])
    rows = run.candidates
    rows = rows.take((rows.i != i) | (rows.j != j))
    own = (rows.i == piece) | (rows.j == piece)
    dimmed = dataclasses.replace(rows, score=np.where(own, np.minimum(rows.score, 0.02), rows.score))
    return Candidates.concat([measure(run.borders, false, run.config.match.dense.verify), dimmed]), (i, j)


def test_a_wrong_join_is_rejected_and_the_rest_solved_on(
    nine_in: NineIn,
    solved_from: Callable[[Run, Candidates], Run],
    nine_pieces: tuple[Puzzle, Assembly],
    served: Served,
    tmp_path: Path,
) -> None:
    puzzle, truth = nine_pieces
    run = nine_in(tmp_path)
    candidates, wrong = _plant(run, 4)
    run = solved_from(run, candidates)
    before = evaluate(puzzle, run.assembly, truth)
    assert before.pcr < 1.0
    session = Session(run, truth)
    with served(session) as client:
        state = client.get("/api/state").json()
        assert list(wrong) in [[join["i"], join["j"]] for join in state["joins"]]
        body = {"revision": 0, "edit": {"kind": "reject", "i": wrong[0], "j": wrong[1]}}
        assert client.post("/api/edits", json=body).status_code == 200
        events = _events(client)
        assert next(events) == {"type": "revision", "revision": 1}
        assert client.post("/api/solve", json={"revision": 1}).status_code == 202
        assert _until(events, "progress")["total"] >= 1
        assert len(_until(events, "snapshot")["poses"]) >= 2
        solved = _until(events, "solved")
        assert solved["placed"] == 9
        session.wait()
        after = evaluate(puzzle, session.arrangement.to_assembly(9), truth)
        assert after.pcr == 1.0 > before.pcr
        state = client.get("/api/state").json()
        assert state["revision"] == solved["revision"]
        assert state["edits"][-1]["kind"] == "solved"
        assert list(wrong) not in [[join["i"], join["j"]] for join in state["joins"]] or after.acr_precision == 1.0
        assert client.post("/api/undo", json={"revision": state["revision"]}).json()["in_force"] == 1
    again = Session(run)  # the solve is in the list of edits, undone, and comes back without the solver
    again.redo(0)
    assert again.arrangement == session._kept.get(2, again.arrangement)
    assert evaluate(puzzle, again.arrangement.to_assembly(9), truth) == after


def test_two_windows_hear_of_each_others_edits(client: httpx.Client) -> None:
    one, two = _events(client), _events(client)
    assert next(one)["revision"] == next(two)["revision"] == 0
    client.post("/api/edits", json={"revision": 0, "edit": {"kind": "pin", "pieces": [1]}})
    assert next(one) == next(two) == {"type": "revision", "revision": 1}


class _Waiting:
    """A run whose solver waits until it is stopped, then gives up all pieces."""

    def __init__(self, run: Run) -> None:
        self._run, self.assembly = run, run.assembly
        self.started = threading.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._run, name)

    def solve_on(self, constraints: Constraints, context: Context, on_poses: OnPoses, **_: bool) -> _Waiting:
        self.started.set()
        on_poses({0: SE2.identity(), 1: SE2.identity()})
        while not context.stop.is_over():
            context.progress("compose", 0, 1)
        self.assembly = Assembly(9, {}, ())
        return self


def test_a_solver_at_work_can_be_stopped_and_meanwhile_nothing_is_changed(
    nine_in: NineIn, served: Served, tmp_path: Path
) -> None:
    run = _Waiting(nine_in(tmp_path))
    session = Session(run)  # type: ignore[arg-type]
    with served(session) as client:
        events = _events(client)
        assert next(events)["revision"] == 0
        assert client.post("/api/solve", json={"revision": 0}).status_code == 202
        assert run.started.wait(120)
        assert client.get("/api/state").json()["busy"] is True
        refused = client.post("/api/edits", json={"revision": 0, "edit": {"kind": "pin", "pieces": [1]}})
        assert refused.status_code == 409
        assert client.post("/api/solve", json={"revision": 0}).status_code == 409
        assert set(_until(events, "snapshot")["poses"]) == {"0", "1"}
        assert client.post("/api/stop").status_code == 202
        assert "nothing has changed" in _until(events, "error")["text"]
        session.wait()
        state = client.get("/api/state").json()
        assert state["busy"] is False
        assert state["in_force"] == 0
        assert all(piece["pose"] for piece in state["pieces"])


def test_a_solve_that_contradicts_itself_is_told_in_a_sentence(nine_in: NineIn, served: Served, tmp_path: Path) -> None:
    session = Session(nine_in(tmp_path))
    pose = session.arrangement.poses[0]
    with served(session) as client:
        on_it = {"0": [pose.theta, pose.x, pose.y], "1": [0.0, pose.x, pose.y]}
        client.post("/api/edits", json={"revision": 0, "edit": {"kind": "move", "poses": on_it}})
        client.post("/api/edits", json={"revision": 1, "edit": {"kind": "pin", "pieces": [0, 1]}})
        events = _events(client)
        next(events)
        client.post("/api/solve", json={"revision": 2})
        assert "lie on each other" in _until(events, "error")["text"]
        session.wait()
        with pytest.raises(InputError):
            session.run.solve_on(session.arrangement.constraints())


def test_what_is_pinned_stays_and_what_is_set_aside_goes(nine_in: NineIn, tmp_path: Path) -> None:
    session = Session(nine_in(tmp_path))
    session.make(0, Pin((2,)))
    session.make(1, SetAside((5,)))
    pose = session.arrangement.poses[2]
    session.solve(2)
    session.wait()
    now = session.arrangement
    assert now.poses[2] == pose
    assert 5 not in now.poses
    assert len(now.poses) == 8
    solved = session.run.assembly  # the solver itself keeps to it, and the results in the folder follow
    assert solved.poses[2] == pose
    assert 5 not in solved.poses
    assert open_run(tmp_path).assembly.poses == solved.poses
    middles = np.array([now.poses[k] @ session.borders.center[k].astype(float) for k in sorted(now.poses)])
    start = session.edits.start.poses
    old = np.array([start[k] @ session.borders.center[k].astype(float) for k in sorted(now.poses)])
    assert np.abs(middles - old).max() < 8  # the pinned piece holds the frame, so nothing else went far

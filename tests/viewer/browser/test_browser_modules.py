"""Modules of the page, each by itself: the queue of actions, poses, size levels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from jigsawnet.geometry import SE2

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.flaky(reruns=2)]


def test_the_queue_keeps_the_order_and_survives_faults(nine: Any) -> None:
    said, is_empty = nine.ask("""async () => {
        const {ActionQueue} = await import(new URL("static/queue.js", document.baseURI));
        const said = [];
        const queue = new ActionQueue(async (error) => {
            said.push(error.message);
            throw new Error("telling failed too");
        });
        queue.run(async () => {
            queue.run(() => said.push("asked for by the first"));
            await new Promise((go) => setTimeout(go, 5));
            said.push("first");
        });
        queue.run(() => { throw new Error("bad"); });
        await queue.run(() => said.push("last"));
        return [said, queue.empty];
    }""")
    assert said == ["first", "asked for by the first", "bad", "last"]
    assert is_empty


def test_poses_are_those_of_the_program(nine: Any) -> None:
    rng = np.random.default_rng(1)
    a, b = (SE2(*rng.uniform(-3, 3, 3)) for _ in range(2))
    point = rng.uniform(-9, 9, 2)
    rows = [[pose.theta, pose.x, pose.y] for pose in (a, b)]
    found = nine.ask(
        """async ([a, b, point]) => {
            const pose = await import(new URL("static/pose.js", document.baseURI));
            return [pose.compose(a, b), pose.inverse(a), pose.apply(a, point), pose.apply(pose.turnAbout(0.7, point), point)];
        }""",
        [*rows, point.tolist()],
    )
    both, back = a @ b, a.inverse()
    assert found[0] == pytest.approx([both.theta, both.x, both.y])
    assert found[1] == pytest.approx([back.theta, back.x, back.y])
    assert found[2] == pytest.approx((a @ point).tolist())
    assert found[3] == pytest.approx(point.tolist()), "a turn about a point leaves it where it is"


def test_pictures_come_in_powers_of_two_and_never_larger_than_the_piece(nine: Any) -> None:
    wanted = {(400, 10): 16, (400, 17): 32, (400, 300): None, (400, 9000): None, (12, 10): None}
    found = nine.ask(
        """async (cases) => {
            const {levelFor} = await import(new URL("static/bitmaps.js", document.baseURI));
            return cases.map(([longest, px]) => levelFor(longest, px)).map((level) => level === Infinity ? null : level);
        }""",
        [list(case) for case in wanted],
    )
    assert found == list(wanted.values()), "None: at full resolution"

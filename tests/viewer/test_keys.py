"""Tokens open once; sessions are known until there are too many."""

from __future__ import annotations

import pytest

from jigsawnet.viewer import keys
from jigsawnet.viewer.keys import Keys


def test_a_token_opens_once() -> None:
    door = Keys()
    token = door.token
    assert token == door.token
    assert door.enter("wrong") is None
    assert door.enter("") is None
    assert door.enter("t\u00f6ken\udcff") is None
    session = door.enter(token)
    assert session is not None
    assert door.knows(session)
    assert not door.knows(token)
    assert not door.knows(session + "x")
    assert door.enter(token) is None
    assert door.token not in (token, session)


def test_the_oldest_session_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "MAX_SESSIONS", 2)
    door = Keys()
    sessions = [str(door.enter(door.token)) for _ in range(3)]
    assert [door.knows(session) for session in sessions] == [False, True, True]

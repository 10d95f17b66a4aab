"""Tokens that open the workbench once, and the sessions that they opened."""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections import OrderedDict

MAX_SESSIONS = 256
"""Browsers that are known at a time; the oldest is forgotten first."""


class Keys:
    """Who may come in; may be asked from any thread. Only hashes are kept of what is secret and already given away."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._token = secrets.token_urlsafe(24)
        self._sessions: OrderedDict[bytes, None] = OrderedDict()

    @property
    def token(self) -> str:
        """One that has not been used yet."""
        with self._lock:
            return self._token

    def enter(self, token: str) -> str | None:
        """Use a token up for a new session, whose secret is given; None when it is no token, or one that was used."""
        with self._lock:
            if not secrets.compare_digest(token.encode("utf-8", "replace"), self._token.encode()):
                return None
            self._token = secrets.token_urlsafe(24)
            session = secrets.token_urlsafe(24)
            self._sessions[_hash(session)] = None
            while len(self._sessions) > MAX_SESSIONS:
                self._sessions.popitem(last=False)
            return session

    def knows(self, session: str) -> bool:
        """True for the secret of a session."""
        with self._lock:
            return _hash(session) in self._sessions


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()

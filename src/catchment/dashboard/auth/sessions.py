"""Sessions of people who logged in with a password. They live in the memory of this process: a restart ends them."""

from __future__ import annotations

import hashlib
import secrets
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from catchment.dashboard.auth.user import User

IDLE_SECONDS = 3600.0
WHOLE_SECONDS = 12 * 3600.0
MOST = 10_000


@dataclass(slots=True)
class _Session:
    user: User
    began: float
    used: float


class Sessions:
    """Who has logged in. A session ends an hour after its last use, and twelve hours after it began."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._sessions: OrderedDict[bytes, _Session] = OrderedDict()

    def begin(self, user: User) -> str:
        """A new session; returns the secret that names it."""
        token = secrets.token_urlsafe(32)
        now = self._clock()
        while len(self._sessions) >= MOST:
            self._sessions.popitem(last=False)
        self._sessions[_key(token)] = _Session(user, now, now)
        return token

    def find(self, token: str, *, is_use: bool = True) -> User | None:
        """The user of a session; None if it is over. What an open page asks for by itself is no use."""
        key = _key(token)
        session = self._sessions.get(key)
        if session is None:
            return None
        now = self._clock()
        if now - session.used > IDLE_SECONDS or now - session.began > WHOLE_SECONDS:
            del self._sessions[key]
            return None
        if is_use:
            session.used = now
        return session.user

    def end(self, token: str) -> None:
        self._sessions.pop(_key(token), None)


def _key(token: str) -> bytes:
    """What is looked up is no secret: the time that a look takes says nothing about the token."""
    return hashlib.sha256(token.encode()).digest()

"""Finds the user of a request, by whichever ways are configured."""

from __future__ import annotations

import hashlib
import hmac
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection

from catchment.dashboard.auth.cookies import SESSION, cookie_name
from catchment.dashboard.auth.proxy import TrustedProxy
from catchment.dashboard.auth.sessions import Sessions
from catchment.dashboard.auth.throttle import Throttle
from catchment.dashboard.auth.user import Authenticate, Role, User
from catchment.dashboard.errors import Problem
from catchment.errors import RequestRefused, shown

SHORTEST_SECRET = 8


@dataclass(frozen=True, kw_only=True)
class Access:
    """Who may use the dashboard, and as what. ``local`` is the user of every request, without any check."""

    authenticate: Authenticate | None = None
    proxy: TrustedProxy | None = None
    tokens: Mapping[Role, str] = field(default_factory=dict[Role, str])
    passwords: Mapping[Role, str] = field(default_factory=dict[Role, str])
    local: User | None = None

    def __post_init__(self) -> None:
        authenticate: object = self.authenticate
        if authenticate is not None and not callable(authenticate):
            raise RequestRefused(f"authenticate is {shown(authenticate)}, expected a function")
        for kind, values in (("token", self.tokens), ("password", self.passwords)):
            for role, value in values.items():
                given: Any = value
                if not isinstance(given, str):
                    raise RequestRefused(f"the {kind} of the {role} is no text: {type(given).__name__}")
                if len(value) < SHORTEST_SECRET:
                    raise RequestRefused(
                        f"the {kind} of the {role} has {len(value)} characters, expected {SHORTEST_SECRET} or more",
                        hint="Make one: python -c 'import secrets; print(secrets.token_urlsafe())'",
                    )

    @property
    def is_checked(self) -> bool:
        """Is there any authentication?"""
        return bool(self.authenticate or self.proxy or self.tokens or self.passwords)


@dataclass(frozen=True, slots=True)
class Asker:
    """The user of a request. ``by`` says how it was found; a ``bearer`` token is never sent by a browser by itself."""

    user: User
    by: str


class Checker:
    """Applies an ``Access`` to requests; holds the sessions of those who logged in."""

    def __init__(self, access: Access) -> None:
        self.access = access
        self.sessions = Sessions()
        self.throttle = Throttle()

    async def find(self, connection: HTTPConnection, *, is_use: bool = True) -> Asker | None:
        """The user of this request; None if nobody known sent it."""
        access = self.access
        if access.tokens and (user := self._bearer(connection)) is not None:
            return Asker(user, "bearer")
        if access.authenticate is not None:
            try:
                answer = access.authenticate(connection)
                given: object = await answer if inspect.isawaitable(answer) else answer
            except RequestRefused as error:
                # A User that there cannot be: a defect of the host, and not of the request.
                raise TypeError(f"authenticate has failed: {error}") from error
            except HTTPException as error:
                # As FastAPI and Starlette refuse, or lead to the log-in.
                raise Problem(error.status_code, str(error.detail), headers=dict(error.headers or {})) from error
            if isinstance(given, User):
                return Asker(given, "host")
            if given is not None and given is not False:  # of "is_logged_in and User(…)"
                raise TypeError(f"authenticate has returned {shown(given)}, expected a User or None")
        if access.proxy is not None and (user := access.proxy.find(connection)) is not None:
            return Asker(user, "proxy")
        if access.passwords and (token := connection.cookies.get(cookie_name(SESSION, connection))):
            user = self.sessions.find(token, is_use=is_use)
            if user is not None:
                return Asker(user, "session")
        return None if access.is_checked or access.local is None else Asker(access.local, "local")

    def _bearer(self, connection: HTTPConnection) -> User | None:
        scheme, _, token = connection.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        role = _match(token.strip(), self.access.tokens)
        return None if role is None else User(f"token ({role})", role)

    def log_in(self, name: str, password: str) -> User | None:
        """The user of this password; the name is what the person calls themself, for the audit table.

        Raises ``RequestRefused`` for a name that no user can have.
        """
        role = _match(password, self.access.passwords)
        return None if role is None else User(name.strip(), role)


def _match(given: str, secrets: Mapping[Role, str]) -> Role | None:
    """The role of a secret. All are compared, in constant time; that of the operator comes first."""
    digest = hashlib.sha256(given.encode("utf-8", "surrogatepass")).digest()
    matching: list[Role] = []
    for role in ("operator", "viewer"):
        expected = secrets.get(role)
        if expected is None:
            continue
        if hmac.compare_digest(digest, hashlib.sha256(expected.encode("utf-8", "surrogatepass")).digest()):
            matching.append(role)
    return matching[0] if matching else None

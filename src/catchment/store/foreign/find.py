"""Finds the library of a connection by the modules of its classes, and imports only what that needs."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from catchment.store.foreign.caller import AsyncCaller, Caller
from catchment.store.foreign.refuse import missing, of_the_wrong_kind, refused

_LIBRARIES = ("psycopg", "psycopg2", "sqlalchemy", "asyncpg", "django")
_POOLS = ("psycopg_pool",)


def caller_of(conn: object) -> Caller:
    """The caller for a connection that blocks. ``RequestRefused`` says what to pass instead."""
    caller = _find(conn)
    if not isinstance(caller, Caller):
        raise of_the_wrong_kind(conn, needs_async=False)
    return caller


def async_caller_of(conn: object) -> AsyncCaller:
    """The caller for a connection of asyncio. ``RequestRefused`` says what to pass instead."""
    caller = _find(conn)
    if not isinstance(caller, AsyncCaller):
        raise of_the_wrong_kind(conn, needs_async=True)
    return caller


def _find(conn: object) -> Caller | AsyncCaller:
    if conn is None:
        raise missing()
    packages = [kind.__module__.partition(".")[0] for kind in type(conn).__mro__]
    library = next((package for package in packages if package in _LIBRARIES), None)
    if isinstance(conn, str) and "django.db" in sys.modules:
        library = "django"
    if library is None:
        is_pool = any(package in _POOLS for package in packages)
        raise refused(conn, "Pass a connection of it: with pool.connection() as conn." if is_pool else None)
    module: Any = import_module(f"catchment.store.foreign.of_{library}")
    return module.of(conn)

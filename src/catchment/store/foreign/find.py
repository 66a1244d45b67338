"""Finds the library of a connection by the modules of its classes, and imports only what that needs."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from catchment.store.foreign.refuse import missing, of_the_wrong_kind, refused
from catchment.store.foreign.sender import AsyncSender, Sender

_LIBRARIES = ("psycopg", "psycopg2", "sqlalchemy", "asyncpg", "django")
_REMEDIES = {
    "psycopg_pool": "A pool has no transaction. Pass a connection of it: with pool.connection() as conn.",
    "catchment": "Pass what the block gives you: with ctx.transaction() as conn.",
}


def sender_of(conn: object) -> Sender:
    """The sender for a connection that blocks. ``RequestRefused`` says what to pass instead."""
    sender = _find(conn)
    if not isinstance(sender, Sender):
        raise of_the_wrong_kind(conn, needs_async=False)
    return sender


def async_sender_of(conn: object) -> AsyncSender:
    """The sender for a connection of asyncio. ``RequestRefused`` says what to pass instead."""
    sender = _find(conn)
    if not isinstance(sender, AsyncSender):
        raise of_the_wrong_kind(conn, needs_async=True)
    return sender


def _find(conn: object) -> Sender | AsyncSender:
    if conn is None:
        raise missing()
    packages = [kind.__module__.partition(".")[0] for kind in type(conn).__mro__]
    library = next((package for package in packages if package in _LIBRARIES), None)
    if isinstance(conn, str) and "django.db" in sys.modules:
        library = "django"
    if library is None:
        raise refused(conn, next((_REMEDIES[package] for package in packages if package in _REMEDIES), None))
    module: Any = import_module(f"catchment.store.foreign.of_{library}")
    return module.of(conn)

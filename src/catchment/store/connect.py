"""Connections: one place that knows the DSN, the application name and the timeouts."""

from __future__ import annotations

import os
from typing import Any, TypeVar

import psycopg
from psycopg import AsyncConnection, Connection

from catchment.errors import ServerUnavailable
from catchment.store import embedded

DSN_VARIABLE = "CATCHMENT_DSN"
PREPARE_VARIABLE = "CATCHMENT_PREPARE"

S = TypeVar("S", bound=Connection[Any])
A = TypeVar("A", bound=AsyncConnection[Any])

CONNECT_SECONDS = 10
_KEEPALIVE: dict[str, Any] = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}


def _options() -> dict[str, Any]:
    """What every connection is made with. A pooler that cannot pass prepared statements on is told so by a variable."""
    prepares = os.environ.get(PREPARE_VARIABLE, "true").lower() not in ("false", "0", "no", "off")
    return {**_KEEPALIVE, "autocommit": True, "prepare_threshold": 5 if prepares else None}


def find_dsn(dsn: str | None = None) -> str:
    """The DSN given, or ``$CATCHMENT_DSN``, or that of the embedded server, which is started."""
    return dsn or os.environ.get(DSN_VARIABLE) or embedded.start()


def connect(dsn: str | None = None, *, name: str = "catchment", seconds: int = CONNECT_SECONDS) -> Connection[Any]:
    """A connection in autocommit mode, made within a number of seconds, or ``ServerUnavailable``.

    Without a DSN it is to the database of ``$CATCHMENT_DSN``, or else to the embedded server, which is started.
    """
    try:
        return psycopg.connect(find_dsn(dsn), application_name=name, connect_timeout=seconds, **_options())
    except psycopg.OperationalError as error:
        raise _unavailable(error) from error


async def connect_async(dsn: str, *, name: str = "catchment") -> AsyncConnection[Any]:
    """An asyncio connection in autocommit mode."""
    try:
        return await psycopg.AsyncConnection.connect(
            dsn, application_name=name, connect_timeout=CONNECT_SECONDS, **_options()
        )
    except psycopg.OperationalError as error:
        raise _unavailable(error) from error


def connect_as(kind: type[S], dsn: str, *, name: str) -> S:
    """As ``connect``, with a connection of this class."""
    try:
        return kind.connect(dsn, application_name=name, connect_timeout=CONNECT_SECONDS, **_options())
    except psycopg.OperationalError as error:
        raise _unavailable(error) from error


async def connect_async_as(kind: type[A], dsn: str, *, name: str) -> A:
    """As ``connect_async``, with a connection of this class."""
    try:
        return await kind.connect(dsn, application_name=name, connect_timeout=CONNECT_SECONDS, **_options())
    except psycopg.OperationalError as error:
        raise _unavailable(error) from error


def _unavailable(error: psycopg.OperationalError) -> ServerUnavailable:
    # libpq never puts the password into its messages; the DSN itself is not shown.
    return ServerUnavailable(
        f"no connection to PostgreSQL: {str(error).strip()}",
        hint=f"Check --dsn or {DSN_VARIABLE}. Without either, Catchment starts its own server.",
    )

"""The types of callers' connections, recognised by what they can do: none of their libraries is imported, also by a
type checker, which takes what it cannot import for anything.

``AnyConnection`` blocks: psycopg, psycopg2, SQLAlchemy, Django (a text is the alias of a Django connection).
``AnyAsyncConnection`` is of asyncio: psycopg, asyncpg, SQLAlchemy. Engines, pools and factories are none of them.
"""

from __future__ import annotations

from collections.abc import Awaitable
from enum import Enum
from typing import Any, Final, Literal, Protocol, TypeAlias

from psycopg import AsyncConnection, AsyncCursor, Connection, Cursor


class OfSqlalchemy(Protocol):
    """A ``Session``, a ``scoped_session`` or a ``Connection``."""

    def begin_nested(self) -> Any: ...

    def commit(self) -> None: ...


class OfSqlalchemyAsync(Protocol):
    """An ``AsyncSession``, an ``async_scoped_session`` or an ``AsyncConnection``."""

    def begin_nested(self) -> Any: ...

    def commit(self) -> Awaitable[None]: ...


class OfAsyncpg(Protocol):
    """A connection."""

    def is_in_transaction(self) -> Any: ...

    def get_server_pid(self) -> Any: ...


class OfAsyncpgPool(Protocol):
    """A connection of a pool. Its methods are made at run time, so that a type checker sees these alone."""

    _con: Any
    _holder: Any


class OfPsycopg2(Protocol):
    """A connection."""

    def get_transaction_status(self) -> Any: ...


class OfPsycopg2Cursor(Protocol):
    """A cursor."""

    def mogrify(self, *args: Any, **kwargs: Any) -> Any: ...


class OfDjango(Protocol):
    """``connections[alias]``."""

    in_atomic_block: Any

    def savepoint(self) -> Any: ...


class OfDjangoCursor(Protocol):
    """A cursor, as Django wraps it."""

    cursor: Any
    db: Any


class OfDjangoProxy(Protocol):
    """``django.db.connection``, which passes everything on."""

    def __getattr__(self, item: str, /) -> Any: ...

    def __contains__(self, key: str, /) -> Any: ...


AnyConnection: TypeAlias = (
    Connection[Any]
    | Cursor[Any]
    | OfSqlalchemy
    | OfPsycopg2
    | OfPsycopg2Cursor
    | OfDjango
    | OfDjangoCursor
    | OfDjangoProxy
    | str
)
AnyAsyncConnection: TypeAlias = AsyncConnection[Any] | AsyncCursor[Any] | OfSqlalchemyAsync | OfAsyncpg | OfAsyncpgPool


class Own(Enum):
    """The default of ``conn``: a transaction of the task's own. None is refused, because it is mostly a mistake."""

    OWN = "own"

    def __repr__(self) -> str:
        return "OWN"


OWN: Final = Own.OWN
OwnTransaction: TypeAlias = Literal[Own.OWN]

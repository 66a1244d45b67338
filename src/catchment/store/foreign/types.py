"""The types of callers' connections. A library that is not installed counts as unknown to a type checker.

``AnyConnection`` blocks: psycopg, psycopg2, SQLAlchemy, Django (a text is the alias of a Django connection).
``AnyAsyncConnection`` is of asyncio: psycopg, asyncpg, SQLAlchemy.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

if TYPE_CHECKING:
    import asyncpg  # pyright: ignore[reportMissingTypeStubs] - it has none
    import asyncpg.pool  # pyright: ignore[reportMissingTypeStubs]
    import psycopg
    import sqlalchemy
    import sqlalchemy.ext.asyncio
    import sqlalchemy.orm
    from django.db.backends.base.base import BaseDatabaseWrapper  # pyright: ignore[reportMissingTypeStubs]
    from django.utils.connection import ConnectionProxy  # pyright: ignore[reportMissingTypeStubs]
    from psycopg2 import extensions as psycopg2

    AnyConnection: TypeAlias = (
        psycopg.Connection[Any]
        | psycopg.Cursor[Any]
        | sqlalchemy.orm.Session
        | sqlalchemy.orm.scoped_session[Any]
        | sqlalchemy.Connection
        | BaseDatabaseWrapper
        | ConnectionProxy
        | psycopg2.connection
        | psycopg2.cursor
        | str
    )
    AnyAsyncConnection: TypeAlias = (
        psycopg.AsyncConnection[Any]
        | psycopg.AsyncCursor[Any]
        | sqlalchemy.ext.asyncio.AsyncSession
        | sqlalchemy.ext.asyncio.async_scoped_session[Any]
        | sqlalchemy.ext.asyncio.AsyncConnection
        | asyncpg.Connection
        | asyncpg.pool.PoolConnectionProxy
    )
else:
    AnyConnection = Any
    AnyAsyncConnection = Any


class Own(Enum):
    """The default of ``conn``: a transaction of the task's own. None is refused, because it is mostly a mistake."""

    OWN = "own"

    def __repr__(self) -> str:
        return "OWN"


OWN: Final = Own.OWN
OwnTransaction: TypeAlias = Literal[Own.OWN]

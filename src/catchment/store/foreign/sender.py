"""A connection of any library, as the store uses it: a statement with values in, rows out.

Statements have the placeholder ``%s``. Values are text or null, and the statement casts them: no codec or adapter that
the owner of the connection has set up for JSON, times or arrays touches them.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import count
from typing import Any, LiteralString

from catchment.schema.translate import not_encodable, report_of
from catchment.store.errors import translate
from catchment.store.foreign.refuse import failed, of_another_loop, unusable

Values = Sequence[str | None]
Rows = Sequence[Sequence[Any]]


class Sender(ABC):
    """A connection without asyncio."""

    @abstractmethod
    def rows(self, statement: LiteralString, values: Values = ()) -> Rows:
        """Execute a statement in the transaction of the connection."""

    @property
    @abstractmethod
    def commits_itself(self) -> bool:
        """Would each statement be committed by itself?"""

    def each(self, statement: LiteralString, many: Iterable[Values]) -> list[Rows]:
        """Execute a statement with each of these values, all or none."""
        if not self.commits_itself:
            return [self.rows(statement, values) for values in many]
        self.rows("begin")
        try:
            answers = [self.rows(statement, values) for values in many]
        except BaseException:
            self.rows("rollback")
            raise
        self.rows("commit")
        return answers


class AsyncSender(ABC):
    """A connection of asyncio."""

    @abstractmethod
    async def rows(self, statement: LiteralString, values: Values = ()) -> Rows:
        """Execute a statement in the transaction of the connection."""

    @property
    @abstractmethod
    def commits_itself(self) -> bool:
        """Would each statement be committed by itself?"""

    async def each(self, statement: LiteralString, many: Iterable[Values]) -> list[Rows]:
        """Execute a statement with each of these values, all or none."""
        if not self.commits_itself:
            return [await self.rows(statement, values) for values in many]
        await self.rows("begin")
        try:
            answers = [await self.rows(statement, values) for values in many]
        except BaseException:
            await self.rows("rollback")
            raise
        await self.rows("commit")
        return answers


@cache
def numbered(statement: str) -> str:
    """The statement with the placeholders $1, $2 and so on."""
    first, *rest = statement.split("%s")
    return first + "".join(f"${number}{part}" for number, part in zip(count(1), rest, strict=False))


def check_loop(conn: object, driver: object) -> None:
    """Refuse a connection whose driver says that it belongs to another event loop, as asyncpg does. Its own error would
    come from deep inside, and leave the connection in an unknown state."""
    if getattr(driver, "_loop", None) not in (None, asyncio.get_running_loop()):
        raise of_another_loop(conn)


# What the server answers in a transaction in which a statement has failed.
_FAILED = "25P02"


@contextmanager
def foreign_errors(conn: object, *misuses: type[Exception]) -> Generator[None]:
    """Raise what the engine says as Catchment errors, the library's error chained. So are ``misuses``, the errors by
    which the library says that the connection cannot be used now. Any other error is the library's."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise not_encodable(error) from error
    except Exception as error:
        raised = translate(error)
        if raised is not error:
            raise raised from error
        report = report_of(error)
        if report is not None and report.sqlstate == _FAILED:
            raise failed(conn) from error
        if isinstance(error, misuses):
            raise unusable(conn, error) from error
        raise

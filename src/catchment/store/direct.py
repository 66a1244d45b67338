"""Statements of ours through libpq's own functions, for the calls that are made most: a cursor of psycopg takes longer
than all else that the client does for them. Waiting, cancelling and silence stay those of the connection.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import psycopg
from psycopg import generators
from psycopg.abc import PQGen
from psycopg.errors import error_from_result
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGconn, PGresult


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement with the placeholders $1, $2 and so on, and the name under which sessions prepare it."""

    name: bytes
    text: bytes


@dataclass(slots=True)
class Answer:
    """What the server said to a statement. It is known even when the wait for it was interrupted."""

    is_sent: bool = False
    value: bytes | None = None
    error: psycopg.Error | None = None


def encoded(value: str | None) -> bytes | None:
    """A value as libpq sends it, which would end it at a NUL."""
    if value is None:
        return None
    if "\0" in value:
        raise psycopg.DataError("PostgreSQL text fields cannot contain NUL (0x00) bytes")
    return value.encode()


def asking(
    pgconn: PGconn, statement: Statement, values: Sequence[bytes | None], prepared: set[bytes] | None, answer: Answer
) -> PQGen[None]:
    """Execute a statement that returns one value. ``prepared`` are those of the session; None prepares nothing."""
    if prepared is None:
        answer.is_sent = True
        pgconn.send_query_params(statement.text, values)
    else:
        if statement.name not in prepared:
            pgconn.send_prepare(statement.name, statement.text)
            _check((yield from generators.execute(pgconn)), answer)
            prepared.add(statement.name)
        answer.is_sent = True
        pgconn.send_query_prepared(statement.name, values)
    results = yield from generators.execute(pgconn)
    _check(results, answer)
    answer.value = results[0].get_value(0, 0)


def _check(results: Sequence[PGresult], answer: Answer) -> None:
    # A statement may have its result, and its commit fail after that.
    for result in results:
        if result.status not in (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK):
            answer.error = error_from_result(result)
            raise answer.error

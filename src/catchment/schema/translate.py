"""Raises the SQLSTATEs of a schema as classes of Python."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import psycopg

from catchment.errors import CatchmentError, RequestRefused, shown

# What PostgreSQL says of a schema, a relation or a function that does not exist. The last one is also the answer to
# arguments of other types, so statements cast the values of callers.
_MISSING = ("3F000", "42P01", "42883")


@dataclass(frozen=True, slots=True)
class Report:
    """What the server said about an error, whichever driver passed it on. ``context`` is where it happened: None in
    the statement itself."""

    sqlstate: str | None
    message: str
    detail: str | None = None
    hint: str | None = None
    context: str | None = None


def report_of(error: BaseException | None) -> Report | None:
    """What the server said, found in the error or in that of the driver below it. The drivers are recognised by the
    attributes of their errors, so that none but psycopg has to be installed."""
    while error is not None:
        if isinstance(error, psycopg.Error):
            return _by_diag(error, error.sqlstate)
        if hasattr(error, "diag") and hasattr(error, "pgcode"):  # psycopg2
            return _by_diag(error, cast(Any, error).pgcode)
        if hasattr(error, "sqlstate") and hasattr(error, "as_dict"):  # asyncpg
            told = {name: getattr(error, name, None) for name in ("sqlstate", "detail", "hint", "context")}
            return Report(message=getattr(error, "message", None) or str(error), **told)
        error = getattr(error, "orig", None) or error.__cause__
    return None


def _by_diag(error: Any, sqlstate: str | None) -> Report:
    diag = error.diag
    return Report(sqlstate, diag.message_primary or str(error), diag.message_detail, diag.message_hint, diag.context)


def find_class(report: Report, classes: Mapping[str, type[CatchmentError]]) -> CatchmentError | None:
    """The error of the class that the SQLSTATE has, with the message and the hint of the database; or None."""
    kind = classes.get(report.sqlstate or "")
    if kind is None:
        return None
    message = f"{report.message} ({report.detail})" if report.detail else report.message
    return kind(message, hint=report.hint)


def is_missing(report: Report, schema: str) -> bool:
    """Does the statement itself name something in the schema that does not exist? What a function, a trigger or a hook
    that it runs does not find says nothing about the schema."""
    if report.sqlstate not in _MISSING or report.context is not None:
        return False
    return re.search(rf'"{re.escape(schema)}"|\b{re.escape(schema)}\.', report.message) is not None


@contextmanager
def raised_as(translate: Callable[[psycopg.Error], Exception]) -> Generator[None]:
    """Raise database errors as what a function makes of them, the database error chained; text that the driver cannot
    encode as ``RequestRefused``."""
    try:
        yield
    except psycopg.Error as error:
        raised = translate(error)
        if raised is error:
            raise
        raise raised from error
    except UnicodeEncodeError as error:
        raise not_encodable(error) from error


def not_encodable(error: UnicodeEncodeError) -> RequestRefused:
    """Why a driver cannot send a text: it is no text, or the encoding of the connection lacks a character of it."""
    character = error.object[error.start]
    if "\ud800" <= character <= "\udfff":
        return RequestRefused(f"{shown(error.object)} cannot be stored: it is not valid Unicode text")
    return RequestRefused(
        f"{shown(error.object)} cannot be sent: the client_encoding of this connection has no {character!r}",
        hint="Use a connection with client_encoding UTF8.",
    )

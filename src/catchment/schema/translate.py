"""Raises the SQLSTATEs of a schema as classes of Python."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager

import psycopg

from catchment.errors import CatchmentError, RequestRefused, shown

# What PostgreSQL says of a schema, a relation or a function that does not exist. The last one is also the answer to
# arguments of other types, so statements cast the values of callers.
_MISSING = ("3F000", "42P01", "42883")


def find_class(error: psycopg.Error, classes: Mapping[str, type[CatchmentError]]) -> CatchmentError | None:
    """The error of the class that the SQLSTATE has, with the message and the hint of the database; or None."""
    kind = classes.get(error.sqlstate or "")
    if kind is None:
        return None
    message = error.diag.message_primary or str(error)
    if error.diag.message_detail:
        message = f"{message} ({error.diag.message_detail})"
    return kind(message, hint=error.diag.message_hint)


def is_missing(error: psycopg.Error, schema: str) -> bool:
    """Does the statement itself name something in the schema that does not exist? What a function, a trigger or a hook
    that it runs does not find says nothing about the schema."""
    if error.sqlstate not in _MISSING or error.diag.context is not None:
        return False
    return re.search(rf'"{re.escape(schema)}"|\b{re.escape(schema)}\.', error.diag.message_primary or "") is not None


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
        raise RequestRefused(f"{shown(error.object)} cannot be stored: it is not valid Unicode text") from error

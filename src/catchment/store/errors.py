"""Maps SQLSTATEs of the engine to the classes of ``catchment.errors``, and sorts errors by what to do about them."""

from __future__ import annotations

from contextlib import AbstractContextManager
from enum import Enum

import psycopg

from catchment import errors
from catchment.schema.translate import is_missing, raised_as, report_of
from catchment.sql import ENGINE


def translate(error: Exception) -> Exception:
    """The Catchment error for a database error of any driver, or that error itself."""
    report = report_of(error)
    if report is not None and is_missing(report, "lake"):
        return errors.LakeUnavailable(
            f"the database has no lake, or an older one: {report.message}",
            code="NO_LAKE",
            hint="Set where its data is stored: --lake or CATCHMENT_LAKE.",
        )
    if isinstance(error, psycopg.DataError) and error.sqlstate is None and "NUL" in str(error):
        return errors.RequestRefused("a text contains a NUL character, which PostgreSQL cannot store")
    return ENGINE.translate(error)


def translated() -> AbstractContextManager[None]:
    """Raise engine errors as Catchment errors, the database error chained."""
    return raised_as(translate)


class Fault(Enum):
    """What caused an error of a call: the connection, the present state of the server, or the request."""

    LOST = "lost"
    LATER = "later"
    BAD = "bad"


# The session is over, or there was none: connection exceptions, shutdown, crash, dropped database, session timeout.
_LOST_CLASSES = ("08",)
_LOST_STATES = ("57P01", "57P02", "57P03", "57P04", "57P05", "25P03")
# Functions of the server that refuse a write.
_READ_ONLY = ("PreventCommandIfReadOnly", "PreventCommandDuringRecovery")
# The request is rejected now and later: data, constraints, program limits, rules of the engine, a raised error.
_BAD_CLASSES = ("21", "22", "23", "54", "CM", "P0")


def fault_of(error: BaseException) -> Fault:
    """Sort an error of a database call by its SQLSTATE.

    An error that neither the connection nor the request has caused may pass: no memory, disk or connections left, a
    deadlock, a cancelled statement, a right or a function that is missing for a while. A server that has become
    read-only is as good as lost: a new connection finds the primary, if the DSN names it too.
    """
    state = error.sqlstate if isinstance(error, psycopg.Error) else None
    if isinstance(error, psycopg.Error) and is_of_read_only_transaction(error):
        return Fault.LOST
    if state is not None:
        if state[:2] in _LOST_CLASSES or state in _LOST_STATES:
            return Fault.LOST
        return Fault.BAD if state[:2] in _BAD_CLASSES else Fault.LATER
    if isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError, errors.ServerUnavailable, OSError)):
        return Fault.LOST
    return Fault.BAD


def is_of_server(error: psycopg.Error) -> bool:
    """Does the error say that the server cannot work now, so that the statement may succeed later? No memory, disk or
    connections left, read-only, shutting down. A limit that is set for each statement (53400, such as
    ``temp_file_limit``) would be met again."""
    state = error.sqlstate or ""
    return (state[:2] == "53" and state != "53400") or state[:4] == "57P0" or state == "25006"


def is_read_only(error: BaseException | None) -> bool:
    """Has a server refused a write that takes none, here or in what caused this error?"""
    seen: set[int] = set()  # an error may be its own cause
    while error is not None and id(error) not in seen:
        if isinstance(error, psycopg.Error) and is_of_read_only_transaction(error):
            return True
        seen.add(id(error))
        error = error.__cause__
    return False


def is_of_read_only_transaction(error: psycopg.Error) -> bool:
    """Was the statement refused because its transaction is read-only? The name of the server's function says so in
    every language; others raise the same SQLSTATE, such as a foreign server that is read-only."""
    return error.sqlstate == "25006" and error.diag.source_function in _READ_ONLY

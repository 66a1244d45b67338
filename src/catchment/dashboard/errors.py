"""What a request cannot have, as a page or as JSON."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import psycopg
from pydantic import ValidationError

from catchment.errors import (
    CatchmentError,
    RequestRefused,
    SchemaMismatch,
    ServerUnavailable,
    TableRefused,
    TaskNotFound,
    WorkerNotRegistered,
)


class Problem(Exception):
    """An error response: a status, what is wrong, and what to do."""

    def __init__(
        self, status: int, message: str, hint: str | None = None, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.hint = hint
        self.headers = headers or {}


TITLES = {
    400: "This request cannot be understood",
    401: "Log in first",
    403: "This is not allowed",
    404: "There is nothing here",
    405: "This address has no such method",
    409: "This is not possible now",
    413: "This request is too large",
    429: "Too many attempts",
    500: "The dashboard has a defect",
    503: "The database cannot be read",
}


def problem_of(error: Exception) -> Problem:
    """What to say for an error of a read or an action."""
    match error:
        case Problem():
            return error
        case ValidationError():
            return Problem(400, describe(error), "Remove the parameter, or correct it.")
        case TaskNotFound():
            return Problem(404, str(error), "It may have been deleted: settled tasks are, after some days.")
        case WorkerNotRegistered():
            return Problem(404, str(error), "It has ended, or was declared dead.")
        case RequestRefused() | TableRefused():
            return Problem(409, str(error), error.hint)
        case SchemaMismatch() | ServerUnavailable():
            return Problem(503, str(error), error.hint)
        case CatchmentError():
            return Problem(500, str(error), error.hint)
        case psycopg.errors.InsufficientPrivilege():
            return refused_by_database(error)
        case psycopg.DataError():
            said = error.diag.message_primary or str(error).strip()
            return Problem(400, f"the database cannot take a value: {said}", "Correct the value.")
        case psycopg.errors.QueryCanceled():
            return Problem(503, "the database did not answer within the time limit", "Narrow the filter, or try again.")
        case psycopg.Error() | OSError():
            return Problem(503, f"the database does not answer: {str(error).strip()}", "It is tried again by itself.")
        case _:
            return Problem(500, "an unexpected error, which is in the log of the dashboard", None)


@contextmanager
def not_of_the_request() -> Generator[None]:
    """What does not fit its declaration in here is a defect of ours, not what was sent."""
    try:
        yield
    except ValidationError as error:
        raise TypeError(f"an answer is not as declared: {describe(error)}") from error


def refused_by_database(error: psycopg.errors.InsufficientPrivilege, role: str | None = None) -> Problem:
    """A right that is missing, with the role that has it."""
    needed = f"Grant {role or 'catchment_read'} to the login of the dashboard"
    return Problem(
        403,
        f"the database refuses: {error.diag.message_primary}",
        f"{needed}." if role else f"{needed}, and catchment_worker for actions.",
    )


def describe(error: ValidationError) -> str:
    """The first parameter that cannot be used, with what is expected."""
    first = error.errors(include_url=False)[0]
    name = ".".join(str(part) for part in first["loc"]) or "the request"
    if first["type"] == "extra_forbidden":
        return f"{name} is no parameter of this address"
    given = repr(first["input"])
    return f"{name} is {given if len(given) <= 100 else given[:99] + '…'}: {first['msg'][0].lower()}{first['msg'][1:]}"

"""What a user sees of an error: a message, a hint, an exit code."""

from __future__ import annotations

import psycopg
from rich.errors import MarkupError
from rich.markup import escape

from catchment.cli.database import hint_for
from catchment.cli.output import errors
from catchment.errors import CatchmentError, RequestRefused, ServerUnavailable
from catchment.model.check import shown


def show_failure(error: Exception) -> int | None:
    """Print what a user can act on and return the exit code; None if it is nothing of that kind."""
    match error:
        case CatchmentError():
            _print(error)
        case psycopg.Error():
            _print(CatchmentError(f"the database refused: {str(error).strip()}", hint=hint_for(error)))
        case UnicodeEncodeError():
            # Bytes of the command line or the environment that are not UTF-8 come as halves of surrogate pairs.
            _print(RequestRefused(f"{shown(error.object)} is not valid UTF-8"))
        case MarkupError():
            # Of a command of another package: ours are shown by tests.
            remedy = "Its author should write \\\\[ for a bracket that is no markup."
            _print(CatchmentError(f"the help cannot be shown: {error}", hint=remedy))
        case _:
            return None
    return 3 if isinstance(error, ServerUnavailable) else 1


def _print(error: CatchmentError) -> None:
    errors.print(f"[red]error:[/] {escape(str(error))}")
    if error.hint:
        errors.print(f"[dim]hint:[/] {escape(error.hint)}")

"""What a user sees of an error: a message, a hint, an exit code."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from typing import TextIO

import psycopg
from rich.errors import MarkupError
from rich.markup import escape

from catchment.cli.database import hint_for
from catchment.commands.output import errors
from catchment.errors import CatchmentError, RequestRefused, ServerUnavailable, shown
from catchment.model.terminal import harmless


def show_failure(error: Exception) -> int | None:
    """Print what a user can act on and return the exit code; None if it is nothing of that kind."""
    match error:
        case CatchmentError():
            _print(error)
        case psycopg.Error():
            _print(CatchmentError(f"the database refused: {_message(error)}", hint=hint_for(error)))
        case UnicodeEncodeError():
            # Bytes of the command line or the environment that are not UTF-8 come as halves of surrogate pairs.
            _print(RequestRefused(f"{shown(error.object)} is not valid UTF-8"))
        case MarkupError():
            # Of a command of another package: ours are shown by tests.
            remedy = "Its author should write \\\\[ for a bracket that is no markup."
            _print(CatchmentError(f"the help cannot be shown: {error}", hint=remedy))
        case OSError() if _is_full(error):
            # Without a message if the reader has gone, as head does.
            if not isinstance(error, BrokenPipeError):
                place = f" to {error.filename}" if error.filename else ""
                _print(CatchmentError(f"the output cannot be written{place}: {error.strerror}"))
        case _:
            return None
    return 3 if isinstance(error, ServerUnavailable) else 1


def _message(error: psycopg.Error) -> str:
    """Without the statements of the engine that led to it, which say nothing to a user."""
    return str(error).partition("\nCONTEXT:")[0].strip()


def _is_full(error: OSError) -> bool:
    """Is there no more space for output, or nobody who reads it?"""
    return _drop(sys.stdout) or error.errno in (errno.ENOSPC, errno.EDQUOT)


def _drop(stream: TextIO | None) -> bool:
    """Drop what a stream refuses to write, if that is so: Python would try again when it ends, and end with another
    message and code."""
    if stream is None:  # closed: >&-
        return False
    try:
        stream.flush()
    except OSError:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, stream.fileno())
        os.close(nothing)
        return True
    return False


def _print(error: CatchmentError) -> None:
    # Standard error may be full too.
    with contextlib.suppress(OSError):
        errors.print(f"[red]error:[/] {escape(harmless(str(error)))}")
        if error.hint:
            errors.print(f"[dim]hint:[/] {escape(harmless(str(error.hint)))}")
    _drop(sys.stderr)

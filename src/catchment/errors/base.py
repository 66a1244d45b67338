"""The roots of the tree, and errors that any part may raise."""

from __future__ import annotations

from datetime import timedelta

LONGEST = timedelta(days=36_525)
"""Longer spans leave the range of PostgreSQL's intervals, or of a timer; nobody means them."""


def shown(value: object) -> str:
    """A value as a message shows it: at most 100 characters. Python refuses to write some numbers."""
    try:
        text = repr(value)
    except Exception:
        return "a number of thousands of digits" if isinstance(value, int) else f"of type {type(value).__name__}"
    return text if len(text) <= 100 else f"{text[:99]}…"


def a_kind(value: object) -> str:
    """What a value is, for a message that does not show it: its type with an article, or ``None``."""
    kind = type(value).__name__
    return "None" if value is None else f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


class CatchmentError(Exception):
    """Base of all errors. ``hint`` says what to do next, or is None; it is a note too, which tracebacks show."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self._hint: str | None = None
        self.hint = hint

    @property
    def hint(self) -> str | None:
        return self._hint

    @hint.setter
    def hint(self, hint: str | None) -> None:
        if self._hint is not None:
            self.__notes__.remove(self._hint)
        self._hint = hint
        if hint is not None:
            self.add_note(hint)


class RequestRefused(CatchmentError):
    """Base of errors in a request that the caller can correct. Nothing was changed."""


class DefinitionRefused(CatchmentError):
    """A command, its options or its join cannot be defined as written."""


class ExtraMissing(CatchmentError, ImportError):
    """An optional part of Catchment is not installed; ``hint`` has the command that installs it. Also an
    ``ImportError``."""


class SchemaMismatch(CatchmentError):
    """The schema in the database does not fit this version of Catchment, or belongs to another user. Run ``catchment
    migrate``, or upgrade the package."""


class ServerUnavailable(CatchmentError):
    """No PostgreSQL server could be reached or started."""


class OutcomeUnknown(ServerUnavailable):
    """The connection was lost during a call, or the server gave no answer for a minute: the call may or may not have
    taken effect.

    Check whether it has taken effect before you repeat it.
    """

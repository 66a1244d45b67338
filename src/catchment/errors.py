"""Every error Catchment raises, as one tree.

CatchmentError
├── RequestRefused       a caller can change the request
│   ├── UnknownCommand   CM002
│   ├── UnknownQueue     CM003
│   ├── PayloadRefused   CM004
│   ├── ScopeClosed      CM005
│   ├── TooDeep          CM006
│   ├── SurfaceClosed    CM007
│   ├── NotRetryable     CM008
│   └── TaskNotFound     CM009
├── ClaimLost            CM001  a worker must drop its result
├── TaskCancelled        CM011  a handler should stop
├── HandlerMissing       CM012
├── SchemaMismatch       CM010  the database and this version do not fit
└── ServerUnavailable    no PostgreSQL could be reached or started
"""

from __future__ import annotations


class CatchmentError(Exception):
    """Base of all errors. ``hint`` says what to do next, when there is something."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class RequestRefused(CatchmentError):
    """The engine refused a request; nothing has changed."""


class UnknownCommand(RequestRefused):
    """No such command is registered."""


class UnknownQueue(RequestRefused):
    """No such queue is registered."""


class PayloadRefused(RequestRefused):
    """The payload is not an object, is too large, or does not fit a merge rule."""


class ScopeClosed(RequestRefused):
    """The parent takes no (more) children."""


class TooDeep(RequestRefused):
    """The queue does not allow children of children at this depth."""


class SurfaceClosed(RequestRefused):
    """A write to ``worker.tasks`` that the surface does not allow."""


class NotRetryable(RequestRefused):
    """The task is in no state to be retried."""


class TaskNotFound(RequestRefused):
    """There is no such task or lane."""


class ClaimLost(CatchmentError):
    """The attempt is no longer ours: its result must be dropped."""


class TaskCancelled(CatchmentError):
    """The task, or one above it, is being cancelled."""


class HandlerMissing(CatchmentError):
    """The registered procedure does not exist."""


class SchemaMismatch(CatchmentError):
    """The schema in the database does not fit this version of Catchment."""


class ServerUnavailable(CatchmentError):
    """No PostgreSQL server could be reached or started."""

"""Every error Catchment raises, as one tree.

CatchmentError
├── RequestRefused        a caller can change the request
│   ├── UnknownCommand    CM002
│   ├── UnknownQueue      CM003
│   ├── PayloadRefused    CM004
│   │   └── PayloadInvalid  it does not fit the command's parameters
│   ├── ScopeClosed       CM005
│   ├── TooDeep           CM006
│   ├── SurfaceClosed     CM007
│   ├── NotRetryable      CM008
│   ├── TaskNotFound      CM009
│   └── CommandTaken      CM013
├── DefinitionRefused     a command cannot be defined as written
├── ResultMissing         there is no result to return
│   ├── TaskFailed
│   ├── TaskWasCancelled
│   └── ResultTimeout     also a TimeoutError
├── Steering              raised by a handler to say what happens next
│   ├── RetryLater
│   └── GiveUp
├── ClaimLost             CM001  a worker must drop its result
├── TaskCancelled         CM011  a handler should stop
├── HandlerMissing        CM012
├── SchemaMismatch        CM010  the database and this version do not fit
└── ServerUnavailable     no PostgreSQL could be reached or started
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any


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


class PayloadInvalid(PayloadRefused):
    """The payload does not fit the parameters of its command."""


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


class CommandTaken(RequestRefused):
    """A command of this name is registered with a handler of the other kind."""


class DefinitionRefused(CatchmentError):
    """A command, its options or its join cannot be defined as written."""


class ResultMissing(CatchmentError):
    """A task has no result: it failed, was cancelled, or has not settled in time."""

    def __init__(self, message: str, *, task_id: int, command: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.task_id = task_id
        self.command = command


class TaskFailed(ResultMissing):
    """The task whose result was asked for has failed. ``error`` is what is stored with it."""

    def __init__(self, task_id: int, command: str, error: Mapping[str, Any]) -> None:
        self.error = dict(error)
        self.kind = str(error.get("kind", "error"))
        self.message = str(error.get("message", ""))
        super().__init__(
            f"task {task_id} ({command}) failed with {self.kind}: {self.message}",
            task_id=task_id,
            command=command,
            hint=f"'catchment task show {task_id}' has its attempts; 'catchment task retry {task_id}' runs it again.",
        )


class TaskWasCancelled(ResultMissing):
    """The task whose result was asked for was cancelled, and ``reason`` says why."""

    def __init__(self, task_id: int, command: str, reason: str) -> None:
        super().__init__(f"task {task_id} ({command}) was cancelled: {reason}", task_id=task_id, command=command)
        self.reason = reason


class ResultTimeout(ResultMissing, TimeoutError):
    """The task did not settle in time. It goes on; ask again, or cancel it."""

    def __init__(self, task_id: int, command: str, state: str, waited: timedelta) -> None:
        super().__init__(
            f"task {task_id} ({command}) is still {state} after {waited.total_seconds():g} s",
            task_id=task_id,
            command=command,
            hint="Wait longer, or see that a worker of its queue is running: 'catchment doctor'.",
        )
        self.state = state


class Steering(CatchmentError):
    """Base of what a handler raises to say what happens to its task."""


class RetryLater(Steering):
    """Raised by a handler: fail this attempt and try again after ``delay`` (seconds, or a timedelta).

    It counts as a failed attempt: when ``max_attempts`` is used up, the task fails.
    """

    def __init__(self, delay: timedelta | float, reason: str = "") -> None:
        self.delay = delay if isinstance(delay, timedelta) else timedelta(seconds=delay)
        self.reason = reason
        super().__init__(reason or f"to be tried again in {self.delay.total_seconds():g} s")


class GiveUp(Steering):
    """Raised by a handler: fail the task at once, whatever attempts it has left."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


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

"""A task as its caller holds it: its id, and the verbs that wait for it, stop it, repeat it and look at it."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from catchment.errors import ValueUnreadable
from catchment.model.duration import Duration
from catchment.model.task import TaskId, TaskInfo
from catchment.model.why import Why
from catchment.task.returns import Returns, Unreadable
from catchment.task.verbs import SyncVerbs, Verbs

R_co = TypeVar("R_co", covariant=True)


class _Handle(Generic[R_co]):
    """``returns`` reads the result; without it the result is a JSON value. A task of another
    command than ``expected`` is not this one."""

    __slots__ = ("_dsn", "_expected", "_returns", "id")

    def __init__(self, task_id: TaskId, returns: Returns | None, dsn: str | None, expected: str | None) -> None:
        self.id = task_id
        self._returns = returns
        self._dsn = dsn
        self._expected = expected

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Handle) and other.id == self.id and other._dsn == self._dsn

    def __hash__(self) -> int:
        return hash(self.id)

    def _read(self, value: Any) -> Any:
        if self._returns is None:
            return value
        try:
            return self._returns.load(value)
        except Unreadable as error:
            raise ValueUnreadable(
                f"the result of task {self.id} ({self._returns.command}) cannot be read: {error}",
                task_id=self.id,
                command=self._returns.command,
                hint=f"Another version of the handler has returned it. app.task({self.id}).result() has it as JSON.",
            ) from error


class Task(_Handle[R_co]):
    """A handle of a task; ``id`` is its id. Returned by ``command.enqueue(…)`` and ``command.task(id)``.

    Two handles of the same task are equal, unless their apps have different DSNs.
    """

    __slots__ = ("_verbs",)

    def __init__(self, task_id: TaskId, returns: Returns | None, verbs: Verbs, expected: str | None = None) -> None:
        super().__init__(task_id, returns, verbs.given_dsn, expected)
        self._verbs = verbs

    async def result(self, *, timeout: Duration | None = None) -> R_co:  # noqa: ASYNC109 - names the state on expiry
        """Wait until the task has settled and return the result of its handler or its join.

        The result has the type of the return annotation of the handler: a model is a model again, a datetime a
        datetime. Without an annotation, and from ``app.task(id)``, it is a JSON value. A merged task has the result of
        its survivor.

        Raises ``TaskFailed``, ``TaskCancelled``, ``ResultTimeout`` (the task continues), ``TaskNotFound`` or
        ``ValueUnreadable``. Cancelling the wait does not affect the task. A connection that does not answer for 15
        seconds is replaced, and the wait continues; ``ResultTimeout`` is raised within a second after ``timeout``, with
        or without an answer. A server that refuses connections raises ``ServerUnavailable``. After five seconds the
        logger ``catchment.client`` warns if no live worker has the command, or its queue is paused, or its lane is
        halted.
        """
        return self._read(await self._verbs.wait(self.id, timeout, self._expected))

    async def cancel(self, reason: str | None = None) -> str:
        """Cancel the task and everything under it; returns ``cancelled``, ``cancelling``, or the state in which it had
        already settled."""
        return await self._verbs.cancel(self.id, reason, self._expected)

    async def retry(self) -> str:
        """Run a failed or cancelled task again; returns its new state. Raises ``NotRetryable`` or ``TaskNotFound``."""
        return await self._verbs.retry(self.id, self._expected)

    async def info(self) -> TaskInfo:
        """The current state of the task; raises ``TaskNotFound`` or ``ValueUnreadable``.

        A settled task and its result are kept for a week if it completed, else for 30 days, unless the schedule
        ``task_cleanup`` says otherwise.
        """
        return await self._verbs.info(self.id, self._expected)

    async def why(self) -> Why:
        """Why the task waits: every cause, with the command that resolves it; raises ``TaskNotFound``."""
        return await self._verbs.why(self.id, self._expected)


class SyncTask(_Handle[R_co]):
    """A ``Task`` for code without asyncio: the same verbs, blocking. Made by ``command.sync.enqueue(…)``."""

    __slots__ = ("_verbs",)

    def __init__(self, task_id: TaskId, returns: Returns | None, verbs: SyncVerbs, expected: str | None = None) -> None:
        super().__init__(task_id, returns, verbs.given_dsn, expected)
        self._verbs = verbs

    def result(self, *, timeout: Duration | None = None) -> R_co:
        """Wait until the task has settled and return its result; raises what ``Task.result`` does."""
        return self._read(self._verbs.wait(self.id, timeout, self._expected))

    def cancel(self, reason: str | None = None) -> str:
        """Ask the task and everything under it to stop."""
        return self._verbs.cancel(self.id, reason, self._expected)

    def retry(self) -> str:
        """Run a failed or cancelled task again."""
        return self._verbs.retry(self.id, self._expected)

    def info(self) -> TaskInfo:
        """The current state of the task; raises ``TaskNotFound``."""
        return self._verbs.info(self.id, self._expected)

    def why(self) -> Why:
        """Why the task waits: everything that holds it back now; raises ``TaskNotFound``."""
        return self._verbs.why(self.id, self._expected)

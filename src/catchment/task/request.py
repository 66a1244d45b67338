"""A request: a command with the options of its next tasks, called with the arguments of its handler.

A command is a request without options; ``using`` gives one with options. Both are what a caller enqueues, a context
spawns, and a type checker checks.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Generic, ParamSpec, TypeVar

from catchment.model.check import check_count, check_task_id
from catchment.model.duration import Duration
from catchment.model.task import TaskId
from catchment.store.foreign.types import OWN, AnyAsyncConnection, AnyConnection, OwnTransaction
from catchment.task.handle import SyncTask, Task
from catchment.task.item import Item
from catchment.task.task_options import TaskOptions
from catchment.task.verbs import Client, Defined

P = ParamSpec("P")
R = TypeVar("R")
BATCH_SIZE = 1000


class SyncRequest(Generic[P, R]):
    """``command.sync``: the request for code without asyncio. Safe to use from several threads, and after a fork."""

    __slots__ = ("_client", "_command", "_options")

    def __init__(self, command: Defined, options: TaskOptions, client: Client) -> None:
        self._command = command
        self._options = options
        self._client = client

    def __repr__(self) -> str:
        return f"<SyncRequest of {self._command.name}>"

    def enqueue(self, /, *args: P.args, **kwargs: P.kwargs) -> SyncTask[R]:
        """Enqueue a task with the arguments of the handler; as ``Command.enqueue``, blocking."""
        command, verbs = self._command, self._client.sync_verbs
        text = command.payload.dump(command.payload.bind(args, kwargs))
        return SyncTask(
            verbs.make(command, text, self._options), command.returns, verbs, self._options.expected(command.name)
        )

    def enqueue_many(self, items: Iterable[Item[R]], *, batch_size: int = BATCH_SIZE) -> list[SyncTask[R]]:
        """Enqueue one task for each item, all or none, in their order; as ``Command.enqueue_many``, blocking."""
        command, verbs = self._command, self._client.sync_verbs
        ids = verbs.make_many(command, items, self._options, check_count(batch_size, name="batch_size"))
        expected = self._options.expected(command.name)
        return [SyncTask(task_id, command.returns, verbs, expected) for task_id in ids]

    def using(
        self,
        *,
        lane: str | None = None,
        priority: int | None = None,
        at: datetime | None = None,
        delay: Duration | None = None,
        conn: AnyConnection | OwnTransaction = OWN,
        app: Client | None = None,
    ) -> SyncRequest[P, R]:
        """The same request with these options; as ``Command.using``.

        ``conn`` is a synchronous connection: of psycopg or psycopg2, a ``Session`` or ``Connection`` of SQLAlchemy, or
        Django's ``connection`` or its alias.
        """
        options = self._options.using(lane=lane, priority=priority, at=at, delay=delay, conn=conn, app=app)
        return SyncRequest(self._command, options, self._client if app is None else app)

    def task(self, task_id: int) -> SyncTask[R]:
        """A handle of a task of this command that exists already; as ``Command.task``."""
        command = self._command
        return SyncTask(TaskId(check_task_id(task_id)), command.returns, self._client.sync_verbs, command.name)


class Request(Generic[P, R]):
    """A command and the options of its next tasks. Made by ``command.using(…)``; it never changes.

    It has ``enqueue``, ``enqueue_many``, ``item``, ``using``, ``task`` and ``sync``, as a ``Command`` has them.
    """

    __slots__ = ("_client", "_command", "_options")

    def __init__(self, command: Defined, options: TaskOptions, client: Client) -> None:
        self._command = command
        self._options = options
        self._client = client

    def __repr__(self) -> str:
        return f"<Request of {self._command.name}>"

    @property
    def command_name(self) -> str:
        """The name of the command."""
        return self._command.name

    async def enqueue(self, /, *args: P.args, **kwargs: P.kwargs) -> Task[R]:
        """Enqueue a task with the arguments of the handler, and return a handle of it.

        The task exists when this returns; with ``using(conn=…)`` it exists when the caller's transaction commits. The
        command is registered before its first task if it is missing, in the same transaction; one that exists is not
        changed. If this is cancelled or the connection breaks, the task may or may not exist.

        Concurrent calls in one event loop, or in several threads, share a statement and a commit: while one statement
        is executed, later calls wait and share the next. Each call has the outcome that it would have alone. Calls
        with ``using(conn=…)``, and of the main thread without asyncio, never share.

        Raises ``ArgumentsInvalid`` when the arguments do not fit the handler, or would not reach it as they are given;
        ``CommandNotRegistered`` when the command is missing and this user may not register it.

        If the server does not answer for a minute, and its session is not working on the call, this and every other
        method raises ``OutcomeUnknown``: the call may or may not have taken effect. A call that waits for a lock on
        the server keeps waiting, except behind a transaction pooler. A connection of the caller has no such limit.
        """
        command, verbs = self._command, self._client.verbs
        text = command.payload.dump(command.payload.bind(args, kwargs))
        task_id = await verbs.make(command, text, self._options)
        return Task(task_id, command.returns, verbs, self._options.expected(command.name))

    def item(self, /, *args: P.args, **kwargs: P.kwargs) -> Item[R]:
        """The arguments of one task for ``enqueue_many`` or ``ctx.spawn_many``, checked now."""
        command = self._command
        text = command.payload.dump(command.payload.bind(args, kwargs))
        return Item(command.name, command.name_json, text, self._options)

    async def enqueue_many(self, items: Iterable[Item[R]], *, batch_size: int = BATCH_SIZE) -> list[Task[R]]:
        """Enqueue one task for each item, all or none, and return their handles in the order of the items.

        Items are made by ``command.item(…)``. An item may have a lane, from ``command.using(lane=…).item(…)``. Other
        options apply to all items: ``command.using(priority=…).enqueue_many(…)``. Raises what ``enqueue`` raises.
        """
        command, verbs = self._command, self._client.verbs
        ids = await verbs.make_many(command, items, self._options, check_count(batch_size, name="batch_size"))
        expected = self._options.expected(command.name)
        return [Task(task_id, command.returns, verbs, expected) for task_id in ids]

    def using(
        self,
        *,
        lane: str | None = None,
        priority: int | None = None,
        at: datetime | None = None,
        delay: Duration | None = None,
        conn: AnyAsyncConnection | OwnTransaction = OWN,
        app: Client | None = None,
    ) -> Request[P, R]:
        """The same command with options for its next tasks: ``send.using(lane="order-17").enqueue(to="a@b.org")``.

        - ``lane``: tasks of one lane run one after another, each with its whole scope
        - ``priority``: smaller runs first. Defaults to the priority of the command.
        - ``at``, ``delay``: not before this time (aware), or after this many seconds or this timedelta by the server's
          clock
        - ``conn``: a connection of the caller: the task is made in its transaction, and exists when that commits. An
          ``AsyncConnection`` of psycopg or SQLAlchemy, an ``AsyncSession``, or an asyncpg connection. Defaults to a
          separate transaction.
        - ``app``: another app, whose database gets the task. Defaults to the app that defines the command.

        Raises ``RequestRefused`` for any other value.
        """
        options = self._options.using(lane=lane, priority=priority, at=at, delay=delay, conn=conn, app=app)
        return Request(self._command, options, self._client if app is None else app)

    def task(self, task_id: int) -> Task[R]:
        """A handle of an existing task of this command.

        Its verbs raise ``TaskNotFound`` for a task of another command. ``app.task(id)`` takes a task of any command.
        """
        command = self._command
        return Task(TaskId(check_task_id(task_id)), command.returns, self._client.verbs, command.name)

    @property
    def sync(self) -> SyncRequest[P, R]:
        """The same request for code without asyncio: ``send.sync.enqueue(to="a@b.org")``."""
        return SyncRequest(self._command, self._options, self._client)

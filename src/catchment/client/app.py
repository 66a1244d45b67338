"""The app: the commands of an application and the way to their database. A façade; the verbs live beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Any, Literal, ParamSpec, TypeVar, overload

from catchment.client.connections import Connections
from catchment.client.enqueue import AnyCommand, Lanes, prepare_batches, prepare_one, prepare_when
from catchment.client.imports import Imports
from catchment.client.register import Registrar
from catchment.client.result import as_timeout
from catchment.client.sync import SyncClient
from catchment.errors import CommandNotRegistered
from catchment.model.check import check_task_id, check_text
from catchment.model.duration import Duration, as_timedelta
from catchment.model.task import TaskId, TaskInfo
from catchment.store import enqueue as enqueue_store
from catchment.store import task as task_store
from catchment.store.foreign.types import OWN, AnyAsyncConnection, OwnTransaction
from catchment.store.result import read_task_async
from catchment.task import tracing
from catchment.task.collector import Collector, check_collector
from catchment.task.command import Command
from catchment.task.commands import Commands
from catchment.task.limit import Limit, QueueOptions, as_names
from catchment.task.middleware import Middleware, check_middleware
from catchment.task.options import CommandOptions, Executor, MergeRule, OnFailure, Retry, as_dedup, check_name
from catchment.task.request import command_name

P = ParamSpec("P")
R = TypeVar("R")
AnyMiddleware = TypeVar("AnyMiddleware", bound=Middleware)


class App:
    """The commands of an application, and the verbs to work with their tasks.

    Without a ``dsn`` the environment variable ``CATCHMENT_DSN`` decides, and without that a server of our own is
    started; either way at the first use, never at import. ``queue`` is where commands go that name none. Connections
    are kept for each event loop, at most ``pool_size``; ``async with app:`` closes them. ``imports`` names the modules
    where further commands of the app live: workers and ``register`` import them, ``load`` does so elsewhere.

    ``app.sync`` has the same verbs for code without asyncio, see ``SyncClient``; ``app.commands`` are the commands of
    this app.
    """

    def __init__(
        self, dsn: str | None = None, *, queue: str = "default", pool_size: int = 4, imports: Iterable[str] = ()
    ) -> None:
        check_name("queue", queue)
        self.commands = Commands()
        self._queue = queue
        self._connections = Connections(dsn, pool_size)
        self._imports = Imports(imports)
        self._registrar = Registrar(self.commands, self._imports)
        self.sync = SyncClient(self._connections, self._registrar)

    async def __aenter__(self) -> App:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections. The app can be used again, and opens new ones then."""
        await self._connections.close()

    @property
    def dsn(self) -> str:
        """The database this app uses; found, and if need be started, when it is first asked for."""
        return self._connections.dsn()

    @property
    def given_dsn(self) -> str | None:
        """The ``dsn`` that this app was made with, or None."""
        return self._connections.given

    def load(self) -> None:
        """Import the modules of ``imports``, so that ``commands`` has all commands.

        Raises ``DefinitionRefused`` if there is no such module, and whatever a module raises.
        """
        self._imports.load()

    def worker(
        self, *, concurrency: int | None = None, queues: Iterable[str] = ()
    ) -> AbstractAsyncContextManager[None]:
        """Run a worker in this program, for as long as a block lasts: ``async with app.worker():``.

        - ``concurrency``: Python tasks at a time. Defaults to ``MAX_CONCURRENT_TASKS``.
        - ``queues``: of the commands of this app. Defaults to all queues, those of SQL handlers included.

        It does what ``catchment worker`` does with this app, on the running event loop and the app's database, and
        installs no signal handlers. The block begins when the worker is registered. At its end running handlers
        finish, for ``SHUTDOWN_GRACE_SECONDS``; if the block is cancelled, their tasks are given back at once. If the
        worker ends by itself, the block is cancelled, and the reason is raised.

        Raises ``RequestRefused`` for an app without commands, a queue without commands of the app, and inside of a
        handler; ``SchemaMismatch`` if the database has another schema.
        """
        from catchment.client.worker import AppWorker  # with the runtime, which a client does without

        self.load()
        return AppWorker(
            self.commands, self._connections.dsn, concurrency=concurrency, queues=as_names("queues", queues)
        )

    @overload
    def command(self, fn: Callable[P, R]) -> Command[P, R]: ...

    @overload
    def command(
        self,
        *,
        name: str | None = None,
        queue: str | None = None,
        priority: int = 100,
        max_attempts: int = 1,
        retry: Retry | None = None,
        timeout: Duration | None = None,
        dedup: str | Iterable[str] | None = None,
        merge: Mapping[str, MergeRule] | None = None,
        on_failure: OnFailure | None = None,
        limit: Limit | None = None,
        executor: Executor = "auto",
        description: str | None = None,
    ) -> Callable[[Callable[P, R]], Command[P, R]]: ...

    def command(
        self,
        fn: Callable[..., Any] | None = None,
        *,
        name: str | None = None,
        queue: str | None = None,
        priority: int = 100,
        max_attempts: int = 1,
        retry: Retry | None = None,
        timeout: Duration | None = None,
        dedup: str | Iterable[str] | None = None,
        merge: Mapping[str, MergeRule] | None = None,
        on_failure: OnFailure | None = None,
        limit: Limit | None = None,
        executor: Executor = "auto",
        description: str | None = None,
    ) -> Any:
        """Decorator: make a function a ``Command``. ``@app.command`` alone takes the defaults.

        - ``name``: the function's, unless given
        - ``queue``: the app's, unless given; one that does not exist is made, as ``concurrent``
        - ``priority``: smaller runs first
        - ``max_attempts``, ``retry``: how many attempts may fail, and the delay between them, a ``Retry``
        - ``timeout``: of an attempt, in seconds or as a timedelta, at most 100 years
        - ``dedup``, ``merge``: parameters that make two pending tasks the same work, and how the others combine
        - ``on_failure``: what a lane does after a final failure: ``continue``, ``halt`` or ``cancel_rest``; the
          queue's, unless given
        - ``limit``: how many may run at a time or start in a while, a ``Limit``
        - ``executor``: ``auto`` is ``async`` for ``async def`` and ``thread`` for ``def``; ``process`` is for a plain
          function without context
        - ``description``: for people who read the registry

        Raises ``DefinitionRefused`` when a payload cannot fill its parameters or an option does not fit.
        """
        if name is not None:
            check_name("the name of a command", name)
        options = CommandOptions(
            queue=queue if queue is not None else self._queue,
            priority=priority,
            max_attempts=max_attempts,
            retry=Retry() if retry is None else retry,
            timeout=None if timeout is None else as_timedelta(timeout, name="timeout"),
            dedup=as_dedup(dedup),
            merge={} if merge is None else merge,
            on_failure=on_failure,
            limit=limit,
            executor=executor,
            description=description,
        )

        def define(function: Callable[..., Any]) -> Command[..., Any]:
            command = Command(function, options, name=name)
            self.commands.add(command)
            return command

        return define if fn is None else define(fn)

    def queue(
        self,
        name: str,
        *,
        mode: Literal["serial", "concurrent"] | None = None,
        concurrency: int | None = None,
        max_depth: int | None = None,
        on_failure: OnFailure | None = None,
        max_running: int | None = None,
        rate: int | None = None,
        per: Duration = 1.0,
    ) -> None:
        """Say how a queue of this app is run; a worker with the app registers it. What is not said stays as it is.

        - ``mode``: ``serial`` runs its top level one after another, ``concurrent`` does not
        - ``concurrency``: how many SQL handlers of it one worker runs at a time
        - ``max_depth``: how many levels children may be below their root; 1 means that children have no children. A
          new queue has no limit but the engine's of 1,000 levels; a queue made by SQL has 1
        - ``on_failure``: what a lane, or a serial queue, does after a final failure
        - ``max_running``, and ``rate`` starts in each ``per``: limit the attempts of all workers together
        """
        self.commands.add_queue(
            name,
            QueueOptions(
                mode=mode,
                concurrency=concurrency,
                max_depth=max_depth,
                on_failure=on_failure,
                max_running=max_running,
                rate=rate,
                per=as_timedelta(per, name="per"),
            ),
        )

    def middleware(self, fn: AnyMiddleware) -> AnyMiddleware:
        """Decorator: run ``async def fn(ctx, call)`` around every handler; the first one added is the outermost."""
        check_middleware(fn)
        self.commands.middlewares.append(fn)
        return fn

    def collector(self, collector: Collector) -> None:
        """Show metrics of the app, a collector of ``prometheus_client``, where its workers show theirs.

        It is asked at each scrape, from a thread of the metrics server. A name that the worker or another collector
        uses already stops the worker's start.
        """
        check_collector(collector)
        self.commands.collectors.append(collector)

    async def enqueue(
        self,
        command: AnyCommand,
        /,
        *,
        lane: str | None = None,
        priority: int | None = None,
        at: datetime | None = None,
        delay: Duration | None = None,
        conn: AnyAsyncConnection | OwnTransaction = OWN,
        payload: Mapping[str, Any] | None = None,
        **arguments: Any,
    ) -> TaskId:
        """Make a task and return its id. The keyword arguments are the payload.

        - ``lane``: tasks of one lane run one after another, each with its whole scope
        - ``priority``: smaller runs first; the command's, unless given
        - ``at``, ``delay``: not before this time (aware), or after so many seconds or this timedelta by the server's
          clock
        - ``conn``: a connection of the caller: the task is made in its transaction, and exists when that commits. An
          ``AsyncConnection`` of psycopg or SQLAlchemy, an ``AsyncSession``, or an asyncpg connection. Without it the
          task exists when this returns
        - ``payload``: the whole payload as a mapping, instead of keyword arguments

        A command may be given by its name: then the payload is not checked here, and the command must be registered. A
        command of the app is registered before its first task if it is missing, in the transaction of ``conn`` if
        there is one; one that exists is not changed. If this is cancelled or the connection breaks, the task may or
        may not exist. Raises ``ArgumentsInvalid`` when the arguments do not fit the command, ``CommandNotRegistered``
        when it is not registered and this user may not register it.

        When the server gives no answer for a minute, and its session does not work on the call either, this and every
        other verb raises ``OutcomeUnknown``: the call may or may not have taken effect. A call that waits for a lock
        on the server goes on, except behind a transaction pooler. ``conn`` has no such limit.
        """
        when = prepare_when(priority, at, delay)
        one = prepare_one(command, payload, arguments, lane=lane, when=when)
        async with self._connections.use_async(conn) as used:
            await self._registrar.ensure_async(used, command)
            try:
                with tracing.enqueuing(one.command) as trace:
                    return await enqueue_store.enqueue_async(used, one.command, one.payload, one.lane, one.when, trace)
            except CommandNotRegistered as error:
                raise self._registrar.explain(error, command) from error

    async def enqueue_many(
        self,
        command: AnyCommand,
        /,
        payloads: Iterable[Mapping[str, Any]],
        *,
        lane: Lanes = None,
        priority: int | None = None,
        at: datetime | None = None,
        delay: Duration | None = None,
        conn: AnyAsyncConnection | OwnTransaction = OWN,
        batch_size: int = 1000,
    ) -> list[TaskId]:
        """Make one task for each payload, all or none, and return their ids in the order of the payloads.

        ``lane`` is one for all, one for each, or a function of the payload. Raises what ``enqueue`` raises.
        """
        when = prepare_when(priority, at, delay)
        name = command_name(command)
        batches = prepare_batches(command, payloads, lane, batch_size)
        async with self._connections.use_async(conn) as used:
            await self._registrar.ensure_async(used, command)
            try:
                # Nothing is sent in the caller's transaction before everything has been checked.
                checked = batches if conn is OWN else list(batches)
                with tracing.enqueuing(name) as trace:
                    return await enqueue_store.enqueue_many_async(used, name, checked, when, trace)
            except CommandNotRegistered as error:
                raise self._registrar.explain(error, command) from error

    async def result(self, task_id: int, *, timeout: Duration | None = None) -> Any:  # noqa: ASYNC109 - names the state
        """Wait until a task has settled and return its result, a JSON value. A merged task has its survivor's.

        Raises ``TaskFailed``, ``TaskCancelled``, ``ResultTimeout`` (the task goes on), ``TaskNotFound`` or
        ``ValueUnreadable``. Cancelling the wait does not touch the task. A connection that gives no answer for 15
        seconds is replaced, and the wait goes on; ``ResultTimeout`` comes within a second after ``timeout``, with or
        without an answer. A server that refuses connections raises ``ServerUnavailable``.
        """
        task, limit = check_task_id(task_id), as_timeout(timeout)
        side = await self._connections.side()
        return await side.results.wait(task, limit)

    async def cancel(self, task_id: int, reason: str | None = None) -> str:
        """Ask a task and everything under it to stop; returns ``cancelled``, ``cancelling``, or the state in which it
        had settled before."""
        task = check_task_id(task_id)
        why = (reason is not None and check_text(reason, name="reason")) or task_store.DEFAULT_REASON
        async with self._connections.own_async() as conn:
            return await task_store.cancel_async(conn, task, why)

    async def retry(self, task_id: int) -> str:
        """Run a failed or cancelled task again; returns its new state. Raises ``NotRetryable`` or ``TaskNotFound``."""
        task = check_task_id(task_id)
        async with self._connections.own_async() as conn:
            return await task_store.retry_async(conn, task)

    async def task(self, task_id: int) -> TaskInfo:
        """One task as it stands now; raises ``TaskNotFound`` or ``ValueUnreadable``."""
        task = check_task_id(task_id)
        async with self._connections.own_async() as conn:
            return await read_task_async(conn, task)

    async def register(self) -> int:
        """Register all commands and their queues, and change commands that differ; returns the number of rows written.

        A queue that exists is changed where ``app.queue`` says so. Workers do this when they start. Raises
        ``NameTaken`` when a command of the same name has a SQL handler.
        """
        async with self._connections.use_async() as own:
            return await self._registrar.register_async(own)

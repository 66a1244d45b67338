"""The app: the commands of an application and the way to their database. A façade; the verbs live beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Any, Literal, ParamSpec, TypeVar, overload

from catchment.client.by_name import dump_of, find_command, takes_names
from catchment.client.connections import Connections
from catchment.client.decorator import Awaited, Decorator, Unchecked, WithContext
from catchment.client.enqueue import Lanes, batches_of_mappings
from catchment.client.imports import Imports
from catchment.client.register import Registrar
from catchment.client.schedules import Scheduling
from catchment.client.sync import SyncClient
from catchment.client.sync_verbs import AppSyncVerbs
from catchment.client.verbs import AppVerbs
from catchment.errors import DefinitionRefused
from catchment.model.check import check_count, check_task_id
from catchment.model.duration import Duration
from catchment.model.task import TaskId
from catchment.store.foreign.types import OWN, AnyAsyncConnection, OwnTransaction
from catchment.task.collector import Collector, check_collector
from catchment.task.command import Command
from catchment.task.commands import Commands
from catchment.task.handle import Task
from catchment.task.limit import Limit, QueueOptions, as_defined_timedelta
from catchment.task.middleware import Middleware, check_middleware
from catchment.task.options import CommandOptions, Executor, MergeRule, OnFailure, Retry, as_dedup, check_name
from catchment.task.request import BATCH_SIZE
from catchment.task.surroundings import NOTHING, Surroundings
from catchment.task.task_options import NO_OPTIONS

P = ParamSpec("P")
R = TypeVar("R")
AnyMiddleware = TypeVar("AnyMiddleware", bound=Middleware)


class App(Scheduling):
    """The commands of an application, and the connection to its database.

    ``@app.command`` turns a function into a command; ``command.enqueue(…)`` creates its tasks.

    ``dsn`` defaults to the environment variable ``CATCHMENT_DSN``, and without that to the embedded server, which is
    then started. The app connects at its first use, never at import. ``queue`` is the default queue of its commands.
    Each event loop has up to ``pool_size`` connections, and threads have as many, plus one for the main thread; ``async
    with app:`` closes them. ``imports`` names modules with further commands of the app: workers and ``register`` import
    them, other code calls ``load``.

    ``app.sync`` is for code without asyncio, see ``SyncClient``; ``app.commands`` are the commands of this app.
    """

    def __init__(
        self, dsn: str | None = None, *, queue: str = "default", pool_size: int = 4, imports: Iterable[str] = ()
    ) -> None:
        self._set_up(Connections(dsn, pool_size), queue, Imports(imports))

    def _set_up(
        self,
        connections: Connections,
        queue: str,
        imports: Imports,
        *,
        sync_verbs: type[AppSyncVerbs] = AppSyncVerbs,
        surroundings: Surroundings = NOTHING,
    ) -> None:
        """Put the parts together. The app of a framework replaces some of them."""
        check_name("queue", queue)
        self.commands = Commands()
        self._queue = queue
        self.connections = connections
        self._imports = imports
        self._surroundings = surroundings
        registrar = Registrar(self.commands, imports, connections)
        self.verbs = AppVerbs(connections, registrar)
        self.sync_verbs = sync_verbs(connections, registrar)
        self.sync = SyncClient(self.commands, connections, self.sync_verbs, queue)

    async def __aenter__(self) -> App:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections. The app stays usable, and opens new ones at its next use."""
        await self.connections.close()

    @property
    def dsn(self) -> str:
        """The DSN of the database of this app. The embedded server is started at the first access, if it is used."""
        return self.connections.dsn()

    @property
    def given_dsn(self) -> str | None:
        """The ``dsn`` that was passed to the constructor, or None."""
        return self.connections.given

    def load(self) -> None:
        """Import the modules of ``imports``, so that ``commands`` has all commands.

        Raises ``DefinitionRefused`` if there is no such module. Errors of a module itself are raised unchanged.
        """
        self._imports.load()

    def worker(
        self, *, concurrency: int | None = None, queues: Iterable[str] = ()
    ) -> AbstractAsyncContextManager[None]:
        """Run a worker in this program for the duration of a block: ``async with app.worker():``.

        - ``concurrency``: the maximum number of Python tasks at a time. Defaults to ``CATCHMENT_MAX_CONCURRENT_TASKS``.
        - ``queues``: the queues to serve, with commands of this app. Defaults to all, including those of SQL handlers.

        It works like ``catchment worker`` with this app, on the running event loop and the app's database, and installs
        no signal handlers. The block begins when the worker is registered. At its end, running handlers get
        ``CATCHMENT_SHUTDOWN_GRACE_SECONDS`` to finish; if the block is cancelled, their tasks are released at once. If
        the worker ends by itself, the block is cancelled, and the reason is raised.

        Raises ``RequestRefused`` for an app without commands, for a queue without commands of the app, and in a
        handler; ``SchemaMismatch`` if the database has another schema.
        """
        from catchment.client.worker import AppWorker  # with the runtime, which a client does without

        self.load()
        return AppWorker(self.commands, self.connections.dsn, concurrency=concurrency, queues=queues)

    @overload
    def command(self, fn: Unchecked[P, Awaited[R]], /) -> Command[..., R, Callable[..., Awaited[R]]]: ...

    @overload
    def command(self, fn: WithContext[P, Awaited[R]], /) -> Command[P, R, WithContext[P, Awaited[R]]]: ...

    @overload
    def command(self, fn: Callable[P, Awaited[R]], /) -> Command[P, R, Callable[P, Awaited[R]]]: ...

    @overload
    def command(self, fn: Unchecked[P, R], /) -> Command[..., R, Callable[..., R]]: ...

    @overload
    def command(self, fn: WithContext[P, R], /) -> Command[P, R, WithContext[P, R]]: ...

    @overload
    def command(self, fn: Callable[P, R], /) -> Command[P, R, Callable[P, R]]: ...

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
        num_cpus: float | None = None,
        num_gpus: float | None = None,
        memory: int | None = None,
        description: str | None = None,
    ) -> Decorator: ...

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
        num_cpus: float | None = None,
        num_gpus: float | None = None,
        memory: int | None = None,
        description: str | None = None,
    ) -> Any:
        """Decorator: make a function a ``Command``. ``@app.command`` alone takes the defaults.

        The function is ``async def`` or ``def``. Callers pass its parameters by name, and they are validated against
        its annotations. A parameter for the context comes first: ``ctx: Context``.

        - ``name``: Defaults to the name of the function.
        - ``queue``: Defaults to the app's queue. A queue that does not exist is created, as ``concurrent``.
        - ``priority``: tasks with smaller numbers run first
        - ``max_attempts``: how many attempts may fail
        - ``retry``: the delay between attempts, a ``Retry``; needs ``max_attempts`` of 2 or more
        - ``timeout``: limit of one attempt, in seconds or as a timedelta, at most 100 years
        - ``dedup``: parameters that identify duplicates: pending tasks with equal values are merged
        - ``merge``: how the other parameters of duplicates are combined
        - ``on_failure``: what a lane does after a final failure: ``continue``, ``halt`` or ``cancel_rest``. Defaults to
          the setting of the queue.
        - ``limit``: how many tasks may run at a time, or start per interval: a ``Limit``
        - ``executor``: ``auto`` is ``async`` for ``async def`` and ``thread`` for ``def``; ``process`` runs a
          plain function without context in a separate process, ``ray`` on a Ray cluster
        - ``num_cpus``, ``num_gpus``, ``memory``: with ``executor="ray"``, the resources that a task takes from the
          cluster; memory in bytes. Ray's defaults are 1, 0 and no limit.
        - ``description``: for people who read the registry

        Raises ``DefinitionRefused`` if a payload cannot fill its parameters or an option is invalid.
        """
        if retry is not None and max_attempts == 1:
            raise DefinitionRefused(
                "retry= is given and max_attempts is 1, so no attempt is ever retried",
                hint="retry= needs max_attempts of 2 or more.",
            )
        if name is not None:
            check_name("the name of a command", name)
        options = CommandOptions(
            queue=queue if queue is not None else self._queue,
            priority=priority,
            max_attempts=max_attempts,
            retry=Retry() if retry is None else retry,
            timeout=None if timeout is None else as_defined_timedelta(timeout, name="timeout", takes_zero=False),
            dedup=as_dedup(dedup),
            merge={} if merge is None else merge,
            on_failure=on_failure,
            limit=limit,
            executor=executor,
            num_cpus=num_cpus,
            num_gpus=num_gpus,
            memory=memory,
            description=description,
        )

        def define(function: Callable[..., Any]) -> Command[..., Any]:
            command: Command[..., Any] = Command(function, options, self, name=name, surroundings=self._surroundings)
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
        """Configure a queue of this app; a worker with the app registers it. Options that are None are not changed.

        - ``mode``: ``serial`` runs its top-level tasks one after another, ``concurrent`` at the same time
        - ``concurrency``: how many SQL handlers of the queue one worker runs at a time
        - ``max_depth``: how many levels of children are allowed below a root; with 1, children cannot have children.
          For a new queue, only the engine's limit of 1,000 levels applies; a queue created in SQL has 1
        - ``on_failure``: what a lane, or a serial queue, does after a final failure
        - ``max_running``, ``rate``, ``per``: limit all workers together to ``max_running`` attempts at a time, or to
          ``rate`` starts in each ``per``
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
                per=as_defined_timedelta(per, name="per of a queue", takes_zero=False),
            ),
        )

    def middleware(self, fn: AnyMiddleware) -> AnyMiddleware:
        """Decorator: run ``async def fn(ctx, call)`` around every handler; the first one added is the outermost."""
        check_middleware(fn)
        self.commands.middlewares.append(fn)
        return fn

    def collector(self, collector: Collector) -> None:
        """Expose metrics of the app, a collector of ``prometheus_client``, together with those of its workers.

        It is called at each scrape, in a thread of the metrics server. If the worker or another collector already uses
        one of its names, the worker does not start.
        """
        check_collector(collector)
        self.commands.collectors.append(collector)

    @takes_names
    async def enqueue(
        self,
        command: str,
        arguments: Mapping[str, Any] | None = None,
        /,
        *,
        lane: str | None = None,
        priority: int | None = None,
        at: datetime | None = None,
        delay: Duration | None = None,
        conn: AnyAsyncConnection | OwnTransaction = OWN,
    ) -> Task[Any]:
        """Enqueue a task of the command with this name, such as one with a SQL handler.

        The options are those of ``Command.using``. The arguments are checked if this app defines the command; otherwise
        any JSON object is accepted, and the command must be registered. The result of the task is a JSON value. Raises
        what ``Command.enqueue`` raises.
        """
        options = NO_OPTIONS.using(lane=lane, priority=priority, at=at, delay=delay, conn=conn)
        known = find_command(self.commands, command)
        payload = dump_of(known)({} if arguments is None else arguments)
        return Task(await self.verbs.make(known, payload, options), None, self.verbs, options.expected(command))

    @takes_names
    async def enqueue_many(
        self,
        command: str,
        arguments: Iterable[Mapping[str, Any]],
        /,
        *,
        lane: Lanes = None,
        priority: int | None = None,
        at: datetime | None = None,
        delay: Duration | None = None,
        conn: AnyAsyncConnection | OwnTransaction = OWN,
        batch_size: int = BATCH_SIZE,
    ) -> list[Task[Any]]:
        """Enqueue one task for each mapping of arguments, all or none, of the command with this name.

        ``lane`` is one for all, one for each, or a function of the arguments.
        """
        options = NO_OPTIONS.using(priority=priority, at=at, delay=delay, conn=conn)
        known = find_command(self.commands, command)
        batches = batches_of_mappings(dump_of(known), arguments, lane, check_count(batch_size, name="batch_size"))
        ids = await self.verbs.send(known, batches, options)
        return [Task(task_id, None, self.verbs, options.expected(command)) for task_id in ids]

    def task(self, task_id: int) -> Task[Any]:
        """A handle of an existing task of any command; its result is a JSON value.

        ``command.task(id)`` is the handle whose result is read by the annotation of the handler.
        """
        return Task(TaskId(check_task_id(task_id)), None, self.verbs)

    async def skip_halted(self, lane: str | None, *, queue: str | None = None) -> TaskId:
        """Resume a halted lane without the failed task; returns the id of that task.

        - ``lane``: None for a serial queue whose top level is halted
        - ``queue``: of the lane. Defaults to the app's queue.

        Raises ``LaneNotHalted``, ``QueueNotRegistered``. To run the failed task again instead, use ``Task.retry``.
        """
        return await self.verbs.skip_halted(self._queue if queue is None else queue, lane)

    async def register(self) -> int:
        """Register all commands and their queues, and update commands that differ; returns the number of rows written.

        A queue that exists is changed where ``app.queue`` says so. Workers do this when they start. Raises
        ``NameTaken`` when a command of the same name has a SQL handler.
        """
        return await self.verbs.register()

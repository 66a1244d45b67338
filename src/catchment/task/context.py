"""The context: what a handler knows about its task, and the verbs it has.

Spawns, follow-ups and figures are recorded here and become real in the transaction that completes the attempt, so an
attempt that fails leaves none. Nothing here touches the database; ``progress`` and ``transaction`` go to the port.
"""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine, Generator, Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NoReturn, ParamSpec, TypeVar, cast, get_args, overload

from psycopg import AsyncConnection, Connection

from catchment.errors import LONGEST, CancelRequested, ParentMissing, RequestRefused, ScopeClosed, Snoozed
from catchment.model.check import check_count, check_task_id, check_text, is_one_of, shown
from catchment.model.duration import Duration, as_timedelta, check_aware
from catchment.model.task import TaskId
from catchment.store.foreign.types import OWN
from catchment.task import offspring, tracing
from catchment.task.asked import asked, asked_many, shown_command
from catchment.task.attempt import Attempt, Port
from catchment.task.child import Progress
from catchment.task.item import Item
from catchment.task.offspring import ChildMode, OnChildFailure
from catchment.task.port import LocalPort
from catchment.task.request import Request
from catchment.task.task_options import check_lane
from catchment.task.transaction import Transaction

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession
    from sqlalchemy.orm import Session

P = ParamSpec("P")
T = TypeVar("T")


class Scope:
    """The block of ``with ctx.scope(…)``. It sets how the children are run and does not wait for them."""

    __slots__ = ("_context", "mode", "on_child_failure")

    def __init__(self, context: Context, mode: ChildMode, on_child_failure: OnChildFailure) -> None:
        self._context = context
        self.mode: ChildMode = mode
        self.on_child_failure: OnChildFailure = on_child_failure

    def __enter__(self) -> Scope:
        self._context.record().set_policy(self.mode, self.on_child_failure)
        return self

    def __exit__(self, *exception: object) -> None:
        """Nothing ends here: the children start when the handler has returned."""


class _Done:
    """An awaitable for when there is nothing to wait for."""

    __slots__ = ()

    def __await__(self) -> Generator[Any, None, None]:
        yield from ()


class Context(Attempt):
    """The attempt that a handler runs in, and the requests it can make.

    A handler receives it as its first parameter, annotated ``catchment.Context``. Spawns, follow-ups and figures are
    recorded; they take effect when the attempt completes, and are dropped when it fails.

    It has ``task_id``, ``command``, ``queue``, ``attempt`` (starts, from 1), ``fence`` (the unique number of this
    attempt), ``lane`` (or None) and ``parent_id`` (None at the top level).
    """

    __slots__ = ()

    @classmethod
    def local(
        cls,
        *,
        command: str = "local",
        task_id: int = 0,
        parent_id: int | None = None,
        lane: str | None = None,
        attempt: int = 1,
        max_attempts: int = 1,
        is_join: bool = False,
        is_async: bool = True,
        port: Port | None = None,
    ) -> Context:
        """A context without a worker, for direct calls and unit tests. ``recorded`` has the requests of the handler,
        ``newest_progress`` its last progress, ``snoozed`` its snooze."""
        return cls(
            port or LocalPort(),
            task_id=TaskId(check_task_id(task_id, name="task_id")),
            fence=0,
            command=check_text(command, name="command"),
            queue="local",
            attempt=check_count(attempt, name="attempt"),
            max_attempts=check_count(max_attempts, name="max_attempts"),
            parent_id=None if parent_id is None else TaskId(check_task_id(parent_id, name="parent_id")),
            lane=check_lane(lane),
            is_join=is_join,
            is_async=is_async,
        )

    @overload
    def spawn(self, command: Request[P, Any], /, *args: P.args, **kwargs: P.kwargs) -> None: ...

    @overload
    def spawn(
        self,
        command: str,
        arguments: Mapping[str, Any] | None = None,
        /,
        *,
        priority: int | None = None,
        at: datetime | None = None,
        delay: Duration | None = None,
    ) -> None: ...

    def spawn(self, command: Any, /, *args: Any, **kwargs: Any) -> None:
        """Record a child: ``ctx.spawn(write, chapter=1)``. It starts when this handler has returned, and this task ends
        after it. A join has none.

        Options are given by ``write.using(priority=…)``. A command of another application is given by its name, with
        its arguments as a mapping.
        """
        self._refuse_in_join(command)
        self.record().add_children([_child(asked(command, args, kwargs))])

    @overload
    def spawn_many(self, items: Iterable[Item[Any]], /) -> None: ...

    @overload
    def spawn_many(
        self, command: str, arguments: Iterable[Mapping[str, Any]], /, *, priority: int | None = None
    ) -> None: ...

    def spawn_many(self, items: Iterable[Item[Any]] | str, /, *args: Any, **kwargs: Any) -> None:
        """Record many children: ``ctx.spawn_many(write.item(chapter=n) for n in range(9))``; none if one is invalid.

        They may be of several commands. With the name of a command, the second argument has one mapping for each.
        """
        self._refuse_in_join(items)
        self.record().add_children([_child(item) for item in asked_many(items, args, kwargs)])

    @overload
    def spawn_sibling(self, command: Request[P, Any], /, *args: P.args, **kwargs: P.kwargs) -> None: ...

    @overload
    def spawn_sibling(
        self,
        command: str,
        arguments: Mapping[str, Any] | None = None,
        /,
        *,
        priority: int | None = None,
        at: datetime | None = None,
        delay: Duration | None = None,
    ) -> None: ...

    def spawn_sibling(self, command: Any, /, *args: Any, **kwargs: Any) -> None:
        """Record another child of this task's parent, which then waits for it too. Called as ``spawn`` is."""
        self._refuse_in_join(command)
        item = asked(command, args, kwargs)
        if self.parent_id is None:
            raise ParentMissing(
                f"task {self.task_id} ({self.command}) has no parent, so {item.name} cannot be its sibling",
                hint="Use ctx.spawn for a child, or ctx.follow_up for a task that comes after this one.",
            )
        self.record().add_sibling(_child(item, is_sibling=True))

    @overload
    def follow_up(self, command: Request[P, Any], /, *args: P.args, **kwargs: P.kwargs) -> None: ...

    @overload
    def follow_up(
        self,
        command: str,
        arguments: Mapping[str, Any] | None = None,
        /,
        *,
        lane: str | None = None,
        priority: int | None = None,
        at: datetime | None = None,
        delay: Duration | None = None,
    ) -> None: ...

    def follow_up(self, command: Any, /, *args: Any, **kwargs: Any) -> None:
        """Record a task that starts when the root of this tree has completed, and is cancelled if it does not.

        Called as ``spawn`` is; it may have a lane.
        """
        self.record().add_follow_up(_entry(asked(command, args, kwargs)))

    def result_of_join(self) -> T:  # pyright: ignore[reportInvalidTypeVarUse] - whatever the handler is to return
        """What a handler returns that leaves its result to its join: ``return ctx.result_of_join()``.

        The handler is annotated with the result of the join, so that ``Task.result`` has that type. If it has spawned
        no child, the join runs at once, with none.
        """
        self.awaits_join = True
        return cast("T", None)

    def scope(self, mode: ChildMode = "concurrent", on_child_failure: OnChildFailure = "wait") -> Scope:
        """Choose how the children spawned in this ``with`` block are run. It does not wait for them.

        ``mode`` is ``concurrent``, or ``serial`` for one after another; ``on_child_failure`` is ``wait``, or
        ``cancel_siblings`` when one fails. A task has one scope: all blocks must choose the same, and the first spawn
        outside a block chooses the defaults.
        """
        for name, value, kind in (("mode", mode, ChildMode), ("on_child_failure", on_child_failure, OnChildFailure)):
            if not is_one_of(value, get_args(kind)):
                raise RequestRefused(f"{name} of a scope is {shown(value)}, expected one of {get_args(kind)}")
        return Scope(self, mode, on_child_failure)

    def info(self, **figures: Any) -> None:
        """Record figures that are stored with the task. Numbers of all children are summed in their parent."""
        self.record().add_figures(figures)

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Report the progress of the handler; it is written in the background. In a plain function of a cancelled task
        this raises ``CancelRequested`` (an async handler is cancelled where it awaits)."""
        if self._cancel_reason is not None and not self.is_async:
            raise CancelRequested(f"task {self.task_id} ({self.command}) is being cancelled: {self._cancel_reason}")
        self.refuse_if_over()
        self.newest_progress = Progress(done, total, message)
        self._port.progress(self)

    @overload
    def transaction(
        self, *, sqlalchemy: Literal[False] = False
    ) -> Transaction[AsyncConnection[Any], Connection[Any]]: ...

    @overload
    def transaction(self, *, sqlalchemy: Literal[True]) -> Transaction[AsyncSession, Session]: ...

    def transaction(self, *, sqlalchemy: bool = False) -> Transaction[Any, Any]:
        """A transaction that commits with this task's completion: the writes, the children and the result, or nothing.

        One per attempt. ``async with`` gives an ``AsyncConnection`` of psycopg; in a plain function ``with`` gives a
        ``Connection``. With ``sqlalchemy=True`` they give an ``AsyncSession`` and a ``Session``, which are flushed when
        the block ends. An explicit commit or rollback raises ``TransactionEndRefused``. Raises ``ExtraMissing`` when
        SQLAlchemy, or greenlet for an ``AsyncSession``, is not installed.
        """
        if not isinstance(sqlalchemy, bool):  # pyright: ignore[reportUnnecessaryIsInstance] - callers are not all typed
            raise RequestRefused(f"sqlalchemy is {shown(sqlalchemy)}, expected true or false")
        self.refuse_if_over()
        if self._has_transaction:
            raise RequestRefused(
                f"task {self.task_id} ({self.command}) has had its transaction",
                hint="There is one per attempt, because the task completes with it: do all writes in one block.",
            )
        self._has_transaction = True
        return Transaction(self, self._port, has_session=sqlalchemy)

    def snooze(self, delay: Duration, reason: str = "") -> Coroutine[Any, Any, NoReturn]:
        """End this attempt now and run the task again after ``delay`` (seconds, or a timedelta); never returns.

        It frees the slot and counts neither as a failure nor as an interruption, so a task can snooze without limit;
        ``catchment task show`` has the count. The handler starts from the beginning. What this attempt spawned, and
        what it wrote in ``ctx.transaction()``, is dropped. The task keeps its place: its lane waits for it.

        Write ``await ctx.snooze(…)``; in a plain function, which has no ``await``, ``raise RetryLater(…,
        uses_attempt=False)``. The delay is at least 0.1 seconds. Raises ``RequestRefused`` for one that is negative,
        not a number, or more than 100 years, and in a plain function.
        """
        self.refuse_if_over()
        if not self.is_async:
            raise RequestRefused(
                f"ctx.snooze in {self.command}, which is a plain function and cannot await it",
                hint="Write: raise catchment.RetryLater(delay, reason, uses_attempt=False). Or make it an async def.",
            )
        raise self._snooze(Snoozed(delay=as_timedelta(delay, name="delay"), reason=reason))

    def sleep_until(self, when: datetime, reason: str = "") -> Awaitable[None]:
        """Continue if that time has come; else end this attempt, as ``snooze`` does, and run the task again then.

        So a handler that begins with ``await ctx.sleep_until(when)`` does the rest at that time. In a plain function,
        write ``ctx.sleep_until(when)`` without ``await``. Raises ``RequestRefused`` for a time without a zone, or one
        that is more than 100 years ahead.
        """
        self.refuse_if_over()
        until, now = check_aware(when, name="when"), self._port.now()
        if until - now > LONGEST:
            raise RequestRefused(f"when is {until.isoformat()}, expected a time within 100 years")
        if until > now:
            raise self._snooze(Snoozed(until=until, reason=reason))
        return _Done()

    def _snooze(self, snoozed: Snoozed) -> Snoozed:
        """Keep it: a handler that catches everything has snoozed all the same."""
        self.snoozed = snoozed
        return snoozed

    def _refuse_in_join(self, command: Any) -> None:
        if self.is_join:
            raise ScopeClosed(
                f"the join of task {self.task_id} ({self.command}) cannot spawn {shown_command(command)}",
                hint="Use ctx.follow_up for work that comes after the task.",
            )


def _child(item: Item[Any], *, is_sibling: bool = False) -> str:
    if item.options.lane is not None:
        raise RequestRefused(
            f"lane is not an option of a child, and {item.name} has lane {shown(item.options.lane)}",
            hint="Children are ordered by their scope: with ctx.scope(mode='serial').",
        )
    return _entry(item, is_sibling=is_sibling)


def _entry(item: Item[Any], *, is_sibling: bool = False) -> str:
    options = item.options
    if options.conn is not OWN:
        raise RequestRefused(
            f"conn is given for {item.name}, which is made when this attempt completes",
            hint="A handler's own writes belong into ctx.transaction(), with which its task completes.",
        )
    if options.app is not None:
        raise RequestRefused(
            f"app is given for {item.name}, which is made in the database of this task",
            hint=f"A task in another database is made at once: {item.name}.using(app=…).enqueue(…).",
        )
    rest = offspring.members(
        priority=options.priority,
        scheduled_at=options.due_at,
        lane=options.lane,
        is_sibling=is_sibling,
        trace=tracing.current_trace(),
    )
    return offspring.entry(item.command_json, item.payload, rest)

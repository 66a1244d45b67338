"""``run_inline``: a command, its children, its join and its follow-ups, in this process and without a database.

It keeps the rules of the engine that a handler can see: children start when their parent has returned, by priority and
then in order; a parent fails when a child did; retries happen, at once; a task that snoozes continues at once, and its
clock is put forward; follow-ups come last. Due times, queues, lanes, merging and the depth of trees are left to the
engine.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, ParamSpec, overload

from catchment.client.app import App
from catchment.errors import CommandNotRegistered, RequestRefused
from catchment.model.state import TaskState
from catchment.model.task import TaskId
from catchment.runtime.held import Held
from catchment.store.attempt import Ending
from catchment.task.asked import asked
from catchment.task.attempt import Attempt
from catchment.task.child import Child
from catchment.task.command import Command
from catchment.task.commands import Commands
from catchment.task.request import Request
from catchment.testing.here import PoolsHere, PortHere, check_app, executor_here, run_to_end
from catchment.testing.run import Run

P = ParamSpec("P")
Entry = dict[str, Any]
MOST_SNOOZES = 1_000


@overload
def run_inline(app: App, command: Request[P, Any], /, *args: P.args, **kwargs: P.kwargs) -> Run: ...


@overload
def run_inline(app: App, command: str, arguments: Mapping[str, Any] | None = None, /) -> Run: ...


def run_inline(app: App, command: Any, /, *args: Any, **kwargs: Any) -> Run:
    """Run a command with everything it asks for, and tell how all of it ended.

    Called with the arguments of the handler, as ``command.enqueue`` is; a command that is given by its name takes them
    as a mapping. An error of a handler is kept in its ``Run`` and not raised. Raises ``ArgumentsInvalid`` when the
    arguments do not fit, ``CommandNotRegistered`` when a task of another app or a SQL handler is requested: those need
    ``drain``.
    """
    return run_to_end(_run_inline(app, command, args, kwargs), name="run_inline")


@overload
async def run_inline_async(app: App, command: Request[P, Any], /, *args: P.args, **kwargs: P.kwargs) -> Run: ...


@overload
async def run_inline_async(app: App, command: str, arguments: Mapping[str, Any] | None = None, /) -> Run: ...


async def run_inline_async(app: App, command: Any, /, *args: Any, **kwargs: Any) -> Run:
    """As ``run_inline``, where an event loop runs."""
    return await _run_inline(app, command, args, kwargs)


async def _run_inline(app: App, command: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Run:
    check_app(app)
    return await run_inline_on(app, PoolsHere(app.commands), command, args, kwargs)


async def run_inline_on(app: App, pools: PoolsHere, command: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Run:
    """As ``run_inline``, on the event loop of the caller: plain handlers run where ``pools`` says, which are closed."""
    try:
        inline = Inline(app.commands, pools)
        task = inline.make_root(command, args, kwargs)
        await inline.run_root(task)
        return task.run
    finally:
        pools.close()


@dataclass(slots=True)
class Task:
    """A task of the tree while it is run."""

    id: TaskId
    run: Run
    command: Command[..., Any]
    payload: str
    priority: int
    parent: Task | None = None
    lane: str | None = None
    children: list[Task] = field(default_factory=list["Task"])
    follow_ups: list[Task] = field(default_factory=list["Task"])

    @property
    def root(self) -> Task:
        return self if self.parent is None else self.parent.root

    @property
    def next_child(self) -> Task | None:
        """The child whose turn it is; one that runs may add siblings."""
        unsettled = [child for child in self.children if child.run.state is TaskState.PENDING]
        return min(unsettled, key=lambda child: (child.priority, child.id), default=None)


class InlinePort(PortHere):
    """What handlers reach: the children of a join. There is no database, so there is no transaction. Time passes when a
    handler snoozes."""

    def __init__(self) -> None:
        self.tasks: dict[int, Task] = {}
        self._passed = timedelta()

    def now(self) -> datetime:
        return super().now() + self._passed

    def pass_time(self, snooze: dict[str, Any]) -> None:
        """Let the time come that a handler has asked for."""
        if snooze.get("until") is not None:
            self._passed += datetime.fromisoformat(snooze["until"]) - self.now()
        else:
            self._passed += timedelta(seconds=snooze["retry_after"])

    def transaction(self, context: Attempt) -> Any:
        raise _needs_database(context)

    def transaction_sync(self, context: Attempt) -> Any:
        raise _needs_database(context)

    async def children(self, task_id: TaskId) -> list[Child[Any]]:
        return [
            Child(c.id, c.run.command, c.run.payload, c.run.state, c.run.result, c.run.info)
            for c in self.tasks[task_id].children
        ]

    async def commit(self, context: Attempt, ending: Ending) -> str | None:  # noqa: ARG002 - nothing to commit
        return None

    async def leave(self, context: Attempt) -> None:
        """Nothing is open."""

    def warn(self, task_id: int, command: str) -> None:
        """Commands that are not known were refused before."""


class Inline:
    """Runs trees in memory."""

    def __init__(self, commands: Commands, pools: PoolsHere) -> None:
        self._commands = commands
        self._port = InlinePort()
        self._executor = executor_here(commands, self._port, pools)
        self._ids = itertools.count(1)

    def make_root(self, command: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Task:
        """The task that everything begins with."""
        item = asked(command, args, kwargs)
        if isinstance(command, str):
            item = self._find(command).item(**(args[0] if args and args[0] is not None else {}))
        return self._make({"command": item.name, "payload": json.loads(item.payload)}, None)

    def _make(self, entry: Entry, parent: Task | None) -> Task:
        """A task that has not started, as a handler recorded it."""
        command = self._find(entry["command"])
        priority = entry.get("priority", command.options.priority)
        text = json.dumps(entry["payload"])
        run = Run(command.name, entry["payload"])
        task = Task(TaskId(next(self._ids)), run, command, text, priority, parent, entry.get("lane"))
        self._port.tasks[task.id] = task
        return task

    def _find(self, name: str) -> Command[..., Any]:
        if name in self._commands:
            return self._commands.get(name)
        raise CommandNotRegistered(
            f"this app has no command {name}, so it cannot be run inline",
            hint="A SQL handler needs a database: see catchment.testing.drain.",
        )

    async def run_root(self, root: Task) -> None:
        """Run a tree, then what follows it."""
        await self._run(root)
        root.run.follow_ups = [task.run for task in root.follow_ups]
        for follow_up in root.follow_ups:
            if root.run.state is TaskState.COMPLETED:
                await self.run_root(follow_up)
            else:
                reason = f"it follows task {root.id}, which is {root.run.state}"
                follow_up.run.fail(TaskState.CANCELLED, "cancelled", reason)

    async def _run(self, task: Task) -> None:
        ending = await self._attempt(task, phase=0)
        if ending is None:
            return
        self._take_offspring(task, ending)
        if ending.child_mode is None:
            task.run.state = TaskState.COMPLETED
            return
        task.run.state = TaskState.WAITING
        if not await self._run_children(task, cancels=ending.on_child_failure == "cancel_siblings"):
            return
        if task.command.join_part is not None:
            ending = await self._attempt(task, phase=1)
            if ending is None:
                return
            self._take_offspring(task, ending)
        task.run.state = TaskState.COMPLETED

    async def _run_children(self, task: Task, *, cancels: bool) -> bool:
        """Run all children; false when one did not complete, and the task has failed with it."""
        while child := task.next_child:
            await self._run(child)
            if cancels and child.run.state is TaskState.FAILED:
                while rest := task.next_child:
                    rest.run.fail(TaskState.CANCELLED, "cancelled", f"a sibling failed: task {child.id}")
        task.run.children = [child.run for child in task.children]
        states = [child.run.state for child in task.children]
        failed, cancelled = states.count(TaskState.FAILED), states.count(TaskState.CANCELLED)
        if failed or cancelled:
            task.run.state = TaskState.FAILED
            task.run.error = _children_error(task, failed, cancelled)
        return not failed and not cancelled

    async def _attempt(self, task: Task, *, phase: int) -> Ending | None:
        """Try until it completes or fails for good; None when it failed."""
        run, options = task.run, task.command.options
        failures = 0
        while failures < options.max_attempts:
            run.attempt += 1
            ending = await self._executor.run_one(self._held(task, phase, failures))
            if ending is not None and ending.asked == "snoozed":
                self._port.pass_time(_value(ending.error))
                run.snoozes += 1
                if run.snoozes > MOST_SNOOZES:
                    raise RequestRefused(
                        f"{run.command} has snoozed {MOST_SNOOZES} times", hint="Does what it waits for ever happen?"
                    )
                continue
            failures += 1
            if ending is not None and ending.asked == "completed":
                run.result = _value(ending.result)
                run.info = _value(ending.info) or run.info
                return ending
            run.error = _value(ending.error) if ending is not None else {"kind": "lost", "message": "it was dropped"}
            if run.error and run.error.get("retryable") is False:
                break
        run.state = TaskState.FAILED
        return None

    def _held(self, task: Task, phase: int, failures: int) -> Held:
        parent = None if task.parent is None else task.parent.id
        options = task.command.options
        head = (task.id, 0, task.run.command, task.payload, task.run.attempt, phase, parent, task.lane)
        return Held((*head, 0, options.timeout, failures, options.max_attempts, True, None, None))

    def _take_offspring(self, task: Task, ending: Ending) -> None:
        task.run.error = None
        for spawn in _entries(ending.spawns):
            # A task without a parent has no siblings: ctx.spawn_sibling refuses it.
            parent = task.parent if task.parent is not None and spawn.get("is_sibling") else task
            parent.children.append(self._make(spawn, parent))
        for follow_up in _entries([ending.follow_ups] if ending.follow_ups else []):
            task.root.follow_ups.append(self._make(follow_up, None))


def _children_error(task: Task, failed: int, cancelled: int) -> dict[str, Any]:
    """The error of a task that failed by its children, as ``worker.children_error`` makes it."""
    state = TaskState.FAILED if failed else TaskState.CANCELLED
    first = next(child for child in task.children if child.run.state is state)
    error = first.run.error or {}
    child = error.get("child") or {
        "id": first.id,
        "command": first.run.command,
        "kind": error.get("kind"),
        "message": error.get("message"),
    }
    rest = f", {cancelled} cancelled" if failed and cancelled else ""
    counts = f"{failed or cancelled} of {len(task.children)} children {state}{rest}"
    return {"kind": "children", "message": f"{counts}: {child['command']}: {child['message']}", "child": child}


def _value(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def _entries(arrays: Iterable[str]) -> list[Entry]:
    return [entry for text in arrays for entry in json.loads(text)]


def _needs_database(context: Attempt) -> RequestRefused:
    return RequestRefused(
        f"{context.command} asks for a transaction, and is run inline without a database",
        hint="Use catchment.testing.drain.",
    )

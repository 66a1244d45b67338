"""Answers about tasks."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import AwareDatetime

from catchment.cli.answers.base import Answer
from catchment.model.state import TaskState


class Made(Answer):
    """The task that was made."""

    id: int


class Runner(Answer):
    """``worker_id``, ``host`` and ``pid`` are those of the worker that runs it, and null while no worker does."""

    worker_id: int | None
    host: str | None
    pid: int | None


class TaskRow(Runner):
    """``waits_for`` says why it cannot start yet, ``due_at`` until when. ``worker_id``, ``host`` and ``pid`` are those
    of the worker that runs it, and null while no worker does."""

    id: int
    command: str
    queue: str
    state: TaskState
    priority: int
    parent_id: int | None
    lane: str | None
    attempt: int
    created_at: AwareDatetime
    process_start_at: AwareDatetime | None
    completed_at: AwareDatetime | None
    process_duration_ms: float | None
    waits_for: str | None
    due_at: AwareDatetime | None
    progress: dict[str, Any] | None
    merged_into: int | None
    error: str | None
    cancel_reason: str | None


class Attempt(Answer):
    """An attempt that did not complete. ``part`` is what ran: the handler, the join, or the children as a whole."""

    part: Literal["handler", "join", "children"]
    number: int
    state: Literal["failed", "interrupted", "cancelled", "released"]
    is_last: bool
    started_at: AwareDatetime | None
    ended_at: AwareDatetime
    error: dict[str, Any]


class HookWarning(Answer):
    """A hook that raised, or what a worker noted about the task."""

    at: AwareDatetime
    source: str
    message: str


class Snoozed(Answer):
    """How often the handler has put the task off, and until when."""

    times: int
    until: AwareDatetime
    at: AwareDatetime
    reason: str | None


class Halted(Answer):
    """The lane that the task has halted."""

    lane: str
    queue: str
    task_id: int
    since: AwareDatetime


class TaskShown(TaskRow):
    """``attempts`` are those that did not complete. ``retry_id`` is the task whose retry runs this one again,
    ``halted`` the lane that it has halted. ``worker_pid`` is the session of a SQL handler."""

    payload: Any
    depth: int
    child_mode: Literal["concurrent", "serial"] | None
    scheduled_at: AwareDatetime | None
    max_attempts: int
    process_stop_at: AwareDatetime | None
    completion_duration_ms: float | None
    worker_pid: int | None
    info: Any
    handler_kind: Literal["sql", "python"]
    root_id: int | None
    follows_id: int | None
    fence: int | None
    result: Any
    error_detail: dict[str, Any] | None
    snoozes: int
    attempts: list[Attempt]
    warnings: list[HookWarning]
    snoozed: Snoozed | None
    retry_id: int | None
    halted: Halted | None


class TreeTask(Runner):
    """``children`` counts those that it has, shown or not."""

    id: int
    command: str
    state: TaskState
    parent_id: int | None
    depth: int
    attempt: int
    process_duration_ms: float | None
    completion_duration_ms: float | None
    progress: dict[str, Any] | None
    error: str | None
    cancel_reason: str | None
    children: int


class Count(Answer):
    """How many tasks of a command are in a state."""

    command: str
    state: TaskState
    tasks: int


class TaskTree(Answer):
    """``tasks`` are parents before children. ``counts`` are those of the whole tree, of which ``left_off`` are not
    shown; ``at_least``: there may be more, because counting has stopped."""

    tasks: list[TreeTask]
    counts: list[Count]
    at_least: bool
    left_off: int


class Changed(Answer):
    """What became of a task. ``state`` is null if it was refused, and ``error`` says why."""

    id: int
    state: str | None
    error: str | None


class Bulk(Answer):
    """``id`` is the task that changes all that match: ``done`` and ``skipped`` of ``expected``. It is null if none
    matches, and with ``--dry-run``. ``problem`` is why the first of the skipped ones was skipped, ``error`` why the
    task failed."""

    id: int | None
    verb: Literal["cancel", "retry"]
    state: TaskState | None
    expected: int | None
    done: int
    skipped: int
    problem: str | None
    error: str | None


class Ended(Answer):
    """A task as it ended; ``seconds`` is its last attempt. ``halted`` is the lane that it has halted."""

    id: int
    command: str
    queue: str
    handler_kind: Literal["sql", "python"]
    lane: str | None
    parent_id: int | None
    state: Literal["completed", "failed", "cancelled"]
    attempt: int
    max_attempts: int
    process_start_at: AwareDatetime | None
    completed_at: AwareDatetime
    seconds: float | None
    merged_into: int | None
    error: str | None
    error_kind: str | None
    error_where: str | None
    failures: int | None
    halted: HaltedLane | None


class HaltedLane(Answer):
    """A lane by its queue; the lane without a name is the top level of a serial queue."""

    queue: str
    lane: str


class EndedBefore(Answer):
    """A task that has ended, and was retried or deleted since."""

    id: int
    state: Literal["completed", "failed", "cancelled"]
    completed_at: AwareDatetime

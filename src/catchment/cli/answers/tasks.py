"""Answers about tasks."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import AwareDatetime

from catchment.cli.answers.base import Answer
from catchment.model.state import TaskState


class Made(Answer):
    """The new task."""

    id: int


class Runner(Answer):
    """``worker_id``, ``host`` and ``pid`` identify the worker that runs the task; null while no worker does."""

    worker_id: int | None
    host: str | None
    pid: int | None


class TaskRow(Runner):
    """``waits_for`` says why the task cannot start yet, ``due_at`` until when. ``worker_id``, ``host`` and ``pid``
    identify the worker that runs the task; null while no worker does."""

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
    """An error of a hook, or a warning of a worker about the task."""

    at: AwareDatetime
    source: str
    message: str


class Snoozed(Answer):
    """How often the handler has snoozed the task, and until when."""

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
    """``attempts`` lists the attempts that did not complete. ``retry_id`` is the task to retry in order to run this one
    again, ``halted`` the lane that this task has halted. ``worker_pid`` is the database session of a SQL handler."""

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
    """``children`` counts all children, shown or not."""

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
    """The number of tasks of a command in a state."""

    command: str
    state: TaskState
    tasks: int


class TaskTree(Answer):
    """``tasks`` lists parents before children. ``counts`` covers the whole tree; ``omitted`` is the number of tasks
    that are not shown. ``at_least`` is true if counting stopped early, so that there may be more."""

    tasks: list[TreeTask]
    counts: list[Count]
    at_least: bool
    omitted: int


class Changed(Answer):
    """A task after the change. ``state`` is null if the change was refused; ``error`` says why."""

    id: int
    state: str | None
    error: str | None


class Bulk(Answer):
    """``id`` is the task that changes all matching tasks: ``done`` and ``skipped`` of ``expected``. It is null if none
    matches, and with ``--dry-run``. ``problem`` is the reason why the first skipped task was skipped, ``error`` why
    the task failed."""

    id: int | None
    verb: Literal["cancel", "retry"]
    state: TaskState | None
    expected: int | None
    done: int
    skipped: int
    problem: str | None
    error: str | None


class Ended(Answer):
    """A task that ended. ``seconds`` is the duration of its last attempt, ``halted`` the lane that it has halted."""

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
    error_hint: str | None
    failures: int | None
    halted: HaltedLane | None


class HaltedLane(Answer):
    """A lane and its queue. The lane without a name is the top level of a serial queue."""

    queue: str
    lane: str


class EndedBefore(Answer):
    """A task that ended and has been retried or deleted since."""

    id: int
    state: Literal["completed", "failed", "cancelled"]
    completed_at: AwareDatetime

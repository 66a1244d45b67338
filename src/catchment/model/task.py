"""A task as a caller sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NewType

from catchment.model.state import TaskState

TaskId = NewType("TaskId", int)
TaskId.__doc__ = (
    "The id of a task: an int with a separate type, so that a type checker distinguishes it from other numbers."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskInfo:
    """A snapshot of one task.

    ``waits_for`` is the reason why it cannot start yet, such as ``retry``, ``snooze``, ``lane`` or ``limit``. It is
    None if the next claim starts the task, unless its queue is paused; ``why()`` lists all reasons. ``due_at`` is the
    time at which the task can start or its join is retried; for a running task, the time at which its timeout expires.
    ``attempt`` counts the starts of its handler, not those of its join. ``started_at`` is when the last attempt
    started, not the first one. ``worker_id``, ``host`` and ``pid`` identify the worker that runs it; None while no
    worker does.
    """

    id: TaskId
    command: str
    queue: str
    state: TaskState
    payload: Mapping[str, Any]
    result: Any
    error: Mapping[str, Any] | None
    info: Mapping[str, Any] | None
    progress: Mapping[str, Any] | None
    attempt: int
    max_attempts: int
    snoozes: int
    priority: int
    lane: str | None
    parent_id: TaskId | None
    merged_into: TaskId | None
    waits_for: str | None
    due_at: datetime | None
    created_at: datetime
    scheduled_at: datetime | None
    started_at: datetime | None
    completed_at: datetime | None
    worker_id: int | None
    host: str | None
    pid: int | None

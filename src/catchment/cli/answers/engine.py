"""Answers about queues, lanes, schedules, commands, workers and the database."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import AwareDatetime

from catchment.cli.answers.base import Answer
from catchment.cli.answers.tasks import Runner
from catchment.model.state import TaskState


class Migrated(Answer):
    """``applied`` lists the migrations that were applied. ``newer`` is the version that wrote the schema, if it is
    newer than this one; then nothing was changed."""

    applied: list[str]
    routines_changed: bool
    newer: str | None
    version: str
    has_roles: bool
    owner: str


class QueueRow(Answer):
    """``ready`` tasks can start, ``blocked`` ones wait for their time, lane, siblings or limit. ``concurrency`` applies
    to SQL handlers; null if the queue has none. ``workers`` counts live workers with a handler for the queue."""

    queue: str
    mode: Literal["serial", "concurrent"]
    concurrency: int | None
    max_depth: int | None
    is_paused: bool
    paused_until: AwareDatetime | None
    ready: int
    blocked: int
    processing: int
    waiting: int
    oldest_ready_seconds: int | None
    workers: int
    description: str | None


class CommandCapacity(Answer):
    """``desired`` is the number of tasks that are ready, running or due soon, up to the limit of the queue."""

    command: str
    ready: int
    running: int
    due_soon: int
    desired: int


class QueueCapacity(Answer):
    """``desired`` is the number of tasks that need a slot."""

    queue: str
    desired: int
    commands: list[CommandCapacity]


class QueuePaused(Answer):
    """``paused_until`` is null if the pause has no end."""

    queue: str
    is_paused: bool
    paused_until: AwareDatetime | None


class LaneRow(Answer):
    """``head_id`` is the first task; ``tasks`` counts it and those behind it, up to 1,000. ``error`` is the error of
    the head of a halted lane. The lane without a name is the top level of a serial queue."""

    queue: str
    lane: str
    state: Literal["halted", "waiting", "running", "ready", "idle"]
    tasks: int
    head_id: int | None
    command: str | None
    head_state: TaskState | None
    halted_at: AwareDatetime | None
    error: str | None


class LaneSkipped(Answer):
    """``skipped_id`` is the failed task that was skipped."""

    queue: str
    lane: str | None
    skipped_id: int


class CommandRow(Answer):
    """``handler_procedure`` is set for SQL handlers. ``merge`` is how payloads of duplicates are merged."""

    command: str
    queue: str
    handler_kind: Literal["sql", "python"]
    handler_procedure: str | None
    before_procedure: str | None
    after_procedure: str | None
    join_procedure: str | None
    priority: int
    max_attempts: int
    timeout_seconds: float | None
    dedup: Any
    merge: Any
    on_failure: str | None
    description: str | None


class WorkerRow(Answer):
    """``name`` defaults to the host name. ``capacity`` is the number of slots, ``running`` the number in use.
    ``memory_usage``, a share from 0 to 1, and ``loop_lag``, in seconds, are as of ``seen_at``. ``served`` lists the
    queues for which the worker has a handler."""

    worker_id: int
    name: str
    pid: int | None
    version: str | None
    state: Literal["live", "silent", "paused", "draining"]
    requested_at: AwareDatetime | None
    requested_by: str | None
    queues: list[str]
    python_queues: list[str]
    python_commands: list[str] | None
    served: list[str]
    capacity: int | None
    running: int | None
    memory_usage: float | None
    loop_lag: float | None
    started_at: AwareDatetime
    seen_at: AwareDatetime
    lease_until: AwareDatetime


class WorkerRequest(Answer):
    """``requested`` is the requested state; null for a worker that takes tasks."""

    worker_id: int
    requested: Literal["pause", "drain"] | None


class Rhythm(Answer):
    """A cron expression, parsed."""

    minutes: list[int]
    hours: list[int]
    days: list[int]
    months: list[int]
    weekdays: list[int]
    any_day: bool
    any_weekday: bool
    is_fixed: bool


class Run(Answer):
    """A task of a schedule. A deleted task has only its ``id``."""

    id: int
    command: str | None = None
    state: TaskState | None = None
    since: AwareDatetime | None = None
    waits_for: str | None = None


class ScheduleRow(Answer):
    """``fires`` describes when the schedule fires. ``is_declared`` is true if an app defines it, ``is_in_code`` if a
    live worker has that app. ``recent`` lists its last tasks, newest first; ``error`` is the error of the last one, and
    ``problem`` the reason why the schedule cannot fire."""

    name: str
    command: str
    queue: str
    fires: str
    every_seconds: float | None
    cron: str | None
    rhythm: Rhythm | None
    timezone: str
    missed: Literal["one", "skip", "all"]
    overlap: Literal["allow", "skip", "wait", "cancel"]
    is_declared: bool
    is_in_code: bool
    enabled: bool
    next_at: AwareDatetime | None
    last_at: AwareDatetime | None
    last_task_id: int | None
    error: str | None
    recent: list[Run]
    problem: str | None


class ScheduleTime(Answer):
    """``outcome`` is what happened at this time. ``state`` is the state of the task, ``since`` its start."""

    n: int
    due_at: AwareDatetime | None
    missed_from: AwareDatetime | None
    at: AwareDatetime
    outcome: str
    task_id: int | None
    state: TaskState | None
    since: AwareDatetime | None


class ScheduleChanged(Answer):
    """``next_at`` is when the schedule fires next; null while it is paused."""

    name: str
    enabled: bool
    next_at: AwareDatetime | None


class Finding(Answer):
    """``remedy`` has one fix per line: a shell command with a comment that explains it, or a comment alone."""

    level: Literal["error", "warning", "info"]
    subject: str
    finding: str
    remedy: str


class Figure(Answer):
    """``figure`` is ``value`` with ``unit``, formatted for people."""

    measured: str
    figure: str
    value: float
    unit: Literal["tasks/s", "ms"]


class TopQueue(Answer):
    """A queue. Counts stop at 10,000."""

    queue: str
    mode: Literal["serial", "concurrent"]
    concurrency: int | None
    is_paused: bool
    paused_until: AwareDatetime | None
    ready: int
    later: int
    blocked: int
    processing: int
    waiting: int
    failed_last_hour: int
    workers: int
    oldest_ready_seconds: float | None
    ended_per_second: float


class TopWorker(Answer):
    """A worker. ``running`` counts the slots in use; ``memory_usage`` is as of the last heartbeat."""

    worker_id: int
    name: str
    pid: int | None
    version: str | None
    queues: list[str]
    capacity: int | None
    running: int | None
    memory_usage: float | None
    seen_seconds: float
    up_seconds: float
    is_silent: bool


class TopScope(Answer):
    """A task that waits for its children, or for its join."""

    id: int
    command: str
    queue: str
    lane: str | None
    waits_for: str
    done: int
    total: int
    failed: int
    seconds: float | None


class TopFailure(Answer):
    """A task that failed in the last hour."""

    id: int
    command: str
    queue: str
    lane: str | None
    completed_at: AwareDatetime
    error: str | None


class TopTask(Runner):
    """A running task; ``seconds`` is how long it has been running."""

    id: int
    command: str
    queue: str
    lane: str | None
    attempt: int
    seconds: float | None


class Top(Answer):
    """The engine at time ``at`` of the server clock, with at most 200 workers, scopes, failures and running tasks
    each."""

    at: AwareDatetime
    database: str
    queues: list[TopQueue]
    workers: list[TopWorker]
    scopes: list[TopScope]
    failures: list[TopFailure]
    running: list[TopTask]

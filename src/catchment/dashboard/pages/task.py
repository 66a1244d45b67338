"""*Task*: one task, its error, and what can be done with it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from catchment.dashboard.database import Actor, Reader
from catchment.dashboard.screen import Action, Answer, Done, Query, Screen, sql
from catchment.errors import TaskNotFound
from catchment.model.check import LARGEST_ID

TaskId = Annotated[int, Field(ge=1, le=LARGEST_ID, description="The id of a task.")]


class TaskQuery(Query):
    id: TaskId


class TaskAnswer(Answer):
    """One task, without payload and result."""

    id: int
    command: str
    queue: str
    state: str
    priority: int
    parent_id: int | None
    root_id: int | None
    lane: str | None
    attempt: int
    max_attempts: int
    handler_kind: str
    created_at: datetime | str
    scheduled_at: datetime | str | None
    process_start_at: datetime | str | None
    process_stop_at: datetime | str | None
    completed_at: datetime | str | None
    process_duration_ms: float | None
    waits_for: str | None
    due_at: datetime | str | None
    done_children: int | None
    total_children: int | None
    failed_children: int | None
    error: str | None
    error_kind: str | None
    error_context: str | None
    retry_id: int | None = Field(description="The task whose retry runs this one again; null if it cannot be.")


async def read(reader: Reader, query: TaskQuery) -> TaskAnswer:
    row = await reader.row(sql("task"), id=query.id)
    if row is None:
        raise TaskNotFound(f"there is no task {query.id}")
    return TaskAnswer(**row)


def _title(answer: TaskAnswer) -> str:
    name = f"{answer.command} {answer.id}"
    if answer.state == "waiting" and answer.total_children is not None and answer.done_children is not None:
        left = answer.total_children - answer.done_children
        return f"{name} · waiting for {left:,} of {answer.total_children:,} children"
    return f"{name} · {answer.state}"


SCREEN = Screen(
    name="task",
    path="/tasks/{id}",
    summary="One task.",
    query=TaskQuery,
    answer=TaskAnswer,
    read=read,
    title=_title,
    template="task.html",
    section="tasks",
)


class TaskBody(Query):
    id: TaskId


class CancelBody(TaskBody):
    reason: str = Field("cancelled on request", min_length=1, max_length=500, description="Kept with the task.")


async def _retry(actor: Actor, body: TaskBody) -> Done:
    state = await actor.value("select worker.retry(%(id)s::bigint)", id=body.id)
    return Done(f"Task {body.id} runs again: it is {state}.", state)


async def _cancel(actor: Actor, body: CancelBody) -> Done:
    state = await actor.value("select worker.cancel(%(id)s::bigint, %(reason)s::text)", id=body.id, reason=body.reason)
    if state in ("completed", "failed"):
        return Done(f"Nothing was done: task {body.id} has {state} already.", state)
    return Done(f"Task {body.id} is {state}.", state)


RETRY = Action(
    name="task.retry",
    path="/tasks/{id}/retry",
    summary="Run a failed or cancelled task again; a parent runs its failed children again.",
    body=TaskBody,
    run=_retry,
    verb=lambda body: f"Retry task {body.id}",
    consequence=lambda body: f"Task {body.id} runs again. If it failed through its children, those that failed do.",
    subject=lambda body: f"task {body.id}",
    back=lambda body: f"/tasks/{body.id}",
)

CANCEL = Action(
    name="task.cancel",
    path="/tasks/{id}/cancel",
    summary="Stop a task and everything under it.",
    body=CancelBody,
    run=_cancel,
    verb=lambda body: f"Cancel task {body.id}",
    consequence=lambda body: (
        f"Task {body.id} and everything under it stop: what has not started never starts, and what "
        "runs is asked to stop. It can be retried later."
    ),
    subject=lambda body: f"task {body.id}",
    back=lambda body: f"/tasks/{body.id}",
    is_destructive=True,
)

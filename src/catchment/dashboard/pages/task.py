"""*Task*: one task, the way it took, why it waits, its attempts, what is around it, and what can be done with it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from catchment.dashboard.database import Actor, Reader, Row
from catchment.dashboard.pages.task_path import Run, Step, Story, path_of
from catchment.dashboard.pages.task_why import WhyAnswer, read_why
from catchment.dashboard.screen import Action, Answer, Done, Moment, Query, Screen, sql
from catchment.dashboard.values import trace_id_of
from catchment.errors import RequestRefused, TaskNotFound
from catchment.model.check import LARGEST_ID
from catchment.model.ending import count_words, what_followed

ATTEMPTS = 50

TaskId = Annotated[int, Field(ge=1, le=LARGEST_ID, description="The id of a task.")]


class TaskQuery(Query):
    id: TaskId


class TaskNote(Answer):
    """Another task, in short."""

    id: int
    command: str
    state: str
    since: Moment | None = None
    waits_for: str | None = None


class ChildrenAnswer(Answer):
    """The children of a task in numbers."""

    total: int
    open: int
    failed: int
    cancelled: int
    child_mode: str
    is_joining: bool
    started_at: Moment
    stopped_at: Moment

    @property
    def done(self) -> int:
        return self.total - self.open


class LaneAnswer(Answer):
    """Where a task stands in its lane. Counts stop at 1,000."""

    head: TaskNote | None
    halted_at: Moment | None
    ahead: int
    behind: int
    before: list[TaskNote]
    after: list[TaskNote]


class FollowUps(Answer):
    """Tasks that start when this one has completed. The count stops at 1,000."""

    count: int
    tasks: list[TaskNote]


class AttemptAnswer(Answer):
    """An attempt that did not complete. One that was given back is ``released``."""

    attempt: int = Field(description="Its number among those of the handler, or of the join.")
    is_join: bool
    is_scope: bool = Field(description="Not an attempt: the task settled by its children, and was retried by hand.")
    is_last: bool = Field(description="The task settled with it; what came later was retried by hand.")
    remark: str = Field("", description="What followed: that it was not retried, or a retry by hand.")
    state: str
    started_at: Moment | None
    ended_at: Moment
    kind: str | None
    message: str | None
    place: str | None
    detail: str | None
    hint: str | None
    context: str | None

    @property
    def key(self) -> tuple[object, ...]:
        return self.attempt, self.is_join, self.is_scope, str(self.ended_at)


class WarningAnswer(Answer):
    """A hook that raised."""

    at: Moment
    source: str
    message: str


class TaskAnswer(Answer):
    """One task, why it waits, and what is around it; without payload and result."""

    id: int
    command: str
    queue: str
    state: str
    priority: int
    parent_id: int | None
    root_id: int | None
    follows_id: int | None
    merged_into: int | None
    lane: str | None
    attempt: int
    max_attempts: int
    attempts_words: str = Field(description="How many there were, and how many failed of those that are allowed.")
    snoozes: int
    handler_kind: str
    created_at: Moment
    scheduled_at: Moment | None
    process_start_at: Moment | None
    process_stop_at: Moment | None
    completed_at: Moment | None
    process_duration_ms: float | None = Field(description="The run of the handler alone.")
    completion_duration_ms: float | None = Field(description="Until the task settled, with its children.")
    waits_for: str | None
    due_at: Moment | None
    has_result: bool
    has_info: bool
    error: str | None
    error_kind: str | None
    error_place: str | None
    error_hint: str | None
    error_context: str | None
    retry_id: int | None = Field(description="The task whose retry runs this one again; null if it cannot be.")
    why: WhyAnswer
    path: list[Step]
    attempts: list[AttemptAnswer] = Field(description="The last ones that did not complete, the newest first.")
    has_more_attempts: bool
    warnings: list[WarningAnswer]
    children: ChildrenAnswer | None
    lane_place: LaneAnswer | None
    follow_ups: FollowUps | None
    trace_id: str | None
    trace_url: str | None


async def read(reader: Reader, query: TaskQuery) -> TaskAnswer:
    row = await reader.row(sql("task"), id=query.id)
    if row is None:
        raise TaskNotFound(f"there is no task {query.id}")
    around = await reader.row(sql("task_around"), id=query.id) or {}
    children = ChildrenAnswer(**around["children"]) if around.get("children") else None
    rows = await reader.rows(sql("task_attempts"), id=query.id, most=ATTEMPTS + 1)
    attempts = _with_remarks(row, [AttemptAnswer(**one) for one in rows[:ATTEMPTS]])
    trace_id = trace_id_of(around.get("trace"))
    return TaskAnswer(
        **row,
        why=await read_why(reader, query.id),
        path=path_of(_story(row, children, attempts, len(rows) > ATTEMPTS)),
        attempts_words=_counted_attempts(row, children, attempts),
        attempts=attempts,
        has_more_attempts=len(rows) > ATTEMPTS,
        warnings=[WarningAnswer(**one) for one in await reader.rows(sql("task_warnings"), id=query.id, most=20)],
        children=children,
        lane_place=around.get("lane"),
        follow_ups=around.get("follow_ups"),
        trace_id=trace_id,
        trace_url=None if trace_id is None else reader.shown.trace_link(trace_id),
    )


def _story(row: Row, children: ChildrenAnswer | None, attempts: list[AttemptAnswer], is_cut: bool) -> Story:
    runs = [
        Run(
            one.attempt,
            one.state,
            one.started_at,
            one.ended_at,
            _ending(one),
            is_join=one.is_join,
            is_scope=one.is_scope,
            is_last=one.is_last,
        )
        for one in attempts
    ]
    if children is not None:
        runs.append(Run(row["attempt"], "completed", children.started_at, children.stopped_at))
    elif row["state"] == "completed" and row["process_start_at"] is not None:
        runs.append(Run(row["attempt"], "completed", row["process_start_at"], row["completed_at"]))
    if row["state"] == "processing":
        runs.append(Run(row["attempt"], "running", row["process_start_at"], None, is_join=children is not None))
    return Story(
        state=row["state"],
        created_at=row["created_at"],
        completed_at=row["completed_at"],
        runs=runs,
        is_cut=is_cut,
        children="" if children is None else _counted(children.total, "child", "children"),
        ending=_settled(row, children),
    )


def _runs(attempts: list[AttemptAnswer], *, is_join: bool) -> list[AttemptAnswer]:
    """Those of the handler, or of the join, the oldest first."""
    return [one for one in reversed(attempts) if one.is_join == is_join and not one.is_scope]


def _is_settled(row: Row, runs: list[AttemptAnswer]) -> bool:
    """Did the task settle with the last of these?"""
    return row["completed_at"] is not None and row["state"] != "completed" and bool(runs) and runs[-1].is_last


def _with_remarks(row: Row, attempts: list[AttemptAnswer]) -> list[AttemptAnswer]:
    remarks = {one.key: "retried by hand" for one in attempts if one.is_scope}
    for is_join in (False, True):
        runs = _runs(attempts, is_join=is_join)
        followed = what_followed(runs, row["max_attempts"], is_settled=_is_settled(row, runs))
        for one, (is_given_up, is_by_hand) in zip(runs, followed, strict=True):
            words = ("not retried" if is_given_up else "", "retried by hand" if is_by_hand else "")
            remarks[one.key] = ", ".join(word for word in words if word)
    return [one.model_copy(update={"remark": remarks.get(one.key, "")}) for one in attempts]


def _counted_attempts(row: Row, children: ChildrenAnswer | None, attempts: list[AttemptAnswer]) -> str:
    runs = _runs(attempts, is_join=False)
    is_settled = children is None and _is_settled(row, runs)
    return count_words(f"{row['attempt']} so far", runs, row["max_attempts"], is_settled=is_settled)


def _ending(attempt: AttemptAnswer) -> str:
    if attempt.is_scope:
        return f"{attempt.state} through its children" if attempt.kind == "children" else attempt.state
    if attempt.state == "interrupted":
        return "its worker was lost"
    if attempt.state == "released":
        return "released by its worker"
    kind = f" with {attempt.kind}" if attempt.kind and attempt.kind != attempt.state else ""
    return f"{'its join' if attempt.is_join else f'attempt {attempt.attempt}'} {attempt.state}{kind}"


def _settled(row: Row, children: ChildrenAnswer | None) -> str:
    if row["merged_into"] is not None:
        return f"with task {row['merged_into']}, which it was merged into"
    if children is not None and row["state"] == "completed":
        return "after its children"
    if row["error_kind"] == "children":
        return f"{row['state']} through its children"
    if row["error_kind"] and row["error_kind"] != row["state"]:
        return row["error_kind"]
    return "before it started" if row["state"] == "cancelled" and row["process_start_at"] is None else ""


def _counted(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _title(answer: TaskAnswer) -> str:
    name = f"{answer.command} {answer.id}"
    if answer.state == "waiting" and answer.children is not None and answer.children.open:
        return (
            f"{name} · waiting for {answer.children.open:,} of {_counted(answer.children.total, 'child', 'children')}"
        )
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


class RetryBody(TaskBody):
    seen: Literal["failed", "cancelled"] | None = Field(
        None, description="The state that the task was seen in. In any other it is not retried."
    )


_STATE = "select t.state from worker.tasks as t where t.id = %(id)s::bigint"


async def _retry(actor: Actor, body: RetryBody) -> Done:
    now = await actor.value(_STATE, id=body.id)
    if body.seen is not None and now in ("failed", "cancelled") and now != body.seen:
        raise RequestRefused(
            f"task {body.id} is {now}, and was {body.seen} when this was requested", hint="Look at the task first."
        )
    state = await actor.value("select worker.retry(%(id)s::bigint)", id=body.id)
    return Done(f"Task {body.id} runs again: it is {state}.", state)


async def cancel(actor: Actor, body: CancelBody, name: str) -> Done:
    """Cancel a task; ``name`` is what stops, at the start of a sentence."""
    before = await actor.value(_STATE, id=body.id)
    state = await actor.value("select worker.cancel(%(id)s::bigint, %(reason)s::text)", id=body.id, reason=body.reason)
    if state in ("completed", "failed"):
        return Done(f"Nothing was done: task {body.id} has {state} already.", state)
    if before == "cancelled":
        return Done(f"Nothing was done: task {body.id} was cancelled already.", state)
    return Done(f"{name}{state}.", state)


async def _cancel(actor: Actor, body: CancelBody) -> Done:
    return await cancel(actor, body, f"Task {body.id} is ")


RETRY = Action(
    name="task.retry",
    path="/tasks/{id}/retry",
    summary="Run a failed or cancelled task again; a parent runs its failed children again.",
    body=RetryBody,
    run=_retry,
    verb=lambda body: f"Retry task {body.id}",
    consequence=lambda body: f"Task {body.id} runs again. If it failed through its children, those that failed do.",
    subject=lambda body: f"task {body.id}",
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
    is_destructive=True,
)

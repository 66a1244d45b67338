"""*Scope*: a task and its children: their progress, when they will have ended, and what each did when.

Nothing here grows with the number of children: the engine keeps the counts, a page of children is read by an index, and
what is shown of each command is a sample of them in a large scope.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated

from psycopg.types.json import Jsonb
from pydantic import Field, StringConstraints

from catchment.dashboard.charts.waterfall import Axis, ticks
from catchment.dashboard.database import Actor, Reader, Row
from catchment.dashboard.estimate import Progress, estimate
from catchment.dashboard.pages.children import ORDER, Children, moment, read_children
from catchment.dashboard.pages.groups import COUNTED, Group, read_groups
from catchment.dashboard.pages.task import CancelBody, TaskBody, TaskId, cancel
from catchment.dashboard.pages.tasks import Name
from catchment.dashboard.screen import Action, Done, Query, Screen, sql
from catchment.dashboard.words import count
from catchment.errors import TaskNotFound
from catchment.model.state import TaskState

_BAR = ("completed", "failed", "cancelled", "interrupted", "waiting", "processing", "pending")
# The number of failed children retried in one step; it takes a second or two.
AT_ONCE = 10_000
# With more children than this a page begins with counts.
MANY = 500


class ScopeQuery(Query):
    """A task, and which of its children to list: failed ones come first."""

    id: TaskId
    state: TaskState | None = Field(None, description="Only children in this state.")
    command: Name | None = Field(None, description="Only children of this command.")
    attempt: int | None = Field(None, ge=1, le=1_000_000, description="Only what this attempt of each child did.")
    after: Annotated[str, StringConstraints(max_length=60)] | None = Field(
        None, description="The page after this place: next of the page before."
    )

    @property
    def is_filtered(self) -> bool:
        return self.state is not None or self.command is not None


class ScopeAnswer(Children):
    """A task, the figures of its children, and one page of them."""

    id: int
    command: str
    queue: str
    state: str
    parent_id: int | None
    root_id: int | None
    lane: str | None
    attempt: int
    started_at: datetime | str | None
    completed_at: datetime | str | None
    now: datetime
    error: str | None
    child_mode: str | None
    on_child_failure: str | None
    total: int = Field(description="How many children there are.")
    done: int = Field(description="How many of them have settled, in any way.")
    counts: dict[str, int] = Field(description="Children by state, exact but for the states of running ones.")
    cancel_reason: str | None
    estimated_end: datetime | None = Field(description="When all will have settled; null if that is unknown.")
    estimate_basis: str | None = Field(description="How that was estimated, or why it is unknown.")
    groups: list[Group] | None = Field(description="Children by command and state; null if there are few.")
    is_sampled: bool = Field(description="Are figures of commands estimated from a sample?")
    axis_start: datetime
    axis_end: datetime
    attempts: int = Field(description="The most attempts of a child on this page.")
    retry_id: int | None = Field(description="The task whose retry runs its failed children again; null if none.")
    retried: int = Field(description="How many children a retry runs again.")

    @property
    def axis(self) -> Axis:
        return Axis(self.axis_start, self.axis_end)

    @property
    def ticks(self) -> list[str]:
        return ticks(self.axis)

    @property
    def took(self) -> float | None:
        start, end = moment(self.started_at), moment(self.completed_at)
        return None if start is None or end is None else max(0.0, (end - start).total_seconds())

    @property
    def shares(self) -> dict[str, int]:
        """The parts of the bar: what is done, then what moves, then what is left."""
        return {state: self.counts[state] for state in _BAR}

    @property
    def most_ends(self) -> float:
        return max((number for group in self.groups or () for number in group.ends), default=0.0)

    def attempt_choices(self, chosen: int | None) -> list[int]:
        last = max(self.attempts, chosen or 0)
        return sorted({*range(1, min(last, 8) + 1), *range(max(1, last - 1), last + 1)})


async def read(reader: Reader, query: ScopeQuery) -> ScopeAnswer:
    row = await reader.row(sql("scope"), id=query.id, most=reader.most)
    if row is None:
        raise TaskNotFound(f"there is no task {query.id}")
    counts, now = counts_of(row), row["now"]
    whole = _axis(row)
    is_large = row["total"] > MANY
    page = await read_children(
        reader,
        query.id,
        counts,
        state=query.state,
        command=query.command,
        after=query.after,
        now=now,
    )
    axis = _axis_of_attempt(page, query.attempt, whole)
    expected = estimate(_progress(row)) if row["state"] == TaskState.WAITING else None
    return ScopeAnswer(
        **{name: row[name] for name in _PLAIN},
        started_at=row["process_start_at"],
        done=row["total"] - row["open"],
        counts={state.value: counts[state] for state in ORDER},
        estimated_end=expected.ends_at if expected else None,
        estimate_basis=expected.basis if expected else None,
        groups=await read_groups(reader, query.id, counts, whole) if is_large else None,
        is_sampled=row["total"] > COUNTED,
        axis_start=axis.start,
        axis_end=axis.end,
        attempts=max((child.attempt for child in page.children), default=0),
        retry_id=row["retry_id"] if row["state"] != TaskState.WAITING else _retried_while_open(row),
        retried=row["failed"] + (row["cancelled"] if row["state"] != TaskState.WAITING else 0),
        **page.model_dump(),
    )


_PLAIN = (
    "id",
    "command",
    "queue",
    "state",
    "parent_id",
    "root_id",
    "lane",
    "attempt",
    "completed_at",
    "now",
    "error",
    "child_mode",
    "on_child_failure",
    "total",
    "cancel_reason",
)


def counts_of(row: Row) -> dict[TaskState, int]:
    """Children by state. What is open and in no other state is pending."""
    known = row["interrupted"] + row["processing"] + row["waiting"]
    return {
        TaskState.FAILED: row["failed"],
        TaskState.INTERRUPTED: row["interrupted"],
        TaskState.PROCESSING: row["processing"],
        TaskState.CANCELLED: row["cancelled"],
        TaskState.WAITING: row["waiting"],
        TaskState.PENDING: max(0, row["open"] - known),
        TaskState.COMPLETED: row["total"] - row["open"] - row["failed"] - row["cancelled"],
    }


def _retried_while_open(row: Row) -> int | None:
    """An open scope takes back what failed, unless it is serial, joining or being cancelled."""
    may = row["child_mode"] == "concurrent" and not row["is_joining"] and row["cancel_reason"] is None
    return row["id"] if may and row["failed"] else None


def _progress(row: Row) -> Progress:
    return Progress(
        now=row["now"],
        since=moment(row["process_stop_at"]),
        total=row["total"],
        open=row["open"],
        active=row["processing"] + row["waiting"],
        ended=row["ended"],
        seconds=row["seconds"] or 0.0,
        is_joining=row["is_joining"],
        is_cancelling=row["cancel_reason"] is not None,
    )


def _axis(row: Row) -> Axis:
    """All the time that the scope has taken."""
    now: datetime = row["now"]
    end = moment(row["completed_at"]) or now
    start = moment(row["process_start_at"]) or moment(row["created_at"]) or end
    return Axis(min(start, end), max(end, start + timedelta(milliseconds=1)))


def _axis_of_attempt(page: Children, attempt: int | None, whole: Axis) -> Axis:
    """A retry days later would make all bars of the first attempt too thin to see: one attempt has its own time."""
    if attempt is None:
        return whole
    runs = [part for child in page.children for part in child.parts if part.attempt == attempt and part.kind != "wait"]
    if not runs:
        return whole
    start, end = min(part.started_at for part in runs), max(part.ended_at for part in runs)
    return Axis(start, max(end, start + timedelta(milliseconds=1)))


def _title(answer: ScopeAnswer) -> str:
    name = f"{answer.command} {answer.id}"
    if not answer.total:
        return f"{name} · no children"
    if answer.state == TaskState.WAITING:
        return f"{name} · {count(answer.done)} of {count(answer.total)}"
    return f"{name} · {answer.state}"


SCREEN = Screen(
    name="scope",
    path="/scopes/{id}",
    summary="A task and its children: progress, estimated end, and what each did when.",
    query=ScopeQuery,
    answer=ScopeAnswer,
    read=read,
    title=_title,
    template="scope.html",
    section="scopes",
)


class ScopeCancelBody(CancelBody):
    open: int | None = Field(None, ge=0, description="The number of children at the request; for messages.")


class ScopeRetryBody(TaskBody):
    count: int | None = Field(None, ge=0, description="The number of children at the request; for messages.")


async def _cancel(actor: Actor, body: ScopeCancelBody) -> Done:
    return await cancel(actor, body, f"Task {body.id} and everything under it: ")


async def _retry(actor: Actor, body: ScopeRetryBody) -> Done:
    """At once, or by a task that does it in batches if there are many: that continues when this request has ended."""
    row = await actor.row(sql("scope"), id=body.id, most=1)
    if row is not None and row["failed"] + row["cancelled"] > AT_ONCE:
        task_id = await actor.value(
            sql("bulk_start"),
            verb="retry",
            filter=Jsonb({"parent": body.id, "state": "failed" if row["failed"] else "cancelled"}),
            reason="",
            actor=actor.user.name,
            role=actor.user.role,
            seen_at=None,
        )
        return Done(f"Task {task_id} retries them.", "pending", f"/bulk/{task_id}")
    number = await actor.value("select worker.retry_failed(%(id)s::bigint)", id=body.id)
    return Done(f"{count(number)} {'child runs' if number == 1 else 'children run'} again.", "waiting")


def _children(number: int | None, kind: str) -> str:
    words = f"{kind} {'child' if number == 1 else 'children'}".strip()
    return f"its {words}" if number is None else f"{count(number)} {words}"


CANCEL = Action(
    name="scope.cancel",
    path="/scopes/{id}/cancel",
    summary="Stop a task and everything under it.",
    body=ScopeCancelBody,
    run=_cancel,
    verb=lambda body: f"Cancel task {body.id} and {_children(body.open, 'open')}",
    consequence=lambda _: (
        "What has not started never starts, also deeper down; what runs is asked to stop. What has settled stays as it "
        "is. It can be retried later."
    ),
    subject=lambda body: f"task {body.id}",
    is_destructive=True,
)

RETRY = Action(
    name="scope.retry",
    path="/scopes/{id}/retry",
    summary="Run the failed children of a task again; of one that has settled, also the cancelled ones.",
    body=ScopeRetryBody,
    run=_retry,
    verb=lambda body: f"Retry {_children(body.count, 'failed' if body.count is None else '')} of task {body.id}",
    consequence=lambda body: (
        f"The failed children of task {body.id} run again, with their attempts counted on, and the task waits for "
        "them. If it has settled, its cancelled children run again too. Children that completed do not."
    ),
    subject=lambda body: f"task {body.id}",
)

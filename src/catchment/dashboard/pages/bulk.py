"""*Bulk*: retry or cancel all tasks that match a filter, or those that were selected. One page says how many that are
and asks; the task that does it has a page with its progress."""

from __future__ import annotations

import re
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, cast

from psycopg.types.json import Jsonb
from pydantic import BeforeValidator, Field, StrictInt

from catchment.dashboard.database import Actor, Reader
from catchment.dashboard.pages.task import TaskId
from catchment.dashboard.pages.tasks import TaskFilter, aware
from catchment.dashboard.screen import Action, Answer, Done, GivenTime, Query, Screen, sql
from catchment.errors import TaskNotFound
from catchment.model.check import LARGEST_ID
from catchment.model.state import TaskState

Verb = Literal["retry", "cancel"]
# Without a state in the filter: failed ones alone, and all of these.
RETRIED = (TaskState.FAILED, TaskState.CANCELLED)
CANCELLED = (TaskState.PENDING, TaskState.INTERRUPTED, TaskState.PROCESSING, TaskState.WAITING)

# One page of the engine: the answer comes at once, and more would not change it.
COUNTED = 5_000


MOST_IDS = 200
_IDS = re.compile(r"[0-9]{1,19}(,[0-9]{1,19})*")


def _is_whole_id(value: object) -> bool:
    """Compared before anything is converted: 1e999999 has a million digits."""
    return isinstance(value, Decimal) and 1 <= value <= LARGEST_ID and value == value.to_integral_value()


def _read_ids(value: object) -> object:
    """As addresses and forms have them: 17,18,19. In JSON, 17.0 is an integer too."""
    if isinstance(value, list):
        return [int(one) if _is_whole_id(one) else one for one in cast("list[Any]", value)]
    if not isinstance(value, str):
        return value
    if not _IDS.fullmatch(value):
        raise ValueError("expected ids of tasks with commas between them, such as 17,18")
    return [int(part) for part in value.split(",")]


Ids = Annotated[
    list[Annotated[StrictInt, Field(ge=1, le=LARGEST_ID)]],
    BeforeValidator(_read_ids),
    Field(min_length=1, max_length=MOST_IDS),
]


class BulkFilter(TaskFilter):
    """Which tasks are changed: all that match what is given."""

    ids: Ids | None = Field(None, description="Only these tasks, such as 17,18 in an address.")


class AskQuery(BulkFilter):
    """A filter, and what to do with the tasks that match."""

    verb: Verb = Field("retry", description="What to do: retry failed tasks, or cancel unsettled ones.")


class AskAnswer(Answer):
    """How many tasks it would be."""

    verb: Verb
    tasks: int = Field(description="How many match; at most 5,000 are counted.")
    is_complete: bool = Field(description="Are these all? If not, there may be more.")
    workers: int = Field(description="Live workers; any of them can do it.")
    filter: dict[str, str | bool | list[int]]
    seen_at: datetime | None = Field(description="When they were counted: what is made or ends later is not changed.")


async def read_ask(reader: Reader, query: AskQuery) -> AskAnswer:
    values = filter_of(query)
    if query.state is not None and query.state not in (RETRIED if query.verb == "retry" else CANCELLED):
        # No such task can be retried, or cancelled: the answer is right, and the page says why.
        return AskAnswer(verb=query.verb, filter=values, tasks=0, is_complete=True, workers=0, seen_at=None)
    row = await reader.row(sql("bulk_count"), verb=query.verb, filter=Jsonb(values), most=COUNTED)
    return AskAnswer(verb=query.verb, filter=values, **(row or {}))


def filter_of(given: BulkFilter) -> dict[str, str | bool | list[int]]:
    """As the engine takes it: only what is given, times with their zone."""
    values: dict[str, Any] = given.model_dump(include={*BulkFilter.model_fields}, exclude_defaults=True)
    return {
        key: aware(value).isoformat() if isinstance(value, datetime) else value
        for key, value in values.items()
        if value is not None
    }


def described(values: dict[str, Any]) -> str:
    """A filter in a few words."""
    said = (
        f"tasks {listed_ids(value)}" if key == "ids" else f"{key.replace('_', ' ')} {value}"
        for key, value in values.items()
    )
    return ", ".join(said) or "all"


def listed_ids(ids: list[int]) -> str:
    """``17, 18, 19``; of many the first ones, and how many more there are."""
    more = f" and {len(ids) - 10:,} more" if len(ids) > 10 else ""
    return ", ".join(map(str, ids[:10])) + more


def counted(number: int, *, is_complete: bool) -> str:
    """``1 task``, ``1,234 tasks``, ``5,000+ tasks``."""
    return f"{number:,}{'' if is_complete else '+'} {'task' if number == 1 and is_complete else 'tasks'}"


ASK = Screen(
    name="bulk",
    path="/bulk",
    summary="How many tasks match a filter, before they are retried or cancelled.",
    query=AskQuery,
    answer=AskAnswer,
    read=read_ask,
    title=lambda answer: f"{answer.verb.title()} {counted(answer.tasks, is_complete=answer.is_complete)}",
    template="bulk.html",
    section="tasks",
)


class BulkQuery(Query):
    id: TaskId


class BulkAnswer(Answer):
    """Progress of a bulk change."""

    id: int = Field(description="The task that does it.")
    verb: Verb
    state: str
    filter: dict[str, Any]
    actor: str
    requested_at: datetime | str
    ended_at: datetime | str | None
    expected: int | None = Field(description="The number of matches at the request; null if more than were counted.")
    done: int
    skipped: int = Field(description="Those that could not be changed.")
    problem: str | None = Field(description="Why the first of these could not be.")
    error: str | None
    workers: int


async def read_progress(reader: Reader, query: BulkQuery) -> BulkAnswer:
    row = await reader.row(sql("bulk"), id=query.id)
    if row is None:
        raise TaskNotFound(f"task {query.id} is no bulk")
    return BulkAnswer(**row)


def _title(answer: BulkAnswer) -> str:
    what = "retried" if answer.verb == "retry" else "cancelled"
    of = "" if answer.expected is None else f" of {answer.expected:,}"
    return f"{answer.done:,}{of} tasks {what} · {answer.state}"


PROGRESS = Screen(
    name="bulk_progress",
    path="/bulk/{id}",
    summary="Progress of a bulk change.",
    query=BulkQuery,
    answer=BulkAnswer,
    read=read_progress,
    title=_title,
    template="bulk_progress.html",
    section="tasks",
)


class RetryBody(BulkFilter):
    seen_at: GivenTime | None = Field(
        None, description="When they were counted. Tasks that fail later do not run again."
    )


class CancelBody(BulkFilter):
    seen_at: GivenTime | None = Field(
        None, description="When they were counted. Tasks that are created later are not cancelled."
    )
    reason: str = Field("cancelled on request", min_length=1, max_length=500, description="Kept with each task.")


async def _start(actor: Actor, verb: Verb, body: RetryBody | CancelBody, reason: str = "") -> Done:
    task_id = await actor.value(
        sql("bulk_start"),
        verb=verb,
        filter=Jsonb(filter_of(body)),
        reason=reason,
        actor=actor.user.name,
        role=actor.user.role,
        seen_at=None if body.seen_at is None else aware(body.seen_at),
    )
    return Done(f"Task {task_id} {'retries' if verb == 'retry' else 'cancels'} them.", "pending", f"/bulk/{task_id}")


async def _retry(actor: Actor, body: RetryBody) -> Done:
    return await _start(actor, "retry", body)


async def _cancel(actor: Actor, body: CancelBody) -> Done:
    return await _start(actor, "cancel", body, body.reason)


RETRY = Action(
    name="tasks.retry",
    path="/bulk/retry",
    summary="Run all failed tasks that match a filter again, by a task that does it in batches.",
    body=RetryBody,
    run=_retry,
    verb=lambda body: "Retry tasks",  # noqa: ARG005
    consequence=lambda body: f"All failed tasks that match run again: {described(filter_of(body))}.",
    subject=lambda body: f"tasks: {described(filter_of(body))}",
    back="/tasks",
)

CANCEL = Action(
    name="tasks.cancel",
    path="/bulk/cancel",
    summary="Stop all unsettled tasks that match a filter, by a task that does it in batches.",
    body=CancelBody,
    run=_cancel,
    verb=lambda body: "Cancel tasks",  # noqa: ARG005
    consequence=lambda body: f"All unsettled tasks that match stop: {described(filter_of(body))}.",
    subject=lambda body: f"tasks: {described(filter_of(body))}",
    back="/tasks",
    is_destructive=True,
)

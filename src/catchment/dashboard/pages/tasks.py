"""*Tasks*: a list by state, command, queue, lane, time and text of the error, page by page.

A page looks at a bounded number of tasks. If fewer match than it has room for, it says how far it has looked, and the
next one continues from there.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import Field, StringConstraints

from catchment.dashboard.database import Reader
from catchment.dashboard.errors import Problem
from catchment.dashboard.screen import Answer, GivenTime, Query, Screen, sql
from catchment.dashboard.words import listed
from catchment.model.state import TaskState
from catchment.sql import ENGINE
from catchment.store.find import Place, TaskFilters

PAGE = 50

Name = Annotated[str, StringConstraints(max_length=500)]


class TaskFilter(Query):
    """Which tasks: all that match what is given."""

    state: TaskState | None = Field(None, description="Only tasks in this state.")
    command: Name | None = Field(None, description="Only this command.")
    queue: Name | None = Field(None, description="Only this queue.")
    lane: Name | None = Field(None, description="Only this lane.")
    error: Name | None = Field(None, description="Only tasks whose error contains this text.")
    made_after: GivenTime | None = Field(None, description="Only tasks made at this time or later.")
    made_before: GivenTime | None = Field(None, description="Only tasks made before this time.")
    top: bool = Field(False, description="Only tasks without a parent.")

    @property
    def filters(self) -> TaskFilters:
        return TaskFilters(
            state=self.state,
            command=self.command,
            queue=self.queue,
            lane=self.lane,
            error=self.error,
            made_after=self.made_after and aware(self.made_after),
            made_before=self.made_before and aware(self.made_before),
            is_top=self.top,
        )

    @property
    def is_filtered(self) -> bool:
        return self.filters != TaskFilters()


class TasksQuery(TaskFilter):
    """Tasks come newest first; failed and cancelled ones in the order of their ends, the last one first."""

    before: Annotated[str, StringConstraints(max_length=60)] | None = Field(
        None, description="The page after this place: next of the page before."
    )


class TaskRow(Answer):
    """A task in the list, without payload and result."""

    id: int
    command: str
    queue: str
    state: str
    priority: int
    parent_id: int | None
    lane: str | None
    attempt: int
    max_attempts: int
    created_at: datetime | str
    process_start_at: datetime | str | None
    completed_at: datetime | str | None
    completion_duration_ms: float | None = Field(description="From the start until it settled, with its children.")
    waits_for: str | None
    due_at: datetime | str | None
    done_children: int | None
    total_children: int | None
    error: str | None


class TasksAnswer(Answer):
    """One page of tasks. ``next`` is the parameter ``before`` of the page after it; null at the end."""

    tasks: list[TaskRow]
    next: str | None
    looked_at: int | None = Field(description="How many tasks were looked at; null if the filter has an index.")
    commands: list[str] = Field(description="Registered commands, to choose from.")
    queues: list[str]


async def read(reader: Reader, query: TasksQuery) -> TasksAnswer:
    filters = query.filters
    # One more than is shown, to know whether there is another page.
    rows = await reader.rows(ENGINE.query("find_tasks"), **filters.values(_place(query), PAGE + 1))
    last, ids = rows[-1], [row["id"] for row in rows[:-1]]
    tasks = [TaskRow(**row) for row in await reader.rows(sql("tasks"), ids=ids[:PAGE])]
    if len(ids) > PAGE:
        next_page = filters.place_of(tasks[-1].id, tasks[-1].completed_at)
    else:
        next_page = filters.next_look(last, PAGE + 1)
    names = await reader.rows(sql("names"), most=500)
    return TasksAnswer(
        tasks=tasks,
        next=None if next_page is None else _cursor(next_page),
        looked_at=last["looked"] if filters.is_searched else None,
        commands=[row["name"] for row in names if row["kind"] == "command"],
        queues=[row["name"] for row in names if row["kind"] == "queue"],
    )


def aware(moment: datetime) -> datetime:
    """Times without a zone are UTC, as the page shows them."""
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _cursor(place: Place) -> str:
    at = place.ended_at
    return str(place.id) if at is None else f"{at.isoformat() if isinstance(at, datetime) else at}~{place.id}"


def _place(query: TasksQuery) -> Place | None:
    """Where the page begins."""
    if query.before is None:
        return None
    at, mark, task_id = query.before.rpartition("~")
    try:
        number = int(task_id)
        if not 0 <= number < 2**63 or bool(mark) != query.filters.is_by_end:
            raise ValueError
        return Place(number, aware(datetime.fromisoformat(at)) if mark else None)
    except ValueError as error:
        raise Problem(
            404, f"before is {query.before!r}, which is no place in this list", "Start at its beginning."
        ) from error


SCREEN = Screen(
    name="tasks",
    path="/tasks",
    summary="Tasks, newest first, with filters.",
    query=TasksQuery,
    answer=TasksAnswer,
    read=read,
    title=lambda answer: listed(len(answer.tasks), "task", has_more=answer.next is not None),
    template="tasks.html",
    label="Tasks",
    key="t",
)

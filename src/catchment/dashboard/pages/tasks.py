"""*Tasks*: a list by state, command, queue, lane, time and text of the error, page by page.

Every page is read by an index and looks at a bounded number of tasks. A filter that no index serves (a command, a lane,
a text) is applied to the next ``LOOKED`` tasks; if fewer match, the page says how far it has looked, and the next one
goes on from there.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

from pydantic import Field, StringConstraints

from catchment.dashboard.database import Reader, Row
from catchment.dashboard.errors import Problem
from catchment.dashboard.screen import Answer, Query, Screen, sql
from catchment.model.state import TaskState

PAGE = 50
LOOKED = 20_000
# Failures lie far apart in their table: each is a page of it.
LOOKED_BY_END = 5_000
# Few among many completed ones: found by their index, which is in the order of their ends.
_TROUBLE = (TaskState.FAILED, TaskState.CANCELLED)

Name = Annotated[str, StringConstraints(max_length=500)]


class TaskFilter(Query):
    """Which tasks: all that match what is given."""

    state: TaskState | None = Field(None, description="Only tasks in this state.")
    command: Name | None = Field(None, description="Only this command.")
    queue: Name | None = Field(None, description="Only this queue.")
    lane: Name | None = Field(None, description="Only this lane.")
    error: Name | None = Field(None, description="Only tasks whose error contains this text.")
    made_after: datetime | None = Field(None, description="Only tasks made at this time or later.")
    made_before: datetime | None = Field(None, description="Only tasks made before this time.")
    top: bool = Field(False, description="Only tasks without a parent.")

    @property
    def is_searched(self) -> bool:
        """Is there a filter that no index serves?"""
        return any((self.command, self.queue, self.lane, self.error, self.made_after, self.made_before, self.top))

    @property
    def is_filtered(self) -> bool:
        return self.is_searched or self.state is not None


class TasksQuery(TaskFilter):
    """Tasks come newest first; failed and cancelled ones in the order of their ends, the last one first."""

    before: Annotated[str, StringConstraints(max_length=60)] | None = Field(
        None, description="The page after this place: next of the page before."
    )

    @property
    def is_by_end(self) -> bool:
        return self.state in _TROUBLE

    @property
    def looked(self) -> int:
        """How many tasks a page looks at, at most."""
        if not self.is_searched:
            return PAGE + 1
        return LOOKED_BY_END if self.is_by_end else LOOKED


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
    rows = await reader.rows(sql("find_tasks"), **_values(query))
    looked, ids = rows[-1], [row["id"] for row in rows[:-1]]
    tasks = [TaskRow(**row) for row in await reader.rows(sql("tasks"), ids=ids[:PAGE])]
    next_page: str | None = None
    if len(ids) > PAGE:
        next_page = _cursor(query, tasks[-1].completed_at, tasks[-1].id)
    elif query.is_searched and looked["looked"] == query.looked and not _is_past(query, looked["last_made_at"]):
        next_page = _cursor(query, looked["last_ended_at"], looked["last_id"])
    names = await reader.rows(sql("names"), most=500)
    return TasksAnswer(
        tasks=tasks,
        next=next_page,
        looked_at=looked["looked"] if query.is_searched else None,
        commands=[row["name"] for row in names if row["kind"] == "command"],
        queues=[row["name"] for row in names if row["kind"] == "queue"],
    )


def _is_past(query: TasksQuery, made_at: datetime | str | None) -> bool:
    """Were all tasks beyond this one made before the time that is asked for? Ids are in the order of time, nearly."""
    if query.made_after is None or query.is_by_end or not isinstance(made_at, datetime):
        return False
    return made_at < aware(query.made_after) - timedelta(hours=1)


def _values(query: TasksQuery) -> Row:
    at, task_id = _place(query)
    return {
        "state": query.state,
        "made_after": query.made_after and aware(query.made_after),
        "made_before": query.made_before and aware(query.made_before),
        "command": query.command,
        "queue": query.queue,
        "lane": query.lane,
        "error": query.error,
        "top": query.top,
        "at": at,
        "id": task_id,
        "page": PAGE + 1,
        "looked": query.looked,
    }


def aware(moment: datetime) -> datetime:
    """Times without a zone are UTC, as the page shows them."""
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _cursor(query: TasksQuery, at: datetime | str | None, task_id: int) -> str:
    if not query.is_by_end:
        return str(task_id)
    return f"{at.isoformat() if isinstance(at, datetime) else at}~{task_id}"


def _place(query: TasksQuery) -> tuple[datetime | None, int | None]:
    """Where the page begins."""
    if query.before is None:
        return None, None
    at, mark, task_id = query.before.rpartition("~")
    try:
        number = int(task_id)
        if not 0 <= number < 2**63 or bool(mark) != query.is_by_end:
            raise ValueError
        return (aware(datetime.fromisoformat(at)) if mark else None), number
    except ValueError as error:
        raise Problem(
            400, f"before is {query.before!r}, which is no place in this list", "Start at its beginning."
        ) from error


def _title(answer: TasksAnswer) -> str:
    number = len(answer.tasks)
    if number == 0:
        return "No tasks"
    return f"{number} {'task' if number == 1 else 'tasks'}" + (" and more" if answer.next else "")


SCREEN = Screen(
    name="tasks",
    path="/tasks",
    summary="Tasks, newest first, with filters.",
    query=TasksQuery,
    answer=TasksAnswer,
    read=read,
    title=_title,
    template="tasks.html",
    label="Tasks",
    key="t",
)

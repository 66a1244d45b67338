"""The children of a scope, page by page, failed ones first, each with what it did when."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from pydantic import Field

from catchment.dashboard.charts.waterfall import Kind, Piece
from catchment.dashboard.database import Reader, Row
from catchment.dashboard.errors import Problem
from catchment.dashboard.screen import Answer, sql
from catchment.dashboard.words import span
from catchment.model.check import LARGEST_ID
from catchment.model.state import TaskState

PAGE = 50
LOOKED = 20_000
# In a scope with more children, pending ones are listed from the last one made.
LARGE = 2_000
ATTEMPTS = 20

# What needs a person first, then what moves, then the rest; as "catchment task tree" has it.
ORDER = (
    TaskState.FAILED,
    TaskState.INTERRUPTED,
    TaskState.PROCESSING,
    TaskState.CANCELLED,
    TaskState.WAITING,
    TaskState.PENDING,
    TaskState.COMPLETED,
)


class Part(Answer):
    """A part of what a child did."""

    kind: Kind = Field(
        description="wait: it could not start yet, run: its handler ran, children: it waited for its own."
    )
    state: str
    attempt: int
    started_at: datetime
    ended_at: datetime = Field(description="The current time, if it has not ended.")

    def piece(self) -> Piece:
        took = span((self.ended_at - self.started_at).total_seconds())
        words = {"wait": "waited", "run": f"attempt {self.attempt} {self.state},", "children": "waited for children"}
        return Piece(self.kind, self.state, self.started_at, self.ended_at, f"{words[self.kind]} {took}")


class Child(Answer):
    """A child, without payload and result."""

    id: int
    command: str
    state: str
    attempt: int
    max_attempts: int
    waits_for: str | None
    due_at: datetime | str | None
    process_start_at: datetime | str | None
    completed_at: datetime | str | None
    is_scope: bool = Field(description="Does it have children?")
    done_children: int | None
    total_children: int | None
    error: str | None
    parts: list[Part] = Field(description="What it did when, in the order of time; the last 20 attempts.")

    def pieces(self, attempt: int | None) -> list[Piece]:
        """What to draw: of one attempt, or all."""
        return [part.piece() for part in self.parts if attempt in (None, part.attempt)]

    @property
    def took(self) -> float | None:
        """Seconds from the start of its last attempt to its end, as everywhere; None while it is open."""
        start, end = moment(self.process_start_at), moment(self.completed_at)
        return max(0.0, (end - start).total_seconds()) if start is not None and end is not None else None


class Children(Answer):
    """One page of children. ``next`` is the parameter ``after`` of the page after it; null at the end."""

    children: list[Child]
    next: str | None
    looked_at: int | None = Field(description="How many tasks were looked at; null if the filter has an index.")


async def read_children(
    reader: Reader,
    scope_id: int,
    counts: Mapping[TaskState, int],
    *,
    state: TaskState | None,
    command: str | None,
    after: str | None,
    now: datetime,
) -> Children:
    """The page behind ``after``: all states that there are, in ``ORDER``, or one."""
    start, last_id = _place(after)
    if state is not None and start not in (None, state):
        raise _no_place(after)
    states = [state] if state is not None else [one for one in ORDER if counts[one] or one == start]
    if start is not None:
        states = states[states.index(start) :]
    ids: list[tuple[TaskState, int]] = []
    next_page: str | None = None
    looked = 0
    for one in states:
        rows = await reader.rows(
            sql("find_children"),
            id=scope_id,
            state=one,
            command=command,
            after=last_id if one == start else None,
            # The last ones made are pending longest: in a large scope the first ones have settled long ago.
            backward=_is_backward(one, counts),
            page=PAGE + 1 - len(ids),
            looked=LOOKED,
        )
        end = rows[-1]
        looked += end["looked"]
        ids += [(one, row["id"]) for row in rows[:-1]]
        if len(ids) > PAGE:
            next_page = _cursor(*ids[PAGE - 1])
            break
        if end["has_more"]:
            next_page = _cursor(one, end["last_id"])
            break
    ids = ids[:PAGE]
    rows = await reader.rows(sql("children"), ids=[task_id for _, task_id in ids], attempts=ATTEMPTS)
    return Children(
        children=[Child(**row, parts=parts_of(row, now)) for row in rows],
        next=next_page,
        looked_at=looked if command is not None or (next_page is not None and len(ids) < PAGE) else None,
    )


def _is_backward(state: TaskState, counts: Mapping[TaskState, int]) -> bool:
    return state is TaskState.PENDING and sum(counts.values()) > LARGE


def _cursor(state: TaskState, task_id: int) -> str:
    return f"{state}~{task_id}"


def _place(after: str | None) -> tuple[TaskState | None, int | None]:
    if after is None:
        return None, None
    state, _, task_id = after.partition("~")
    if state not in list(TaskState) or not task_id.isascii() or not task_id.isdecimal() or int(task_id) > LARGEST_ID:
        raise _no_place(after)
    return TaskState(state), int(task_id)


def _no_place(after: str | None) -> Problem:
    return Problem(404, f"after is {after!r}, which is no place in this list", "Start at its beginning.")


def parts_of(row: Row, now: datetime) -> list[Part]:
    """What a child did when: what it waited, each attempt, and what it waited for its own children."""
    tries = {one["attempt"]: _attempt(one) for one in row["attempts"] or ()}
    started, stopped = moment(row["process_start_at"]), moment(row["process_stop_at"])
    settled = moment(row["completed_at"])
    if started is not None:
        state = row["state"] if row["state"] in ("processing", "failed", "cancelled") else "completed"
        end = stopped or settled or now
        tries[row["attempt"]] = Part(
            kind="run", state=state, attempt=row["attempt"], started_at=started, ended_at=max(started, end)
        )
    parts: list[Part] = []
    free = moment(row["created_at"])
    for part in (tries[number] for number in sorted(tries)):
        if free is not None and part.started_at > free:
            parts.append(_wait(part.attempt, free, part.started_at))
        parts.append(part)
        free = part.ended_at
    if row["state"] in ("pending", "interrupted") and free is not None and free < now:
        parts.append(_wait(row["attempt"] + 1, free, now))
    elif row["is_scope"] and stopped is not None:
        end = settled or now
        if end > stopped:
            tone = "waiting" if settled is None else row["state"]
            parts.append(Part(kind="children", state=tone, attempt=row["attempt"], started_at=stopped, ended_at=end))
    return parts


def _attempt(one: Row) -> Part:
    started, ended = _time(one["started"]), _time(one["ended"])
    return Part(
        kind="run", state=one["state"], attempt=one["attempt"], started_at=started, ended_at=max(started, ended)
    )


def _wait(attempt: int, start: datetime, end: datetime) -> Part:
    return Part(kind="wait", state="pending", attempt=max(1, attempt), started_at=start, ended_at=end)


def _time(seconds: Any) -> datetime:
    return datetime.fromtimestamp(float(seconds), UTC)


def moment(value: datetime | str | None) -> datetime | None:
    """A time that Python can hold, or None."""
    return value if isinstance(value, datetime) else None

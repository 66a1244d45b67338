"""*Payload*, *Result* and *Info* of a task, read only on request."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from catchment.dashboard.database import Reader
from catchment.dashboard.pages.task import TaskId
from catchment.dashboard.screen import Answer, Query, Screen, sql
from catchment.dashboard.values import pretty
from catchment.errors import TaskNotFound

SHOWN = 64 * 1024
# Larger ones are refused when they are stored.
LARGEST = 64 * 1024 * 1024
# A longer text stays on one line: all other pages would wait while it is laid out.
LAID_OUT = 1024 * 1024


class ValueQuery(Query):
    id: TaskId
    whole: bool = Field(False, description="All of it; without this, a large value is cut.")


class ValueAnswer(Answer):
    """A value as JSON text, with every digit of its numbers."""

    id: int
    command: str
    part: str
    size: int | None = Field(description="Bytes of the value as it is stored; null if there is none.")
    text: str | None = Field(description="JSON text; null if there is no value, or if it is not shown.")
    is_whole: bool
    reason: str | None = Field(description="Why the value is not shown.")


def _screen(part: str, summary: str) -> Screen[ValueQuery, ValueAnswer]:
    async def read(reader: Reader, query: ValueQuery) -> ValueAnswer:
        shown = reader.shown
        most = LARGEST if query.whole or shown.reads_whole else SHOWN
        row = await reader.row(sql("task_value"), id=query.id, part=part, most=0 if shown.hides_values else most)
        if row is None:
            raise TaskNotFound(f"there is no task {query.id}")
        text, reason = _shown(reader, row, part)
        is_whole = query.whole or row["length"] is None or row["length"] <= SHOWN
        if text is not None:
            text = text if query.whole else text[:SHOWN]
            text = pretty(text) if len(text) <= LAID_OUT else text
        return ValueAnswer(
            id=query.id,
            command=row["command"],
            part=part,
            size=row["size"],
            text=text,
            is_whole=is_whole,
            reason=reason,
        )

    return Screen(
        name=f"task.{part}",
        path=f"/tasks/{{id}}/{part}",
        summary=summary,
        query=ValueQuery,
        answer=ValueAnswer,
        read=read,
        title=lambda answer: f"{part.capitalize()} of {answer.command} {answer.id}",
        template="value.html",
        section="tasks",
    )


def _shown(reader: Reader, row: dict[str, Any], part: str) -> tuple[str | None, str | None]:
    if row["size"] is None:
        return None, None
    return reader.shown.text_of(row["command"], part, row["value"])


SCREENS = (
    _screen("payload", "The payload of a task."),
    _screen("result", "The result of a task."),
    _screen("info", "What the handler of a task has noted."),
)

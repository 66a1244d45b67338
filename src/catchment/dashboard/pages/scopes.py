"""*Scopes*: tasks that wait for their children, and how far these are; or all that have children, newest first."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from catchment.dashboard.database import Reader
from catchment.dashboard.screen import Answer, Query, Screen, sql
from catchment.dashboard.words import listed
from catchment.model.check import LARGEST_ID

PAGE = 50


class ScopesQuery(Query):
    """Scopes come newest first."""

    all: bool = Field(False, description="Also those that have settled.")
    nested: bool = Field(False, description="Also those inside another scope.")
    before: int | None = Field(None, ge=0, le=LARGEST_ID, description="The page after this task.")


class ScopeRow(Answer):
    """A task with children."""

    id: int
    command: str
    queue: str
    lane: str | None
    parent_id: int | None
    state: str
    waits_for: str | None
    total: int
    open: int
    failed: int
    cancelled: int
    started_at: datetime | str | None
    completed_at: datetime | str | None

    @property
    def done(self) -> int:
        return self.total - self.open

    @property
    def shares(self) -> dict[str, int]:
        completed = self.done - self.failed - self.cancelled
        return {"completed": completed, "failed": self.failed, "cancelled": self.cancelled, "pending": self.open}


class ScopesAnswer(Answer):
    """One page of scopes. ``next`` is the parameter ``before`` of the page after it; null at the end."""

    scopes: list[ScopeRow]
    next: int | None


async def read(reader: Reader, query: ScopesQuery) -> ScopesAnswer:
    rows = await reader.rows(
        sql("scopes"), open=not query.all, top=not query.nested, before=query.before, page=PAGE + 1
    )
    end, rows = rows[-1], rows[:-1]
    next_page: int | None = None
    if len(rows) > PAGE:
        next_page = rows[PAGE - 1]["id"]
    elif end["has_more"]:
        next_page = end["last_id"]
    # One that was deleted a moment ago has no task any more.
    scopes = [ScopeRow(**row, started_at=row["process_start_at"]) for row in rows[:PAGE] if row["command"] is not None]
    return ScopesAnswer(scopes=scopes, next=next_page)


SCREEN = Screen(
    name="scopes",
    path="/scopes",
    summary="Tasks that have children, newest first.",
    query=ScopesQuery,
    answer=ScopesAnswer,
    read=read,
    title=lambda answer: listed(len(answer.scopes), "scope", has_more=answer.next is not None),
    template="scopes.html",
    label="Scopes",
    key="o",
)

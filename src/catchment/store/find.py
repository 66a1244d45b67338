"""Finds tasks by filters, page by page: one set of filters for the command line and the dashboard.

Each page is read by an index and looks at a bounded number of tasks. A filter that no index serves (a command, a lane,
a text) is applied to the next tasks in its order; if fewer match, the next page continues from the last that was looked
at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from psycopg import Connection

from catchment.model.state import TaskState
from catchment.sql import ENGINE
from catchment.store.fetch import fetch_rows

Row = dict[str, Any]

LOOKED = 20_000
# Failures lie far apart in their table: each is a page of it.
LOOKED_BY_END = 5_000
# Few among many completed ones: found by their index, which is in the order of their ends.
_TROUBLE = (TaskState.FAILED, TaskState.CANCELLED)


@dataclass(frozen=True, slots=True)
class Place:
    """A task in the order of a list; for those in the order of their ends with the end."""

    id: int
    ended_at: datetime | str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFilters:
    """Which tasks to find; None is any. ``error`` is a part of the error, ``is_top`` without those of parents."""

    state: TaskState | None = None
    command: str | None = None
    queue: str | None = None
    lane: str | None = None
    error: str | None = None
    made_after: datetime | None = None
    made_before: datetime | None = None
    is_top: bool = False

    @property
    def is_by_end(self) -> bool:
        """Are the tasks in the order of their ends? Others come by their ids."""
        return self.state in _TROUBLE

    @property
    def is_searched(self) -> bool:
        """Is there a filter that no index serves?"""
        return any((self.command, self.queue, self.lane, self.error, self.made_after, self.made_before, self.is_top))

    def looked(self, page: int) -> int:
        """How many tasks a page of this size looks at, at most."""
        if not self.is_searched:
            return page
        return LOOKED_BY_END if self.is_by_end else LOOKED

    def values(self, after: Place | None, page: int) -> dict[str, Any]:
        """Of the query ``find_tasks``, for the page behind a place."""
        return {
            "state": self.state,
            "command": self.command,
            "queue": self.queue,
            "lane": self.lane,
            "error": self.error,
            "made_after": self.made_after,
            "made_before": self.made_before,
            "top": self.is_top,
            "id": None if after is None else after.id,
            "at": None if after is None else after.ended_at,
            "page": page,
            "looked": self.looked(page),
        }

    def next_look(self, last: Mapping[str, Any], page: int) -> Place | None:
        """Where to look on behind a page, by the last row of the query; None if there is no more."""
        if not self.is_searched or last["looked"] < self.looked(page) or self._is_past(last["last_made_at"]):
            return None
        return self.place_of(last["last_id"], last["last_ended_at"])

    def place_of(self, task_id: int, ended_at: datetime | str | None) -> Place:
        """The place of a task in the order of these filters."""
        return Place(task_id, ended_at if self.is_by_end else None)

    def _is_past(self, made_at: datetime | str | None) -> bool:
        """Were all tasks beyond this one made before the time that is requested? Ids are in the order of time,
        nearly."""
        if self.made_after is None or self.is_by_end or not isinstance(made_at, datetime):
            return False
        return made_at < self.made_after - timedelta(hours=1)


def find_tasks(conn: Connection[Any], filters: TaskFilters, *, limit: int) -> list[Row]:
    """The newest tasks first, without their payloads; failed and cancelled ones by their ends. It looks until there are
    enough, or no more."""
    ids: list[int] = []
    after: Place | None = None
    while len(ids) < limit:
        page = limit - len(ids)
        *chosen, last = fetch_rows(conn, ENGINE.query("find_tasks"), **filters.values(after, page))
        ids += [row["id"] for row in chosen]
        after = filters.next_look(last, page)
        if after is None:
            break
    rows = fetch_rows(conn, ENGINE.query("task_list"), ids=ids)
    return [row for row in rows if filters.state in (None, row["state"])]  # it may have changed since


def find_in_states(
    conn: Connection[Any], filters: TaskFilters, states: Sequence[TaskState], *, limit: int
) -> list[Row]:
    """As ``find_tasks``, of tasks in any of these states, the latest first: each by the time that orders its state."""
    wanted = dict.fromkeys(states)
    if len(wanted) < 2:
        return find_tasks(conn, replace(filters, state=next(iter(wanted), None)), limit=limit)
    rows = [row for state in wanted for row in find_tasks(conn, replace(filters, state=state), limit=limit)]
    # A task may have gone from one state to another meanwhile: the later look is right.
    latest = {row["id"]: row for row in rows}
    return sorted(latest.values(), key=_latest_first, reverse=True)[:limit]


def _latest_first(row: Row) -> tuple[datetime, int]:
    at = row["completed_at"] if row["state"] in _TROUBLE else row["created_at"]
    if not isinstance(at, datetime):  # a time that Python cannot hold
        at = datetime.max.replace(tzinfo=UTC)
    return at, row["id"]

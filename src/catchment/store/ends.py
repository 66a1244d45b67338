"""Reads which tasks have ended since a moment, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import Connection

from catchment.sql import ENGINE
from catchment.store.errors import translated
from catchment.store.fetch import fetch_rows, fetch_value

_ENDED = """
select e.id, e.state, e.completed_at, e.is_chosen
  from worker.ended_tasks(%s::pg_catalog.timestamptz, %s::bigint, %s::pg_catalog.text[], %s::pg_catalog.text,
                          %s::pg_catalog.text, %s::pg_catalog.text, %s::integer) as e
"""


@dataclass(frozen=True, slots=True)
class Filters:
    """Which ends to read; None is any."""

    states: Sequence[str] | None = None
    queue: str | None = None
    command: str | None = None
    lane: str | None = None


@dataclass(frozen=True, slots=True)
class End:
    """That a task has ended. ``is_chosen`` is false for one that the filters exclude: the last that was looked at."""

    id: int
    state: str
    completed_at: datetime
    is_chosen: bool


def server_time(conn: Connection[Any]) -> datetime:
    return fetch_value(conn, "select worker.now()")


def ended_tasks(conn: Connection[Any], filters: Filters, *, after: datetime, after_id: int, most: int) -> list[End]:
    """The next ends behind one end; empty if there are none. See the function ``worker.ended_tasks``."""
    states = None if filters.states is None else list(filters.states)
    given = (after, after_id, states, filters.queue, filters.command, filters.lane, most)
    with translated():
        # Many rows, each a few values: not by name.
        return [End(*row) for row in conn.execute(_ENDED, given, binary=True).fetchall()]


def describe_ends(conn: Connection[Any], ids: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Those of these tasks that have settled, by id; see the query ``task_ended``."""
    return {row["id"]: row for row in fetch_rows(conn, ENGINE.query("task_ended"), ids=list(ids))}

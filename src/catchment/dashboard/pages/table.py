"""*Table*: one dynamic table: why it is late, its lag over time, its refreshes, what the next one costs, its query."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any

from pydantic import Field

from catchment.dashboard.database import Reader, Row
from catchment.dashboard.errors import Problem
from catchment.dashboard.pages import tables
from catchment.dashboard.pages.lineage import Lineage, read_lineage
from catchment.dashboard.pages.tables import LagPoint, TableRow, has_lake, lag_point, reason_of, table_row
from catchment.dashboard.screen import Answer, Query, Screen, sql
from catchment.lake.reasons import Reason
from catchment.model.check import LARGEST_ID

PAGE = 20
LOOKED = 2000
MOST_POINTS = 10_000
MOST_DRAWN = 300
MOST_BUCKETS = 300
MOST_COUNTED = 1000

TableId = Annotated[int, Field(ge=1, le=LARGEST_ID, description="The id of a dynamic table: see /api/tables.")]


class TableQuery(Query):
    id: TableId
    hours: int = Field(24, ge=1, le=720, description="How far back the lag is shown.")
    idle: bool = Field(False, description="Also refreshes that had nothing to do.")
    refresh: TableId | None = Field(None, description="The parallel refresh whose buckets are shown.")
    before: TableId | None = Field(None, description="Refreshes before this one: next of the page before.")


class ConditionRow(tables.Reason):
    """One thing there is to say about why a table is late."""

    is_blocking: bool
    task_id: int | None = None


class RefreshRow(Answer):
    id: int
    round_id: int
    trigger: str
    state: str
    action: str | None
    reason: str | None
    reason_text: str | None
    inserted: int | None
    deleted: int | None
    rows: int | None
    keys: int | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    data_at: datetime
    waited_seconds: float | None
    took_seconds: float | None
    is_parallel: bool
    error_code: str | None
    error: str | None
    task_id: int | None


class Bucket(Answer):
    id: int
    name: str
    status: str
    made_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    claimed_by: str | None
    retries: int
    error: str | None


class ActionCost(Answer):
    """What refreshes of one kind took on average."""

    action: str
    count: int
    seconds: float


class NextCost(Answer):
    """What the next refresh is expected to take, from the last ones: nothing is computed for it."""

    is_idle: bool = Field(description="Nothing that it reads has changed, as far as the schedule has looked.")
    changed: list[str] = Field(description="What it reads that has changed.")
    unseen_commits: int = Field(description="Commits to the lake that the schedule has not looked at yet.")
    expected_seconds: float | None
    chain_seconds: float | None = Field(description="With all that it reads.")
    by_action: list[ActionCost]


class AuditStatus(Answer):
    """The last comparison of the table with its query."""

    at: datetime
    missing: int
    extra: int
    seconds: float


class Column(Answer):
    name: str
    type: str


class TableAnswer(Answer):
    now: datetime
    since: datetime
    table: TableRow
    is_late: bool
    why: list[ConditionRow]
    lag: list[LagPoint] = Field(
        description="When it became newer; the highest of each piece of time if there are many."
    )
    refreshes: list[RefreshRow]
    looked_at: int
    next: int | None
    shown_refresh: int | None
    buckets: list[Bucket]
    cost: NextCost
    audit: AuditStatus | None
    written_since_audit: int
    files: int
    bytes: int
    lineage: Lineage
    columns: list[Column]
    definition: str
    properties: dict[str, Any]
    mode_reason: str | None
    mode_reason_text: str | None
    created_at: datetime


async def find_table(reader: Reader, table_id: int) -> Row:
    """The row of a table in ``tables.sql``. 404 if there is none, or no lake."""
    rows = await reader.rows(sql("tables"), id=table_id, most=1) if await has_lake(reader) else []
    if not rows:
        raise Problem(404, f"there is no dynamic table {table_id}", "It may have been dropped.")
    return rows[0]


async def read(reader: Reader, query: TableQuery) -> TableAnswer:
    row = await find_table(reader, query.id)
    more = await reader.row(sql("table"), id=query.id, most=MOST_COUNTED)
    if more is None:
        raise Problem(404, f"there is no dynamic table {query.id}", "It may have been dropped.")
    now: datetime = await reader.value("select worker.now()")
    since = now - timedelta(hours=query.hours)
    refreshes, looked, following = await _refreshes(reader, query)
    shown = query.refresh or next((one.id for one in refreshes if one.is_parallel), None)
    everything = await reader.rows(sql("tables"), id=None, most=tables.MOST)
    lineage = await read_lineage(reader, {one["id"]: tables.node_of(one) for one in everything})
    return TableAnswer(
        now=now,
        since=since,
        table=table_row(row, [], None),
        is_late=tables.is_late(row),
        why=await _why(reader, row),
        lag=await _lag(reader, query.id, since, now),
        refreshes=refreshes,
        looked_at=looked,
        next=following,
        shown_refresh=shown,
        buckets=[] if shown is None else await _buckets(reader, query.id, shown),
        cost=_cost(row, more),
        audit=_audit(more),
        written_since_audit=more["written_since_audit"],
        files=more["files"],
        bytes=more["bytes"],
        lineage=lineage.around(f"t{query.id}"),
        columns=[Column(name=name, type=kind) for name, kind in more["columns"] or ()],
        definition=more["definition"],
        properties=more["properties"],
        mode_reason=more["mode_reason"],
        mode_reason_text=reason_text(more["mode_reason"]),
        created_at=more["created_at"],
    )


async def _why(reader: Reader, row: Row) -> list[ConditionRow]:
    conditions = await reader.rows(sql("table_why"), id=row["id"], target=row["target_seconds"], chain=row["chain_ms"])
    return [
        ConditionRow(
            **reason_of(one, row["id"]).model_dump(),
            is_blocking=one["is_blocking"],
            task_id=_task_of(one["evidence"]),
        )
        for one in conditions
    ]


def _task_of(evidence: dict[str, Any] | None) -> int | None:
    task: dict[str, Any] = (evidence or {}).get("task") or {}
    return task.get("id")


async def _lag(reader: Reader, table_id: int, since: datetime, now: datetime) -> list[LagPoint]:
    """As many points as a picture can show: of each piece of time, the one at which the data were oldest."""
    piece = (now - since).total_seconds() / MOST_DRAWN
    rows = await reader.rows(sql("table_lag"), id=table_id, since=since, piece=piece, most=MOST_POINTS)
    return [lag_point(row["at"], row["data_at"], row["before"]) for row in rows]


async def _refreshes(reader: Reader, query: TableQuery) -> tuple[list[RefreshRow], int, int | None]:
    """A page of refreshes, how many were looked at for it, and where the next one begins."""
    looked = PAGE + 1 if query.idle else LOOKED
    where = {"id": query.id, "before": query.before, "looked": looked}
    rows = await reader.rows(sql("table_refreshes"), **where, idle=query.idle, page=PAGE + 1)
    seen = await reader.row(sql("table_looked"), **where) or {"last_id": None, "looked": 0}
    page = [RefreshRow(**row, reason_text=reason_text(row["reason"])) for row in rows[:PAGE]]
    if len(rows) > PAGE:
        return page, seen["looked"], page[-1].id
    return page, seen["looked"], seen["last_id"] if seen["looked"] == looked else None


async def _buckets(reader: Reader, table_id: int, refresh_id: int) -> list[Bucket]:
    rows = await reader.rows(sql("table_buckets"), id=table_id, refresh=refresh_id, most=MOST_BUCKETS)
    return [Bucket(**row) for row in rows]


def reason_text(code: str | None) -> str | None:
    """The sentence of a reason."""
    return Reason(code).sentence if code in Reason.__members__ else None


def _cost(row: Row, more: Row) -> NextCost:
    changed: list[str] = more["changed"] or []
    return NextCost(
        is_idle=not changed and not more["is_always_due"] and row["data_at"] is not None,
        changed=changed,
        unseen_commits=max(0, more["unseen"] or 0),
        expected_seconds=row["expected_ms"] / 1000 if row["expected_ms"] else None,
        chain_seconds=row["chain_ms"] / 1000 if row["chain_ms"] else None,
        by_action=[
            ActionCost(action=one["action"], count=one["count"], seconds=one["ms"] / 1000)
            for one in more["costs"] or ()
        ],
    )


def _audit(more: Row) -> AuditStatus | None:
    if more["audit_at"] is None:
        return None
    return AuditStatus(
        at=more["audit_at"],
        missing=more["audit_missing"],
        extra=more["audit_extra"],
        seconds=more["audit_ms"] / 1000,
    )


SCREEN = Screen(
    name="table",
    path="/tables/{id}",
    summary="One dynamic table: why it is late, its lag over time, its refreshes, its definition.",
    query=TableQuery,
    answer=TableAnswer,
    read=read,
    title=lambda answer: f"{answer.table.name} · {answer.table.state.value}",
    template="table.html",
    section="tables",
)

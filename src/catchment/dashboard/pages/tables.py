"""*Tables*: the dynamic tables with their lag against its target, what holds late ones back, and what reads what.

All tables are read, up to ``MOST``: people make them, and they are not many. Of the history of each, the newest
refreshes are, by index, for the tables of one page. Reading needs no DuckDB, and makes no lake.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from catchment.dashboard.database import Reader, Row
from catchment.dashboard.pages.lineage import Lineage, Node, read_lineage
from catchment.dashboard.screen import Answer, Query, Screen, sql
from catchment.extras import LAKE

MOST = 1000
PAGE = 50
MOST_POINTS = 30
MOST_ROOTS = 8

Name = Annotated[str, StringConstraints(max_length=500)]


class TableState(StrEnum):
    """How a table stands, in one word; what comes first counts."""

    DROPPING = "dropping"
    SUSPENDED = "suspended"
    FAILED = "failed"
    FAILED_ABOVE = "failed above"
    REFRESHING = "refreshing"
    UNFILLED = "not filled"
    ON_REQUEST = "on request"
    LATE = "late"
    FRESH = "fresh"


class TablesQuery(Query):
    state: TableState | None = Field(None, description="Only tables in this state.")
    name: Name | None = Field(None, description="Only tables whose name contains this text.")
    before: Name | None = Field(None, description="The page after this table: next of the page before.")


class Reason(Answer):
    """What holds a table back, as lake.explain says it."""

    kind: str
    words: str
    remedy: str | None
    table_id: int | None = Field(None, description="The table at the root of it, if it is another one.")
    table: str | None = None


class LagPoint(Answer):
    """A refresh became visible: how old the data were just before, and right after."""

    at: datetime
    before_seconds: float | None
    after_seconds: float


class TableRow(Answer):
    id: int
    name: str
    typed: str = Field(description="Its name as commands and queries take it, quoted where that is needed.")
    state: TableState
    suspended_by: str | None
    target_seconds: float | None = Field(description="The lag that it has to keep; null if nothing asks for it.")
    lag_seconds: float | None
    is_late: bool
    data_at: datetime | None
    rows: int | None
    strategy: str
    last_state: str | None
    last_action: str | None
    last_at: datetime | None
    error_code: str | None
    error: str | None
    open_task_id: int | None
    open_since: datetime | None
    why: Reason | None
    lag: list[LagPoint] = Field(description="Its newest refreshes, oldest first.")


class Root(Answer):
    """A table that failed or was suspended itself, and how many below it do not get newer because of it."""

    id: int
    name: str
    typed: str = Field(description="Its name as commands take it.")
    state: TableState
    since: datetime | None
    error_code: str | None
    error: str | None
    suspended_by: str | None
    below: int


class TablesAnswer(Answer):
    has_lake: bool
    has_extra: bool = Field(description="Is the extra that refreshes tables installed beside the dashboard?")
    tables: list[TableRow]
    total: int
    counts: dict[str, int] = Field(description="How many tables are in each state.")
    late: int
    roots: list[Root] = Field(description="What needs attention.")
    lineage: Lineage | None = Field(description="What reads what; null if there are too many tables for one picture.")
    next: str | None


def _nothing() -> TablesAnswer:
    return TablesAnswer(
        has_lake=False,
        has_extra=LAKE.is_installed,
        tables=[],
        total=0,
        counts={},
        late=0,
        roots=[],
        lineage=None,
        next=None,
    )


async def has_lake(reader: Reader) -> bool:
    """Has the database a lake? Nothing is made."""
    if not await reader.value(sql("lake")):
        return False
    return await reader.value("select exists (select from lake.lake)")


async def read(reader: Reader, query: TablesQuery) -> TablesAnswer:
    if not await has_lake(reader):
        return _nothing()
    rows = await reader.rows(sql("tables"), id=None, most=MOST)
    states = {row["id"]: state_of(row) for row in rows}
    wanted = [
        row
        for row in rows
        if (query.state is None or states[row["id"]] == query.state)
        and (query.name is None or query.name.lower() in row["name"].lower())
        and (query.before is None or row["name"] > query.before)
    ]
    page = wanted[:PAGE]
    lineage = await read_lineage(reader, {row["id"]: node_of(row) for row in rows})
    return TablesAnswer(
        has_lake=True,
        has_extra=LAKE.is_installed,
        tables=await _tables(reader, page),
        total=len(rows),
        counts=dict(Counter(state.value for state in states.values())),
        late=sum(is_late(row) for row in rows),
        roots=_roots(rows, lineage),
        lineage=lineage if lineage.is_drawable else None,
        next=page[-1]["name"] if len(wanted) > PAGE else None,
    )


def is_late(row: Row) -> bool:
    return (
        row["lag_seconds"] is not None
        and row["target_seconds"] is not None
        and (row["lag_seconds"] > row["target_seconds"])
    )


def state_of(row: Row) -> TableState:
    """How a table stands, from a row of ``tables.sql``."""
    if row["state"] in ("dropping", "suspended"):
        return TableState(row["state"])
    if row["is_tried"]:
        return TableState.REFRESHING
    if row["last_state"] == "FAILED":
        return TableState.FAILED
    if row["last_state"] == "UPSTREAM_FAILED":
        return TableState.FAILED_ABOVE
    if row["data_at"] is None:
        return TableState.UNFILLED
    if row["target_seconds"] is None:
        return TableState.ON_REQUEST
    return TableState.LATE if is_late(row) else TableState.FRESH


def node_of(row: Row) -> Node:
    """A table in the picture of what reads what."""
    return Node(key=f"t{row['id']}", id=row["id"], name=row["name"], state=state_of(row).value, lag=row["lag_seconds"])


async def _tables(reader: Reader, rows: list[Row]) -> list[TableRow]:
    points = await read_points(reader, [row["id"] for row in rows])
    troubled = [row for row in rows if state_of(row) != TableState.FRESH or is_late(row)]
    reasons = await _reasons(reader, troubled)
    return [table_row(row, points.get(row["id"], []), reasons.get(row["id"])) for row in rows]


def table_row(row: Row, points: list[LagPoint], why: Reason | None) -> TableRow:
    given = {name: row[name] for name in TableRow.model_fields if name in row and name != "state"}
    return TableRow(**given, state=state_of(row), is_late=is_late(row), why=why, lag=points)


async def read_points(reader: Reader, ids: list[int]) -> dict[int, list[LagPoint]]:
    """The newest refreshes of tables, as points of their lag."""
    points: dict[int, list[LagPoint]] = {}
    last: dict[int, datetime] = {}
    for row in await reader.rows(sql("tables_lag"), ids=ids, most=MOST_POINTS):
        points.setdefault(row["id"], []).append(lag_point(row["at"], row["data_at"], last.get(row["id"])))
        last[row["id"]] = row["data_at"]
    return points


def lag_point(at: datetime, data_at: datetime, before: datetime | None) -> LagPoint:
    """``before``: of when the data were until then."""
    return LagPoint(
        at=at,
        before_seconds=None if before is None else max(0.0, (at - before).total_seconds()),
        after_seconds=max(0.0, (at - data_at).total_seconds()),
    )


async def _reasons(reader: Reader, rows: list[Row]) -> dict[int, Reason]:
    named = await reader.rows(
        sql("tables_why"),
        ids=[row["id"] for row in rows],
        targets=[row["target_seconds"] for row in rows],
        chains=[row["chain_ms"] for row in rows],
    )
    return {row["id"]: reason_of(row, row["id"]) for row in named}


def reason_of(row: Row, table_id: int) -> Reason:
    """A condition, with the table that it names if that is another one."""
    evidence: dict[str, Any] = row["evidence"] or {}
    table: dict[str, Any] = evidence.get("table") or {}
    is_other = table.get("id") not in (None, table_id)
    return Reason(
        kind=row["kind"],
        words=row["words"],
        remedy=row["remedy"],
        table_id=table["id"] if is_other else None,
        table=table["name"] if is_other else None,
    )


def _roots(rows: list[Row], lineage: Lineage) -> list[Root]:
    """Tables that failed, or are suspended, by themselves."""
    roots: list[Root] = []
    for row in rows:
        state = state_of(row)
        if state == TableState.FAILED or (state == TableState.SUSPENDED and row["suspended_by"] != "upstream"):
            given = {name: row[name] for name in ("id", "name", "typed", "error_code", "error", "suspended_by")}
            since = row["suspended_at"] if state == TableState.SUSPENDED else row["last_at"]
            roots.append(Root(**given, state=state, since=since, below=len(lineage.below(f"t{row['id']}"))))
    roots.sort(key=lambda root: (root.suspended_by == "user", -root.below, root.name))
    return roots[:MOST_ROOTS]


def _title(answer: TablesAnswer) -> str:
    if not answer.tables and not answer.total:
        return "Tables"
    count = f"{answer.total:,} {'table' if answer.total == 1 else 'tables'}"
    return f"Tables · {answer.late:,} of {answer.total:,} late" if answer.late else f"Tables · {count}, none late"


SCREEN = Screen(
    name="tables",
    path="/tables",
    summary="Dynamic tables: their lag against its target, their state, and what holds late ones back.",
    query=TablesQuery,
    answer=TablesAnswer,
    read=read,
    title=_title,
    template="tables.html",
    label="Tables",
    key="d",
)

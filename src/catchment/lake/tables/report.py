"""Reports about dynamic tables, for the command line and for programs. Read-only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from psycopg import Connection

from catchment.errors import TableNotFound, TableRefused
from catchment.lake.choose.partition import is_cuttable
from catchment.lake.control.control import Control
from catchment.lake.delta.layout import Layout
from catchment.lake.delta.plan import Part, Plan
from catchment.lake.duck.duck import Duck, Never
from catchment.lake.query.ddl import Statement
from catchment.lake.query.trees import text
from catchment.lake.reasons import Reason
from catchment.lake.settings import LakeSettings
from catchment.lake.sql import LAKE
from catchment.lake.tables.answers import (
    AuditRecord,
    LagStats,
    Parallel,
    RefreshRecord,
    SourceChange,
    SourceRead,
    StatementExplanation,
    TableDescription,
    TableExplanation,
    TableLag,
    TableNode,
    TablePart,
    TableRead,
    TableSummary,
    TableWhy,
)
from catchment.lake.tables.forecast import check_sources, forecast
from catchment.lake.tables.lifecycle import analysed
from catchment.lake.types import ColumnAt, Definition, Properties, SourceTable, TableRef
from catchment.model.why import Condition
from catchment.store.fetch import fetch_rows

Conn = Connection[Any]
Row = dict[str, Any]

DAY = timedelta(days=1)


def list_tables(conn: Conn) -> list[TableSummary]:
    """All dynamic tables, briefly."""
    return [TableSummary(**row) for row in fetch_rows(conn, LAKE.query("table_list"))]


def describe(conn: Conn, dt_id: int) -> TableDescription:
    """A table: its definition and properties, the age of its data, its sources, and its last refresh."""
    row = _show(conn, dt_id)
    (kept,) = lag(conn, dt_id)
    layout = Layout.from_json(row.pop("layout"))
    row["properties"] = Properties.from_json(row["properties"])
    row["sources"] = tuple(_source(item) for item in row["sources"] or ())
    row["read_by"] = tuple(row["read_by"] or ())
    row["last_audit"] = _audit(row["last_audit"])
    row["columns"] = layout.visible
    row["lag_last_day"] = LagStats(kept.mean_lag, kept.max_lag, kept.within_target, kept.refreshes)
    row["reason_text"] = reason_text(row["refresh_mode_reason"])
    return TableDescription(**row)


def _source(row: Row) -> SourceRead:
    row["used_columns"] = tuple(row["used_columns"] or ())
    return SourceRead(**row)


def _audit(row: Row | None) -> AuditRecord | None:
    if row is None:
        return None
    row["at"] = datetime.fromisoformat(row["at"])
    return AuditRecord(**row)


def _show(conn: Conn, dt_id: int) -> Row:
    rows = fetch_rows(conn, LAKE.query("table_show"), id=dt_id)
    if not rows:
        raise _not_found(dt_id)
    return rows[0]


def _not_found(dt_id: int) -> TableNotFound:
    return TableNotFound(f"there is no dynamic table {dt_id}", hint="'catchment table list' shows all tables.")


def history(
    conn: Conn, dt_id: int | None = None, *, state: str | None = None, with_idle: bool = True, limit: int = 50
) -> list[RefreshRecord]:
    """Refreshes of a table or of all, the newest first. ``with_idle``: also those that had nothing to do."""
    query = LAKE.query("table_history")
    rows = fetch_rows(conn, query, id=dt_id, state=state, with_idle=with_idle, limit=limit)
    for row in rows:
        row["changed_inputs"] = tuple(row["changed_inputs"] or ())
    return [RefreshRecord(**row) for row in rows]


def lag(conn: Conn, dt_id: int | None = None, since: timedelta = DAY) -> list[TableLag]:
    """How old the data of a table, or of all, were over a period: mean, largest, share within the target."""
    return [TableLag(**row) for row in fetch_rows(conn, LAKE.query("table_lag"), id=dt_id, since=since)]


def why(conn: Conn, dt_id: int) -> TableWhy:
    """Why a table is late."""
    rows = fetch_rows(conn, LAKE.query("table_why"), id=dt_id)
    if not rows:
        raise _not_found(dt_id)
    name = rows[0]["name"]
    conditions = tuple(Condition(**{key: value for key, value in row.items() if key != "name"}) for row in rows)
    return TableWhy(name, any(condition.kind == "late" for condition in conditions), conditions)


def graph(conn: Conn) -> list[TableNode]:
    """Each dynamic table with what it reads, connected ones together."""
    tables: dict[str, TableNode] = {}
    for row in fetch_rows(conn, LAKE.query("table_graph")):
        node = tables.get(row["name"]) or TableNode(row["name"], row["state"], row["component"], ())
        if row["reads"] is not None:
            node = replace(node, reads=(*node.reads, TableRead(row["reads"], row["is_dynamic"])))
        tables[node.name] = node
    return list(tables.values())


def reason_text(code: str | None) -> str | None:
    """The sentence of a reason, and what can be done about it."""
    if code is None or code not in Reason.__members__:
        return None
    reason = Reason(code)
    return reason.sentence if reason.hint is None else f"{reason.sentence} {reason.hint}"


def explain_statements(duck: Duck, control: Control, statements: Sequence[Statement]) -> list[StatementExplanation]:
    """How tables would be refreshed that do not exist yet. A statement may read the tables of those before it."""
    answers: list[StatementExplanation] = []
    planned: list[SourceTable] = []
    with duck.turn(Never()), control.connection() as conn:
        names = _dynamic_names(conn)
        for statement in statements:
            definition, error = statement.definition, statement.error
            name = None if definition is None else str(definition.ref)
            explanation = None
            if definition is not None:
                try:
                    plan = analysed(duck, conn, _in_place(definition, statement.query_line), planned=planned)
                    explanation = _explained(definition, plan, names)
                except TableRefused as refusal:
                    error = refusal
                else:
                    table = _planned(definition.ref, plan, statement.number)
                    names[-statement.number] = str(definition.ref)
                    planned = [*(other for other in planned if str(other.ref).lower() != str(table.ref).lower()), table]
            refusal = None if error is None else statement.refused(error)
            answers.append(StatementExplanation(statement.number, statement.line, name, explanation, refusal))
    return answers


def _in_place(definition: Definition, line: int) -> Definition:
    """With its query on the line that it has in the text, so that errors name that one."""
    return replace(definition, query="\n" * (line - 1) + definition.query)


def _planned(ref: TableRef, plan: Plan, number: int) -> SourceTable:
    columns = {column.name: ColumnAt(place, column.type) for place, column in enumerate(plan.layout.visible, 1)}
    return SourceTable(table_id=-number, ref=ref, columns=columns, rows=0, dt_id=-number)


def explain(duck: Duck, control: Control, settings: LakeSettings, dt_id: int) -> TableExplanation:
    """How a table is refreshed and why, what has changed since, and what the next refresh is expected to do: the
    changes are read for that, as a refresh does. Raises ``SourceChanged`` or ``TableRefused`` when its query is no
    longer valid."""
    with duck.turn(Never()), control.connection() as conn:
        shown = _show(conn, dt_id)
        definition = Definition(
            TableRef(shown["schema_name"], shown["name"]),
            shown["definition"],
            Properties.from_json(shown["properties"]),
        )
        try:
            plan = analysed(duck, conn, definition, made=(dt_id, Layout.from_json(shown["layout"])))
        except TableRefused:
            check_sources(control, dt_id)  # names the column that is gone, and what to do
            raise
        explained = _explained(definition, plan, _dynamic_names(conn))
    expected, changes = forecast(duck, control, settings, dt_id)
    sources = tuple(
        replace(source, changed=changes.get(item.table.table_id))
        for source, item in zip(explained.sources, plan.tables, strict=True)
    )
    return replace(explained, next=expected, sources=sources)


def _dynamic_names(conn: Conn) -> dict[int, str]:
    return dict(conn.execute("select t.id, t.dynamic_table from lake.tables as t").fetchall())


def _explained(definition: Definition, plan: Plan, names: dict[int, str]) -> TableExplanation:
    properties = definition.properties
    code = None if plan.reason is None else plan.reason.value
    return TableExplanation(
        name=str(definition.ref),
        refresh_mode=properties.refresh_mode.value,
        strategy=plan.strategy,
        reason=code,
        reason_text=reason_text(code),
        is_always_due=plan.is_always_due,
        parts=tuple(_part(plan, part) for part in plan.parts) if plan.reason is None else (),
        sources=tuple(
            SourceChange(
                name=names.get(item.table.dt_id or 0, str(item.table.ref)),
                rows=item.table.rows,
                is_dynamic=item.table.dt_id is not None,
                used_columns=tuple(item.used),
            )
            for item in plan.tables
        ),
        columns=plan.layout.visible,
        hidden_columns=plan.layout.columns[len(plan.layout.visible) :],
        parallel=Parallel(
            allowed=properties.allow_parallel_refresh,
            possible=is_cuttable(plan),
            strategy=properties.parallel_strategy.value,
            threshold=properties.parallel_threshold,
            max_parallelism=properties.max_parallelism,
        ),
    )


def _part(plan: Plan, part: Part) -> TablePart:
    return TablePart(
        kind=part.block.kind,
        key=plan.layout.keys_of(part.number),
        key_expressions=tuple(text(key) for key in part.block.key),
        is_unique=part.is_unique,
    )

"""Creates, replaces, changes, renames and drops dynamic tables.

What a statement changes in the lake and what it changes in our own tables is one commit: it happens or it does not.
All of it takes its turn at the DuckDB of this process and then the commit lock, in this order, as refreshes do.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from psycopg import Connection

from catchment.errors import TableNotFound, TableRefused
from catchment.lake.choose.partition import check_strategy
from catchment.lake.control.control import Control
from catchment.lake.control.wire import content_ref
from catchment.lake.delta.analyse import analyse
from catchment.lake.delta.compile import view_query
from catchment.lake.delta.layout import Layout
from catchment.lake.delta.plan import Plan
from catchment.lake.duck import catalog
from catchment.lake.duck.duck import Duck, Never
from catchment.lake.duck.locks import commit_lock
from catchment.lake.duck.schema_view import LakeView
from catchment.lake.files.physical import create_physical, drop_abandoned, drop_physical
from catchment.lake.names import DT_SCHEMA, lake_name, physical_name, quoted
from catchment.lake.query.ddl import set_property
from catchment.lake.query.trees import last_text
from catchment.lake.reasons import Reason, refused
from catchment.lake.types import Definition, NewTable, Properties, SourceTable, SourceUse, TableRef
from catchment.store.errors import translated
from catchment.store.fetch import fetch_rows

FIXED = ("parallel_strategy", "initialize")
"""Properties that are part of how a table was made."""

_ABOVE = """
with recursive above as (
  select t.id from unnest(%(tables)s::bigint[]) as t (id)
  union
  select s.source_dt_id
    from above as a
    join lake.dt as d on a.id in (d.id, d.replaces) -- a new definition will be that of the table
    join lake.source as s on s.dt_id = d.id
   where s.source_dt_id is not null
)
select exists (select from above as a where a.id = %(id)s)
"""
# The deepest first: each is dropped when nothing reads it any more. A new definition goes with its table.
_BELOW = """
with recursive below (id, depth) as (
  select %(id)s::bigint, 0
  union
  select n.id, b.depth + 1
    from below as b
   cross join lateral (select s.dt_id as id from lake.source as s where s.source_dt_id = b.id
                       union all
                       select d.id from lake.dt as d where d.replaces = b.id) as n
)
select d.id, d.schema_name, d.name, coalesce(d.replaces, d.id) as stored_id, d.replaces is not null as is_next,
       greatest(d.generation, case when d.replaces is not null then (d.next ->> 'generation')::integer end)
         as generation
  from lake.dt as d
  join (select b.id, max(b.depth) as depth from below as b group by b.id) as b on b.id = d.id
 order by b.depth desc, d.id
"""
_STORED = """
select d.id, d.generation, d.definition, d.definition_hash, d.properties, d.layout, d.strategy, d.reason,
       f.data_snapshot is not null as is_filled,
       array(select coalesce(s.source_dt_id::text, lower(s.schema_name || '.' || s.table_name))
               from lake.source as s where s.dt_id = d.id order by 1) as sources
  from lake.dt as d
  join lake.frontier as f on f.dt_id = d.id
 where d.id = %(id)s
"""
_NEXT = """
select d.id, coalesce(d.replaces, d.id) as stored_id,
       greatest(d.generation, (d.next ->> 'generation')::integer) as generation
  from lake.dt as d
 where d.replaces = %(id)s
"""
_HAS_SCHEMA = """
select exists (select from lake.ducklake_schema as s where lower(s.schema_name) = lower(%s) and s.end_snapshot is null)
"""


@dataclass(frozen=True, slots=True)
class TableInfo:
    """A table after ``create``. ``change`` is created, replaced, altered or unchanged. ``is_new`` is true if its
    definition is new. A replacement takes over the name when it has been filled: until then ``replaces`` is the id of
    the old table, and ``dt_id`` that of the new one. ``reason`` is why each refresh is full, or None."""

    dt_id: int
    name: str
    generation: int
    is_new: bool
    strategy: str
    reason: str | None
    initialize: str
    change: str = "created"
    replaces: int | None = None


@contextmanager
def _alone(duck: Duck, control: Control) -> Generator[Connection[Any]]:
    with duck.turn(Never()), commit_lock(control.dsn), control.connection() as conn:
        yield conn


def analysed(
    duck: Duck,
    conn: Connection[Any],
    definition: Definition,
    *,
    made: tuple[int, Layout] | None = None,
    planned: Sequence[SourceTable] = (),
) -> Plan:
    """The plan of a definition as of the newest snapshot; ``made``: of a table that exists; ``planned``: as if these
    tables did. Raises ``TableRefused``."""
    dt_id, stored = made or (None, None)
    plan = analyse(definition, LakeView(duck, conn, catalog.head(conn), made=dt_id, planned=planned), stored=stored)
    check_strategy(definition.properties.parallel_strategy, plan)
    return plan


def create(duck: Duck, control: Control, definition: Definition) -> TableInfo:
    """Create or replace a table; it is not filled yet. A table that has content keeps it, and its definition, until the
    first refresh of the new one. With the definition that it has already nothing happens; with OR ALTER, other
    properties are set and nothing is computed.

    Raises ``TableRefused`` when the definition is not possible or the name is taken.
    """
    is_over = definition.or_replace or definition.or_alter
    with _alone(duck, control) as conn:
        old = catalog.find_dynamic(conn, definition.ref)
        if old is not None and definition.if_not_exists:
            return _existing(conn, definition, old)
        _check_name(conn, definition.ref, old)
        plan = analysed(duck, conn, definition)
        if old is not None:
            _refuse_cycle(conn, definition.ref, plan, old[0])
        if old is not None and is_over:
            drop_replacement(duck, control, conn, old[0])
            if (change := _small_change(conn, definition, plan, old[0])) is not None:
                if change == "altered":
                    control.alter_table(old[0], definition.properties, plan.strategy, _reason(plan))
                return replace(_existing(conn, definition, old), change=change)
        created = create_physical(
            duck,
            control,
            _new_table(definition, plan),
            plan.layout.columns,
            view=lambda physical: last_text(view_query(plan, physical)),
            old=None if old is None else TableRef(DT_SCHEMA, physical_name(*old)),
        )
        if old is not None and created.replaces is None:
            control.cancel_refreshes(created.dt_id, "the table was replaced")
    control.set_schedule()
    return TableInfo(
        created.dt_id,
        str(definition.ref),
        created.generation,
        True,
        plan.strategy,
        _reason(plan),
        definition.properties.initialize,
        "created" if old is None else "replaced",
        created.replaces,
    )


def _reason(plan: Plan) -> str | None:
    return None if plan.reason is None else plan.reason.value


def _existing(conn: Connection[Any], definition: Definition, old: tuple[int, int]) -> TableInfo:
    row = _stored(conn, old[0])
    properties = Properties.from_json(row["properties"])
    return TableInfo(
        old[0], str(definition.ref), old[1], False, row["strategy"], row["reason"], properties.initialize, "unchanged"
    )


def _small_change(conn: Connection[Any], definition: Definition, plan: Plan, dt_id: int) -> str | None:
    """What a statement changes of a table that is filled by the same query: unchanged, or altered; None when the table
    has to be computed. The text alone is not the definition: of a source it may name all columns."""
    row = _stored(conn, dt_id)
    sources = {str(item.table.dt_id or str(item.table.ref).lower()) for item in plan.tables}
    is_same = (plan.query, plan.definition_hash, sources) == (
        row["definition"],
        row["definition_hash"],
        set(row["sources"]),
    )
    if not row["is_filled"] or not is_same:
        return None
    before, after = Properties.from_json(row["properties"]).to_json(), definition.properties.to_json()
    changed = {name for name, value in after.items() if before[name] != value}
    if definition.or_alter:
        changed.discard("initialize")  # of a table that is filled it says nothing any more
    if not changed:
        return "unchanged"
    return "altered" if definition.or_alter and not changed & set(FIXED) else None


def drop_replacement(duck: Duck, control: Control, conn: Connection[Any], dt_id: int) -> None:
    """Give up a new definition of a table that has not come into force."""
    for row in fetch_rows(conn, _NEXT, id=dt_id):
        control.cancel_refreshes(row["id"], "the table is replaced again")
        drop_physical(duck, control, row["id"], None, content_ref(row["stored_id"], row["generation"]))


def _stored(conn: Connection[Any], dt_id: int) -> dict[str, Any]:
    rows = fetch_rows(conn, _STORED, id=dt_id)
    if not rows:
        raise TableNotFound(f"there is no dynamic table {dt_id}", hint="'catchment table list' shows all tables.")
    return rows[0]


def _new_table(definition: Definition, plan: Plan) -> NewTable:
    return NewTable(
        definition=replace(definition, query=plan.query),
        definition_hash=plan.definition_hash,
        strategy=plan.strategy,
        reason=_reason(plan),
        is_always_due=plan.is_always_due,
        layout=plan.layout.to_json(),
        sources=tuple(
            SourceUse(item.table.table_id, item.table.ref, item.table.dt_id, item.used) for item in plan.tables
        ),
    )


def _check_name(conn: Connection[Any], ref: TableRef, old: tuple[int, int] | None) -> None:
    """Refuse a name that the lake has no place for."""
    at = catalog.head(conn)
    with translated():
        ((has_schema,),) = conn.execute(_HAS_SCHEMA, [ref.schema]).fetchall()
    if not has_schema:
        raise TableRefused(
            f"the lake has no schema {ref.schema}",
            code=Reason.UNKNOWN_TABLE.value,
            hint=f"Make it first: CREATE SCHEMA {quoted(ref.schema)}.",
        )
    if ref.schema.lower() == DT_SCHEMA:
        raise refused(Reason.RESERVED_NAME, f"schema {DT_SCHEMA} holds the content of dynamic tables")
    if old is None and (catalog.find_table(conn, ref, at) is not None or catalog.is_view(conn, ref, at)):
        raise TableRefused(
            f"the lake has a table or view {ref} that is no dynamic table",
            hint="Choose another name, or drop it first.",
        )


def _refuse_cycle(conn: Connection[Any], ref: TableRef, plan: Plan, dt_id: int) -> None:
    tables = [item.table.dt_id for item in plan.tables if item.table.dt_id is not None]
    with translated():
        ((is_cycle,),) = conn.execute(_ABOVE, {"tables": tables, "id": dt_id}).fetchall()
    if is_cycle:
        raise refused(
            Reason.CYCLE,
            f"{ref} would read itself, directly or through others",
            hint="'catchment table graph' shows what reads what.",
        )


def drop(duck: Duck, control: Control, ref: TableRef, *, cascade: bool = False) -> list[str]:
    """Drop a table, and with ``cascade`` all that read it; returns their names. What is being refreshed is cancelled.

    Raises ``TableNotFound``, or ``TableRefused`` while another table reads it.
    """
    dt_id = control.find_dt(ref)
    dropped: list[str] = []
    with duck.turn(Never()):
        # A new definition that was given up reads nothing any more.
        drop_abandoned(duck, control)
    with _alone(duck, control) as conn:
        rows = fetch_rows(conn, _BELOW, id=dt_id)
        if not cascade and len([row for row in rows if row["stored_id"] != dt_id]) > 0:
            # Raises, and says who reads it.
            control.drop_table(dt_id)
        for row in rows:
            control.cancel_refreshes(row["id"], "the table is dropped")
            named = TableRef(row["schema_name"], row["name"])
            physical = content_ref(row["stored_id"], row["generation"])
            drop_physical(duck, control, row["id"], None if row["is_next"] else named, physical)
            if not row["is_next"]:
                dropped.append(str(named))
    control.set_schedule()
    return dropped


def rename(duck: Duck, control: Control, ref: TableRef, new: TableRef) -> None:
    """Give a table another name. Raises ``TableRefused`` when it is taken, or while another table reads this one."""
    dt_id = control.find_dt(ref)
    if new == ref:
        return
    with _alone(duck, control) as conn:
        row = _stored(conn, dt_id)
        is_same_name = (new.schema.lower(), new.name.lower()) == (ref.schema.lower(), ref.name.lower())
        _check_name(conn, new, (dt_id, row["generation"]) if is_same_name else catalog.find_dynamic(conn, new))
        control.rename_table(dt_id, new)
        columns = ", ".join(quoted(item.name) for item in Layout.from_json(row["layout"]).visible)
        content = quoted(DT_SCHEMA, physical_name(dt_id, row["generation"]))
        with duck.transaction():
            duck.run(f"DROP VIEW {lake_name(ref)}")
            with duck.names_in_lake():
                duck.run(f"CREATE VIEW {lake_name(new)} AS SELECT {columns} FROM {content}")
            duck.sign(f"rename {dt_id}", rename=dt_id)


def alter(duck: Duck, control: Control, ref: TableRef, changes: Mapping[str, str]) -> Properties:
    """Change properties, given as text the way the statement has them; returns all of them.

    Raises ``TableRefused`` for a property that does not exist, has no such value, or cannot be changed.
    """
    dt_id = control.find_dt(ref)
    with duck.turn(Never()), control.connection() as conn:
        row = _stored(conn, dt_id)
        properties = before = Properties.from_json(row["properties"])
        for name, value in changes.items():
            if name.lower() in FIXED:
                raise TableRefused(
                    f"{name.upper()} of {ref} cannot be changed: it is part of how the table was made",
                    hint="CREATE OR REPLACE the dynamic table with it.",
                )
            properties = set_property(properties, name, value)
        strategy, reason = row["strategy"], row["reason"]
        if properties.refresh_mode != before.refresh_mode:
            definition = Definition(ref, row["definition"], properties)
            plan = analysed(duck, conn, definition, made=(dt_id, Layout.from_json(row["layout"])))
            strategy, reason = plan.strategy, _reason(plan)
    control.alter_table(dt_id, properties, strategy, reason)
    return properties

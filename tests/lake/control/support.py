"""Dynamic tables written by hand: no definition is analysed and no query compiled, so that what is tested is the ground
they stand on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from catchment.lake.duck.catalog import columns_at, find_table
from catchment.lake.files.physical import create_physical
from catchment.lake.names import lake_name, quoted
from catchment.lake.types import (
    Action,
    Column,
    Created,
    Definition,
    NewTable,
    Order,
    Properties,
    Publication,
    ReadDone,
    SourceUse,
    TableRef,
)
from tests.fixtures.lake_case import LakeCase

COLUMNS = (Column("k", "BIGINT"), Column("n", "BIGINT"), Column("__b", "SMALLINT"))
HOUR = timedelta(hours=1)


def new_table(
    name: str, sources: Sequence[SourceUse] = (), *, properties: Properties | None = None, **flags: bool
) -> NewTable:
    """A definition of this name over these sources."""
    return NewTable(
        definition=Definition(TableRef("main", name), "SELECT k, n FROM s", properties or Properties(), **flags),
        definition_hash="hash",
        strategy="keys",
        reason=None,
        is_always_due=False,
        layout={"visible": []},
        sources=tuple(sources),
    )


def view_over(physical: TableRef) -> str:
    """The view that hides the bucket."""
    return f"SELECT k, n FROM {quoted(physical.schema, physical.name)}"


def add_table(
    case: LakeCase, name: str, sources: Sequence[str] = (), *, old: TableRef | None = None, **flags: bool
) -> Created:
    """Create a dynamic table with columns k and n that reads tables of the lake, or other dynamic tables."""
    used = [source_use(case, source) for source in sources]
    with case.commit_lock():
        return create_physical(
            case.duck, case.control, new_table(name, used, **flags), COLUMNS, view=view_over, old=old
        )


def source_use(case: LakeCase, name: str) -> SourceUse:
    """A table of the lake, or the content of a dynamic table, as a source."""
    rows = case.pg("select id, generation from lake.dt where name = %s and physical_id is not null", name)
    ref = TableRef("dt", f"t{rows[0][0]}g{rows[0][1]}") if rows else TableRef("main", name)
    with case.control.connection() as conn:
        found = find_table(conn, ref, case.head())
    assert found is not None, name
    return SourceUse(found.table_id, TableRef("main", name), found.dt_id, ("k", "n"))


def start(case: LakeCase, *tables: Created, trigger: str = "manual") -> int:
    """Ask for a round of these tables; returns the refresh of the last one."""
    round_id = case.control.request_round([table.dt_id for table in tables], trigger)
    rows = case.pg("select id from lake.refresh where round_id = %s and dt_id = %s", round_id, tables[-1].dt_id)
    return rows[0][0]


def begin(case: LakeCase, refresh_id: int, *, keep_plan: bool = False) -> Order:
    """Take the refresh over with a new fence."""
    return case.control.begin_refresh(refresh_id, case.next_fence(), HOUR, keep_plan=keep_plan)


def publication(case: LakeCase, order: Order, inserted: int, deleted: int = 0, **more: Any) -> Publication:
    """What a refresh that has read its sources whole publishes."""
    with case.control.connection() as conn:
        reads = tuple(
            ReadDone(r.table_id, r.new, 0, columns_at(conn, r.table_id, r.new), **more.pop("read", {}))
            for r in order.reads
        )
    return Publication(
        action=Action.FULL,
        reason=order.forced,
        inserted=inserted,
        deleted=deleted,
        rows_after=(order.rows or 0) + inserted - deleted,
        keys=None,
        reads=reads,
        **more,
    )


def commit(case: LakeCase, *steps: str | Callable[[], object], **note: int) -> None:
    """One transaction: statements and other steps, then a note if there is one."""
    with case.duck.transaction():
        for step in steps:
            if isinstance(step, str):
                case.sql(step)
            else:
                step()
        if note:
            case.duck.sign(" ".join(f"{key} {value}" for key, value in note.items() if key != "fence"), **note)


def write(
    case: LakeCase, order: Order, rows: Sequence[tuple[int, int]], *, during: Callable[[], object] = lambda: None
) -> None:
    """Commit rows under the fence of the order; ``during`` happens within the transaction, after its writes."""
    inserts = [f"INSERT INTO {lake_name(order.physical)} VALUES ({k}, {n}, 0)" for k, n in rows]
    commit(case, *inserts, during, refresh=order.refresh_id, fence=order.fence)


def publish(case: LakeCase, order: Order, rows: Sequence[tuple[int, int]], **more: Any) -> int:
    """Prepare and commit rows as the refresh does; returns the snapshot."""
    case.control.prepare_publish(order.refresh_id, order.fence, publication(case, order, len(rows), **more))
    case.duck.set_retries(60)
    with case.commit_lock():
        write(case, order, rows)
    return case.head()


def refresh(case: LakeCase, table: Created, rows: Sequence[tuple[int, int]]) -> Order:
    """A whole refresh that inserts rows."""
    order = begin(case, start(case, table))
    publish(case, order, rows)
    case.control.finish_refresh(order.refresh_id, order.fence, {})
    return order


def frontier(case: LakeCase, table: Created) -> dict[str, Any]:
    """The frontier of a table."""
    ((found,),) = case.pg("select to_jsonb(f) from lake.frontier as f where dt_id = %s", table.dt_id)
    return found


def state(case: LakeCase, refresh_id: int) -> str:
    """The state of a refresh."""
    return case.control.refresh_state(refresh_id).state


def content(case: LakeCase, name: str) -> list[tuple[Any, ...]]:
    """The rows of a dynamic table through its view."""
    return case.sql(f"SELECT k, n FROM {quoted('lake', 'main', name)} ORDER BY ALL")

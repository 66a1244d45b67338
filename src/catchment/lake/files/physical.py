"""Puts dynamic tables into the lake, and takes them out: the table that holds the rows, and the view that has the name.

Both happen in one commit, which the guard makes atomic with the change of our tables. All of it under the commit lock.
A table that has content is replaced in two: first the table for the new rows is made, and the commit that fills it lets
the name lead to it. Readers see the old rows until then, and for good if that commit never comes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from catchment.lake.control.control import Control
from catchment.lake.control.wire import content_ref
from catchment.lake.delta.layout import Layout
from catchment.lake.duck.duck import Duck
from catchment.lake.duck.locks import commit_lock
from catchment.lake.names import BUCKET, lake_name, quoted
from catchment.lake.types import Column, Created, NewTable, Replaced, TableRef


def create_physical(
    duck: Duck,
    control: Control,
    table: NewTable,
    columns: Sequence[Column],
    *,
    view: Callable[[TableRef], str],
    old: TableRef | None = None,
) -> Created:
    """Create or replace a dynamic table. ``columns`` are all that are stored, the bucket too; ``view`` gives the query
    of the view over the stored table, without the name of a catalog; ``old`` is the content that is replaced. If it was
    filled, it stays for now, and the name with it.

    Raises ``TableRefused`` when the name is taken by a dynamic table, DuckDB's error when it is taken by another.
    """
    created = control.create_table(table)
    if created.exists:
        return created
    physical = content_ref(created.replaces or created.dt_id, created.generation)
    named = lake_name(table.definition.ref)
    with duck.transaction():
        stored = ", ".join(f"{quoted(column.name)} {column.type}{_not_null(column)}" for column in columns)
        duck.run(f"CREATE TABLE {lake_name(physical)} ({stored})")
        duck.run(f"ALTER TABLE {lake_name(physical)} SET PARTITIONED BY ({quoted(BUCKET)})")
        if created.replaces is None:
            replace = "OR REPLACE " if old is not None else ""
            with duck.names_in_lake():
                duck.run(f"CREATE {replace}VIEW {named} AS {view(physical)}")
            if old is not None:
                duck.run(f"DROP TABLE {lake_name(old)}")
        duck.sign(f"create {created.dt_id}", create=created.dt_id, generation=created.generation)
    return created


def _not_null(column: Column) -> str:
    return " NOT NULL" if column.name == BUCKET else ""


def put_in_place(duck: Duck, replaced: Replaced, columns: Sequence[Column], physical: TableRef) -> None:
    """Within the transaction that fills the new content of a table: let its name lead there, and drop the old one."""
    with duck.names_in_lake():
        duck.run(f"CREATE OR REPLACE VIEW {lake_name(replaced.ref)} AS {_view(columns, physical)}")
    duck.run(f"DROP TABLE IF EXISTS {lake_name(replaced.physical)}")


def restore_name(duck: Duck, control: Control, dt_id: int) -> bool:
    """Make the view of a table again that another client has dropped; tells whether there was something to do. Within
    the caller's turn of the DuckDB. A name that is in use is left to who uses it: ``catchment doctor`` says so."""
    for lost in control.lost_names():
        if lost.dt_id == dt_id and lost.taken_by is None:
            with commit_lock(control.dsn), duck.names_in_lake():
                columns = Layout.from_json(lost.layout).visible
                duck.run(f"CREATE VIEW IF NOT EXISTS {lake_name(lost.ref)} AS {_view(columns, lost.physical)}")
            return True
    return False


def _view(columns: Sequence[Column], physical: TableRef) -> str:
    """Without the name of a catalog: it holds under any alias of the lake."""
    names = ", ".join(quoted(column.name) for column in columns)
    return f"SELECT {names} FROM {quoted(physical.schema, physical.name)}"


def drop_abandoned(duck: Duck, control: Control) -> int:
    """Drop what was made for new definitions of tables that will not come into force; returns how many. Within the
    caller's turn of the DuckDB."""
    abandoned = control.abandoned()
    if abandoned:
        with commit_lock(control.dsn):
            for dt_id, physical in abandoned:
                control.cancel_refreshes(dt_id, "the new definition was given up")
                drop_physical(duck, control, dt_id, None, physical)
    return len(abandoned)


def drop_physical(duck: Duck, control: Control, dt_id: int, ref: TableRef | None, physical: TableRef) -> None:
    """Drop a dynamic table, its view if it has one, and its content. Raises ``TableRefused`` while another reads it."""
    control.drop_table(dt_id)
    with duck.transaction():
        if ref is not None:
            duck.run(f"DROP VIEW IF EXISTS {lake_name(ref)}")
        duck.run(f"DROP TABLE IF EXISTS {lake_name(physical)}")
        duck.sign(f"drop {dt_id}", drop=dt_id)
    # Where the lake had neither, there was no commit that could have done it.
    control.remove_table(dt_id)

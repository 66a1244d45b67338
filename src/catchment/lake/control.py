"""Typed calls of the functions in schema ``lake``: definitions, refreshes, rounds, files.

One method per function. Each call commits by itself, except where a connection is passed in: then it is part of that
connection's transaction.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, LiteralString

from psycopg import Connection
from psycopg.types.json import Jsonb

from catchment.errors import LakeError, TableMissing
from catchment.lake.names import DT_SCHEMA, physical_name
from catchment.lake.types import (
    ColumnAt,
    Created,
    Definition,
    Json,
    NewTable,
    Order,
    Properties,
    Publication,
    Read,
    ReadDone,
    TableRef,
)
from catchment.store.errors import translated
from catchment.store.fetch import fetch_value
from catchment.store.pool import Pool

Conn = Connection[Any]

POOL_SIZE = 3


@dataclass(frozen=True, slots=True)
class RefreshState:
    """Where a refresh stands, for who has lost its connection at a COMMIT."""

    state: str
    fence: int
    commit_snapshot: int | None


class Control:
    """The control schema of one database, through a few connections. Safe for several threads."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self._pool = Pool(dsn, POOL_SIZE, name="catchment lake")

    @contextmanager
    def connection(self) -> Generator[Conn]:
        """A connection in autocommit mode, for reads of the catalog and for transactions of the caller."""
        with self._pool.connection() as conn:
            yield conn

    def close(self) -> None:
        """Close the idle connections; the next call opens one."""
        self._pool.close()

    def _call(self, sql: LiteralString, *parameters: Any, conn: Conn | None = None) -> Any:
        if conn is not None:
            return fetch_value(conn, sql, *parameters)
        with self._pool.connection() as own:
            return fetch_value(own, sql, *parameters)

    # Refreshes

    def begin_refresh(self, refresh_id: int, fence: int, timeout: timedelta, *, keep_plan: bool = False) -> Order:
        """Take a refresh over under a new fence and say what is to be done.

        A plan that an earlier attempt has stored is forgotten, unless ``keep_plan``: that is for the one who publishes
        what was computed by it. Raises ``ClaimLost`` when a newer attempt has the refresh or it is over, ``LakeError``
        with code DEPENDENCY when a table above has no content for this snapshot; the refresh is held even then.
        """
        found = self._call("select lake.begin_refresh(%s, %s, %s, %s)", refresh_id, fence, timeout, keep_plan)
        return read_order(found)

    def read_order(self, refresh_id: int) -> Order:
        """What a refresh is to do, without taking it over: for its subtasks. Raises ``LakeError``."""
        found = self._call("select lake.order_of(%s)", refresh_id)
        if found is None:
            raise LakeError(f"there is no refresh {refresh_id}", code="INTERNAL")
        return read_order(found)

    def refresh_state(self, refresh_id: int) -> RefreshState:
        """Where a refresh stands. Raises ``LakeError`` when there is none."""
        found = self._call("select to_jsonb(r) from lake.refresh as r where r.id = %s", refresh_id)
        return RefreshState(found["state"], found["fence"], found["commit_snapshot"])

    def store_plan(self, refresh_id: int, fence: int, plan: Json, keys: int | None) -> None:
        """Keep how a refresh is cut into buckets. Raises ``ClaimLost``."""
        self._call("select lake.store_plan(%s, %s, %s, %s)", refresh_id, fence, Jsonb(plan), keys)

    def prepare_publish(self, refresh_id: int, fence: int, publication: Publication) -> None:
        """Write down what is about to be committed; before the lake's transaction begins. Raises ``ClaimLost``."""
        noted = Jsonb(_publication_json(publication))
        self._call("select lake.prepare_publish(%s, %s, %s)", refresh_id, fence, noted)

    def move_frontier(self, refresh_id: int, fence: int) -> None:
        """Publish a prepared refresh that has nothing to write. Raises ``PublishVetoed``."""
        self._call("select lake.move_frontier(%s, %s)", refresh_id, fence)

    def finish_refresh(self, refresh_id: int, fence: int, figures: Json, *, conn: Conn | None = None) -> None:
        """A published refresh is over. Raises ``ClaimLost``."""
        self._call("select lake.finish_refresh(%s, %s, %s)", refresh_id, fence, Jsonb(figures), conn=conn)

    def fail_refresh(self, refresh_id: int, fence: int, code: str, text: str, *, conn: Conn | None = None) -> str:
        """Give a refresh up for good; returns the state it is in now. Raises ``ClaimLost``.

        One that is published has succeeded all the same.
        """
        safe = text.replace("\0", " ")
        return self._call("select lake.fail_refresh(%s, %s, %s, %s)", refresh_id, fence, code, safe, conn=conn)

    def cost_samples(self, dt_id: int) -> list[tuple[str, float, float]]:
        """Action, units and milliseconds of the newest refreshes, newest first."""
        with self._pool.connection() as conn, translated():
            return conn.execute("select action, units, ms from lake.cost_samples(%s)", [dt_id]).fetchall()

    def add_sample(self, dt_id: int, action: str, units: float, ms: float) -> None:
        """Remember what a refresh took; figures of ``finish_refresh`` do this too."""
        self._call("select lake.add_sample(%s, %s, %s, %s)", dt_id, action, units, ms)

    # Rounds

    def request_round(self, dt_ids: Collection[int], trigger: str = "manual") -> int:
        """Refresh these tables now, and those above them, as of the newest snapshot; returns the round."""
        return self._call("select lake.request_round(%s, %s)", list(dt_ids), trigger)

    def advance(self, round_id: int | None = None) -> None:
        """Let a round go on, or all: whatever can begin begins, and what is over is closed."""
        self._call("select lake.advance(%s)", round_id)

    # Dynamic tables

    def create_table(self, table: NewTable) -> Created:
        """Keep a definition; the commit that creates the table in the lake puts it into force. Under the commit lock.

        That commit carries the note ``{"catchment": {"create": id, "generation": generation}}``. Raises
        ``TableRefused`` when the name is taken.
        """
        found = self._call("select lake.create_table(%s)", Jsonb(_table_json(table)))
        return Created(found["id"], found["generation"], found["exists"])

    def drop_table(self, dt_id: int) -> None:
        """Announce a drop; the commit with the note ``{"catchment": {"drop": id}}`` completes it.

        Raises ``TableRefused`` while other dynamic tables read it.
        """
        self._call("select lake.drop_table(%s)", dt_id)

    def remove_table(self, dt_id: int) -> None:
        """Forget a dynamic table that is being dropped; nothing happens when that is done."""
        self._call("select lake.remove_table(%s)", dt_id)

    def suspend(self, dt_id: int) -> list[int]:
        """Refresh a table, and all below it, by hand only; returns those that were not suspended before."""
        return self._call("select lake.suspend(%s)", dt_id)

    def find_dt(self, ref: TableRef) -> int:
        """The id of a dynamic table by its name. Raises ``TableMissing``."""
        with self._pool.connection() as conn, translated():
            row = conn.execute(
                "select d.id from lake.dt as d where lower(d.schema_name) = lower(%s) and lower(d.name) = lower(%s)"
                " and d.state <> 'creating'",
                [ref.schema, ref.name],
            ).fetchone()
        if row is None:
            raise TableMissing(f"there is no dynamic table {ref}", hint="'catchment table list' shows what there is.")
        return row[0]

    # Files

    def note_artifacts(self, refresh_id: int, task_id: int, fence: int, kind: str, paths: Collection[str]) -> None:
        """Write down files that are about to be written. ``kind`` is keys, deletes or data."""
        self._call(
            "select lake.note_artifacts(%s, %s, %s, %s, %s)", refresh_id, task_id, fence, kind, sorted(set(paths))
        )

    def forget_artifacts(self, paths: Collection[str]) -> int:
        """Files that are gone, or belong to the lake now; returns how many were known."""
        return self._call("select lake.forget_artifacts(%s)", list(paths))

    def schedule_deletion(self, paths: Collection[str]) -> None:
        """Put files on DuckLake's list of files to delete, dated so that no other entry is as old."""
        self._call("select lake.schedule_deletion(%s)", list(paths))


def read_order(found: Mapping[str, Any]) -> Order:
    """The order in what ``lake.order_of`` returned. Raises ``LakeError`` when a source has no content to read."""
    definition = Definition(
        ref=TableRef(found["schema_name"], found["name"]),
        query=found["definition"],
        properties=Properties.from_json(found["properties"]),
    )
    deadline = found["deadline_at"]
    return Order(
        refresh_id=found["refresh_id"],
        fence=found["fence"],
        dt_id=found["dt_id"],
        generation=found["generation"],
        definition=definition,
        definition_hash=found["definition_hash"],
        layout=found["layout"],
        buckets=found["buckets"],
        state=found["state"],
        trigger=found["trigger"],
        data_snapshot=found["data_snapshot"],
        data_at=datetime.fromisoformat(found["data_at"]),
        epoch=found["epoch"] or 0,
        commit_snapshot=found["commit_snapshot"],
        rows=found["rows"],
        reads=tuple(_read(read, found["data_snapshot"], found["state"]) for read in found["reads"]),
        forced=found["forced"],
        stored_snapshot=found["stored_snapshot"] or 0,
        physical_id=found["physical_id"],
        physical=TableRef(DT_SCHEMA, physical_name(found["dt_id"], found["generation"])),
        plan=found["plan"],
        deadline_at=None if deadline is None else datetime.fromisoformat(deadline),
    )


def _read(found: Mapping[str, Any], snapshot: int, state: str) -> Read:
    new = found["new"]
    if new is None and state == "EXECUTING":
        raise LakeError(
            f"dynamic table {found['dt_id']}, which is read, has no content for snapshot {snapshot}",
            code="DEPENDENCY",
            hint="It was refreshed past it, or never: refresh again.",
        )
    columns: Mapping[str, Mapping[str, Any]] = found["columns_old"] or {}
    return Read(
        table_id=found["table_id"],
        ref=TableRef(found["schema_name"], found["table_name"]),
        dt_id=found["dt_id"],
        old=found["old"],
        new=snapshot if new is None else new,
        rows_old=found["rows_old"],
        columns_old={name: ColumnAt(c["id"], c["type"]) for name, c in columns.items()},
    )


def _publication_json(publication: Publication) -> dict[str, Any]:
    return {
        "action": publication.action.value,
        "reason": publication.reason,
        "inserted": publication.inserted,
        "deleted": publication.deleted,
        "rows_after": publication.rows_after,
        "keys": publication.keys,
        "buckets": publication.buckets,
        "reads": [_read_done_json(read) for read in publication.reads],
        "figures": dict(publication.figures),
    }


def _read_done_json(read: ReadDone) -> dict[str, Any]:
    return {
        "table_id": read.table_id,
        "snapshot": read.snapshot,
        "rows": read.rows,
        "columns": {name: {"id": column.column_id, "type": column.type} for name, column in read.columns.items()},
        "replaces": read.replaces,
    }


def _table_json(table: NewTable) -> dict[str, Any]:
    definition = table.definition
    lag = definition.properties.target_lag
    return {
        "schema_name": definition.ref.schema,
        "name": definition.ref.name,
        "definition": definition.query,
        "definition_hash": table.definition_hash,
        "properties": definition.properties.to_json(),
        "target_lag": None if lag is None else lag.total_seconds(),
        "scheduler": definition.properties.scheduler,
        "strategy": table.strategy,
        "reason": table.reason,
        "is_always_due": table.is_always_due,
        "layout": dict(table.layout),
        "buckets": table.buckets,
        "or_replace": definition.or_replace,
        "if_not_exists": definition.if_not_exists,
        "sources": [
            {
                "table_id": source.table_id,
                "schema_name": source.ref.schema,
                "table_name": source.ref.name,
                "source_dt_id": source.dt_id,
                "used_columns": list(source.used),
            }
            for source in table.sources
        ],
    }

"""Typed calls of the functions in schema ``lake``: definitions, refreshes, rounds, files.

One method per function. Each call commits by itself, except where a connection is passed in: then it is part of that
connection's transaction.
"""

from __future__ import annotations

from collections.abc import Collection, Generator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, LiteralString

from psycopg import Connection
from psycopg.errors import DeadlockDetected
from psycopg.types.json import Jsonb

from catchment.errors import LakeError, TableNotFound
from catchment.lake.control.records import Artifact, LostName, RefreshState
from catchment.lake.control.wire import content_ref, publication_json, read_order, table_json
from catchment.lake.types import Created, Json, NewTable, Order, Properties, Publication, TableRef
from catchment.store.connect import OURS
from catchment.store.errors import translated
from catchment.store.fetch import fetch_value
from catchment.store.pool import Pool

Conn = Connection[Any]

DEADLOCK_TRIES = 5
POOL_SIZE = 3


class Control:
    """The control schema of one database, through a few connections. Safe for several threads."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self._pool = Pool(dsn, POOL_SIZE, name="catchment lake", settings=OURS)
        self._lockers = Pool(dsn, POOL_SIZE, name="catchment lake", settings=OURS)

    @contextmanager
    def connection(self) -> Generator[Conn]:
        """A connection in autocommit mode, for reads of the catalog and for transactions of the caller."""
        with self._pool.connection() as conn:
            yield conn

    @contextmanager
    def lock_session(self) -> Generator[Conn]:
        """A connection that is used for nothing but a lock, and for the next lock again: a new one costs more than all
        other control statements of a small refresh."""
        with self._lockers.connection() as conn:
            yield conn

    def close(self) -> None:
        """Close the idle connections; the next call opens one."""
        self._pool.close()
        self._lockers.close()

    def _call(self, sql: LiteralString, *parameters: Any, conn: Conn | None = None) -> Any:
        if conn is not None:
            return fetch_value(conn, sql, *parameters)
        # One statement is one transaction here. What collides is undone by the server and simply done again.
        for left in reversed(range(DEADLOCK_TRIES)):
            try:
                with self._pool.connection() as own:
                    return fetch_value(own, sql, *parameters)
            except DeadlockDetected:
                if not left:
                    raise
        raise AssertionError("unreachable")

    # Refreshes

    def begin_refresh(self, refresh_id: int, fence: int, timeout: timedelta, *, keep_plan: bool = False) -> Order:
        """Take a refresh over under a new fence and say what is to be done.

        A plan that an earlier attempt has stored is forgotten, unless ``keep_plan``: that is for the one who publishes
        what was computed by it. Raises ``ClaimLost`` when a newer attempt has the refresh or it is over, ``LakeError``
        with code DEPENDENCY when a table above has no content for this snapshot; the refresh is held even then.
        """
        order = self._call("select lake.begin_refresh(%s, %s, %s, %s)", refresh_id, fence, timeout, keep_plan)
        return read_order(order)

    def order_json(self, refresh_id: int) -> Json:
        """What a refresh is to do, without taking it over, as the database says it: for its subtasks; ``read_order``
        of ``wire`` reads it. Raises ``LakeError``."""
        order = self._call("select lake.order_of(%s)", refresh_id)
        if order is None:
            raise LakeError(f"there is no refresh {refresh_id}", code="INTERNAL")
        return order

    def read_order(self, refresh_id: int) -> Order:
        """What a refresh is to do, without taking it over. Raises ``LakeError``."""
        return read_order(self.order_json(refresh_id))

    def refresh_state(self, refresh_id: int) -> RefreshState:
        """Where a refresh stands. Raises ``LakeError`` when there is none."""
        row = self._call("select (select to_jsonb(r) from lake.refresh as r where r.id = %s)", refresh_id)
        if row is None:
            raise LakeError(f"there is no refresh {refresh_id}, or its table was dropped", code="INTERNAL")
        return RefreshState(row["state"], row["fence"], row["commit_snapshot"])

    def refresh_seconds(self, refresh_id: int) -> tuple[float, float]:
        """The time since a refresh was started, and since it was cut into subtasks."""
        seconds = self._call(
            "select jsonb_build_array(extract(epoch from worker.now() - r.started_at),"
            " extract(epoch from worker.now() - r.planned_at)) from lake.refresh as r where r.id = %s",
            refresh_id,
        )
        return float(seconds[0] or 0), float(seconds[1] or 0)

    def store_plan(self, refresh_id: int, fence: int, plan: Json, keys: int | None) -> None:
        """Keep how a refresh is cut into buckets. Raises ``ClaimLost``."""
        self._call("select lake.store_plan(%s, %s, %s, %s)", refresh_id, fence, Jsonb(plan), keys)

    def prepare_publish(self, refresh_id: int, fence: int, publication: Publication) -> None:
        """Write down what is about to be committed; before the lake's transaction begins. Raises ``ClaimLost``."""
        noted = Jsonb(publication_json(publication))
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

    def repeat_refresh(self, refresh_id: int, fence: int, most: int, *, conn: Conn) -> bool:
        """Let a new task do a refresh from the beginning; False if that was done ``most`` times before. Raises
        ``ClaimLost``."""
        return self._call("select lake.repeat_refresh(%s, %s, %s)", refresh_id, fence, most, conn=conn)

    def move_round(
        self,
        refresh_id: int,
        fence: int,
        tables: Collection[int],
        text: str,
        most: int,
        *,
        conn: Conn | None = None,
    ) -> int | None:
        """Let a refresh, and all others of its round that read these tables, continue in a new round at the newest
        snapshot; returns that round, or None when ``most`` rounds were moved one after another. Raises ``ClaimLost``.
        """
        return self._call(
            "select lake.move_round(%s, %s, %s, %s, %s)", refresh_id, fence, list(tables), text, most, conn=conn
        )

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
        """Let a round continue, or all: whatever can begin begins, and what is over is closed."""
        self._call("select lake.advance(%s)", round_id)

    def tick(self) -> Json:
        """What the schedule does by itself: open rounds for tables that are due, let the others continue."""
        return self._call("select lake.tick()")

    def free_slots(self, *, on_cluster: bool = False) -> int:
        """How many tasks of refreshes could run now, the one that asks included. ``on_cluster``: they are computed
        elsewhere, and need nothing but slots here."""
        return self._call("select lake.free_slots(%s)", on_cluster)

    def count_workers(self) -> int:
        """Live workers that run refreshes."""
        return self._call("select lake.count_workers()")

    # Dynamic tables

    def create_table(self, table: NewTable) -> Created:
        """Keep a definition; the commit that creates the table in the lake puts it into force. Under the commit lock.

        That commit carries the note ``{"catchment": {"create": id, "generation": generation}}``. Raises
        ``TableRefused`` when the name is taken.
        """
        created = self._call("select lake.create_table(%s)", Jsonb(table_json(table)))
        return Created(created["id"], created["generation"], created["exists"], created.get("replaces"))

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

    def resume(self, dt_id: int) -> list[int]:
        """Refresh a table by the schedule again, and those below it that were suspended because of it.

        Returns the tables that are active now. Raises ``TableRefused`` while a table above it is suspended.
        """
        return self._call("select lake.resume(%s)", dt_id)

    def alter_table(self, dt_id: int, properties: Properties, strategy: str, reason: str | None) -> None:
        """Give a table other properties. Raises ``TableRefused`` when there is no such table."""
        lag = properties.target_lag
        change = {
            "properties": properties.to_json(),
            "target_lag": None if lag is None else lag.total_seconds(),
            "scheduler": properties.scheduler,
            "strategy": strategy,
            "reason": reason,
        }
        self._call("select lake.alter_table(%s, %s)", dt_id, Jsonb(change))

    def rename_table(self, dt_id: int, ref: TableRef) -> None:
        """Keep a new name; the commit with the note ``{"catchment": {"rename": id}}`` puts it into force. Under the
        commit lock. Raises ``TableRefused`` when it is taken, or others read the table."""
        self._call("select lake.rename_table(%s, %s, %s)", dt_id, ref.schema, ref.name)

    def abandoned(self) -> list[tuple[int, TableRef]]:
        """New definitions that never took the place of a table and never will, with what they have in the lake."""
        with self._pool.connection() as conn, translated():
            rows = conn.execute("select id, stored_id, generation from lake.abandoned()").fetchall()
        return [(dt_id, content_ref(stored_id, generation)) for dt_id, stored_id, generation in rows]

    def cancel_refreshes(self, dt_id: int, text: str) -> int:
        """Stop what is under way for a table; returns how many refreshes that were."""
        return self._call("select lake.cancel_refreshes(%s, %s)", dt_id, text)

    def set_schedule(self) -> None:
        """See which tables are connected, and how often the schedule has to look; after the tables have changed."""
        self._call("select lake.set_components()")
        self._call("select lake.set_tick()")

    def find_dt(self, ref: TableRef) -> int:
        """The id of a dynamic table by its name. Raises ``TableNotFound``."""
        with self._pool.connection() as conn, translated():
            row = conn.execute(
                "select d.id from lake.dt as d where lower(d.schema_name) = lower(%s) and lower(d.name) = lower(%s)"
                " and d.state <> 'creating'",
                [ref.schema, ref.name],
            ).fetchone()
        if row is None:
            raise TableNotFound(f"there is no dynamic table {ref}", hint="'catchment table list' shows all tables.")
        return row[0]

    def lost_names(self) -> list[LostName]:
        """Dynamic tables whose name another client has dropped or taken."""
        with self._pool.connection() as conn, translated():
            rows = conn.execute(
                "select dt_id, schema_name, name, generation, layout, taken_by from lake.lost_names()"
            ).fetchall()
        return [
            LostName(dt_id, TableRef(schema, name), content_ref(dt_id, generation), layout, taken_by)
            for dt_id, schema, name, generation, layout, taken_by in rows
        ]

    # Content

    def read_content(self, dt_id: int) -> Order | None:
        """What a table holds, and what that was computed from; in the form of an order. None: it was never filled."""
        content = self._call("select lake.content_of(%s)", dt_id)
        return None if content is None else read_order(content)

    def add_audit(self, dt_id: int, snapshot: int, missing: int, extra: int, ms: float) -> None:
        """Remember how a comparison of a table with its query came out."""
        self._call("select lake.add_audit(%s, %s, %s, %s, %s)", dt_id, snapshot, missing, extra, ms)

    def refreshes_since_audit(self, dt_id: int) -> int:
        """How many refreshes may have written to a table since it was last compared with its query."""
        return self._call("select lake.refreshes_since_audit(%s)", dt_id)

    def is_crowded(self, dt_id: int) -> bool:
        """Should a table be compacted, because it has many files or many deleted rows?"""
        return self._call("select exists (select from lake.crowded(%s))", dt_id)

    def pinned_snapshot(self) -> int:
        """The oldest snapshot that a refresh still has to read."""
        return self._call("select lake.pinned_snapshot()")

    def expiry(self) -> tuple[timedelta | None, timedelta | None]:
        """The ages from which snapshots, and files that the catalog does not know, go by themselves. None: never."""
        with self._pool.connection() as conn, translated():
            ((snapshots, files),) = conn.execute(
                "select l.expire_after, l.orphans_after from lake.lake as l"
            ).fetchall()
        return snapshots, files

    # Files

    def note_artifacts(self, refresh_id: int, task_id: int, fence: int, kind: str, paths: Collection[str]) -> None:
        """Write down files that are about to be written. ``kind`` is keys, deletes or data; or table, for a directory
        in which a commit is going to write files whose names nobody knows before."""
        self._call(
            "select lake.note_artifacts(%s, %s, %s, %s, %s)", refresh_id, task_id, fence, kind, sorted(set(paths))
        )

    def note_directory(self, refresh_id: int) -> None:
        """Note that a commit of a refresh did not happen, and may have left files in the directory of its table."""
        self._call("select lake.note_directory(%s)", refresh_id)

    def forget_artifacts(self, paths: Collection[str], fences: Collection[int] | None = None) -> int:
        """Files that are gone, or belong to the lake now; returns how many were known. With ``fences``, one for each,
        those that no newer attempt has noted."""
        return self._call("select lake.forget_artifacts(%s, %s)", list(paths), None if fences is None else list(fences))

    def sweepable(self, refresh_id: int | None, grace: timedelta) -> list[Artifact]:
        """The files of a refresh, or of all, if it is over."""
        with self._pool.connection() as conn, translated():
            rows = conn.execute("select * from lake.sweepable(%s, %s)", [refresh_id, grace]).fetchall()
        return [Artifact(*row) for row in rows]

    def unknown_files(self, folder: str, paths: Collection[str]) -> list[str]:
        """Of files that were found below a folder, those that neither the catalog nor a refresh knows."""
        with self._pool.connection() as conn, translated():
            rows = conn.execute("select lake.unknown_files(%s, %s)", [folder, list(paths)]).fetchall()
        return [row[0] for row in rows]

    def was_interrupted(self, task_id: int) -> bool:
        """Did the newest attempt of a task end with its worker?"""
        is_interrupted = self._call(
            "select coalesce((array_agg(a.state order by a.attempt desc))[1] = 'interrupted', false)"
            " from worker.attempt as a where a.task_id = %s and a.state <> 'released'",
            task_id,
        )
        return bool(is_interrupted)

    def schedule_deletion(self, paths: Collection[str]) -> None:
        """Put files on DuckLake's list of files to delete, dated so that no other entry is as old."""
        self._call("select lake.schedule_deletion(%s)", list(paths))

"""``Lake``: dynamic tables for programs. A façade; the verbs live beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from functools import partial
from types import TracebackType
from typing import Any, Literal

from duckdb import DuckDBPyConnection

from catchment.errors import LakeError, TableNotFound, TableRefused
from catchment.lake.control.control import Control
from catchment.lake.control.install import install, is_made
from catchment.lake.control.wire import content_ref
from catchment.lake.duck import catalog
from catchment.lake.duck.address import default_address, find_address
from catchment.lake.duck.attach import attach_statement
from catchment.lake.duck.duck import Duck, Never
from catchment.lake.duck.locks import commit_lock
from catchment.lake.duck.reader import Reader, snapshot_option
from catchment.lake.files.expiry import expire, remove_orphans
from catchment.lake.files.maintain import maintain_table
from catchment.lake.files.physical import drop_abandoned
from catchment.lake.files.sweep import compare, sweep
from catchment.lake.load.load import LoadInfo, OnLoadProgress, load
from catchment.lake.load.sources import Options
from catchment.lake.names import lake_name, quoted
from catchment.lake.query.ddl import DEFAULT_SCHEMA, parse_each, parse_name, parse_statements
from catchment.lake.refresh.audit import AuditResult, audit
from catchment.lake.settings import LakeSettings
from catchment.lake.tables import lifecycle, report, rounds
from catchment.lake.tables.answers import (
    Compaction,
    RefreshRecord,
    StatementExplanation,
    TableDescription,
    TableExplanation,
    TableLag,
    TableNode,
    TableSummary,
    TableWhy,
)
from catchment.lake.tables.lifecycle import TableInfo
from catchment.lake.tables.rounds import OnProgress, RefreshInfo
from catchment.lake.tables.rows import Readers, Rows
from catchment.lake.types import Properties, TableRef
from catchment.model.duration import Duration, as_timedelta
from catchment.model.terminal import shell_command
from catchment.store.connect import find_dsn, given_dsn
from catchment.store.fetch import fetch_rows, fetch_value
from catchment.task.commands import Commands


def _quiet(_: list[RefreshInfo]) -> None:
    return None


def _commands() -> Commands:
    # A program that only looks does not import what runs refreshes.
    from catchment.lake.tasks.app import commands

    return commands()


class Lake:
    """The lake of a database, and the operations on its dynamic tables. Creates a lake if the database has none.

    For code without asyncio; a lake is used from one thread.

    ``dsn`` defaults to the environment variable ``CATCHMENT_DSN``, and without that the embedded server is started.
    ``address`` is where the data are, or are to be: a path, a URL such as ``s3://bucket/lake``, or parts (see
    ``CATCHMENT_LAKE``); a database that has a lake needs none. Names are as in SQL: ``orders_by_day``,
    ``reporting.totals``, with double quotes where SQL needs them.

    Raises ``LakeUnavailable`` when the lake cannot be used, ``RequestRefused`` when the address is another lake's.
    """

    def __init__(
        self, dsn: str | None = None, address: str | None = None, *, settings: LakeSettings | None = None
    ) -> None:
        is_embedded = given_dsn(dsn) is None
        self.dsn = find_dsn(dsn)
        self._settings = settings or LakeSettings.read()
        self.address = install(
            self.dsn,
            find_address(address),
            self._settings,
            _commands,
            default=default_address() if is_embedded else None,
        )
        self._control = Control(self.dsn)
        self._readers = Readers(self._open_reader)

    @classmethod
    def find(
        cls, dsn: str | None = None, address: str | None = None, *, settings: LakeSettings | None = None
    ) -> Lake | None:
        """The lake of a database, or None if it has none; creates nothing."""
        return cls(dsn, address, settings=settings) if is_made(find_dsn(dsn)) else None

    def __enter__(self) -> Lake:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections. The lake can be used again, and opens new ones then."""
        self._control.close()
        self._readers.close()

    @property
    def _duck(self) -> Duck:
        return Duck.open(self.dsn, self._settings)

    def _find(self, name: str) -> int:
        return self._control.find_dt(parse_name(name))

    # Tables

    def create(
        self, sql: str, *, wait: bool = True, timeout: Duration | None = None, on_progress: OnProgress = _quiet
    ) -> list[TableInfo]:
        """Run ``CREATE DYNAMIC TABLE`` statements in order. Tables with INITIALIZE = ON_CREATE are filled before the
        next statement runs; what goes wrong then is raised as ``LakeError``, and the table stays. Without ``wait`` the
        first refresh is requested, and workers run it.

        OR REPLACE and OR ALTER change a table that has content in one commit, that of the first refresh of its new
        definition; readers see the old rows until then. If that refresh fails, the table stays as it was.

        Raises ``TableRefused`` for a statement that cannot be carried out; those before it have happened.
        """
        done: list[TableInfo] = []
        for definition in parse_statements(sql):
            made = lifecycle.create(self._duck, self._control, definition)
            done.append(made)
            if not made.is_new or (made.initialize != "on_create" and made.replaces is None):
                continue
            if wait and made.initialize == "on_create":
                self._fill(made, timeout, on_progress)
            else:
                self._control.request_round([made.dt_id], "create")
        return done

    def _fill(self, made: TableInfo, timeout: Duration | None, on_progress: OnProgress) -> None:
        refreshes = self._refresh([made.dt_id], "create", timeout, on_progress)
        if made.replaces is None:
            _raise_failure(refreshes)
            return
        duck = self._duck
        with duck.turn(Never()):
            drop_abandoned(duck, self._control)
        self._refuse_if_dropped({made.replaces: made.name})
        with self._control.connection() as conn:
            is_in_force = fetch_value(
                conn, "select d.generation >= %s from lake.dt as d where d.id = %s", made.generation, made.replaces
            )
        if not is_in_force:
            raise _not_replaced(made, refreshes)

    def _refuse_if_dropped(self, tables: Mapping[int, str]) -> None:
        with self._control.connection() as conn:
            there = {
                row["id"] for row in fetch_rows(conn, "select id from lake.dt where id = any (%(ids)s)", ids=[*tables])
            }
        if gone := [name for dt_id, name in tables.items() if dt_id not in there]:
            raise TableNotFound(
                f"dropped while it was refreshed: {', '.join(gone)}", hint="'catchment table list' shows all tables."
            )

    def tables(self) -> list[TableSummary]:
        """All dynamic tables, briefly."""
        with self._control.connection() as conn:
            return report.list_tables(conn)

    def describe(self, name: str) -> TableDescription:
        """A table: its definition and properties, the age of its data, its sources, and its last refresh."""
        dt_id = self._find(name)
        with self._control.connection() as conn:
            return report.describe(conn, dt_id)

    def explain(self, name: str) -> TableExplanation:
        """How a table is refreshed and why, what has changed since, and what the next refresh is expected to do. Raises
        ``SourceChanged`` when a source, or a column that is used of it, is gone."""
        return report.explain(self._duck, self._control, self._settings, self._find(name))

    def explain_sql(self, sql: str) -> list[TableExplanation]:
        """How tables would be refreshed, by their statements; nothing is created. A statement may read the tables of
        those before it. Raises ``TableRefused`` with the number and the line of the first one that is refused."""
        answers: list[TableExplanation] = []
        for item in self.explain_each(sql):
            if item.explanation is None:
                raise item.error or AssertionError("a statement has an explanation or an error")
            answers.append(item.explanation)
        return answers

    def explain_each(self, sql: str) -> list[StatementExplanation]:
        """As ``explain_sql``, for every statement: one that is refused has its error, and the others are explained. A
        table that is not explained cannot be read by those after it."""
        return report.explain_statements(self._duck, self._control, parse_each(sql))

    def why(self, name: str) -> TableWhy:
        """Why a table is late: every cause, with the command that resolves it. Reads no data of the lake."""
        dt_id = self._find(name)
        with self._control.connection() as conn:
            return report.why(conn, dt_id)

    def alter(self, name: str, **properties: str) -> Properties:
        """Change properties, written as in the statement: ``alter("d", target_lag="1 hour")``; returns all of them."""
        return lifecycle.alter(self._duck, self._control, parse_name(name), properties)

    def rename(self, name: str, new: str) -> None:
        """Give a table another name. Raises ``TableRefused`` when it is taken, or while another table reads it."""
        ref = parse_name(name)
        target = parse_name(new)
        if target.schema == DEFAULT_SCHEMA and "." not in new:
            target = TableRef(ref.schema, target.name)
        lifecycle.rename(self._duck, self._control, ref, target)

    def drop(self, name: str, *, cascade: bool = False, if_exists: bool = False) -> list[str]:
        """Drop a table, and with ``cascade`` all that read it; returns what was dropped."""
        try:
            return lifecycle.drop(self._duck, self._control, parse_name(name), cascade=cascade)
        except TableNotFound:
            if if_exists:
                return []
            raise

    def suspend(self, name: str) -> list[str]:
        """Stop refreshing a table by the schedule, and all that read it; returns those that were not suspended."""
        return self._names(self._control.suspend(self._find(name)))

    def resume(self, name: str) -> list[str]:
        """Refresh a table by the schedule again, and those that were suspended because of it; returns them.

        Raises ``TableRefused`` while a table above it is suspended.
        """
        return self._names(self._control.resume(self._find(name)))

    def _names(self, dt_ids: Sequence[int]) -> list[str]:
        with self._control.connection() as conn:
            rows = conn.execute("select dynamic_table from lake.tables where id = any (%s) order by id", [dt_ids])
            return [row[0] for row in rows]

    # Refreshes

    def refresh(
        self, *names: str, timeout: Duration | None = None, on_progress: OnProgress = _quiet
    ) -> list[RefreshInfo]:
        """Refresh tables and the dynamic tables that they read, all as of one snapshot, and wait for the end.

        Returns the outcome of each refresh, failed ones too. If no worker serves the lake, this process does the work.
        Raises ``RefreshTimeout`` after ``timeout``; the refresh continues. Raises ``TableNotFound`` when a table was
        dropped meanwhile: nothing tells how its refresh went.
        """
        tables = {self._find(name): name for name in names}
        refreshes = self._refresh(list(tables), "manual", timeout, on_progress)
        self._refuse_if_dropped(tables)
        return refreshes

    def _refresh(
        self, dt_ids: Sequence[int], trigger: str, timeout: Duration | None, on_progress: OnProgress
    ) -> list[RefreshInfo]:
        seconds = None if timeout is None else as_timedelta(timeout, name="timeout").total_seconds()
        return rounds.refresh(self._control, dt_ids, trigger=trigger, timeout=seconds, on_progress=on_progress)

    def request_refresh(self, *names: str) -> int:
        """Request a refresh without waiting for it; returns the id of the round. Workers run it."""
        return self._control.request_round([self._find(name) for name in names])

    def cancel(self, name: str) -> int:
        """Cancel the running refreshes of a table, and give up a new definition that is not filled yet; returns how
        many there were."""
        return self._control.cancel_refreshes(self._find(name), "cancelled on request")

    def history(
        self, name: str | None = None, *, state: str | None = None, with_idle: bool = True, limit: int = 50
    ) -> list[RefreshRecord]:
        """Refreshes of a table or of all, the newest first; ``with_idle``: also those that had nothing to do."""
        dt_id = None if name is None else self._find(name)
        with self._control.connection() as conn:
            return report.history(conn, dt_id, state=state, with_idle=with_idle, limit=limit)

    def lag(self, name: str | None = None, *, since: Duration = report.DAY) -> list[TableLag]:
        """How old the data of a table, or of all, were in the last while: mean, largest, share within the target."""
        dt_id = None if name is None else self._find(name)
        with self._control.connection() as conn:
            return report.lag(conn, dt_id, as_timedelta(since, name="since"))

    def graph(self) -> list[TableNode]:
        """Each dynamic table with what it reads."""
        with self._control.connection() as conn:
            return report.graph(conn)

    def audit(self, name: str) -> AuditResult:
        """Compare a table with its query at its data snapshot, and remember the result."""
        return audit(self._duck, self._control, self._find(name))

    def maintain(self, name: str) -> Compaction:
        """Put a table into few files again, if it lies in many or has many deleted rows."""
        done = maintain_table(self._duck, self._control, self._find(name))
        return Compaction(done.before.files, done.after.files, done.after.bytes)

    def sweep(self) -> int:
        """Remove files that interrupted refreshes and compactions have left; returns how many were found in the content
        of dynamic tables that neither the catalog nor a refresh knows. Workers do the same by themselves."""
        sweep(self._duck, self._control, self._settings)
        return len(compare(self._duck, self._control))

    def expire(self, older_than: Duration) -> int:
        """Let snapshots of the lake go that are older and that no dynamic table needs; returns how many went.

        Raises ``LakeError`` for less than a day.
        """
        return expire(self._duck, self._control, as_timedelta(older_than, name="older_than"))

    def remove_orphans(self, older_than: Duration) -> int:
        """Remove files below the data path that the catalog does not know and that are older, such as those that
        interrupted writes to sources have left; returns how many went.

        Raises ``LakeError`` for less than a day, and where another lake keeps its data in the same place.
        """
        return remove_orphans(self._duck, self._control, as_timedelta(older_than, name="older_than"))

    # Data

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a statement on the lake; unqualified names are in its schema ``main``."""
        duck = self._duck
        with duck.turn(Never()), duck.names_in_lake():
            return duck.rows(sql, parameters)

    def read(self, query: str, parameters: Sequence[Any] = (), *, at: int | datetime | None = None) -> Rows:
        """The rows of a query or a table, as of one snapshot: ``lake.read("totals").polars()``. They are read when a
        method of ``Rows`` asks for them, by a connection that can only read.

        A text that is a name is that table. A dynamic table is read whatever other clients have done to the view of its
        name, and has to be filled: else ``LakeError`` with code NOT_FILLED. ``at`` is a snapshot, or a moment with a
        zone: then the whole lake is seen as it was. Raises ``TableNotFound``, and when it reads ``SnapshotExpired``.
        """
        find = self._text_of(query, at)
        if at is None:
            return Rows(self._readers, find, parameters)
        return Rows(Readers(partial(self._open_reader, at=snapshot_option(at)), is_kept=False), find, parameters)

    def _open_reader(self, writes: Sequence[str], *, at: str | None = None) -> Reader:
        return Reader.open(self.dsn, self.address, self._settings, at=at, writes=writes)

    def _text_of(self, query: str, at: int | datetime | None) -> Callable[[], str]:
        """What gives the text of a query each time: the content of a dynamic table may have another name by then."""
        try:
            ref = parse_name(query)
        except TableRefused:
            return lambda: query
        with self._control.connection() as conn:
            is_dynamic = catalog.find_dynamic(conn, ref) is not None
            if not is_dynamic and at is None and not catalog.has_name(conn, ref):
                raise TableNotFound(
                    f"there is no table {ref} in the lake", hint="catchment table sql 'SHOW ALL TABLES'"
                )
        if not is_dynamic or at is not None:
            return lambda: f"FROM {lake_name(ref)}"
        self._content_of(query)
        return lambda: self._content_of(query)

    def _content_of(self, name: str) -> str:
        table = self.describe(name)
        if not table.is_filled:
            raise LakeError(
                f"dynamic table {table.dynamic_table} has not been filled yet",
                code="NOT_FILLED",
                hint="Refresh it: catchment table refresh; or wait for its first scheduled refresh.",
            )
        columns = ", ".join(quoted(column.name) for column in table.columns)
        return f"SELECT {columns} FROM {lake_name(content_ref(table.id, table.generation))}"

    def load(
        self,
        *files: str,
        into: str,
        replace: bool = False,
        format: Literal["parquet", "csv", "json"] | None = None,
        columns: Sequence[str] = (),
        types: Mapping[str, str] | None = None,
        delimiter: str | None = None,
        encoding: str = "utf-8",
        on_progress: OnLoadProgress = lambda _: None,
    ) -> LoadInfo:
        """Load Parquet, CSV and JSON files into a table, in one commit: all rows come, or none. Paths may be patterns.

        A table that does not exist is made, with the columns and types of the files; ``types`` decides single ones. One
        that exists keeps its columns, and the files must have them all and no others. ``replace`` deletes the rows that
        it has in the same commit. ``columns`` names those of CSV files whose first line has no names; ``format`` is for
        files whose names do not say it. Dynamic tables that read the table follow at their next refresh.

        Raises ``RequestRefused`` with the file, and the line or row and column if it is about one; nothing is loaded
        then. ``on_progress`` is called from another thread.
        """
        options = Options(format, tuple(columns), types, delimiter, encoding)
        ref = parse_name(into)
        return load(
            self._duck,
            self._control,
            files,
            ref,
            options,
            is_replaced=replace,
            on_progress=on_progress,
        )

    def connection(self) -> DuckDBPyConnection:
        """A DuckDB connection with the lake attached as ``lake``, for reads and for writes of sources. Not while a
        verb of this object runs."""
        return self._duck.cursor()

    def commit_lock(self, *, seconds: float = 60) -> AbstractContextManager[None]:
        """Hold the commit lock: writers of sources that delete or update do so around their transaction, so that their
        deletes are dated right."""
        return commit_lock(self.dsn, seconds=seconds)

    def attach_statement(self, alias: str = "lake") -> str:
        """The statement by which any DuckDB with DuckLake attaches this lake. It holds the password if the DSN does."""
        return attach_statement(self.dsn, self.address, alias=alias)


def _not_replaced(made: TableInfo, refreshes: Sequence[RefreshInfo]) -> LakeError:
    """Why a new definition did not take its place: the failure that came first, or the state of its refresh."""
    missed = [item for item in refreshes if item.state != "SUCCEEDED"] or list(refreshes)
    item = min(missed, key=lambda item: (not item.is_failed, item.state == "UPSTREAM_FAILED"))
    return LakeError(
        f"{made.name} is not replaced: the first refresh of its new definition is {item.state}: {item.error}",
        code=item.error_code,
        hint="It keeps its rows and its old definition. Repair the cause, then run the statement again.",
    )


def _raise_failure(refreshes: Sequence[RefreshInfo]) -> None:
    for item in refreshes:
        if item.is_failed and item.state != "UPSTREAM_FAILED":
            raise LakeError(
                f"{item.name} is created, but its first refresh is {item.state}: {item.error}",
                code=item.error_code,
                hint=f"Repair the cause, then: {shell_command('catchment table refresh', item.name)}",
            )

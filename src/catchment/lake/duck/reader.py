"""A DuckDB that can only read the lake, for queries of users.

What keeps it from writing, from the outside in: it takes one statement, and only a query; the plan of that, with its
views and macros written out, reads tables of the lake and nothing else; DuckDB may open no file but those of the lake;
the lake is attached read-only; and the sessions of the catalog are read-only. Its rights on the catalog are those of
the login.

Each has its own instance, so a result that is read slowly keeps no other statement waiting.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import duckdb
from duckdb import DuckDBPyConnection, StatementType
from psycopg.conninfo import make_conninfo

from catchment.errors import LakeUnavailable, RequestRefused
from catchment.lake.duck import extensions
from catchment.lake.duck.address import LakeAddress
from catchment.lake.duck.attach import attach
from catchment.lake.duck.catalog import foreign_files
from catchment.lake.duck.duck_errors import is_broken, translate
from catchment.lake.duck.reads import check_plan, check_statement, explained, not_of_the_lake
from catchment.lake.duck.spill import SpillFolder
from catchment.lake.names import ALIAS, literal, quoted
from catchment.lake.settings import LakeSettings
from catchment.store.connect import connect_ours, start_up_options

_EXPLAIN = "EXPLAIN (FORMAT json) "


class Reader:
    """A connection for queries. ``close`` it; not for two threads at a time."""

    def __init__(self, instance: DuckDBPyConnection, folder: SpillFolder) -> None:
        self._instance = instance
        self._folder = folder
        self._is_open = False
        self.is_broken = False

    @classmethod
    def open(
        cls,
        dsn: str,
        address: LakeAddress,
        settings: LakeSettings,
        *,
        at: str | None = None,
        writes: Sequence[str] = (),
    ) -> Reader:
        """Attach the lake. ``at``: the option of ATTACH that names a snapshot. ``writes``: files that may be written.

        Raises ``LakeUnavailable`` and ``SnapshotExpired``.
        """
        with connect_ours(dsn, name="catchment read") as conn:
            foreign = foreign_files(conn)
        instance, folder = extensions.new_instance(settings.temp_directory)
        reader = cls(instance, folder)
        try:
            instance.execute(f"SET memory_limit = {literal(f'{settings.memory_bytes}B')}")
            instance.execute(f"SET threads = {settings.threads:d}")
            attach(instance, _reading(dsn), address, settings, is_read_only=True, at=at)
            # The statistics of a column are those of the latest commit: an older version would lose rows.
            instance.execute("SET disabled_optimizers = 'statistics_propagation'")
            instance.execute(f"USE {quoted(ALIAS, 'main')}")
            _close_doors(instance, address, [*foreign, *writes])
        except duckdb.Error as error:
            reader.close()
            raised = translate(error)
            if raised is not error:
                raise raised from error
            raise LakeUnavailable(
                f"the lake at {address.data_path} cannot be attached: {error}",
                code="CATALOG",
                hint="Check the database and the data path; 'catchment table attach' prints the statement.",
            ) from error
        except BaseException:
            reader.close()
            raise
        return reader

    def close(self) -> None:
        """End it; its folder goes too."""
        self._instance.close()
        self._folder.remove()

    def run(self, sql: str, parameters: Sequence[Any] = (), *, into: str | None = None) -> DuckDBPyConnection:
        """Run a query; what is returned has its result, until ``end``. ``into``: write that to a Parquet file.

        Raises ``RequestRefused`` for what is not one query, or reads something else than the lake; errors of the lake
        as ``LakeError``, errors in the query as DuckDB's own.
        """
        self.end()
        # One transaction, so that what runs is what was checked: a view may be replaced at any moment.
        self._instance.execute("BEGIN TRANSACTION READ ONLY")
        self._is_open = True
        query = self._checked(sql, parameters)
        if into is not None:
            query = f"COPY (\n{query}\n) TO {literal(into)} (FORMAT parquet, COMPRESSION zstd)"
        return self._instance.execute(query, list(parameters) or None)

    def end(self) -> None:
        """End the last query, read or not: a result that is kept keeps a transaction of the catalog open."""
        if not self._is_open:
            return
        self._is_open = False
        try:
            self._instance.execute("ROLLBACK")
        except duckdb.Error:
            self.is_broken = True

    def translated(self, error: duckdb.Error) -> Exception:
        """The error to raise for one of DuckDB, which the reader may not survive."""
        if isinstance(error, duckdb.PermissionException):
            return not_of_the_lake("a file")
        raised = translate(error)
        self.is_broken = self.is_broken or is_broken(error) or raised is not error
        return raised

    def _checked(self, sql: str, parameters: Sequence[Any]) -> str:
        statement = check_statement(sql, self._instance.extract_statements)
        query = statement.query
        if statement.type == StatementType.EXPLAIN:
            query = check_statement(explained(statement), self._instance.extract_statements).query
        try:
            plan = self._instance.execute(f"{_EXPLAIN}{query}", list(parameters) or None).fetchall()
        except duckdb.Error as error:
            raise _without_explain(error) from None
        check_plan(json.loads(plan[-1][-1]))
        return statement.query


def _without_explain(error: duckdb.Error) -> duckdb.Error:
    """The error as if the query had been run: with its own first line, and the mark where it was."""
    text, line, shown = str(error).partition(f"LINE 1: {_EXPLAIN}")
    return type(error)(f"{text}LINE 1: {shown.replace(chr(10) + ' ' * len(_EXPLAIN), chr(10))}") if line else error


def snapshot_option(at: int | datetime) -> str:
    """The option of ATTACH for a snapshot by its number, or the newest one at a moment. Raises ``RequestRefused``."""
    if isinstance(at, datetime):
        if at.tzinfo is None:
            raise RequestRefused(
                f"{at.isoformat()} has no zone",
                hint="Write datetime(…, tzinfo=UTC), or at.astimezone() for local time.",
            )
        return f"SNAPSHOT_TIME {literal(at.isoformat(sep=' '))}"
    if isinstance(at, bool) or at < 0:
        raise RequestRefused(f"{at!r} is not the number of a snapshot", hint="Numbers begin at 0.")
    return f"SNAPSHOT_VERSION {at:d}"


def _reading(dsn: str) -> str:
    """The DSN for sessions that only read."""
    return make_conninfo(dsn, options=start_up_options(dsn, {"default_transaction_read_only": "on"}))


def _close_doors(instance: DuckDBPyConnection, address: LakeAddress, files: Sequence[str]) -> None:
    """From here on the instance opens files of the lake alone, and its settings stay as they are."""
    instance.execute(f"SET allowed_directories = [{literal(address.data_path)}]")
    if files:
        instance.execute(f"SET allowed_paths = [{', '.join(literal(file) for file in files)}]")
    instance.execute("SET enable_external_access = false")
    instance.execute("SET lock_configuration = true")

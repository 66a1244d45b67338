"""The DuckDB of this process, with the lake attached. All of the package's DuckDB statements go through ``Duck``.

There is one instance per process and database, and one statement at a time: several at once on an instance with a
catalog in PostgreSQL have been seen to invalidate it. More is done at a time by more processes.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Literal, Protocol

import duckdb
from duckdb import DuckDBPyConnection

from catchment.errors import LakeInterrupted, LakeUnavailable
from catchment.lake.duck import extensions
from catchment.lake.duck.address import LakeAddress
from catchment.lake.duck.attach import attach
from catchment.lake.duck.catalog import read_address
from catchment.lake.duck.duck_errors import is_broken, raising, translate
from catchment.lake.names import ALIAS, literal, quoted
from catchment.lake.settings import LakeSettings
from catchment.lake.types import Column
from catchment.store.connect import connect_ours

_log = logging.getLogger("catchment.lake")

STOP_INTERVAL = 0.05
"""How often a running statement is held against the reason to stop, in seconds."""

RETRIES = 60
# DuckLake waits 100 ms, half as long again each time; with many writers that grows to minutes.
RETRY_WAIT_MS = 30
RETRY_BACKOFF = 1.05

# Where names without a catalog lead. DuckDB looks for functions there too, in order: with the lake before its own, the
# smallest statement would be a transaction of DuckLake, with seven round trips to the catalog.
_OURS = "SET search_path = 'memory.main,system.main,lake.main'"
_IN_LAKE = f"USE {quoted(ALIAS, 'main')}"

Parameters = Sequence[Any]

_ducks: dict[tuple[int, str], Duck] = {}
_ducks_lock = threading.Lock()


class Stop(Protocol):
    """Why work should end early."""

    def reason(self) -> str | None:
        """The reason, for people (cancelled, past its deadline), or None to continue."""
        ...


class Never:
    """A ``Stop`` that never comes."""

    def reason(self) -> str | None:
        return None


class Duck:
    """DuckDB with the lake attached as ``lake``. Unqualified names are found in its schema ``main``, and what is made
    under one is not: that takes ``names_in_lake``.

    Errors of the lake are raised as ``LakeError``, errors in a query as DuckDB's own. After one that leaves the
    instance useless, the next ``open`` makes a new one; temporary tables are lost then. ``LakeUnavailable`` with code
    CATALOG from a COMMIT says nothing about whether it happened: ``Control.refresh_state`` does.
    """

    def __init__(self, instance: DuckDBPyConnection, dsn: str, settings: LakeSettings) -> None:
        self.settings = settings
        self.remembered: dict[object, Any] = {}
        """What is worth keeping as long as the instance lives, such as plans; by a key that says all it depends on."""
        self._instance = instance
        self._connection = instance.cursor()
        self._key = (os.getpid(), dsn)
        self._turn = threading.Lock()
        self._interrupting = threading.Lock()
        self._is_protected = False
        self._stopped: str | None = None
        self.is_broken = False

    @classmethod
    def open(cls, dsn: str, settings: LakeSettings, *, address: LakeAddress | None = None) -> Duck:
        """The instance of this process for a database, made when it is first asked for.

        Without an address the database says where its lake is. Raises ``LakeUnavailable`` when it has none, or when the
        extensions, the catalog or the storage cannot be used.
        """
        key = (os.getpid(), dsn)
        with _ducks_lock:
            duck = _ducks.get(key)
            if duck is not None and not duck.is_broken:
                if duck.settings != settings:
                    duck.configure(settings)
                return duck
            duck = _attached(cls, dsn, address or _known_address(dsn), settings)
            _ducks[key] = duck
            return duck

    def close(self) -> None:
        """Detach the lake; temporary tables go. The next ``open`` attaches it again."""
        with _ducks_lock:
            if _ducks.get(self._key) is self:
                del _ducks[self._key]
        with suppress(duckdb.Error):
            self._connection.close()
        try:
            self._instance.execute(f"DETACH {quoted(ALIAS)}")
        except duckdb.Error:
            # A cursor of it is still in use, or it is broken: it ends with the last reference.
            return
        if not self.is_broken:
            extensions.give_back(self._instance)

    def set_up(self) -> None:
        """Make the settings that results depend on; once, with the lake attached."""
        self.configure(self.settings)
        # Counting the progress asks DuckLake for the files once more, and takes a fifth of a small statement.
        self.run("SET enable_progress_bar = false")
        self.run("SET enable_progress_bar_print = false")
        # Else DuckDB keeps rows back in memory to write them in the order they came.
        self.run("SET preserve_insertion_order = false")
        # The statistics of a column are those of the latest commit on this build: in an older version of a table, rows
        # outside of them would not be found. And the join that takes the place of some windows copies a scan: the copy
        # is of the table that has the name now, whatever the version.
        self.run("SET disabled_optimizers = 'statistics_propagation,window_self_join'")
        self.run(_OURS)

    def configure(self, settings: LakeSettings) -> None:
        """Set memory and threads. Not while a statement runs."""
        self.run(f"SET memory_limit = {literal(f'{settings.memory_bytes}B')}")
        self.run(f"SET threads = {settings.threads}")
        self.settings = settings

    def cursor(self) -> DuckDBPyConnection:
        """A separate connection to the same instance, for statements of the user. Never while another one runs."""
        made = self._instance.cursor()
        made.execute(_IN_LAKE)
        return made

    @contextmanager
    def names_in_lake(self) -> Generator[None]:
        """Inside, names without a catalog are those of the lake before all others, and without a schema those of its
        ``main``: for statements of the user, and for the text of views. Each statement then asks the catalog."""
        self.run(_IN_LAKE)
        try:
            yield
        finally:
            # Where this fails, as in a transaction that an error has ended, statements are slower and no less right.
            with self._protected(), suppress(duckdb.Error):
                self._connection.execute(_OURS)

    def run(self, sql: str, parameters: Parameters = ()) -> None:
        """Execute a statement, whatever it returns."""
        self._execute(sql, parameters)

    def rows(self, sql: str, parameters: Parameters = ()) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        return self._execute(sql, parameters)

    def value(self, sql: str, parameters: Parameters = ()) -> Any:
        """The first column of the first row, or None without one."""
        rows = self._execute(sql, parameters)
        return rows[0][0] if rows else None

    def changed(self, sql: str, parameters: Parameters = ()) -> int:
        """The number of rows that an INSERT, a DELETE or a CREATE TABLE AS has written."""
        return int(self.value(sql, parameters) or 0)

    def describe(self, sql: str) -> list[Column]:
        """The columns that a query has, without running it."""
        return [Column(row[0], row[1]) for row in self._execute(f"DESCRIBE {sql}", ())]

    @contextmanager
    def turn(self, stop: Stop) -> Generator[None]:
        """Have the instance alone, for one piece of work. When ``stop`` has a reason, the running statement ends within
        about 80 ms, and it and every later one raise ``LakeInterrupted``. A COMMIT is never interrupted."""
        while True:
            reason = stop.reason()
            if reason is not None:
                raise LakeInterrupted(f"stopped while waiting for the lake: {reason}")
            if self._turn.acquire(timeout=STOP_INTERVAL):
                break
        done = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(stop, done), name="lake stop", daemon=True)
        try:
            watcher.start()
            yield
        finally:
            done.set()
            watcher.join()
            self._stopped = None
            self._turn.release()

    def _watch(self, stop: Stop, done: threading.Event) -> None:
        while not done.wait(STOP_INTERVAL):
            reason = stop.reason()
            if reason is None:
                continue
            with self._interrupting:
                self._stopped = reason
                # Again and again, because one that comes between two statements is lost.
                if not self._is_protected:
                    self._connection.interrupt()

    @contextmanager
    def _protected(self) -> Generator[None]:
        """What happens inside is not interrupted."""
        with self._interrupting:
            self._is_protected = True
        try:
            yield
        finally:
            self._is_protected = False

    @contextmanager
    def transaction(self, *, is_read_only: bool = False) -> Generator[None]:
        """BEGIN … COMMIT; an error, also one of the COMMIT, leaves nothing written and no transaction open. Where it is
        read only, temporary tables can be made."""
        self.run("BEGIN TRANSACTION READ ONLY" if is_read_only else "BEGIN TRANSACTION")
        try:
            yield
            self._commit()
        except BaseException:
            # A COMMIT that failed has ended the transaction itself.
            with self._protected(), suppress(duckdb.Error):
                self._connection.execute("ROLLBACK")
            raise

    def _commit(self) -> None:
        self._refuse_if_stopped()
        with self._protected():
            self._execute("COMMIT", ())

    @contextmanager
    def counting_progress(self) -> Generator[None]:
        """Inside, ``share_done`` knows of the running statement."""
        self.run("SET enable_progress_bar = true")
        try:
            yield
        finally:
            with self._protected(), suppress(duckdb.Error):
                self._connection.execute("SET enable_progress_bar = false")

    def share_done(self) -> float | None:
        """How much of the running statement is done, from 0 to 1; None while that is not known, or not counted. From
        any thread."""
        with suppress(duckdb.Error):
            share = self._connection.query_progress()
            return share / 100 if share >= 0 else None
        return None

    def sign(self, message: str, **ids: int) -> None:
        """Note in the open transaction what its commit is for; the guard acts on the ids. No names: DuckLake tries a
        commit again when certain words occur in a refusal, and that text quotes all of this."""
        note = literal(json.dumps({"catchment": ids}))
        self.run(f"CALL {quoted(ALIAS)}.set_commit_message('catchment', {literal(message)}, extra_info => {note})")

    def set_retries(self, count: int) -> None:
        """How often DuckLake itself tries a commit again that another one has overtaken. 0: once and no more."""
        self.run(f"SET ducklake_max_retry_count = {count:d}")

    @contextmanager
    def without_retries(self) -> Generator[None]:
        """What is committed inside is tried once. The setting is that of the whole instance, so it is put back."""
        self.set_retries(0)
        try:
            yield
        finally:
            # A broken instance has no settings to put back.
            with self._protected(), suppress(duckdb.Error):
                self._connection.execute(f"SET ducklake_max_retry_count = {RETRIES:d}")

    def drop_temporary(self, names: Iterable[str], kind: Literal["TABLE", "VIEW"] = "TABLE") -> None:
        """Drop temporary tables, or views, of these names, if they exist; also after the work was stopped."""
        drops = [f"DROP {kind} IF EXISTS {quoted('temp', 'main', name)}" for name in names]
        if drops:
            # A broken instance has none.
            with self._protected(), suppress(duckdb.Error):
                self._connection.execute("; ".join(drops))

    def _refuse_if_stopped(self) -> None:
        if self._stopped is not None and not self._is_protected:
            raise LakeInterrupted(f"the work was stopped: {self._stopped}")

    def _execute(self, sql: str, parameters: Parameters) -> list[tuple[Any, ...]]:
        self._refuse_if_stopped()
        began = time.perf_counter()
        try:
            with raising(self._translated):
                return self._connection.execute(sql, list(parameters) or None).fetchall()
        finally:
            _log.debug("%.1f ms %s", (time.perf_counter() - began) * 1000, sql)

    def _translated(self, error: duckdb.Error) -> Exception:
        self.is_broken = self.is_broken or is_broken(error)
        return translate(error, stopped=self._stopped)


def _known_address(dsn: str) -> LakeAddress:
    with connect_ours(dsn, name="catchment lake") as conn:
        return read_address(conn)


def _attached(kind: type[Duck], dsn: str, address: LakeAddress, settings: LakeSettings) -> Duck:
    instance = extensions.take_instance(settings.temp_directory)
    try:
        attach(instance, dsn, address, settings)
        duck = kind(instance, dsn, settings)
        duck.set_up()
        duck.set_retries(RETRIES)
        duck.run(f"SET ducklake_retry_wait_ms = {RETRY_WAIT_MS:d}")
        duck.run(f"SET ducklake_retry_backoff = {RETRY_BACKOFF}")
    except duckdb.Error as error:
        raised = translate(error)
        if raised is error:
            raise LakeUnavailable(
                f"the lake at {address.data_path} cannot be attached: {error}",
                code="CATALOG",
                hint="Check the database and the data path; 'catchment table attach' prints the statement.",
            ) from error
        raise raised from error
    return duck

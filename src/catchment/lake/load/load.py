"""Loads files into a table of the lake, in one commit.

The rows are written to Parquet files in a folder of the load, outside of any transaction; one short transaction makes
them part of the table. The folder is noted before it is made, and a session holds a lock as long as the load lives:
whatever dies in between, the next sweep removes what the catalog does not know.
"""

from __future__ import annotations

import re
import secrets
import signal
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass

import duckdb
import psycopg

from catchment.errors import CatchmentError, LakeUnavailable, RequestRefused
from catchment.lake.control.control import Control
from catchment.lake.duck import catalog
from catchment.lake.duck.duck import Duck, Never
from catchment.lake.duck.locks import commit_lock, load_lock
from catchment.lake.files import storage
from catchment.lake.load.fitting import Files, check_names, check_types, check_values, common_columns
from catchment.lake.load.reading import columns_of, read_call, refusing, shortened
from catchment.lake.load.sources import NOTHING, Options, Source, find_sources
from catchment.lake.names import ALIAS, DT_SCHEMA, HIDDEN, lake_name, literal, quoted
from catchment.lake.types import Column, SourceTable, TableRef

FILE_BYTES = 512_000_000
LOOK_SECONDS = 0.2
_BY_ROWS = re.compile(r"HUGEINT|VARIANT|GEOMETRY")
"""Types whose Parquet files DuckLake does not take as they are."""
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_]+")


@dataclass(frozen=True, slots=True)
class LoadProgress:
    """How a load is getting on. ``share`` is how much of the file has been read, from 0 to 1, if that is known."""

    file: str
    number: int
    total: int
    share: float | None


@dataclass(frozen=True, slots=True)
class LoadedFile:
    """A file that was loaded, with its rows and its size."""

    path: str
    rows: int
    bytes: int


@dataclass(frozen=True, slots=True)
class LoadInfo:
    """What a load did. ``created``: the table is new; ``deleted``: rows that were replaced; ``stored_bytes``: the size
    of the rows in the lake; ``snapshot`` is None if there was nothing to write."""

    name: str
    created: bool
    rows: int
    deleted: int
    bytes: int
    stored_bytes: int
    files: tuple[LoadedFile, ...]
    columns: tuple[Column, ...]
    snapshot: int | None
    seconds: float


OnLoadProgress = Callable[[LoadProgress], None]


@dataclass(frozen=True, slots=True)
class _Target:
    """Where the rows go. ``table`` is None for one that is made by the load; ``required`` columns take no NULL."""

    ref: TableRef
    table: SourceTable | None
    columns: tuple[Column, ...]
    required: frozenset[str]
    is_by_rows: bool


def load(
    duck: Duck,
    control: Control,
    given: Sequence[str],
    ref: TableRef,
    options: Options,
    *,
    is_replaced: bool = False,
    on_progress: OnLoadProgress = lambda _: None,
) -> LoadInfo:
    """Load files, all or nothing; ``is_replaced``: the rows that the table has go in the same commit.

    Raises ``RequestRefused`` for a file or a table that does not fit, and ``LakeError``. Ctrl-C ends it until the
    commit has begun.
    """
    began = time.perf_counter()
    sources = find_sources(given, options)
    with duck.turn(Never()):
        target, files = _fit(duck, control, ref, sources, options)
        folder = _folder(control, target)
        with load_lock(control.dsn, folder):
            control.note_artifacts(0, 0, 0, "load", [folder])
            is_known = True
            try:
                written = _write(duck, folder, target, files, options, on_progress)
                deleted, snapshot = _commit(duck, control, target, written, is_replaced)
            except LakeUnavailable as error:
                # Whether the commit happened is not known yet; a sweep will see.
                is_known = error.code != "CATALOG"
                raise
            finally:
                if is_known:
                    _clean(duck, control, folder)
    return LoadInfo(
        name=str(target.ref),
        created=target.table is None,
        rows=sum(item.rows for item in written),
        deleted=deleted,
        bytes=sum(source.bytes for source in sources),
        stored_bytes=sum(item.bytes for item in written),
        files=tuple(LoadedFile(item.source.path, item.rows, item.source.bytes) for item in written),
        columns=target.columns,
        snapshot=snapshot,
        seconds=time.perf_counter() - began,
    )


def _fit(
    duck: Duck, control: Control, ref: TableRef, sources: Sequence[Source], options: Options
) -> tuple[_Target, Files]:
    """See that the files fit each other and the table. Nothing is written."""
    with control.connection() as conn:
        head = catalog.head(conn)
        if ref.schema.lower() == DT_SCHEMA or catalog.find_dynamic(conn, ref) is not None:
            raise RequestRefused(
                f"{ref} is a dynamic table, and its rows come from its query",
                hint="Load into a table that it reads: 'catchment table describe' shows them.",
            )
        if catalog.is_view(conn, ref, head):
            raise RequestRefused(f"{ref} is a view", hint="Load into a table.")
        table = catalog.find_table(conn, ref, head)
        required = frozenset[str]() if table is None else catalog.required_columns(conn, table.table_id, head)
        is_partitioned = table is not None and catalog.is_partitioned(conn, table.table_id, head)
        if not catalog.has_schema(conn, ref.schema):
            raise RequestRefused(
                f"the lake has no schema {ref.schema}",
                hint=f"Make it: lake.query('CREATE SCHEMA {quoted(ref.schema)}')",
            )
    files = [(source, columns_of(duck, source, options)) for source in sources]
    names = [column.name for column in files[0][1]] if table is None else list(table.columns)
    of = shortened(sources[0].path) if table is None else str(table.ref)
    check_names(files, names, of=of, is_table=table is not None)
    types = check_types(duck, options.types or {}, names)
    if table is None:
        for name in names:
            if name.startswith(HIDDEN):
                raise RequestRefused(f"the column {name} starts with two underscores", hint="Such names are reserved.")
        columns = common_columns(duck, files, types, options)
    elif types:
        raise RequestRefused(
            f"{table.ref} exists and has types of its own", hint="--type is for a table that the load makes."
        )
    else:
        columns = [Column(name, column.type) for name, column in table.columns.items()]
    for source, given in files:
        check_values(duck, source, given, columns, options)
    is_by_rows = is_partitioned or any(_BY_ROWS.search(column.type) for column in columns)
    return _Target(ref if table is None else table.ref, table, tuple(columns), required, is_by_rows), files


def _folder(control: Control, target: _Target) -> str:
    """Where the load writes: below the folder of the table, so that DuckLake names the files relative to that."""
    token = f"load-{secrets.token_hex(8)}/"
    with control.connection() as conn:
        if target.table is not None:
            return catalog.table_directory(conn, target.table.table_id) + token
        schema = catalog.schema_directory(conn, target.ref.schema)
    # Tables with other names get a folder whose name nobody knows before.
    name = f"{target.ref.name}/" if _PLAIN_NAME.fullmatch(target.ref.name) else ""
    return f"{schema}{name}{token}"


@dataclass(frozen=True, slots=True)
class _Written:
    """What one source has become. ``paths`` are those of files with rows."""

    source: Source
    rows: int
    bytes: int
    paths: tuple[str, ...]


def _write(
    duck: Duck, folder: str, target: _Target, files: Files, options: Options, on_progress: OnLoadProgress
) -> list[_Written]:
    written: list[_Written] = []
    for number, (source, given) in enumerate(files, 1):
        place = f"{folder}{number}"
        storage.make_folders([f"{place}/"])
        query = f"SELECT {_selected(given, target)} FROM {_typed_call(source, given, target, options)}"
        with _watched(duck, source, number, len(files), on_progress), refusing(source):
            rows = duck.rows(
                f"COPY ({query}) TO {literal(place)}"
                f" (FORMAT parquet, COMPRESSION zstd, FILE_SIZE_BYTES {FILE_BYTES:d}, RETURN_STATS true)"
            )
        paths = tuple(row[0] for row in rows if row[1])
        written.append(_Written(source, sum(row[1] for row in rows), sum(row[2] for row in rows if row[1]), paths))
    return written


def _typed_call(source: Source, given: Sequence[Column], target: _Target, options: Options) -> str:
    """The file as the table wants it: readers of text get the types, and say which line has a value that does not."""
    if source.format == "parquet":
        return read_call(source, options)
    wanted = {column.name.lower(): column.type for column in target.columns}
    return read_call(source, options, {column.name: wanted[column.name.lower()] for column in given})


def _selected(given: Sequence[Column], target: _Target) -> str:
    names = {column.name.lower(): column.name for column in given}
    parts: list[str] = []
    for column in target.columns:
        value = f"CAST({quoted(names[column.name.lower()])} AS {column.type})"
        if column.name in target.required:
            said = literal(f"column {column.name} has a NULL, and the table takes none there")
            value = f"CASE WHEN {value} IS NULL THEN error({said}) ELSE {value} END"
        parts.append(f"{value} AS {quoted(column.name)}")
    return ", ".join(parts)


@contextmanager
def _watched(duck: Duck, source: Source, number: int, total: int, on_progress: OnLoadProgress) -> Generator[None]:
    """Tell how far a file is, while it is read."""
    over = threading.Event()

    def watch() -> None:
        while True:
            on_progress(LoadProgress(shortened(source.path), number, total, duck.share_done()))
            if over.wait(LOOK_SECONDS):
                return

    watcher = threading.Thread(target=watch, name="lake load", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def _commit(
    duck: Duck, control: Control, target: _Target, written: Sequence[_Written], is_replaced: bool
) -> tuple[int, int | None]:
    """Make the files rows of the table; returns how many rows went, and the snapshot."""
    paths = [path for item in written for path in item.paths]
    if not paths and target.table is not None and not is_replaced:
        return 0, None
    table, deleted = lake_name(target.ref), 0
    # Whole files go, which is dated right; the lock keeps refreshes from having to be repeated.
    with commit_lock(control.dsn) if is_replaced else nullcontext(), _finishing():
        try:
            with duck.transaction():
                if target.table is None:
                    listed = ", ".join(f"{quoted(column.name)} {column.type}" for column in target.columns)
                    duck.run(f"CREATE TABLE {table} ({listed})")
                elif is_replaced:
                    deleted = duck.changed(f"DELETE FROM {table}")
                _add(duck, target, paths)
                duck.run(f"CALL {quoted(ALIAS)}.set_commit_message('catchment', 'load of {len(written):d} files')")
        except duckdb.CatalogException as error:
            raise RequestRefused(
                f"{target.ref} was made, dropped or changed by somebody else meanwhile: {error}",
                hint=f"{NOTHING} Do it again.",
            ) from error
        with control.connection() as conn:
            return deleted, catalog.head(conn)


def _add(duck: Duck, target: _Target, paths: Sequence[str]) -> None:
    if not paths:
        return
    if target.is_by_rows:
        names = ", ".join(quoted(column.name) for column in target.columns)
        listed = ", ".join(literal(path) for path in paths)
        casts = ", ".join(f"CAST({quoted(column.name)} AS {column.type})" for column in target.columns)
        duck.run(
            f"INSERT INTO {lake_name(target.ref)} ({names}) SELECT {casts}"
            f" FROM read_parquet([{listed}], hive_partitioning = false)"
        )
        return
    duck.run(
        "CALL ducklake_add_data_files(?, ?, ?, schema => ?)",
        [ALIAS, target.ref.name, list(paths), target.ref.schema],
    )


@contextmanager
def _finishing() -> Generator[None]:
    """Ctrl-C waits until what is inside is done: half of it would be neither loaded nor not."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _clean(duck: Duck, control: Control, folder: str) -> None:
    """Remove what is not part of the table, and forget the folder. If that fails, a sweep does it."""
    with suppress(CatchmentError, psycopg.Error, OSError, duckdb.Error):
        unknown = control.unknown_files(folder, storage.list_files(duck, folder))
        if len(storage.remove(duck, control, unknown)) == len(unknown):
            storage.remove_empty(folder)
            control.forget_artifacts([folder])

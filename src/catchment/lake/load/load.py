"""Loads files into a table of the lake, in one commit.

The rows are written to Parquet files in a folder of the load, outside of any transaction; one short transaction makes
them part of the table. The folder is noted before it is made, and a session holds a lock as long as the load lives:
whatever dies in between, the next sweep removes what the catalog does not know.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass

import duckdb
import psycopg

from catchment.errors import CatchmentError, LakeUnavailable, RequestRefused
from catchment.lake.control.control import Control
from catchment.lake.duck.duck import Duck, Never
from catchment.lake.duck.locks import commit_lock, load_lock
from catchment.lake.files import storage
from catchment.lake.load.fitting import Files
from catchment.lake.load.reading import read_call, refusing, shortened
from catchment.lake.load.sources import NOTHING, Options, Source, find_sources
from catchment.lake.load.target import Target, fit, folder_of
from catchment.lake.names import ALIAS, lake_name, literal, quoted
from catchment.lake.types import Column, TableRef

FILE_BYTES = 512_000_000
LOOK_SECONDS = 0.2


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
    with ExitStack() as last, duck.turn(Never()):
        target, files = fit(duck, control, ref, sources, options)
        folder = folder_of(control, target)
        with load_lock(control.dsn, folder) as check_lock:
            control.note_artifacts(0, 0, 0, "load", [folder])
            is_known = True
            try:
                written = _write(duck, folder, target, files, options, on_progress)
                # Whole files go, which is dated right; the lock keeps refreshes from having to be repeated.
                with commit_lock(control.dsn) if is_replaced else nullcontext():
                    check_lock()
                    last.enter_context(_without_ctrl_c())
                    deleted, snapshot = _commit(duck, target, written, is_replaced)
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


@dataclass(frozen=True, slots=True)
class _Written:
    """What one source has become. ``paths`` are those of files with rows."""

    source: Source
    rows: int
    bytes: int
    paths: tuple[str, ...]


def _write(
    duck: Duck, folder: str, target: Target, files: Files, options: Options, on_progress: OnLoadProgress
) -> list[_Written]:
    written: list[_Written] = []
    for number, (source, given) in enumerate(files, 1):
        place = f"{folder}{number}"
        storage.make_folders([f"{place}/"])
        query = f"SELECT {_selected(given, target)} FROM {_typed_call(source, given, target, options)}"
        with _watched(duck, source, number, len(files), on_progress), duck.counting_progress(), refusing(source):
            rows = duck.rows(
                f"COPY ({query}) TO {literal(place)}"
                f" (FORMAT parquet, COMPRESSION zstd, FILE_SIZE_BYTES {FILE_BYTES:d}, RETURN_STATS true)"
            )
        paths = tuple(row[0] for row in rows if row[1])
        written.append(_Written(source, sum(row[1] for row in rows), sum(row[2] for row in rows if row[1]), paths))
    return written


def _typed_call(source: Source, given: Sequence[Column], target: Target, options: Options) -> str:
    """The file as the table wants it: readers of text get the types, and say which line has a value that does not."""
    if source.format == "parquet":
        return read_call(source, options)
    wanted = {column.name.lower(): column.type for column in target.columns}
    return read_call(source, options, {column.name: wanted[column.name.lower()] for column in given})


def _selected(given: Sequence[Column], target: Target) -> str:
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
    """Report the progress of a file while it is read."""
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


def _commit(duck: Duck, target: Target, written: Sequence[_Written], is_replaced: bool) -> tuple[int, int | None]:
    """Make the files rows of the table; returns how many rows went, and the snapshot."""
    paths = [path for item in written for path in item.paths]
    if not paths and target.table is not None and not is_replaced:
        return 0, None
    table, deleted = lake_name(target.ref), 0
    try:
        with duck.transaction():
            if target.table is None:
                listed = ", ".join(f"{quoted(column.name)} {column.type}" for column in target.columns)
                duck.run(f"CREATE TABLE {table} ({listed})")
            elif is_replaced:
                deleted = duck.changed(f"DELETE FROM {table}")
            _add(duck, target, paths)
            duck.run(f"CALL {quoted(ALIAS)}.set_commit_message('catchment', 'load of {len(written):d} files')")
    except (duckdb.CatalogException, duckdb.BinderException, duckdb.InvalidInputException) as error:
        if "unsupported type" in str(error):
            what = str(error).rpartition("unsupported type")[2].strip()
            raise RequestRefused(f"a table of the lake has no columns of type {what}", hint=NOTHING) from error
        raise RequestRefused(
            f"{target.ref} was made, dropped or changed by another session meanwhile: {error}",
            hint=f"{NOTHING} Do it again.",
        ) from error
    return deleted, duck.value("FROM ducklake_last_committed_snapshot(?)", [ALIAS])


def _add(duck: Duck, target: Target, paths: Sequence[str]) -> None:
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
def _without_ctrl_c() -> Generator[None]:
    """Ctrl-C does nothing inside: it would say that nothing was loaded, and that may not be so any more."""
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

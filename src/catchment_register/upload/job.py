"""Makes an import job and streams a file into it."""

from __future__ import annotations

import selectors
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from psycopg import Connection
from psycopg.sql import SQL, Identifier
from psycopg.types.json import Jsonb

from catchment_register.schema import REGISTER
from catchment_register.upload.columns import find_kind, read_layout
from catchment_register.upload.csv_rows import open_csv
from catchment_register.upload.definition import check_dates, read_definition
from catchment_register.upload.excel_rows import SUFFIXES, open_excel
from catchment_register.upload.mapping import Choice, Mapping, choose_mapping
from catchment_register.upload.permute import Permuter
from catchment_register.upload.source import Source, SourceRow

# Lines are sent together in pieces of about this size.
_PIECE = 1 << 16
# How often the caller hears of progress.
_STEP = 10_000


@dataclass(frozen=True, slots=True)
class Request:
    """What a file is, and how it meets what is there. ``valid_until`` is exclusive; none means an open end.

    ``definition`` names an import definition of the register, instead of the kind.
    """

    kind: str | None
    valid_from: date | None = None
    valid_until: date | None = None
    strategy: str | None = None
    review: bool | None = None
    mapping: Mapping | None = None
    slug: str | None = None
    note: str | None = None
    definition: str | None = None


@dataclass(frozen=True, slots=True)
class Uploaded:
    """A job that has its rows, and columns of the file that were not read."""

    job_id: int
    rows: int
    mapping: str
    ignored: tuple[str, ...]


@contextmanager
def open_source(
    path: Path, *, encoding: str = "utf-8", delimiter: str | None = None, sheet: int = 1
) -> Generator[Source]:
    """Open a CSV or an Excel file, depending on its name."""
    if path.suffix.lower() in SUFFIXES:
        with open_excel(path, sheet=sheet) as source:
            yield source
    else:
        with open_csv(path, encoding=encoding, delimiter=delimiter) as source:
            yield source


def import_source(
    conn: Connection[Any], source: Source, request: Request, *, on_rows: Callable[[int], None] = lambda _: None
) -> Uploaded:
    """Make a job for an open file and upload all of it. The header is judged before the job exists.

    The job is committed before the upload; if that breaks, it stays without rows and waits for an upload.
    """
    definition = read_definition(conn, request.definition) if request.definition is not None else None
    layout = read_layout(conn, find_kind(definition.kind if definition else request.kind or ""))
    given = request.mapping or (definition.mapping if definition else None)
    strategy = request.strategy or (definition.strategy if definition else None)
    choice = choose_mapping(source.headers, layout, given=given, strategy=strategy)
    if definition is not None:
        check_dates(definition, choice)
    with REGISTER.translated():
        job_id = create_job(conn, request, source.headers, choice)
        permuter = Permuter(job_id, source.headers, choice.mapping, layout)
        rows = upload(conn, job_id, permuter, source.rows, on_rows=on_rows)
    return Uploaded(job_id, rows, choice.mapping.name, choice.ignored)


def create_job(conn: Connection[Any], request: Request, headers: list[str], choice: Choice) -> int:
    """A job with the definition that was named, or else with that for its kind and for the dates that the file has."""
    definition = request.definition or f"{request.kind}_{'source' if choice.has_dates else 'job'}_dates"
    row = conn.execute(
        "select register.create_import_job(p_definition => %s, p_slug => %s, p_valid_from => %s, p_valid_until => %s,"
        " p_review => %s, p_headers => %s, p_mapping => %s, p_strategy => %s, p_note => %s)",
        [
            definition,
            request.slug,
            request.valid_from,
            request.valid_until,
            request.review,
            Jsonb(headers),
            Jsonb(choice.mapping.snapshot()),
            request.strategy,
            request.note,
        ],
    ).fetchone()
    return row[0] if row else 0


def upload(
    conn: Connection[Any],
    job_id: int,
    permuter: Permuter,
    rows: Iterable[SourceRow],
    *,
    on_rows: Callable[[int], None] = lambda _: None,
) -> int:
    """All rows of a job in one COPY and one transaction; then a worker may begin. Returns how many there are."""
    text = SQL("copy register.import_upload ({}) from stdin").format(
        SQL(", ").join(Identifier(c) for c in permuter.columns)
    )
    with conn.transaction():
        with conn.cursor() as cursor, cursor.copy(text) as copy:
            for piece in _pieces(permuter, rows, on_rows):
                copy.write(piece)
                _send(conn)
        row = conn.execute("select register.finish_upload(%s)", [job_id]).fetchone()
    return row[0] if row else 0


def _send(conn: Connection[Any]) -> None:
    """Wait until all that was written is on its way: otherwise it is held here, without limit, for a slow server."""
    if not conn.pgconn.flush():
        return
    with selectors.DefaultSelector() as selector:
        selector.register(conn.pgconn.socket, selectors.EVENT_READ | selectors.EVENT_WRITE)
        while conn.pgconn.flush():
            for _, events in selector.select():
                if events & selectors.EVENT_READ:
                    conn.pgconn.consume_input()


def _pieces(permuter: Permuter, rows: Iterable[SourceRow], on_rows: Callable[[int], None]) -> Iterable[str]:
    """Lines put together, so that memory stays constant and few calls are made."""
    held: list[str] = []
    size = 0
    for row in rows:
        line = permuter.line(row)
        held.append(line)
        size += len(line)
        if size >= _PIECE:
            yield "".join(held)
            held.clear()
            size = 0
        if row.number % _STEP == 0:
            on_rows(row.number)
    if held:
        yield "".join(held)

"""Connections: one place that knows the DSN, the application name and the timeouts."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from traceback import clear_frames
from typing import Any, TypeVar

import psycopg
from psycopg import AsyncConnection, Connection
from psycopg.conninfo import conninfo_to_dict

from catchment.errors import RequestRefused, SchemaMismatch, ServerUnavailable
from catchment.model.check import check_count, check_text, is_text
from catchment.model.release import VERSION
from catchment.store import embedded
from catchment.store.data_directory import LOG
from catchment.store.migrate import check_version, migrate
from catchment.store.pinned import pinned
from catchment.store.slow_start import said_if_slow

DSN_VARIABLE = "CATCHMENT_DSN"
PREPARE_VARIABLE = "CATCHMENT_PREPARE"

_YES = ("", "true", "1", "yes", "on", "t", "y")
_NO = ("false", "0", "no", "off", "f", "n")

S = TypeVar("S", bound=Connection[Any])
A = TypeVar("A", bound=AsyncConnection[Any])

CONNECT_SECONDS = 10
_TARGET = ("service", "host", "hostaddr", "port", "dbname", "user")
_SAID = {"host": "on", "hostaddr": "at", "port": "port", "user": "as user", "service": "of service"}
_KEEPALIVE: dict[str, Any] = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}


# Variables whose values libpq sends with each connection. A server refuses those that it does not know.
_SENT = ("PGTZ", "PGDATESTYLE", "PGGEQO")

# Settings that the text of a value depends on. Our sessions set them, whatever the role, database or server says.
PARSED: Mapping[str, str] = {
    "DateStyle": "ISO",
    "IntervalStyle": "postgres",
    "extra_float_digits": "1",
    "bytea_output": "hex",
}
# For sessions in which only we read; in those that run SQL of users, current_date is theirs. Compiling our statements
# would take longer than to run them.
READ: Mapping[str, str] = {**PARSED, "TimeZone": "UTC", "jit": "off"}
# For sessions that run no SQL but ours: nothing in a schema of others can be meant by it.
OURS: Mapping[str, str] = {**READ, "search_path": "pg_catalog,pg_temp"}


# Databases behind a pooler that refuses start-up options. What this package reads comes in binary wherever its text
# could differ, so it can do without.
_refusing: set[str] = set()


def start_up_options(dsn: str, settings: Mapping[str, str]) -> str:
    """The ``options`` of a connection to this DSN: its own, then these settings, which RESET ALL comes back to."""
    given = conninfo_to_dict(dsn).get("options") or os.environ.get("PGOPTIONS") or ""
    return " ".join([str(given), *(f"-c {name}={value}" for name, value in settings.items())]).strip()


def may_prepare() -> bool:
    """May statements be prepared? ``$CATCHMENT_PREPARE`` is false behind a pooler that does not support it."""
    value = os.environ.get(PREPARE_VARIABLE, "")
    if value.lower() not in _YES + _NO:
        raise RequestRefused(
            f"{PREPARE_VARIABLE} is {value!r} in the environment, expected true or false",
            hint="Set it to false behind a pooler that cannot pass prepared statements on; else unset it.",
        )
    return value.lower() not in _NO


def _options(dsn: str, name: str, settings: Mapping[str, str], seconds: int = CONNECT_SECONDS) -> dict[str, Any]:
    """What every connection is made with."""
    is_prepared = may_prepare()
    options: dict[str, Any] = {
        **_KEEPALIVE,
        "application_name": name,
        "connect_timeout": seconds,
        "autocommit": True,
        "client_encoding": "utf8",
        "prepare_threshold": 5 if is_prepared else None,
    }
    if _names_several(dsn) and "target_session_attrs" not in conninfo_to_dict(dsn):
        options["target_session_attrs"] = os.environ.get("PGTARGETSESSIONATTRS") or "read-write"
    if is_prepared and dsn not in _refusing:
        options["options"] = start_up_options(dsn, settings)
    return options


def _names_several(dsn: str) -> bool:
    """Does the DSN, or the environment, name several servers? One is the primary; every session of ours may write."""
    given = conninfo_to_dict(dsn)
    named = (given.get(name) or os.environ.get(f"PG{name.upper()}") for name in ("host", "hostaddr"))
    return any("," in str(name) for name in named)


def _refuses_options(dsn: str, error: psycopg.OperationalError) -> bool:
    """Is this a pooler's answer to start-up options? From then on it gets none."""
    if "startup parameter" not in str(error) or dsn in _refusing:
        return False
    _refusing.add(dsn)
    return True


def check_dsn(dsn: Any, *, name: str = "dsn") -> None:
    """Refuse what libpq cannot read. The message does not show it: it may hold a password."""
    if dsn is None:
        return
    example = "Such as postgresql://user@host/database, or host=… dbname=…."
    if not is_text(dsn):
        given = "not valid UTF-8" if isinstance(dsn, str) else f"of type {type(dsn).__name__}"
        raise RequestRefused(f"{name} is {given}, expected a connection string", hint=example)
    try:
        port = str(conninfo_to_dict(dsn).get("port") or "")
    except psycopg.ProgrammingError as error:
        raise RequestRefused(f"{name} is not a connection string that libpq can read", hint=example) from error
    if not all(part.strip().isdecimal() for part in port.split(",") if part.strip()):
        # A password with a slash that is not escaped is read as a port.
        raise RequestRefused(
            f"{name} has a port that is not a number",
            hint=f"{example} In a URL, a / of a password is written %2F, and an @ is written %40.",
        )


def target_of(dsn: str | None) -> dict[str, str]:
    """What a DSN says about where it leads, and as which user: no password is among it. Nothing without a DSN."""
    given = conninfo_to_dict(dsn or "")
    return {name: str(given[name]) for name in _TARGET if given.get(name)}


def named(dsn: str | None) -> str:
    """A database as messages name it, by what its DSN says: no password is among it. None: the embedded server."""
    if dsn is None:
        return "the embedded server"
    given = target_of(dsn)
    words = [f"the database {given['dbname']}" if "dbname" in given else "the default database"]
    words += [f"{before} {given[name]}" for name, before in _SAID.items() if name in given]
    return " ".join(words)


def given_dsn(dsn: str | None = None) -> str | None:
    """The DSN given, or ``$CATCHMENT_DSN``, or None."""
    check_dsn(dsn)
    if dsn:
        return dsn
    chosen = os.environ.get(DSN_VARIABLE)
    check_dsn(chosen, name=DSN_VARIABLE)
    return chosen or None


def find_dsn(dsn: str | None = None) -> str:
    """The DSN given, or ``$CATCHMENT_DSN``, or that of the embedded server, which is started and brought up to date."""
    return given_dsn(dsn) or _up_to_date(embedded.start())


def _up_to_date(dsn: str) -> str:
    """Bring the schema of the embedded server up to date, unless it is."""
    with connect_ours(dsn) as conn, ExitStack() as held:
        if not _fits(conn):
            # Those that come meanwhile wait for the first one, for as long as it takes.
            schema = f"the schema of the PostgreSQL server in {embedded.default_folder()} up to date …"
            with said_if_slow(f"Waiting for a process that brings {schema}"):
                held.enter_context(embedded.alone())
            if not _fits(conn):
                with said_if_slow(f"Bringing {schema}"), _folder_named():
                    migrate(conn)
    return dsn


def _fits(conn: Connection[Any]) -> bool:
    try:
        check_version(conn)
    except SchemaMismatch:
        return False
    return True


@contextmanager
def _folder_named() -> Generator[None]:
    try:
        yield
    except SchemaMismatch as error:
        folder = embedded.default_folder()
        raise SchemaMismatch(
            f"this version of Catchment, {VERSION}, cannot use the data of the embedded server in {folder}: {error}",
            hint=f"{error.hint} Or choose another folder with {embedded.DATA_VARIABLE}.",
        ) from error


def connect_ours(dsn: str, *, name: str = "catchment", seconds: int = CONNECT_SECONDS) -> Connection[Any]:
    """As ``connect``, for the package's own statements alone."""
    return connect_as(psycopg.Connection[Any], dsn, name=name, settings=OURS, seconds=seconds)


def connect(dsn: str | None = None, *, name: str = "catchment", seconds: int = CONNECT_SECONDS) -> Connection[Any]:
    """Open a connection in autocommit mode within this number of seconds, or raise ``ServerUnavailable``.

    ``dsn`` defaults to ``$CATCHMENT_DSN``, and without that to the embedded server, which is started and upgraded.
    """
    check_text(name, name="name")
    check_count(seconds, name="seconds")
    return connect_as(psycopg.Connection[Any], find_dsn(dsn), name=name, settings=READ, seconds=seconds)


async def connect_async(
    dsn: str, *, name: str = "catchment", settings: Mapping[str, str] = READ
) -> AsyncConnection[Any]:
    """An asyncio connection in autocommit mode, whose session begins with these settings."""
    return await connect_async_as(psycopg.AsyncConnection[Any], dsn, name=name, settings=settings)


def connect_as(
    kind: type[S], dsn: str, *, name: str, settings: Mapping[str, str] = PARSED, seconds: int = CONNECT_SECONDS
) -> S:
    """As ``connect``, with a connection of this class; without settings one for handlers, whose time zone is theirs."""
    may_revive = embedded.is_default(dsn)
    while True:
        try:
            return kind.connect(pinned(dsn), **_options(dsn, name, settings, seconds))
        except psycopg.OperationalError as error:
            _close_half_open(error)
            if _refuses_options(dsn, error):
                continue
            if may_revive and embedded.revive(dsn):
                may_revive = False
                continue
            raise unavailable(dsn, error) from error


async def connect_async_as(kind: type[A], dsn: str, *, name: str, settings: Mapping[str, str] = PARSED) -> A:
    """As ``connect_as``, in asyncio."""
    may_revive = embedded.is_default(dsn)
    while True:
        try:
            return await kind.connect(pinned(dsn), **_options(dsn, name, settings))
        except psycopg.OperationalError as error:
            _close_half_open(error)
            if _refuses_options(dsn, error):
                continue
            if may_revive and await asyncio.to_thread(embedded.revive, dsn):
                may_revive = False
                continue
            raise unavailable(dsn, error) from error


def _close_half_open(error: psycopg.OperationalError) -> None:
    """Let go of the connection that an attempt has begun, by the locals of the driver. The error has them in a circle:
    without this the socket stays open until the garbage collector comes by, and those of a silent server pile up."""
    clear_frames(error.__traceback__)


def unavailable(dsn: str, error: psycopg.OperationalError) -> ServerUnavailable:
    """Why there is no connection, and what to do."""
    # libpq never puts the password into its messages; the DSN itself is not shown.
    is_embedded = embedded.is_default(dsn)
    variable = next((name for name in _SENT if f'"{os.environ.get(name)}"' in str(error)), None)
    if variable is not None:
        hint = f"That is {variable} of the environment. Unset it, or give it a value that the server knows."
    elif os.strerror(errno.ENOSPC) in str(error):
        where = f"of {embedded.default_folder()}" if is_embedded else "of the server"
        hint = f"The disk {where} is full. Make room there, and try again."
    elif is_embedded:
        hint = f"See {embedded.default_folder() / LOG}."
    else:
        hint = f"Check --dsn or {DSN_VARIABLE}. Without either, Catchment starts its own server."
    return ServerUnavailable(f"no connection to PostgreSQL: {str(error).strip()}", hint=hint)

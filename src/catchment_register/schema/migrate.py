"""Install and upgrade the register, and tell whether it fits this version.

Each migration is one transaction under a session lock, so a broken one leaves nothing and can be run again. Routines
and registrations are re-created as a whole whenever their text changed, and when the engine was upgraded, which resets
rights. Nothing is derived here: if the rules of derivation changed, a full round is asked for, and a worker does it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, LiteralString

import psycopg
from psycopg import Connection

import catchment
from catchment_register.errors import RegisterMismatch
from catchment_register.schema import loader

# The oldest migration whose schema this code's functions can still work with after an upgrade by newer code.
COMPATIBLE_FROM = 1
# Raised with every change of what is derived from the same base data.
DERIVATION = 1

_LOCK = "select pg_advisory_lock(hashtextextended('register.migrate', 0))"
_LOCK_SECONDS = 60
_UNLOCK = "select pg_advisory_unlock(hashtextextended('register.migrate', 0))"

_FOUNDATION: LiteralString = """
do $$
begin
  if exists (select from pg_namespace as n join pg_roles as r on r.oid = n.nspowner
              where n.nspname = 'register' and r.rolname <> 'register_owner') then
    raise exception using errcode = 'RG008', message = 'schema register exists and is not owned by register_owner',
                          hint = 'The register needs a schema of that name for itself: use another database.';
  end if;
end;
$$;
create schema if not exists register authorization register_owner;
set local role register_owner;
create table if not exists register.migration (
  number      integer primary key,
  name        text not null,
  applied_at  timestamptz not null default clock_timestamp()
);
create table if not exists register.version (
  is_one           boolean primary key default true check (is_one),
  fingerprint      text not null,
  compatible_from  integer not null,
  derivation       integer not null
);
"""


@dataclass(frozen=True, slots=True)
class Upgrade:
    """What ``migrate`` did: migrations applied, whether routines changed, and whether a full round was asked for.

    ``newer`` names the version that wrote the schema if that is newer than this one: then nothing was changed.
    """

    applied: tuple[str, ...]
    routines_changed: bool
    derives_anew: bool
    newer: str | None = None


# Names in what is created must not resolve to objects that others have put into the search path.
_PATH = "set local search_path = pg_catalog, pg_temp"


def migrate(conn: Connection[Any], *, on_step: Callable[[str], None] = lambda _: None) -> Upgrade:
    """Bring the engine and the register up to date. Safe to run any number of times, and by several processes at once.

    What a newer version wrote is not changed; ``RegisterMismatch`` is raised if this one cannot work with it.
    """
    newer = catchment.migrate(conn, on_step=on_step).newer
    _lock(conn)
    try:
        if newer is not None and conn.execute("select to_regclass('register.version')").fetchone() != (None,):
            # Engine and register are one package: the newer version may have upgraded both.
            check_version(conn)
            return Upgrade((), False, False, newer)
        with conn.transaction():
            conn.execute(loader.roles())
        applied = _apply_migrations(conn, on_step)
        return Upgrade(applied, *_recreate_routines(conn, on_step))
    except psycopg.errors.InsufficientPrivilege as error:
        raise RegisterMismatch(
            f"this user may not install the register: {error.diag.message_primary}",
            hint="Run 'catchment register init' as a superuser, or as a user with CREATEROLE that owns the database.",
        ) from error
    finally:
        if not conn.closed:
            conn.execute(_UNLOCK)


def _lock(conn: Connection[Any]) -> None:
    """One upgrade at a time. Any user can take such a lock, so the wait for it has a limit."""
    conn.execute("select set_config('lock_timeout', %s, false)", [f"{_LOCK_SECONDS}s"])
    try:
        conn.execute(_LOCK)
    except psycopg.errors.LockNotAvailable as error:
        raise RegisterMismatch(
            f"the lock register.migrate was not free within {_LOCK_SECONDS} s",
            hint="Another session holds it: look for locktype 'advisory' in pg_locks, end that session, and try again.",
        ) from error
    finally:
        conn.execute("reset lock_timeout")


def _apply_migrations(conn: Connection[Any], on_step: Callable[[str], None]) -> tuple[str, ...]:
    """Make the schema if it is missing, and apply what it lacks, each migration in one transaction."""
    known = loader.migrations()
    with conn.transaction():
        conn.execute(_FOUNDATION)
        done = {row[0] for row in conn.execute("select number from register.migration")}
    newest = max(done, default=0)
    if newest > known[-1].number:
        raise RegisterMismatch(
            f"the register has migration {newest}, this version knows {known[-1].number}",
            hint="Upgrade the catchment package; a newer schema is never taken back.",
        )
    missing = [m for m in known if m.number not in done]
    for migration in missing:
        on_step(migration.name)
        with conn.transaction():
            conn.execute("set local role register_owner")
            conn.execute(_PATH)
            conn.execute(migration.text)
            conn.execute(
                "insert into register.migration (number, name) values (%s, %s)", [migration.number, migration.name]
            )
    return tuple(m.name for m in missing)


def _recreate_routines(conn: Connection[Any], on_step: Callable[[str], None]) -> tuple[bool, bool]:
    """Create routines and registrations anew if needed; tells whether they were, and whether all is to be derived."""
    with conn.transaction():
        conn.execute(_PATH)
        fingerprint = _fingerprint()
        row = conn.execute("select fingerprint, derivation from register.version").fetchone()
        changed = row is None or row[0] != fingerprint or not _has_rights(conn)
        derives = row is not None and row[1] < DERIVATION
        if changed:
            on_step("functions, views, triggers and commands of the register")
            # Bodies name functions that come later in the order of files.
            conn.execute("set local check_function_bodies = off")
            conn.execute("set local role register_owner")
            for text in loader.routines():
                conn.execute(text)
            conn.execute("set local role catchment_owner")
            for text in loader.registrations():
                conn.execute(text)
        conn.execute("set local role register_owner")
        if derives:
            conn.execute("select worker.enqueue_collect_changes('all')")
        conn.execute(
            "insert into register.version (fingerprint, compatible_from, derivation) values (%s, %s, %s)"
            " on conflict (is_one) do update set fingerprint = excluded.fingerprint,"
            " compatible_from = excluded.compatible_from,"
            " derivation = greatest(version.derivation, excluded.derivation)",
            [fingerprint, COMPATIBLE_FROM, DERIVATION],
        )
        return changed, derives


def _has_rights(conn: Connection[Any]) -> bool:
    """Whether the engine's roles may use what was added to its schema: an upgrade of the engine takes that back."""
    row = conn.execute(
        "select has_function_privilege('catchment_worker', to_regprocedure(%s), 'execute')",
        ["worker.enqueue_collect_changes(text)"],
    ).fetchone()
    return row is not None and row[0] is True


def _fingerprint() -> str:
    """Changes whenever a routine does."""
    return hashlib.sha256("\0".join([*loader.routines(), *loader.registrations()]).encode()).hexdigest()[:16]


def check_version(conn: Connection[Any]) -> None:
    """Raise ``RegisterMismatch`` unless this code can work with the register in the database."""
    known = loader.migrations()[-1].number
    try:
        row = conn.execute(
            "select (select max(number) from register.migration), (select compatible_from from register.version)"
        ).fetchone()
    except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName) as error:
        raise RegisterMismatch("the database has no register", hint="Run: catchment register init") from error
    if row is None or row[0] is None or row[1] is None:
        raise RegisterMismatch("the register is half installed", hint="Run: catchment register init")
    version, compatible_from = row
    if version < known:
        raise RegisterMismatch(
            f"the register is at migration {version}, this version needs {known}", hint="Run: catchment register init"
        )
    if compatible_from > known:
        raise RegisterMismatch(
            f"the register works with migration {compatible_from} and newer, this version knows {known}",
            hint="Upgrade the catchment package on this machine.",
        )

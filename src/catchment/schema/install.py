"""Install and upgrade a schema, and check whether it is compatible with this version of its package.

Each migration is one transaction under a session lock, so a broken one leaves nothing and can be run again.
Functions, views, triggers and grants are re-created as a whole whenever their text changed or a migration was applied.
An older version of the package never overwrites what a newer one wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, LiteralString

import psycopg
from psycopg import Connection
from psycopg.sql import SQL, Composed, Identifier, Literal

from catchment.errors import BY_SQLSTATE, CatchmentError, DefinitionRefused, RequestRefused, SchemaMismatch, shown
from catchment.model.release import release_order
from catchment.schema import files, scripts, statements
from catchment.schema.alone import alone
from catchment.schema.connection import check_connection, check_usable, database_of, execute
from catchment.schema.roles import make_roles
from catchment.schema.translate import find_class, is_missing, raised_as, report_of
from catchment.schema.values import check_schema

OnStep = Callable[[str], None]

# Names in what is created must not resolve to objects that others have put into the search path.
_PATH = "set local search_path = pg_catalog, pg_temp"
_AS_OWNER: LiteralString = f"set local role {{role}}; {_PATH}"
# The fingerprint between a migration and the functions that come after it.
UNFINISHED = ""

State = tuple[dict[str, str], int | None, str | None, str | None]


@dataclass(frozen=True, slots=True)
class Upgrade:
    """What ``Schema.migrate`` did: the names of the migrations ``applied``, and whether ``routines_changed``. ``newer``
    names the newer version that wrote the schema, which was left alone: its release, or its last migration if its
    upgrade broke off before it wrote the functions."""

    applied: tuple[str, ...]
    routines_changed: bool
    newer: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """A schema of an application: its ``name``, and the ``package`` that has its SQL.

    - ``owner``: the role that owns it.
    - ``roles``: the roles that the application needs, each with the roles it is a member of. Those that are missing are
      created, without login.
    - ``release``: the version of the application, such as ``1.2.0``.
    - ``title``: what messages call the application, such as ``the shop``.
    - ``command``: what people run to install it. Hints name it.
    - ``compatible_from``: the oldest migration that code must know to work with the schema. Raise it to the number of a
      migration that older code cannot work with.
    - ``errors``: the class of each SQLSTATE that the functions raise. It is made of a message and ``hint=``.
    - ``mismatch``: the class that is raised if schema and code do not fit.
    - ``version_table``: the table that the version is kept in.
    """

    name: str
    package: str
    owner: str
    release: str
    title: str
    command: str
    roles: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    compatible_from: int = 1
    errors: Mapping[str, type[CatchmentError]] = field(default_factory=dict[str, type[CatchmentError]])
    mismatch: type[SchemaMismatch] = SchemaMismatch
    version_table: str = "version"

    def __post_init__(self) -> None:
        check_schema(self)

    def migrate(self, conn: Connection[Any], *, on_step: OnStep | None = None, again: bool = False) -> Upgrade:
        """Bring the schema up to date. Safe to run any number of times, and by several processes at once.

        ``on_step`` is called with the name of each step; with ``again``, routines are re-created even if none has
        changed. A schema written by a newer version of the application is left as it is: ``newer`` names that version.
        ``mismatch`` is raised if this one cannot work with it, if the user may not install it, or if another session
        holds the lock of installations for a minute.
        """
        check_usable(conn)
        on_step = _checked(on_step)
        self._check_files(conn)
        try:
            lock = partial(alone, conn, on_wait=on_step, mismatch=self.mismatch)
            with lock(f"{self.name}.migrate"):
                make_roles(conn, self.owner, self.roles, alone=lock, title=self.title)
                applied = self.apply_migrations(conn, on_step)
                changed = self.recreate_routines(conn, on_step, again=again)
                return Upgrade(applied, changed, self._newer(*self._state_for_owner(conn)))
        except psycopg.errors.InsufficientPrivilege as error:
            raise self.mismatch(
                f"this user may not install {self.title}: {error.diag.message_primary}",
                hint=f"Run '{self.command}' as a superuser, or as a user with CREATEROLE that owns the database. Roles "
                "that another user has made: let an administrator grant them to this user WITH ADMIN OPTION.",
            ) from error

    def check_version(self, conn: Connection[Any]) -> None:
        """Raise ``mismatch`` unless this code can work with the schema in the database: it has all migrations, and the
        functions of this version or those of a newer one that is compatible with it."""
        check_connection(conn)
        problem = self.misfit(*self._state(conn))
        if problem is not None:
            raise self.mismatch(f"{problem} ({database_of(conn)})", hint=problem.hint)

    def query(self, name: str) -> LiteralString:
        """The statement in ``queries/name.sql``. ``DefinitionRefused`` if there is no such file."""
        return files.query(self.package, name)

    def translate(self, error: Exception) -> Exception:
        """The application's error for a database error of any driver, or the engine's, as of a function that enqueues;
        or that error itself, as any other."""
        report = report_of(error)
        if report is None:
            return error
        if is_missing(report, self.name):
            return self.mismatch(
                f"{self.title} is not installed in this database, or an older version: {report.message}",
                hint=f"Run: {self.command}",
            )
        return find_class(report, {**BY_SQLSTATE, **self.errors}) or error

    def translated(self) -> AbstractContextManager[None]:
        """Raise database errors as the application's or the engine's, the database error chained."""
        return raised_as(self.translate)

    # What follows is for schemas that are installed in other steps than those of migrate.

    @property
    def newest(self) -> int:
        """The number of the newest migration that this code knows."""
        return files.migrations(self.package)[-1].number

    def version_query(self) -> Composed:
        """Reads the digests of the migrations that were applied, what the schema is compatible with, the release that
        wrote its functions, and their fingerprint."""
        return self._text(statements.VERSION)

    def misfit(
        self, applied: Mapping[str, str], compatible_from: int | None, release: str | None, fingerprint: str | None
    ) -> SchemaMismatch | None:
        """Why this code cannot work with what ``version_query`` reads; None if it can."""
        if not applied or compatible_from is None or release is None:
            return self.mismatch(f"schema {self.name} is half installed", hint=f"Run: {self.command}")
        if (problem := self._changed(applied)) is not None:
            return problem
        is_newer = release_order(release) > release_order(self.release)
        upgrade = f"Upgrade {self.title} on this machine."
        lacks = [m.name for m in files.migrations(self.package) if str(m.number) not in applied]
        if lacks:
            return self.mismatch(
                f"schema {self.name} lacks migration {lacks[0]}, which this version of {self.title} needs",
                hint=upgrade if is_newer else f"Run: {self.command}",
            )
        if compatible_from > self.newest:
            return self.mismatch(
                f"schema {self.name} works with migration {compatible_from} and newer, "
                f"this version of {self.title} knows {self.newest}",
                hint=upgrade,
            )
        if is_newer or len(applied) > len(files.migrations(self.package)):
            return None  # its functions work for this version too, also while an upgrade to it is under way
        if fingerprint == UNFINISHED:
            return self.mismatch(f"an upgrade of schema {self.name} was not completed", hint=f"Run: {self.command}")
        if fingerprint != files.fingerprint(self.package):
            return self.mismatch(
                f"the functions of schema {self.name}, written by version {release}, are not those of this version of "
                f"{self.title}, {self.release}",
                hint=f"Run: {self.command}",
            )
        return None

    def newer(self, conn: Connection[Any]) -> str | None:
        """The version that wrote this schema, if it is newer than this code. Raises ``mismatch`` if it does not fit."""
        return self._newer(*self._state(conn))

    def apply_migrations(self, conn: Connection[Any], on_step: OnStep) -> tuple[str, ...]:
        """Make the schema if it is missing, and apply what it lacks, each migration in a transaction. Under a lock."""
        with conn.transaction():
            row = execute(conn, self._text(statements.OWNED_BY)).fetchone()
            if row is not None and row[0] != self.owner:
                raise self.mismatch(
                    f"schema {self.name} exists and is not owned by {self.owner}",
                    hint="The application needs a schema of that name for itself: use another database.",
                )
            if row is None:
                execute(conn, self._text(statements.CREATE))
            execute(conn, self._text(statements.FOUNDATION))
        state = self._state_for_owner(conn)
        if self._newer(*state) is not None:
            return ()

        applied = state[0]
        if (problem := self._changed(applied)) is not None:
            raise problem
        missing = [m for m in files.migrations(self.package) if str(m.number) not in applied]
        for migration in missing:
            on_step(migration.name)
            scripts.retried(partial(self._apply, conn, migration))
        return tuple(m.name for m in missing)

    def recreate_routines(self, conn: Connection[Any], on_step: OnStep, *, again: bool = False) -> bool:
        """Create functions, views and grants again if their text has changed or a migration was applied; returns
        whether they were. Under a lock.

        Those that a newer version wrote stay.
        """
        state = self._state_for_owner(conn)
        if self._newer(*state) is not None:
            return False
        fingerprint = files.fingerprint(self.package)
        if state[1:] == (self.compatible_from, self.release, fingerprint) and not again:
            return False
        changed = again or state[3] != fingerprint
        if changed:
            on_step(f"functions, views and grants of schema {self.name}")
        scripts.retried(partial(self._write, conn, fingerprint, with_files=changed))
        return changed

    def _apply(self, conn: Connection[Any], migration: files.Migration) -> None:
        with scripts.transaction(conn):
            execute(conn, self._text(_AS_OWNER))
            scripts.run(conn, [replace(migration, name=f"migration {migration.name}")], self.package)
            execute(
                conn,
                self._text(statements.APPLIED, number=migration.number, file=migration.name, digest=migration.digest),
            )
            oldest = min(migration.number, self.compatible_from)
            execute(conn, self._text(statements.BEGUN, fingerprint=UNFINISHED, compatible_from=oldest))

    def _write(self, conn: Connection[Any], fingerprint: str, *, with_files: bool) -> None:
        with scripts.transaction(conn):
            execute(conn, self._text(_AS_OWNER))
            if with_files:
                # Bodies name functions that come later in the order of files.
                execute(conn, "set local check_function_bodies = off")
                scripts.run(conn, files.routines(self.package), self.package)
                if files.commands(self.package):
                    execute(conn, "set local role catchment_owner")
                    scripts.run(conn, files.commands(self.package), self.package)
                    execute(conn, self._text("set local role {role}"))
            execute(
                conn,
                self._text(
                    statements.WRITTEN,
                    fingerprint=fingerprint,
                    compatible_from=self.compatible_from,
                    release=self.release,
                ),
            )

    def _newer(
        self, applied: Mapping[str, str], compatible_from: int | None, release: str | None, fingerprint: str | None
    ) -> str | None:
        last = max(map(int, applied), default=0)
        if release is not None and release_order(release) > release_order(self.release):
            newer = release
        elif last > self.newest:
            newer = f"migration {last}"  # an upgrade that was broken off before it wrote the functions
        else:
            return None
        problem = self.misfit(applied, compatible_from, release, fingerprint)
        if problem is not None:
            raise problem
        return newer

    def _state_for_owner(self, conn: Connection[Any]) -> State:
        """What ``version_query`` reads, for a user who may become the owner and has perhaps no other right."""
        with conn.transaction():
            execute(conn, self._text("set local role {role}"))
            return self._state(conn)

    def _state(self, conn: Connection[Any]) -> State:
        """What ``version_query`` reads. Raises ``mismatch`` if it cannot be read."""
        try:
            row = execute(conn, self.version_query()).fetchone()
        except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName) as error:
            raise self.mismatch(
                f"{self.title} is not installed in this database ({database_of(conn)})", hint=f"Run: {self.command}"
            ) from error
        except psycopg.errors.InsufficientPrivilege as error:
            raise self.mismatch(
                f"this user may not use {self.title}: {error.diag.message_primary}",
                hint=f"Let an administrator grant it one of the roles {', '.join([*self.roles] or [self.owner])}.",
            ) from error
        except psycopg.errors.UndefinedColumn as error:
            raise self.mismatch(
                f"schema {self.name} was not written by a released version of {self.title}",
                hint="It cannot be upgraded: use a new database.",
            ) from error
        return row if row is not None else ({}, None, None, None)

    def _changed(self, applied: Mapping[str, str]) -> SchemaMismatch | None:
        """The error of a migration that is not the one that was applied under its number."""
        for migration in files.migrations(self.package):
            if applied.get(str(migration.number), migration.digest) != migration.digest:
                return self.mismatch(
                    f"migration {migration.name} of schema {self.name} is not the text that this database was given",
                    hint="Restore the text and write a new migration, or start again with a new database.",
                )
        return None

    def _check_files(self, conn: Connection[Any]) -> None:
        """Refuse what could not be installed, before anything is made."""
        if self.compatible_from > self.newest:
            raise DefinitionRefused(
                f"compatible_from of schema {self.name} is {self.compatible_from}, "
                f"expected the number of a migration: the newest is {self.newest}"
            )
        files.routines(self.package)
        needed = {group for groups in self.roles.values() for group in groups}
        if files.commands(self.package):
            needed.add("catchment_owner")
        is_engines = any(role.startswith("catchment_") for role in needed.difference([self.owner], self.roles))
        if is_engines and execute(conn, statements.HAS_ENGINE).fetchone() != (True,):
            raise self.mismatch(
                f"{self.title} needs Catchment, which is not installed in this database", hint="Run: catchment migrate"
            )

    def _text(self, template: LiteralString, **values: str | int) -> Composed:
        """The template with the names of this schema and these values filled in."""
        return SQL(template).format(
            name=Literal(self.name),
            role=Identifier(self.owner),
            schema=Identifier(self.name),
            migration=Identifier(self.name, "migration"),
            version=Identifier(self.name, self.version_table),
            **{name: Literal(value) for name, value in values.items()},
        )


def _checked(on_step: OnStep | None) -> OnStep:
    """Refuse what callers that are not typed may give."""
    if on_step is not None and not callable(on_step):  # pyright: ignore[reportUnnecessaryComparison] - as above
        raise RequestRefused(f"on_step is {shown(on_step)}, expected a function of the name of a step")
    return on_step or (lambda _: None)

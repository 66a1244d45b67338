"""Install and upgrade a schema, and check whether it is compatible with this version of its package.

Each migration is one transaction under a session lock, so a broken one leaves nothing and can be run again.
Functions, views, triggers and grants are re-created as a whole whenever their text changed or a migration was applied.
An older version of the package never overwrites what a newer one wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import psycopg
from psycopg import Connection

from catchment.errors import DefinitionRefused, RequestRefused, SchemaMismatch, shown
from catchment.schema import files, script, scripts, statements, steps
from catchment.schema.alone import alone
from catchment.schema.connection import check_connection, check_usable, database_of, execute
from catchment.schema.definition import Definition
from catchment.schema.roles import make_roles
from catchment.schema.site import Site, find_site, unseen_site

OnStep = Callable[[str], None]

State = tuple[dict[str, str], int | None, str | None, str | None]
_NOTHING: State = ({}, None, None, None)


@dataclass(frozen=True, slots=True)
class Upgrade:
    """What ``Schema.migrate`` did: the names of the migrations ``applied``, and whether ``routines_changed``. ``newer``
    names the newer version that wrote the schema, which was left alone: its release, or its last migration if its
    upgrade broke off before it wrote the functions. ``owner`` is the role that owns the schema in this database, and
    ``has_roles`` says whether roles have rights on it; without, only its owner can use it."""

    applied: tuple[str, ...]
    routines_changed: bool
    newer: str | None
    owner: str
    has_roles: bool


class Schema(Definition):
    """A schema of an application: its ``name``, and the ``package`` that has its SQL.

    - ``owner``: the role that owns it. In a database without roles, the role that owns the engine's schema does.
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

    __slots__ = ()

    def migrate(
        self,
        conn: Connection[Any],
        *,
        on_step: OnStep | None = None,
        again: bool = False,
        roles: bool | None = None,
    ) -> Upgrade:
        """Upgrade the schema. Safe to run repeatedly, and by several processes at once.

        ``on_step`` is called with the name of each step; with ``again``, routines are re-created even if none has
        changed. A schema written by a newer version of the application is left as it is: ``newer`` names that version.
        ``mismatch`` is raised if this one cannot work with it, if the user may not install it, or if another session
        holds the lock of installations for a minute.

        ``roles=False`` creates no roles, and the owner of the database needs no other right: only that user can use a
        new schema. ``roles=True`` creates missing roles and grants them their rights, also in a schema that had no
        roles. By default a schema keeps what it has; a new one gets roles, unless the engine has none in this database.
        """
        _check_choice(roles)
        check_usable(conn)
        on_step = _checked(on_step)
        self._check_files(conn)
        lock = partial(alone, conn, on_wait=on_step, mismatch=self.mismatch)
        with lock(f"{self.name}.migrate"):
            site = find_site(conn, self, roles)
            if site.makes_roles:
                with self._refused(self._roles_hint(site)):
                    make_roles(conn, self, site, alone=lock)
            with self._refused(self._owner_hint(site)):
                applied = self.apply_migrations(conn, on_step, site)
                changed = self.recreate_routines(conn, on_step, site, again=again or site.gains_roles)
                newer = self.newer_version(*self._state_for_owner(conn, site))
        return Upgrade(applied, changed, newer, str(site.owner), site.has_roles)

    def script(self, conn: Connection[Any] | None = None, *, since: int = 0, roles: bool | None = None) -> str:
        """What ``migrate`` would do, as a script that runs in one transaction: for an administrator, or for a revision
        of another tool. It has no BEGIN and no COMMIT.

        It starts from what the database has; or, without a connection, from the migration with the number ``since``.
        ``roles`` is as for ``migrate``. Raises ``mismatch`` if a newer version wrote the schema, and ``RequestRefused``
        if there is no migration with that number.
        """
        _check_choice(roles)
        if type(since) is not int or not 0 <= since <= self.newest:
            raise RequestRefused(
                f"schema {self.name} has no migration {shown(since)}, expected a number from 0 to {self.newest}",
                hint="Give the number of the last migration that the database has; 0 if it does not have the schema.",
            )
        if conn is None:
            site = unseen_site(self, roles, exists=since > 0)
            return script.make_script(self, site, since, is_current=False)
        check_usable(conn)
        self._check_files(conn)
        site = find_site(conn, self, roles)
        with self._refused(self._owner_hint(site)):
            state = self._state_for_owner(conn, site) if site.exists else _NOTHING
        problem = self.find_changed(state[0])
        newer = self.newer_version(*state)
        if problem is not None or newer is not None:
            raise problem or self.mismatch(
                f"schema {self.name} was written by a newer version of {self.title} ({newer})",
                hint=f"Upgrade {self.title} on this machine.",
            )
        is_current = self.misfit(*state) is None and state[2] == self.release and not site.gains_roles
        return script.make_script(self, site, max(map(int, state[0]), default=0), is_current=is_current)

    def check_version(self, conn: Connection[Any]) -> None:
        """Raise ``mismatch`` unless this code can work with the schema in the database: it has all migrations, and the
        functions of this version or those of a newer one that is compatible with it."""
        check_connection(conn)
        problem = self.find_misfit(conn)
        if problem is not None:
            raise self.mismatch(f"{problem} ({database_of(conn)})", hint=problem.hint)

    # What follows is for schemas that are installed in other steps than those of migrate.

    def find_misfit(self, conn: Connection[Any]) -> SchemaMismatch | None:
        """The reason why this code cannot work with the schema in the database, or None if it can."""
        return self.misfit(*self._state(conn))

    def newer(self, conn: Connection[Any]) -> str | None:
        """The version that wrote this schema, if it is newer than this code. Raises ``mismatch`` if it does not fit."""
        return self.newer_version(*self._state(conn))

    def find_site(self, conn: Connection[Any]) -> Site:
        """The owner of the schema in this database, present or future, and whether roles have rights on it."""
        return find_site(conn, self, None)

    def apply_migrations(self, conn: Connection[Any], on_step: OnStep, site: Site) -> tuple[str, ...]:
        """Make the schema if it is missing, and apply what it lacks, each migration in a transaction. Under a lock."""
        with conn.transaction():
            for statement in steps.foundation(self, site):
                execute(conn, statement)
        state = self._state_for_owner(conn, site)
        if self.newer_version(*state) is not None:
            return ()

        applied = state[0]
        if (problem := self.find_changed(applied)) is not None:
            raise problem
        missing = [m for m in files.migrations(self.package) if str(m.number) not in applied]
        for migration in missing:
            on_step(migration.name)
            scripts.retried(partial(self._apply, conn, migration, site))
        return tuple(m.name for m in missing)

    def recreate_routines(self, conn: Connection[Any], on_step: OnStep, site: Site, *, again: bool = False) -> bool:
        """Create functions, views and grants again if their text has changed or a migration was applied; returns
        whether they were. Under a lock.

        Those that a newer version wrote stay.
        """
        state = self._state_for_owner(conn, site)
        if self.newer_version(*state) is not None:
            return False
        fingerprint = files.fingerprint(self.package)
        if state[1:] == (self.compatible_from, self.release, fingerprint) and not again:
            return False
        changed = again or state[3] != fingerprint
        if changed:
            on_step(f"functions, views and grants of schema {self.name}")
        scripts.retried(partial(self._write, conn, site, with_files=changed))
        return changed

    def _apply(self, conn: Connection[Any], migration: files.Migration, site: Site) -> None:
        with scripts.transaction(conn):
            execute(conn, steps.as_role(self, site.owner))
            scripts.run(conn, [replace(migration, name=f"migration {migration.name}")], self.package)
            execute(conn, steps.applied(self, migration))

    def _write(self, conn: Connection[Any], site: Site, *, with_files: bool) -> None:
        with scripts.transaction(conn):
            execute(conn, steps.as_role(self, site.owner))
            for part in steps.routines(self, site) if with_files else ():
                if isinstance(part, tuple):
                    scripts.run(conn, part, self.package)
                else:
                    execute(conn, part)
            execute(conn, steps.written(self))

    @contextmanager
    def _refused(self, hint: str) -> Generator[None]:
        """Raise a right that is missing as ``mismatch``."""
        try:
            yield
        except psycopg.errors.InsufficientPrivilege as error:
            raise self.mismatch(
                f"this user may not install {self.title}: {error.diag.message_primary}", hint=hint
            ) from error

    def _roles_hint(self, site: Site) -> str:
        if site.exists and site.owner != self.owner:
            return (
                f"Let a user with CREATEROLE run '{self.command} --roles' once, which makes the roles; then run it "
                f"again as {site.owner}."
            )
        return (
            f"To install without roles, which the owner of the database may do: {self.command} --no-roles. Roles need "
            "a superuser, or a user with CREATEROLE that owns the database; those that another user has made, an "
            "administrator grants WITH ADMIN OPTION."
        )

    def _owner_hint(self, site: Site) -> str:
        if site.exists:
            return f"Schema {self.name} is owned by {site.owner}: run '{self.command}' as that user or a member of it."
        if site.has_roles:
            return self._roles_hint(site)
        return f"Run '{self.command}' as the owner of the database, or as {site.owner} with the right CREATE on it."

    def _state_for_owner(self, conn: Connection[Any], site: Site) -> State:
        """What ``version_query`` reads, for a user who may become the owner and has perhaps no other right."""
        with conn.transaction():
            execute(conn, self.text(statements.AS_ROLE, owner=site.owner))
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
                hint=f"Let an administrator grant it one of the roles {', '.join([*self.roles] or [self.owner])}. In a "
                f"database without roles, connect as the owner of schema {self.name}.",
            ) from error
        except psycopg.errors.UndefinedColumn as error:
            raise self.mismatch(
                f"schema {self.name} was not written by a released version of {self.title}",
                hint="It cannot be upgraded: use a new database.",
            ) from error
        return row if row is not None else _NOTHING

    def _check_files(self, conn: Connection[Any]) -> None:
        """Refuse what could not be installed, before anything is made."""
        if self.compatible_from > self.newest:
            raise DefinitionRefused(
                f"compatible_from of schema {self.name} is {self.compatible_from}, "
                f"expected the number of a migration: the newest is {self.newest}"
            )
        files.routines(self.package)
        files.grants(self.package)
        if self.needs_engine and execute(conn, statements.HAS_ENGINE).fetchone() != (True,):
            raise self.mismatch(
                f"{self.title} needs Catchment, which is not installed in this database", hint="Run: catchment migrate"
            )


def _checked(on_step: OnStep | None) -> OnStep:
    """Refuse what callers that are not typed may give."""
    if on_step is not None and not callable(on_step):  # pyright: ignore[reportUnnecessaryComparison] - as above
        raise RequestRefused(f"on_step is {shown(on_step)}, expected a function of the name of a step")
    return on_step or (lambda _: None)


def _check_choice(roles: bool | None) -> None:
    if roles is not None and not isinstance(roles, bool):  # pyright: ignore[reportUnnecessaryIsInstance] - as above
        raise RequestRefused(f"roles is {shown(roles)}, expected True, False or None")

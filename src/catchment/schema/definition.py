"""What a ``Schema`` declares, and how it compares with what a database has. Nothing here needs a connection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import LiteralString

from psycopg.sql import SQL, Composed, Identifier, Literal

from catchment.errors import BY_SQLSTATE, CatchmentError, SchemaMismatch
from catchment.model.release import release_order
from catchment.schema import files, statements
from catchment.schema.translate import find_class, is_missing, raised_as, report_of
from catchment.schema.values import check_schema

# The schema of the engine, in which the schemas of applications register their commands. Workers may also make tasks.
ENGINE_SCHEMA = "worker"
ENGINE_OWNER = "catchment_owner"
ENGINE_ROLES: Mapping[str, Sequence[str]] = {
    "catchment_worker": ["catchment_enqueue"],
    "catchment_enqueue": [],
    "catchment_read": [],
}
# The fingerprint between a migration and the functions that come after it.
UNFINISHED = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """The parameters of a ``Schema``, which explains them."""

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

    def query(self, name: str) -> LiteralString:
        """The statement in ``queries/name.sql``. ``DefinitionRefused`` if there is no such file."""
        return files.query(self.package, name)

    def translate(self, error: Exception) -> Exception:
        """The error of the application for a database error of any driver, or the engine's error if a function of the
        engine raised it. Any other error is returned unchanged."""
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
        """A context manager that raises database errors as ``translate`` returns them, chained to the original."""
        return raised_as(self.translate)

    @property
    def needs_engine(self) -> bool:
        """True if the schema registers commands or names roles of the engine."""
        needed = {group for groups in self.roles.values() for group in groups}
        if files.commands(self.package):
            needed.add(ENGINE_OWNER)
        return any(role.startswith("catchment_") for role in needed.difference([self.owner], self.roles))

    @property
    def newest(self) -> int:
        """The number of the newest migration that this code knows."""
        return files.migrations(self.package)[-1].number

    def version_query(self) -> Composed:
        """Reads the digests of the migrations that were applied, what the schema is compatible with, the release that
        wrote its functions, and their fingerprint."""
        return self.text(statements.VERSION)

    def misfit(
        self, applied: Mapping[str, str], compatible_from: int | None, release: str | None, fingerprint: str | None
    ) -> SchemaMismatch | None:
        """Why this code cannot work with what ``version_query`` reads; None if it can."""
        if not applied or compatible_from is None or release is None:
            return self.mismatch(f"schema {self.name} is half installed", hint=f"Run: {self.command}")
        if (problem := self.find_changed(applied)) is not None:
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

    def newer_version(
        self, applied: Mapping[str, str], compatible_from: int | None, release: str | None, fingerprint: str | None
    ) -> str | None:
        """The version that wrote what ``version_query`` reads, if it is newer than this code. Raises ``mismatch`` if it
        does not fit."""
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

    def find_changed(self, applied: Mapping[str, str]) -> SchemaMismatch | None:
        """The error if a migration differs from the one that was applied under its number, else None."""
        for migration in files.migrations(self.package):
            if applied.get(str(migration.number), migration.digest) != migration.digest:
                return self.mismatch(
                    f"migration {migration.name} of schema {self.name} is not the text that this database was given",
                    hint="Restore the text and write a new migration, or start again with a new database.",
                )
        return None

    def text(self, template: LiteralString, *, owner: str | None = None, **values: str | int) -> Composed:
        """The template with the names of this schema, its owner in the database, and these values filled in."""
        return SQL(template).format(
            name=Literal(self.name),
            role=SQL("current_user") if owner is None else Identifier(owner),
            schema=Identifier(self.name),
            migration=Identifier(self.name, "migration"),
            version=Identifier(self.name, self.version_table),
            **{name: Literal(value) for name, value in values.items()},
        )

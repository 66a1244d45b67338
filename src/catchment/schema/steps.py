"""The statements around the files of a package: the same for a connection and for a script."""

from __future__ import annotations

from collections.abc import Iterator
from typing import LiteralString

from psycopg.sql import SQL, Composed

from catchment.schema import files, statements
from catchment.schema.definition import UNFINISHED, Definition
from catchment.schema.files import Migration, Script
from catchment.schema.site import Site


def as_role(schema: Definition, role: str | None) -> Composed:
    """Become this role, and look names up where only the server's are."""
    texts: list[LiteralString] = [statements.PATH] if role is None else [statements.AS_ROLE, statements.PATH]
    return SQL("; ").join(schema.text(text, owner=role) for text in texts)


def foundation(schema: Definition, site: Site) -> list[Composed]:
    """The schema, if there is none, and the tables of its version."""
    create = [] if site.exists else [schema.text(statements.CREATE, owner=site.owner)]
    return [*create, as_role(schema, site.owner), schema.text(statements.FOUNDATION)]


def applied(schema: Definition, migration: Migration) -> Composed:
    """Note that a migration was applied, and that its functions are missing."""
    return schema.text(
        statements.APPLIED,
        number=migration.number,
        file=migration.name,
        digest=migration.digest,
        fingerprint=UNFINISHED,
        compatible_from=min(migration.number, schema.compatible_from),
    )


def routines(schema: Definition, site: Site) -> Iterator[Composed | tuple[Script, ...]]:
    """Statements and files, in order: what is created again with each upgrade. As the owner of the schema."""
    # Bodies name functions that come later in the order of files.
    yield schema.text("set local check_function_bodies = off")
    yield files.routines(schema.package)
    if site.has_roles:
        yield files.grants(schema.package)
    else:
        yield schema.text(statements.CLOSED)
    if files.commands(schema.package):
        if site.engine_owner is not None:
            yield schema.text(statements.AS_ROLE, owner=site.engine_owner)
        yield files.commands(schema.package)
        if site.has_roles:
            yield files.command_grants(schema.package)
        if site.owner is not None:
            yield schema.text(statements.AS_ROLE, owner=site.owner)


def written(schema: Definition) -> Composed:
    """Note what wrote the functions."""
    return schema.text(
        statements.WRITTEN,
        fingerprint=files.fingerprint(schema.package),
        compatible_from=schema.compatible_from,
        release=schema.release,
    )

"""Where a schema is in one database: who owns it, and whether its roles may use it.

PostgreSQL's catalogs say both, and everybody may read them: nothing has to be noted, and a user without any right on
the schema finds out too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, LiteralString

from psycopg import Connection

from catchment.schema.connection import execute, with_values
from catchment.schema.definition import ENGINE_OWNER, ENGINE_ROLES, ENGINE_SCHEMA, Definition

# The owner and whether roles were granted the schema; whether it is one of ours, and whether something is in it.
_FIND: LiteralString = """
select n.nspname::text,
       pg_get_userbyid(n.nspowner)::text,
       exists (select from aclexplode(n.nspacl) as a join pg_roles as r on r.oid = a.grantee
                where a.grantee <> n.nspowner and r.rolname = any ({granted}::text[])),
       exists (select from pg_class as c where c.relnamespace = n.oid and c.relname = 'migration'),
       exists (select from pg_class as c where c.relnamespace = n.oid)
         or exists (select from pg_proc as p where p.pronamespace = n.oid)
  from pg_namespace as n
 where n.nspname in ({engine}, {name})
"""


@dataclass(frozen=True, slots=True)
class Site:
    """Where a schema is, or is going to be.

    - ``owner``: the role that owns it; None for the user who installs it.
    - ``engine_owner``: the role that owns the schema of the engine, likewise.
    - ``has_roles``: whether roles get the rights in ``grants``. Without them it is its owner's alone.
    - ``makes_roles``: whether roles that are missing are made first.
    - ``exists``: whether there is a schema of this name.
    - ``gains_roles``: whether this installation gives roles to a schema that had none.
    """

    owner: str | None
    engine_owner: str | None
    has_roles: bool
    makes_roles: bool
    exists: bool
    gains_roles: bool = False


@dataclass(frozen=True, slots=True)
class _There:
    owner: str
    has_grants: bool
    is_ours: bool
    is_filled: bool


def find_site(conn: Connection[Any], schema: Definition, roles: bool | None) -> Site:
    """Where the schema is. ``roles`` says whether it is to have roles; None keeps what it has, and a new one is like
    the engine, which has them.

    Raises ``mismatch`` if there is a schema of this name that is another's, or if the engine lacks the roles.
    """
    there = _look(conn, schema)
    engine, own = there.get(ENGINE_SCHEMA), there.get(schema.name)
    engine_has_roles = engine is None or engine.owner == ENGINE_OWNER or engine.has_grants
    ((user,),) = execute(conn, "select current_user::text").fetchall()
    if own is None:
        has_roles = roles if roles is not None else engine_has_roles
        owner = schema.owner
        if engine is not None and (not has_roles or owner == ENGINE_OWNER):
            owner = engine.owner
        elif not has_roles:
            owner = user
        had_roles = has_roles
    else:
        owner = own.owner
        is_for_us = own.is_ours or owner == schema.owner or (roles is False and not own.is_filled)
        if not is_for_us:
            raise schema.mismatch(
                f"schema {schema.name} exists and is not owned by {schema.owner}",
                hint="The application needs a schema of that name for itself: use another database.",
            )
        had_roles = owner == schema.owner or own.has_grants
        shares_roles = schema.owner == ENGINE_OWNER and schema.name != ENGINE_SCHEMA
        has_roles = had_roles or roles is True or (shares_roles and engine_has_roles)
    if has_roles and schema.name != ENGINE_SCHEMA and schema.needs_engine and not engine_has_roles:
        raise schema.mismatch(
            f"{schema.title} cannot have roles: Catchment has none in this database",
            hint="Run: catchment migrate --roles",
        )
    return Site(
        owner=owner,
        engine_owner=engine.owner if engine is not None else ENGINE_OWNER,
        has_roles=has_roles,
        makes_roles=has_roles and roles is not False,
        exists=own is not None,
        gains_roles=has_roles and not had_roles,
    )


def unseen_site(schema: Definition, roles: bool | None, *, exists: bool) -> Site:
    """Where the schema is in a database that cannot be looked at: with its roles, or the schema of the user who runs
    what is made for it."""
    has_roles = roles is not False
    return Site(
        owner=schema.owner if has_roles else None,
        engine_owner=ENGINE_OWNER if has_roles else None,
        has_roles=has_roles,
        makes_roles=has_roles,
        exists=exists,
    )


def _look(conn: Connection[Any], schema: Definition) -> dict[str, _There]:
    granted = [*ENGINE_ROLES, *schema.roles]
    rows = execute(conn, with_values(_FIND, granted=granted, engine=ENGINE_SCHEMA, name=schema.name)).fetchall()
    return {name: _There(*values) for name, *values in rows}

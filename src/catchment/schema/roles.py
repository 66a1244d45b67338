"""Makes the roles of a schema. They belong to the whole server, so several databases may install at the same moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, LiteralString

import psycopg
from psycopg import Connection
from psycopg.sql import Composed

from catchment.errors import DefinitionRefused
from catchment.schema import scripts
from catchment.schema.connection import execute, with_values
from catchment.schema.definition import Definition
from catchment.schema.site import Site
from catchment.schema.statements import PATH

LOCK = "catchment.roles"
"""All schemas of a database share it: roles, and grants on the database, are no schema's."""

# The body of a DO. A user with CREATEROLE is not yet a member of the role it made; from version 16 on it is one that
# may not become that role.
_ROLES: LiteralString = """
declare
  v_role     text;
  v_owner    text := {owner};
  v_members  text[] := {members}::text[];
  v_groups   text[] := {groups}::text[];
  v_needs    text := case when current_setting('server_version_num')::integer < 160000 then 'member' else 'set' end;
begin
  foreach v_role in array {roles}::text[] loop
    if not exists (select from pg_roles as r where r.rolname = v_role) then
      begin
        execute format('create role %I nologin', v_role);
      exception
        when duplicate_object or unique_violation then
          null;
      end;
    end if;
  end loop;
  for i in 1 .. cardinality(v_members) loop
    if not pg_has_role(v_members[i], v_groups[i], 'member') then
      execute format('grant %I to %I', v_groups[i], v_members[i]);
    end if;
  end loop;
  if v_owner is null then
    return;
  end if;
  if not pg_has_role(current_user, v_owner, v_needs) then
    execute format('grant %I to %I', v_owner, current_user);
  end if;
  if not has_database_privilege(v_owner, current_database(), 'create')
     or not has_database_privilege(v_owner, current_database(), 'temporary') then
    execute format('grant create, temporary on database %I to %I', current_database(), v_owner);
  end if;
end;
"""


def role_statement(schema: Definition, site: Site) -> Composed:
    """A statement that creates the roles that are missing, with their memberships, and lets this user become the
    owner. A schema that a user owns has no role for that."""
    pairs = [(role, group) for role, groups in schema.roles.items() for group in groups]
    if site.owner == schema.owner:
        makes, owner = [schema.owner, *schema.roles], schema.owner
    else:
        makes, owner = [role for role in schema.roles if role != schema.owner], None
        pairs = [(role, group) for role, group in pairs if role != schema.owner]
    body = with_values(
        _ROLES,
        owner=owner,
        roles=makes,
        members=[role for role, _ in pairs],
        groups=[group for _, group in pairs],
    )
    return with_values("do {body}", body=body.as_string())


def make_roles(conn: Connection[Any], schema: Definition, site: Site, *, alone: Callable[[str], Any]) -> None:
    """Run that statement. ``alone`` holds a lock by its name. Raises ``DefinitionRefused`` if there are no such roles,
    or none with such members."""
    statement = role_statement(schema, site)

    def make() -> None:
        with conn.transaction():
            execute(conn, PATH)
            execute(conn, statement)

    try:
        with alone(LOCK):
            # Another database may make the same ones.
            scripts.retried(make, also="23505")
    except psycopg.errors.InsufficientPrivilege:
        raise
    except psycopg.Error as error:
        if scripts.is_trouble(error):
            raise
        raise DefinitionRefused(
            f"the roles of {schema.title} cannot be made: {error.diag.message_primary}",
            hint="Look at owner and roles of its Schema.",
        ) from error

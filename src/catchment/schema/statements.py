"""Statements of an installation, with the names of the schema to be filled in."""

from __future__ import annotations

from typing import LiteralString

# Roles belong to the whole server, so several databases may install at the same moment. A user with CREATEROLE is not
# yet a member of the role it made; from version 16 on it is one that may not become that role.
ROLES: LiteralString = """
do $$
declare
  v_role     text;
  v_owner    text := {owner};
  v_members  text[] := {members};
  v_groups   text[] := {groups};
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
  if not pg_has_role(current_user, v_owner, v_needs) then
    execute format('grant %I to %I', v_owner, current_user);
  end if;
  if not has_database_privilege(v_owner, current_database(), 'create')
     or not has_database_privilege(v_owner, current_database(), 'temporary') then
    execute format('grant create, temporary on database %I to %I', current_database(), v_owner);
  end if;
end;
$$
"""

OWNED_BY: LiteralString = """
select r.rolname from pg_namespace as n join pg_roles as r on r.oid = n.nspowner where n.nspname = {name}
"""

FOUNDATION: LiteralString = """
create schema if not exists {schema} authorization {role};
set local role {role};
create table if not exists {migration} (
  number      integer primary key,
  name        text not null,
  digest      text not null,
  applied_at  timestamptz not null default clock_timestamp()
);
create table if not exists {version} (
  is_one           boolean primary key default true check (is_one),
  fingerprint      text not null,
  compatible_from  integer not null,
  release          text not null
);
"""

VERSION: LiteralString = """
select (select coalesce(jsonb_object_agg(m.number, m.digest), '{{}}') from {migration} as m),
       v.compatible_from, v.release, v.fingerprint
  from (select) as one
  left join {version} as v on true
"""

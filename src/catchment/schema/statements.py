"""Statements of an installation, with the names of the schema to be filled in."""

from __future__ import annotations

from typing import LiteralString

# Not asked for if it exists: the owner alone is needed then, and this user may not inherit what that may do.
CREATE: LiteralString = "create schema if not exists {schema} authorization {role}"

# Names in what is created must not resolve to objects that others have put into the search path.
PATH: LiteralString = "set local search_path = pg_catalog, pg_temp"

AS_ROLE: LiteralString = "set local role {role}"

FOUNDATION: LiteralString = """
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

HAS_ENGINE: LiteralString = """
select exists (
  select from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
   where n.nspname = 'worker' and c.relname = 'version')
"""

# Views may have gone and tables may lack their grants, so routines are created again after a migration. Code that does
# not know it is refused from here on if it is to be, not from the end of the upgrade on.
APPLIED: LiteralString = """
insert into {migration} (number, name, digest) values ({number}, {file}, {digest});
update {version} set fingerprint = {fingerprint}, compatible_from = greatest(compatible_from, {compatible_from});
"""

WRITTEN: LiteralString = """
insert into {version} (fingerprint, compatible_from, release) values ({fingerprint}, {compatible_from}, {release})
on conflict (is_one) do update set fingerprint = excluded.fingerprint,
  compatible_from = excluded.compatible_from, release = excluded.release
"""

# Without roles the schema is its owner's alone. PostgreSQL lets everybody run a new function.
CLOSED: LiteralString = """
revoke all on schema {schema} from public;
revoke all on all tables in schema {schema} from public;
revoke all on all sequences in schema {schema} from public;
revoke all on all routines in schema {schema} from public;
"""

-- round_key: the advisory lock under which a round gets its snapshot and its id.
create or replace function lake.round_key()
  returns bigint
  language sql
  immutable
return pg_catalog.hashtextextended('lake.round', 0);

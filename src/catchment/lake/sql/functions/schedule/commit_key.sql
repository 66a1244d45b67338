-- commit_key: the advisory lock that makes commits to the lake take turns. For sessions that delete from a table of the
-- lake: take it with pg_advisory_lock before BEGIN, on a separate connection, and release it after COMMIT.
create or replace function lake.commit_key()
  returns bigint
  language sql immutable
return pg_catalog.hashtextextended('lake.commit', 0);

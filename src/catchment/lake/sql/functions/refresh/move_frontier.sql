-- move_frontier: publish a refresh that has nothing to write. The lake gets no snapshot, so nothing below has work.
--
--   PUBLISHING -> PUBLISHED
--   locks   the refresh row, then the frontier row
--   raises  CM015 the commit to the lake is refused
create or replace function lake.move_frontier(
  p_refresh_id  bigint,
  p_fence       bigint
)
  returns void
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select lake.publish(p_refresh_id, p_fence, null)
$$;

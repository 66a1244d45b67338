-- count_late: count the late children of this transaction in their scopes.
--
--   locks   see follow_through
--   raises  CM005 when a scope has closed or is being cancelled
create or replace function worker.count_late()
  returns void
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
  set jit = off
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
  set enable_sort = off
as $$
begin
  perform worker.follow_through(null);
end;
$$;

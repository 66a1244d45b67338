-- count_late_children: at commit, scopes learn of the children that were inserted from outside a handler.
create or replace function worker.count_late_children()
  returns trigger
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
  if nullif(current_setting('worker.late', true), '') is not null then
    perform worker.follow_through(null);
  end if;
  return null;
end;
$$;

-- enqueue_collect_changes: request the derivation of logged changes, or with scope all of everything. A pending request
-- absorbs a new one; scope all wins over none.
create or replace function worker.enqueue_collect_changes(p_scope text default null)
  returns bigint
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select worker.enqueue('collect_changes', jsonb_strip_nulls(jsonb_build_object('scope', p_scope)));
$$;

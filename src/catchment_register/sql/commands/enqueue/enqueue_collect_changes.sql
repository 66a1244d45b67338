-- enqueue_collect_changes: ask for logged changes to be taken through derivation, or with scope all for everything to
-- be derived. One that is pending already takes the request in; all outlives nothing said.
create or replace function worker.enqueue_collect_changes(p_scope text default null)
  returns bigint
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select worker.enqueue('collect_changes', jsonb_strip_nulls(jsonb_build_object('scope', p_scope)));
$$;

-- new_troubles: the troubles that were first noted since p_since; null when there is none.
create or replace function worker.new_troubles(p_since timestamptz)
  returns jsonb
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select jsonb_agg(jsonb_build_object('step', t.step, 'item', t.item, 'message', t.message) order by t.step, t.item)
    from worker.trouble as t
   where t.first_at >= p_since;
$$;

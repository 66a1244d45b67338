-- end_joins: settle tasks by the result of their joins.
--
--   processing -> completed | failed | cancelled
--   locks   their scope rows, by id
create or replace function worker.end_joins(p_ended worker.ended[])
  returns worker.settled[]
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids     bigint[];
  v_states  text[];
  v_errors  jsonb[];
  v_infos   jsonb[];
  v_results jsonb[];
begin
  select array_agg((e.run).id), array_agg(e.fate), array_agg(e.error), array_agg(e.info), array_agg(e.result)
    into v_ids, v_states, v_errors, v_infos, v_results
    from unnest(p_ended) as e
   where (e.run).phase = 1
     and e.fate in ('completed', 'failed', 'cancelled');
  if v_ids is null then
    return null;
  end if;
  perform s.id from worker.scope as s where s.id = any (v_ids) order by s.depth desc, s.id for no key update;
  return worker.end_scopes(v_ids, v_states, v_errors, v_infos, v_results);
end;
$$;

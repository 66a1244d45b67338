-- explain_task: why the task of a refresh waits, from worker.explain; for a refresh in buckets, that of the oldest open
-- bucket. Then causes that only the lake knows: all workers are busy, or a session holds the commit lock that the
-- refresh needs for publishing. See explain.
create or replace function lake.explain_task(
  p_refresh   lake.refresh,
  p_standing  jsonb,
  p_evidence  jsonb,
  p_now       timestamptz
)
  returns setof worker.condition
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_task_id    bigint := (p_refresh).task_id;
  v_conditions worker.condition[] := '{}';
begin
  if p_standing is not null then
    v_conditions := array(select c from worker.explain(v_task_id) as c where c.is_blocking);
    if (select bool_and(c.kind = 'children') from unnest(v_conditions) as c) then
      v_task_id := (v_conditions[1]).evidence -> 'task' ->> 'id';
      v_conditions := array(select c from worker.explain(v_task_id) as c where c.is_blocking and v_task_id is not null);
    end if;
  end if;
  return query
    select c.kind, true, c.evidence || p_evidence || jsonb_build_object('task', worker.standing(v_task_id)), c.words,
           case when c.kind in ('no_worker', 'no_command') then 'catchment table worker' else c.remedy end
      from unnest(v_conditions) as c;
  if cardinality(v_conditions) = 0 and worker.standing(v_task_id) ->> 'state' in ('pending', 'interrupted')
     and lake.free_slots() = 1 then
    return query select c.* from lake.explain_slots(p_evidence, p_now) as c;
  end if;
  if (p_refresh).state = 'PUBLISHING' then
    return query
      select 'commit_lock', true, p_evidence || jsonb_strip_nulls(jsonb_build_object('pid', h.pid, 'who', h.who)),
             format('It is to be published, and session %s (%s) holds the commit lock.', h.pid, h.who),
             worker.shell_command('catchment psql -c', format('select pg_terminate_backend(%s)', h.pid))
        from lake.lock_holders() as h
       where not h.is_publishing
         and not h.is_stale;
  end if;
end;
$$;

-- explain_slots: all workers of the lake are busy, and with what. See explain.
create or replace function lake.explain_slots(
  p_evidence  jsonb,
  p_now       timestamptz
)
  returns setof worker.condition
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    with held as (
      select n.id, coalesce(d.schema_name || '.' || d.name, t.command) as name, n.started_at
        from worker.running as n
        join worker.queue_registry as q on q.queue_id = n.queue_id and q.queue = 'lake'
        join worker.task as t on t.id = n.id
        left join lake.refresh as r on r.finished_at is null and r.task_id in (t.id, t.parent_id)
        left join lake.dt as d on d.id = r.dt_id
       order by n.started_at
       limit 5
    )
    select 'slots', true,
           p_evidence || jsonb_build_object(
             'workers', w.workers,
             'running', (select coalesce(jsonb_agg(jsonb_build_object('id', h.id, 'name', h.name, 'since', h.started_at)
                                                   order by h.started_at), '[]') from held as h)),
           format('%s the lake%s.',
                  case w.workers when 1 then 'The only worker of' else format('All %s workers of', w.workers) end,
                  case w.workers when 1 then ' is' else ' are' end || ' busy'
                  || coalesce(', on ' || (select string_agg(format('%s since %s', h.name,
                                                                    worker.said_when(h.started_at, p_now)), ', '
                                                            order by h.started_at) from held as h), '')),
           'catchment table worker'
      from (select lake.count_workers() as workers) as w
     where w.workers > 0;
end;
$$;
